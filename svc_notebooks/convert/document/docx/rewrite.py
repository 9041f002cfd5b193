"""Rewrites a docx file with the elements that pandoc reads, so that no word is lost."""

from __future__ import annotations

import copy
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from lxml import etree
from lxml.etree import Element, SubElement

from ...input.numerals import integer, numeral
from ...input.zip_file import Relationship, Relationships, chart_kind, chart_rows
from ...job import ConversionError, Job, TooLarge
from ..looks import Looks
from .parts import (
    NAMESPACES,
    OFF,
    PROPERTIES,
    RUN_PROPERTIES,
    TBL,
    TC,
    TR,
    DocxPackage,
    P,
    R,
    WordFormatting,
    WordStyles,
    points,
    prepend,
    run_of,
    set_list_levels,
    simplify,
    tag,
    tags,
    value,
)

_TEXT = tag("w:t")
_TEXTS = tags("w:t w:tab w:br w:noBreakHyphen w:softHyphen w:sym")
_SYNONYMS = {tag("w:cr"): tag("w:br"), tag("w:ptab"): tag("w:tab")}
_FIELD_MARK, _MARK_TYPE, _INSTRUCTION, _SIMPLE_FIELD = tags("w:fldChar w:fldCharType w:instrText w:fldSimple")
_HYPERLINK, _ANCHOR, _ID = tags("w:hyperlink w:anchor r:id")
_FORMATS = {"w:b": "1", "w:i": "1", "w:strike": "1", "w:smallCaps": "1", "w:u": "single"}
_ARGUMENT = re.compile(r'"((?:\\.|[^"\\])*)"|(\S+)')


def _simplify_runs(root: Any, styles: WordStyles, relationships: Relationships, job: Job) -> None:
    """Remove hidden text, split runs, and replace fields by their results. Links of fields get new `relationships`."""
    for pronunciation in list(root.iter(tag("w:rt"))):  # in parentheses, behind the text that it belongs to
        pronunciation[:] = [run_of("("), *pronunciation, run_of(")")]
        pronunciation.getparent().append(pronunciation)
    etree.strip_tags(root, *tags("w:ruby w:rt w:rubyBase"))
    style, formats = "", list[str]()
    for element in list(root.iter(P, R)):
        if element.tag == P:
            style = value(element.find(PROPERTIES), "w:pStyle") or styles.default
            names = () if styles.is_heading(style) else _FORMATS
            formats = [name for name in names if styles.style_switches(style, name)]
            continue
        properties = element.find(RUN_PROPERTIES)
        for name in formats:  # of the paragraph's style, which pandoc does not read
            run_properties = _properties(element, RUN_PROPERTIES)
            if run_properties.find(tag(name)) is None:
                is_on = styles.switches(style, properties, name)
                SubElement(run_properties, tag(name), {_VAL: _FORMATS[name] if is_on else "0"})
        if styles.switches(style, properties, "w:vanish"):
            job.note("Hidden text was left out.")
            etree.strip_elements(element, *_TEXTS, *_SYNONYMS, *tags("w:drawing w:pict w:object"), with_tail=False)
    for run in reversed(list(root.iter(R))):
        _split(run)
    for element in root.iter(_SIMPLE_FIELD):
        with job.leaving_out("The link of a field"):
            field = _Field([element.get(tag("w:instr"), "")])
            if next(element.iter(_TEXT), None) is None:
                element.append(run_of(field.text))
            if field.target:
                _set_target(element, field.target, relationships)
    _simplify_complex_fields(root, relationships)
    for link in root.iter(_HYPERLINK):
        link.tag = _SIMPLE_FIELD if link.get(_ID) is None and link.get(_ANCHOR) is None else _HYPERLINK
    etree.strip_tags(root, _SIMPLE_FIELD)


def _split(run: Any) -> None:
    """Replace a run with several elements, of which one is not text or is a page break, by runs with one element."""
    properties, children = run.find(RUN_PROPERTIES), [child for child in run if child.tag != RUN_PROPERTIES]
    for child in children:
        child.tag = _SYNONYMS.get(child.tag, child.tag)
    is_text = all(child.tag in _TEXTS and child.get(tag("w:type")) != "page" for child in children)
    if children and (is_text or (len(children) == 1 and children[0].tag != R)):
        return
    for child in children:
        if child.tag != R:
            new = Element(R)
            new.extend([copy.deepcopy(properties)] if properties is not None else [])
            new.append(child)
            child = new
        run.addprevious(child)
    run.getparent().remove(run)


@dataclass(slots=True)
class _Field:
    """A field. `hidden` tells whether text at this place is part of an instruction, `start` where its result starts."""

    instruction: list[str]
    form: str = ""
    hidden: bool = False
    link: str | None = None
    start: int = 0

    def arguments(self) -> list[str]:
        """Split the instruction into words; a text in quotation marks is one word."""
        matches = _ARGUMENT.finditer("".join(self.instruction))
        return [re.sub(r"\\(.)", r"\1", match[1]) if match[1] is not None else match[2] for match in matches]

    @property
    def target(self) -> str | None:
        """The address, or "#" and the bookmark, that the result links to."""
        name, *rest = self.arguments() or [""]
        switches = [word.lower() for word in rest]
        if name.upper() == "HYPERLINK":
            anchors = [rest[at + 1] for at, word in enumerate(switches[:-1]) if word == "\\l"]
            return "#".join([rest[0] if rest and not rest[0].startswith("\\") else "", *anchors[:1]])
        return f"#{rest[0]}" if name.upper() in ("REF", "PAGEREF", "NOTEREF") and "\\h" in switches else None

    @property
    def text(self) -> str:
        """The text of a field without a result: the label of a button, or the value of a form field."""
        words = self.arguments()
        return " ".join(words[2:]) if words and words[0].upper() in ("MACROBUTTON", "GOTOBUTTON") else self.form


def _form_value(mark: Any) -> str:
    """Return the mark of a check box or the selected entry of a drop-down list, or ""."""
    box, entries = (next(mark.iter(name), None) for name in tags("w:checkBox w:ddList"))
    if box is not None:
        state = value(box, "w:checked")
        return "☐" if (value(box, "w:default") or "0" if state is None else state) in OFF else "☒"
    texts = [] if entries is None else [entry.get(tag("w:val"), "") for entry in entries.iter(tag("w:listEntry"))]
    chosen = value(entries, "w:result") or value(entries, "w:default") or "0"
    return texts[int(chosen)] if chosen.isdecimal() and int(chosen) < len(texts) else ""


def _simplify_complex_fields(root: Any, relationships: Relationships) -> None:
    """Remove the marks and instructions of fields that begin and end in runs, and link their results."""
    complete, fields, shown = _complete_marks(root), [_Field([])], 0
    link: tuple[Any, str | None] = (None, None)
    for run in list(root.iter(R)):
        mark, instruction, field = run.find(_FIELD_MARK), run.find(_INSTRUCTION), fields[-1]
        if mark is None and instruction is None and not field.hidden:
            shown += 1
            if field.link and run.getparent().tag != _HYPERLINK:
                if link[1] != field.link or link[0].getnext() is not run:
                    link = (Element(_HYPERLINK), field.link)
                    run.addprevious(link[0])
                    _set_target(link[0], field.link, relationships)
                link[0].append(run)
            continue
        if instruction is not None:
            field.instruction.append(instruction.text or "")
        elif mark in complete and mark.get(_MARK_TYPE) == "begin":
            fields.append(_Field([], _form_value(mark), hidden=True, link=field.link, start=shown))
        elif mark in complete:
            field.hidden, field.link = fields[-2].hidden, field.target or field.link
            if mark.get(_MARK_TYPE) == "end":
                fields.pop()
                if field.start == shown and not field.hidden:
                    run.addprevious(run_of(field.text))
        run.getparent().remove(run)


def _complete_marks(root: Any) -> set[Any]:
    """Return the marks of the fields that begin and end, since a field without an end would hide the rest."""
    complete: set[Any] = set()
    open_fields: list[list[Any]] = []
    for mark in root.iter(_FIELD_MARK):
        if mark.get(_MARK_TYPE) == "begin":
            open_fields.append([])
        if open_fields:
            open_fields[-1].append(mark)
            if mark.get(_MARK_TYPE) == "end":
                complete.update(open_fields.pop())
    return complete


def _set_target(link: Any, target: str, relationships: Relationships) -> None:
    link.tag = _HYPERLINK
    if target.startswith("#"):
        link.set(_ANCHOR, target[1:])
    else:
        link.set(_ID, f"field{len(relationships)}")
        relationships[link.get(_ID)] = Relationship("hyperlink", target, is_external=True)


_NUMBERING, _LEVEL, _OVERRIDE = tag("w:numPr"), tag("w:lvl"), tag("w:lvlOverride")
_PLACE = re.compile(r"%([1-9])")
_MAX_LABEL = 255
_WORD = re.compile(r"[^\W\d_]")
_FIRST_NUMBERS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}


class WordNumbers:
    """The numbers of the paragraphs of a document, which is read in its order. The roots may be None."""

    def __init__(self, styles: WordStyles, numbering: Any) -> None:
        self._styles = styles
        # By number of the list: the id of its definition, its levels, and the numbers with which levels start.
        self._lists: dict[str, tuple[str, dict[int, Any], dict[int, int]]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        for element in () if numbering is None else numbering.iter(tag("w:lvlText")):
            element.set(_VAL, element.get(_VAL, "")[:_MAX_LABEL])
        definitions = {} if numbering is None else {it.get(tag("w:abstractNumId")): it for it in numbering}
        for element in () if numbering is None else numbering.iter(tag("w:num")):
            name = value(element, "w:abstractNumId") or ""
            definition = definitions.get(name)
            levels = {_index(it): it for it in (() if definition is None else definition.iter(_LEVEL))}
            levels |= {_index(it): it for it in element.iter(_LEVEL)}
            starts = {_index(it): integer(value(it, "w:startOverride"), 1) for it in element.iter(_OVERRIDE)
                      if value(it, "w:startOverride")}  # fmt: skip
            self._lists[element.get(tag("w:numId"), "")] = name, levels, starts

    def write(self, root: Any) -> None:
        """Insert the numbers that pandoc does not read. Other lists stay lists."""
        for paragraph in list(root.iter(P)) if self._lists else ():
            properties = paragraph.find(PROPERTIES)
            style = value(properties, "w:pStyle")
            number, level = self._position(properties, style)
            if number not in self._lists:
                continue
            label = self._count(number, level)
            plan = self._lists[number][1].get(level)
            is_worded = _WORD.search(_PLACE.sub("", value(plan, "w:lvlText") or "")) is not None
            if not label or not (is_worded or self._styles.is_heading(style)):
                continue
            own = properties.find(_NUMBERING)
            if own is not None:
                properties.remove(own)
            elif not self._styles.is_heading(style):  # the list is that of the style
                own = SubElement(properties, _NUMBERING)
                SubElement(own, tag("w:numId"), {tag("w:val"): "0"})
            prepend(paragraph, [run_of(f"{label} ")])

    def _position(self, properties: Any, style: str | None) -> tuple[str, int]:
        """Return the number of the list ("" without a list) and the level of a paragraph."""
        own = None if properties is None else properties.find(_NUMBERING)
        number, level = value(own, "w:numId"), value(own, "w:ilvl")
        for element in self._styles.chain(style) if number is None else ():
            inherited = element.find(f"{PROPERTIES}/{_NUMBERING}")
            level = level or value(inherited, "w:ilvl")
            if (number := value(inherited, "w:numId")) is not None:
                plans = self._lists.get(number, ("", {}, {}))[1]
                linked = [index for index, plan in plans.items() if value(plan, "w:pStyle") == style]
                return number, linked[0] if linked and level is None else integer(level, 0)
        return number or "", integer(level, 0)

    def _count(self, number: str, level: int) -> str:
        """Count a paragraph, and return its label, which is "" for a bullet."""
        name, plans, starts = self._lists[number]
        counts = self._counts.setdefault(name, {})
        for index in [index for index in counts if index > level]:
            del counts[index]
        for index in range(level + 1):
            start = integer(value(plans.get(index), "w:start"), 1)
            counts[index] = starts.pop(index, counts.get(index, start - (index == level)) + (index == level))
        kinds = {index: value(plan, "w:numFmt") or "decimal" for index, plan in plans.items()}
        if kinds.get(level) in (None, "bullet", "none"):
            return ""
        text = value(plans[level], "w:lvlText") or ""
        return _PLACE.sub(lambda it: _number(counts.get(int(it[1]) - 1, 1), kinds.get(int(it[1]) - 1, "")), text)


def _index(element: Any) -> int:
    return integer(element.get(tag("w:ilvl")), 0)


def _number(count: int, kind: str) -> str:
    """Write a number in the format of a list level.

    >>> [_number(4, kind) for kind in ("decimal", "lowerRoman", "upperLetter", "decimalZero")]
    ['4', 'iv', 'D', '04']
    """
    return str(count).zfill(2) if kind == "decimalZero" else numeral(count, _FIRST_NUMBERS.get(kind, "1"))


_GRAPHICS = tags("w:drawing w:pict w:object")
_GRAPHIC_TEXTS = tags("v:textpath c:chart dgm:relIds a:p")
_RULE, _OWN_SIZE = tag("v:rect"), "/".join(tags("pic:spPr a:xfrm a:ext"))
_PICTURES, _RELATION_IDS = tags("pic:pic v:imagedata"), tags("r:embed r:link r:id r:pict")
_EMU_PER_POINT = 12_700
_POINTS_PER_PIXEL = 0.75
_MAX_ROWS = 1_000  # the limit of the rows of a chart that are read


def _simplify_graphics(root: Any, package: DocxPackage, relationships: Relationships, looks: Looks, job: Job) -> None:
    """Replace each graphic in a run by its pictures, and put its text behind the paragraph."""
    for graphic in reversed(list(root.iter(*_GRAPHICS))):
        paragraph: Any = next(graphic.iterancestors(P), None)
        for element in reversed(list(graphic.iter(*_GRAPHIC_TEXTS))) if paragraph is not None else ():
            with job.leaving_out("The text of a graphic"):
                for block in reversed(list(_text_blocks(element, package, relationships, looks, job))):
                    paragraph.addnext(block)
        for element in graphic.iter(*_PICTURES):
            with job.leaving_out("A picture"):
                if (picture := _picture(element, relationships)) is not None:
                    graphic.addprevious(picture)
        if graphic.find(_RULE) is None or graphic.find(_RULE).get(tag("o:hr")) != "t":
            graphic.getparent().remove(graphic)


def _picture(element: Any, relationships: Relationships) -> Any:
    """Return a w:drawing with only one picture, or None if the picture has no relationship."""
    blip, shape = next(element.iter(tag("a:blip")), element), element.getparent()
    relation_id = next((blip.get(name) for name in _RELATION_IDS if blip.get(name) in relationships), None)
    if relation_id is None:
        return None
    frame = next(element.iterancestors(*tags("wp:inline wp:anchor")), None)
    if frame is not None:
        about = frame.find(tag("wp:docPr"))
        extent = element.find(_OWN_SIZE) if shape.tag != tag("a:graphicData") else frame.find(tag("wp:extent"))
        size = {} if extent is None else {name: extent.get(name, "0") for name in ("cx", "cy")}
        description = {} if about is None else {name: about.get(name, "") for name in ("descr", "title")}
    else:
        style = dict(rule.partition(":")[::2] for rule in "".join(shape.get("style", "").split()).split(";"))
        lengths = (points(style.get(name), _POINTS_PER_PIXEL) for name in ("width", "height"))
        size = {name: str(round(length * _EMU_PER_POINT)) for name, length in zip(("cx", "cy"), lengths, strict=True)}
        description = {"descr": shape.get("alt", "")}
    drawing = Element(tag("w:drawing"))
    inline = SubElement(drawing, tag("wp:inline"))
    if size and "0" not in size.values():
        SubElement(inline, tag("wp:extent"), size)
    SubElement(inline, tag("wp:docPr"), description)
    fill = SubElement(SubElement(inline, tag("pic:pic"), nsmap=NAMESPACES), tag("pic:blipFill"))
    SubElement(fill, tag("a:blip"), {tag("r:embed"): relation_id})
    return drawing


def _text_blocks(
    element: Any, package: DocxPackage, relationships: Relationships, looks: Looks, job: Job
) -> Iterator[Any]:
    """Yield paragraphs, and for a chart also a table, with the text of a graphic."""
    if element.tag == tag("v:textpath"):
        yield from _paragraphs([element.get("string", "")])
    elif element.tag == tag("a:p"):
        yield from _paragraphs([_text(element)])
    else:
        is_chart = element.tag == tag("c:chart")
        relationship = relationships.get(element.get(tag("r:id" if is_chart else "r:dm")))
        data = package.root(relationship.target) if relationship and not relationship.is_external else None
        if data is not None:
            yield from _paragraphs(map(_text, data.iter(tag("c:title" if is_chart else "dgm:pt"))))
            if is_chart and (rows := chart_rows(data, _MAX_ROWS, job)):
                if kind := chart_kind(data):
                    rows[0][0] = looks.marker({"chart": kind}) + "\u00a0"
                table = Element(tag("w:tbl"))
                for row in rows:
                    cells = SubElement(table, tag("w:tr"))
                    for text in row:
                        SubElement(cells, tag("w:tc")).extend(_paragraphs([text]))
                yield table


def _text(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(tag("a:t")))


def _paragraphs(lines: Iterable[str]) -> Iterator[Any]:
    for line in filter(str.strip, lines):
        paragraph = Element(P)
        paragraph.append(run_of(line))
        yield paragraph


_MAX_COLUMNS = 1_001  # one more than clean.py accepts
_MAX_GRID_COLUMNS = 100_000  # of all tables in a part
_VAL, _WIDTH = tags("w:val w:w")
_CELL_PROPERTIES, _SPAN, _MERGE = tags("w:tcPr w:gridSpan w:vMerge")
_Cells = dict[int, tuple[int, Any]]  # the cells that the next row can continue, with their span, by column


def _simplify_tables(root: Any, job: Job) -> None:
    """Rewrite the tables in a part, the inner ones first. Raises TooLarge above `_MAX_GRID_COLUMNS`."""
    total = 0
    for table in reversed(list(root.iter(TBL))):
        with job.leaving_out("The grid of a table"):
            total += _simplify_table(table)
        if total > _MAX_GRID_COLUMNS:
            raise TooLarge(f"the tables have more than {_MAX_GRID_COLUMNS} columns in all.")


def _simplify_table(table: Any) -> int:
    """Rewrite a table, and return the number of its columns."""
    above: _Cells = {}
    rows = []
    for row in table.findall(TR):
        above, width = _simplify_row(row, above)
        rows.append((row, width))
    columns = max((width for _, width in rows), default=0)
    for row, width in rows:
        if width < columns:
            _set_span(SubElement(row, TC), columns - width)
    grid = table.find(tag("w:tblGrid"))
    sizes = [] if grid is None else [column.get(_WIDTH, "") for column in grid]
    sizes = sizes if len(sizes) == columns and all(map(str.isdecimal, sizes)) else ["0"] * columns
    table.remove(grid) if grid is not None else None
    grid = table.makeelement(tag("w:tblGrid"))
    for size in sizes:
        SubElement(grid, tag("w:gridCol"), {_WIDTH: size})
    table.insert(0, grid)
    return columns


def _simplify_row(row: Any, above: _Cells) -> tuple[_Cells, int]:
    """Rewrite the cells of a row. Returns the cells that the next row can continue, and the number of columns."""
    merged: _Cells = {}
    properties, width = row.find(tag("w:trPr")), 0
    before = None if properties is None else properties.find(tag("w:gridBefore"))
    if before is not None:
        if (columns := integer(before.get(_VAL))) > 0:
            properties.addnext(row.makeelement(TC))
            _set_span(properties.getnext(), columns)
        properties.remove(before)
    for cell in row.findall(TC):
        properties = cell.find(_CELL_PROPERTIES)
        span = min(max(integer(value(properties, "w:gridSpan")), 1), _MAX_COLUMNS)
        _set_span(cell, span)
        merge = None if properties is None else properties.find(_MERGE)
        if merge is not None:
            continued = above.get(width) if merge.get(_VAL) != "restart" else None
            if continued and continued[0] == span:
                merged[width] = continued
                if next(cell.iter(_TEXT), None) is not None:
                    continued[1].extend([child for child in cell if child.tag != _CELL_PROPERTIES])
            else:
                merge.set(_VAL, "restart")
                merged[width] = (span, cell)
        width = min(width + span, _MAX_COLUMNS)
    return merged, width


def _set_span(cell: Any, span: int) -> None:
    properties = _properties(cell, _CELL_PROPERTIES)
    old = properties.find(_SPAN)
    (SubElement(properties, _SPAN) if old is None else old).set(_VAL, str(span))


def _properties(element: Any, kind: str) -> Any:
    """Return the properties of a run or a cell, which are made if they are missing."""
    properties = element.find(kind)
    if properties is None:
        properties = element.makeelement(kind)
        element.insert(0, properties)
    return properties


_OTHER_HEADERS = "Headers and footers of first pages, of even pages and of other sections were left out."
_LEFT_OUT = {
    "header": _OTHER_HEADERS, "footer": _OTHER_HEADERS,
    "comments": "Comments were left out.", "aFChunk": "Documents inside the document were left out.",
}  # fmt: skip
_STORIES = ("document", "footnotes", "endnotes")
_PARTS = (*_STORIES, "styles", "numbering")
_BODY = tag("w:body")
_USES_OF_RELATIONSHIPS = "//@r:*|//w:footnoteReference|//w:endnoteReference"
_UNREAD = tags(  # frequent elements that pandoc does not read, and for which it would need twice the memory
    "w:sz w:szCs w:color w:lang w:kern w:spacing w:shd w:tabs w:noProof w:lastRenderedPageBreak w:latentStyles w:tcW"
    " w:tcBorders w:tcMar w:vAlign w:trHeight w:tblBorders w:tblCellMar w:autoSpaceDE w:autoSpaceDN w:adjustRightInd"
    " w:widowControl w:rsids"
)
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
    links_by_id = package.relationships(main)
    links = list(links_by_id.values())
    parts = {"document": main} | {link.type: link.target for link in links if not link.is_external}
    roots = {name: root for name in _PARTS if (root := package.root(parts.get(name))) is not None}
    bodies = [] if "document" not in roots else roots["document"].findall(_BODY)
    if not bodies:
        raise ConversionError("the file does not match its media type: it has no text of a Word document.")
    if not links and roots["document"].xpath(_USES_OF_RELATIONSHIPS, namespaces=NAMESPACES):
        raise ConversionError("the file is damaged: the relationships of the document are missing.")
    for other in bodies[1:]:
        bodies[0].extend(other)
    if "styles" in roots and "numbering" in roots:
        set_list_levels(roots["styles"], roots["numbering"])
    styles = WordStyles(roots.get("styles"))
    stories = {name: root for name, root in roots.items() if name in _STORIES}
    theme = None
    with suppress(ConversionError):  # pages without the fonts of a damaged theme
        theme = package.root(parts.get("theme"))
    looks = WordFormatting(styles, stories.values(), theme)
    numbers = WordNumbers(styles, roots.get("numbering"))
    with zipfile.ZipFile(target, "w") as copy:
        _write_relationships(copy, "_rels/.rels", {"rId1": Relationship("officeDocument", "word/document.xml")}, {})
        for name, root in stories.items():
            relationships = package.relationships(parts[name])
            simplify(root)
            with job.leaving_out("The numbers of paragraphs"):
                numbers.write(root)
            _simplify_graphics(root, package, relationships, looks.looks, job)
            _simplify_runs(root, styles, relationships, job)
            _simplify_tables(root, job)
            _keep_titles_and_code(root, styles)
            looks.mark(root, job)
            _write_relationships(copy, f"word/_rels/{name}.xml.rels", relationships, pictures)
        kept = {kind: links_by_id[part] for kind, part in looks.page_parts.items() if part in links_by_id}
        for kind, link in kept.items():
            with job.leaving_out("A header or footer"):
                if (root := package.root(link.target)) is not None:
                    simplify(root)
                    setattr(looks.looks, kind, looks.page_lines(root))
        for kind, path, is_external in (link for link in links if link not in kept.values()):
            root = package.root(path) if kind in _LEFT_OUT and kind != "aFChunk" and not is_external else None
            texts = () if root is None else root.iter(_TEXT)
            if kind == "aFChunk" or any((text.text or "").strip() for text in texts):
                job.note(_LEFT_OUT[kind])
        for name, root in roots.items():
            _write_part(copy, name, root)
        for picture in pictures.values():
            copy.writestr(f"word/{picture}", b"")
    return {name: package.member(path) for path, name in pictures.items()}, looks.looks


def _keep_titles_and_code(root: Any, styles: WordStyles) -> None:
    """Join titles at the start, of which pandoc keeps one, and keep notes and pictures in code, which it removes."""
    titles: dict[str, Any] = {}
    is_start = True
    for paragraph in list(root.iter(P)):
        properties, style = paragraph.find(PROPERTIES), value(paragraph.find(PROPERTIES), "w:pStyle")
        is_rich, name = next(paragraph.iter(*_NOT_CODE), None) is not None, styles.name(style)
        if is_rich and styles.is_code(style):
            properties.remove(properties.find(tag("w:pStyle")))
        has_content = is_rich or "".join(paragraph.itertext()).strip()
        is_start = is_start and (name in _METADATA or not has_content)
        if is_start and name in titles:
            if has_content:
                SubElement(SubElement(titles[name], R), tag("w:br"))
                titles[name].extend([child for child in paragraph if child.tag != PROPERTIES])
            paragraph.getparent().remove(paragraph)
        elif is_start and has_content and name in _METADATA[:2]:
            titles[name] = paragraph


def _write_part(copy: zipfile.ZipFile, name: str, root: Any) -> None:
    """Write a part with the usual prefixes, which pandoc requires, and without what pandoc does not read."""
    etree.strip_elements(root, *_UNREAD, with_tail=False)
    etree.strip_attributes(root, "{*}rsidR", "{*}rsidRPr", "{*}rsidRDefault", "{*}rsidP", "{*}rsidTr")
    new_root = Element(root.tag, dict(root.attrib), nsmap=NAMESPACES)
    _move(root, new_root)
    copy.writestr(f"word/{name}.xml", etree.tostring(new_root, encoding="utf-8", xml_declaration=True))


def _move(source: Any, target: Any) -> None:
    """Move the children of an element one by one, since lxml needs quadratic time for a large element as a whole."""
    for child in list(source):
        if child.tag in _LARGE or len(child) > _MAX_MOVED:
            _move(child, SubElement(target, child.tag, dict(child.attrib)))
        else:
            target.append(child)


def _write_relationships(
    copy: zipfile.ZipFile, name: str, relationships: Relationships, pictures: dict[str, str]
) -> None:
    root = Element(tag("rel:Relationships"), nsmap=NAMESPACES)
    for key, (kind, target, _) in relationships.items():
        if kind == "image":
            extension = "".join(filter(str.isalnum, target.rpartition(".")[2]))[:5]
            target = pictures.setdefault(target, f"media/image{len(pictures) + 1}.{extension}")
        names = {"Id": key, "Type": f"{NAMESPACES['r']}/{kind}", "Target": target}
        SubElement(root, tag("rel:Relationship"), names)
    copy.writestr(name, etree.tostring(root, encoding="utf-8"))
