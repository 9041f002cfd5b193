"""Rewrites a docx file with the elements that pandoc reads, so that no word is lost."""

from __future__ import annotations

import zipfile
from typing import IO, Any

from lxml import etree

from ...input.opc import Relationship, Relationships
from ...job import ConversionError, Job
from ..looks import Looks
from . import body, graphics, runs, tables
from .body import PROPERTIES
from .looks import WordLooks
from .numbers import WordNumbers
from .package import NAMESPACES, DocxPackage, tag, tags
from .styles import WordStyles, set_list_levels, value

_LEFT_OUT = {
    "header": "Headers and footers were left out.", "footer": "Headers and footers were left out.",
    "comments": "Comments were left out.", "aFChunk": "Documents inside the document were left out.",
}  # fmt: skip
_STORIES = ("document", "footnotes", "endnotes")
_PARTS = (*_STORIES, "styles", "numbering")
_BODY = tag("w:body")
_USES_OF_RELATIONSHIPS = "//@r:*|//w:footnoteReference|//w:endnoteReference"
_UNREAD = tags(
    "w:sz w:szCs w:color w:lang w:kern w:spacing w:shd w:tabs w:noProof w:lastRenderedPageBreak w:latentStyles w:tcW"
    " w:tcBorders w:tcMar w:vAlign w:trHeight w:tblBorders w:tblCellMar w:autoSpaceDE w:autoSpaceDN w:adjustRightInd"
    " w:widowControl w:rsids"
)
"""Frequent elements that pandoc does not read, and for which it would need twice the memory."""
_LARGE, _MAX_MOVED = tags("w:body w:footnote w:endnote w:tbl w:tr w:tc"), 1_000
_METADATA = ("title", "subtitle", "author", "date", "abstract")
_NOT_CODE = tags("w:drawing w:footnoteReference w:endnoteReference m:oMath m:oMathPara")


def rewrite(archive: zipfile.ZipFile, target: IO[bytes], job: Job) -> tuple[dict[str, str | None], Looks]:
    """Write a docx file for pandoc to `target`. Returns the archive's member for each of its pictures, and the looks.

    The pictures in the new file are empty, so that pandoc need not hold them. A picture without a member is not in the
    file. Raises ConversionError if the file is not a Word document, and TooLarge if it is nested too deeply.
    """
    package, pictures = DocxPackage(archive), dict[str, str]()
    main = package.main_part() or "word/document.xml"
    links = list(package.relationships(main).values())
    parts = {"document": main} | {link.type: link.target for link in links if not link.is_external}
    roots = {name: root for name in _PARTS if (root := package.root(parts.get(name))) is not None}
    bodies = [] if "document" not in roots else roots["document"].findall(_BODY)
    if not bodies:
        raise ConversionError("the file does not match its media type: it has no text of a Word document.")
    if not links and roots["document"].xpath(_USES_OF_RELATIONSHIPS, namespaces=NAMESPACES):
        raise ConversionError("the file is damaged: the relationships of the document are missing.")
    for other in bodies[1:]:
        bodies[0].extend(other)
    _note_left_out(package, links, job)
    if "styles" in roots and "numbering" in roots:
        set_list_levels(roots["styles"], roots["numbering"])
    styles = WordStyles(roots.get("styles"))
    stories = {name: root for name, root in roots.items() if name in _STORIES}
    looks = WordLooks(styles, stories.values())
    numbers = WordNumbers(styles, roots.get("numbering"))
    with zipfile.ZipFile(target, "w") as copy:
        _write_relationships(copy, "_rels/.rels", {"rId1": Relationship("officeDocument", "word/document.xml")}, {})
        for name, root in stories.items():
            relationships = package.relationships(parts[name])
            body.simplify(root)
            numbers.write(root)
            graphics.simplify(root, package, relationships)
            runs.simplify(root, styles, relationships, job)
            tables.simplify(root)
            _keep_titles_and_code(root, styles)
            looks.mark(root)
            _write_relationships(copy, f"word/_rels/{name}.xml.rels", relationships, pictures)
        for name, root in roots.items():
            _write_part(copy, name, root)
        for picture in pictures.values():
            copy.writestr(f"word/{picture}", b"")
    return {name: package.member(path) for path, name in pictures.items()}, looks.looks


def _keep_titles_and_code(root: Any, styles: WordStyles) -> None:
    """Join titles at the start, of which pandoc keeps one, and keep notes and pictures in code, which it removes."""
    titles: dict[str, Any] = {}
    is_start = True
    for paragraph in list(root.iter(body.P)):
        properties, style = paragraph.find(PROPERTIES), value(paragraph.find(PROPERTIES), "w:pStyle")
        is_rich, name = next(paragraph.iter(*_NOT_CODE), None) is not None, styles.name(style)
        if is_rich and styles.is_code(style):
            properties.remove(properties.find(tag("w:pStyle")))
        has_content = is_rich or "".join(paragraph.itertext()).strip()
        is_start = is_start and (name in _METADATA or not has_content)
        if is_start and name in titles:
            if has_content:
                etree.SubElement(etree.SubElement(titles[name], body.R), tag("w:br"))
                titles[name].extend([child for child in paragraph if child.tag != PROPERTIES])
            paragraph.getparent().remove(paragraph)
        elif is_start and has_content and name in _METADATA[:2]:
            titles[name] = paragraph


def _note_left_out(package: DocxPackage, links: list[Relationship], job: Job) -> None:
    for kind, path, is_external in links:
        root = package.root(path) if kind in _LEFT_OUT and kind != "aFChunk" and not is_external else None
        texts = () if root is None else root.iter(tag("w:t"))
        if kind == "aFChunk" or any((text.text or "").strip() for text in texts):
            job.note(_LEFT_OUT[kind])


def _write_part(copy: zipfile.ZipFile, name: str, root: Any) -> None:
    """Write a part with the usual prefixes, which pandoc requires, and without what pandoc does not read."""
    etree.strip_elements(root, *_UNREAD, with_tail=False)
    etree.strip_attributes(root, "{*}rsidR", "{*}rsidRPr", "{*}rsidRDefault", "{*}rsidP", "{*}rsidTr")
    new_root = etree.Element(root.tag, dict(root.attrib), nsmap=NAMESPACES)
    _move(root, new_root)
    copy.writestr(f"word/{name}.xml", etree.tostring(new_root, encoding="utf-8", xml_declaration=True))


def _move(source: Any, target: Any) -> None:
    """Move the children of an element one by one, since lxml needs quadratic time for a large element as a whole."""
    for child in list(source):
        if child.tag in _LARGE or len(child) > _MAX_MOVED:
            _move(child, etree.SubElement(target, child.tag, dict(child.attrib)))
        else:
            target.append(child)


def _write_relationships(
    copy: zipfile.ZipFile, name: str, relationships: Relationships, pictures: dict[str, str]
) -> None:
    root = etree.Element(tag("rel:Relationships"), nsmap=NAMESPACES)
    for key, (kind, target, _) in relationships.items():
        if kind == "image":
            extension = "".join(filter(str.isalnum, target.rpartition(".")[2]))[:5]
            target = pictures.setdefault(target, f"media/image{len(pictures) + 1}.{extension}")
        names = {"Id": key, "Type": f"{NAMESPACES['r']}/{kind}", "Target": target}
        etree.SubElement(root, tag("rel:Relationship"), names)
    copy.writestr(name, etree.tostring(root, encoding="utf-8"))
