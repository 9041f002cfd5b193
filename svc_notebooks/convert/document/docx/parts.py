"""Opens the parts of a docx file, resolves their styles, and rewrites their structure."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from typing import Any

from lxml import etree

from ...input.zip_file import OpcPackage
from ...job import ConversionError, TooLarge

_OFFICE = "http://schemas.openxmlformats.org"
NAMESPACES = {
    "w": f"{_OFFICE}/wordprocessingml/2006/main", "r": f"{_OFFICE}/officeDocument/2006/relationships",
    "m": f"{_OFFICE}/officeDocument/2006/math", "wp": f"{_OFFICE}/drawingml/2006/wordprocessingDrawing",
    "a": f"{_OFFICE}/drawingml/2006/main", "pic": f"{_OFFICE}/drawingml/2006/picture",
    "c": f"{_OFFICE}/drawingml/2006/chart", "dgm": f"{_OFFICE}/drawingml/2006/diagram",
    "mc": f"{_OFFICE}/markup-compatibility/2006", "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office", "rel": f"{_OFFICE}/package/2006/relationships",
}  # fmt: skip
_STRICT = re.compile(r"\{http://purl\.oclc\.org/ooxml/(\w+)/")
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)


def tag(name: str) -> str:
    """Replace the prefix of a name by its namespace: "w:p" becomes "{http://...}p", as lxml writes names."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def tags(names: str) -> tuple[str, ...]:
    """Return `tag` of each of the names, which are separated by blanks."""
    return tuple(map(tag, names.split()))


class DocxPackage(OpcPackage):
    """The parts in the zip archive of a docx file."""

    def root(self, name: str | None) -> Any:
        """Return the root element of a part in the transitional variant, or None if the part is missing.

        Raises ConversionError if the part is damaged, and TooLarge above libxml2's limits of nesting and of text.
        """
        if name is None or self.member(name) is None:
            return None
        try:
            with self.open(name) as part:
                root = etree.fromstring(part.read(), _PARSER)
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, etree.XMLSyntaxError) as error:
            if "XML_PARSE_HUGE" in str(error):
                raise TooLarge("the document is nested too deeply, or a text is too long.") from error
            raise ConversionError(f"the file is damaged at {name[:80]!r}: {str(error)[:100]}.") from error
        if _STRICT.match(root.tag):
            for element in root.iter(etree.Element):
                element.tag = _transitional(element.tag)
                for attribute in filter(_STRICT.match, element.keys()):
                    element.set(_transitional(attribute), element.attrib.pop(attribute))
        return root


def _transitional(name: str) -> str:
    return _STRICT.sub(rf"{{{_OFFICE}/\1/2006/", name)


_VAL = tag("w:val")
OFF = ("0", "false", "off", "none")
_MAX_CHAIN = 50
_CODE = ("source code", "sourcecode", "source_code")
_HEADING = re.compile("heading [1-9]|title|subtitle|author|date|abstract")
_LIST_STYLE = re.compile(r"list (?:bullet|number) ([2-5])")


def value(element: Any, name: str) -> str | None:
    """Return the attribute w:val of the child `name` ("w:b"), "" if the child has no value, None if it is missing."""
    child = None if element is None else element.find(tag(name))
    return None if child is None else child.get(_VAL, "")


class WordStyles:
    """The styles in the part `root`, which may be None."""

    def __init__(self, root: Any) -> None:
        elements = () if root is None else root.iter(tag("w:style"))
        self._elements = {style.get(tag("w:styleId"), ""): style for style in elements}
        self._defaults = [] if root is None else root.findall(tag("w:docDefaults"))
        paragraph_styles = [style for style in self._elements.values() if style.get(tag("w:type")) == "paragraph"]
        defaults = [style for style in paragraph_styles if style.get(tag("w:default"), "0") not in OFF]
        self.default = defaults[0].get(tag("w:styleId"), "") if defaults else ""
        self._parents = {name: value(style, "w:basedOn") for name, style in self._elements.items()}
        self._switched: dict[tuple[str | None, str], bool] = {}
        for name, parent in self._parents.items():  # pandoc ignores a style without a root
            if parent not in self._elements and parent is not None:
                self._elements[name].remove(self._elements[name].find(tag("w:basedOn")))

    def name(self, style: str | None) -> str:
        """Return the name of a style in lower case, such as "title", or "" if the style is unknown."""
        return next(iter(self.names(style)), "")

    def names(self, style: str | None) -> list[str]:
        """Return the names, in lower case, of a style and of the styles that it is based on, such as "heading 1"."""
        return [(value(element, "w:name") or "").lower() for element in self.chain(style)]

    def chain(self, style: str | None) -> list[Any]:
        """Return the element of a style, of the style that it is based on, and so on."""
        chain: list[Any] = []
        while style in self._elements and len(chain) < _MAX_CHAIN:  # the styles of a damaged file may be a circle
            chain.append(self._elements[style])
            style = self._parents.get(style)
        return chain

    def properties(self, style: str | None, kind: str) -> list[Any]:
        """Return the w:pPr or w:rPr (`kind`) of a style after those of its base, or for None of the defaults."""
        if style is None:
            return [element for defaults in self._defaults for element in defaults.iter(kind)]
        return [element.find(kind) for element in reversed(self.chain(style))]

    def is_code(self, style: str | None) -> bool:
        """Return whether pandoc reads a paragraph with this style as code."""
        return not set(_CODE).isdisjoint(self.names(style))

    def is_heading(self, style: str | None) -> bool:
        """Return whether pandoc reads a paragraph with this style as a heading or as metadata."""
        return any(map(_HEADING.fullmatch, self.names(style)))

    def switches(self, paragraph_style: str | None, properties: Any, name: str) -> bool:
        """Return whether a run with these properties (w:rPr or None) has a property such as "w:b" or "w:u".

        A toggle property that both styles have is off (ECMA-376-1, 17.7.3).
        """
        direct = value(properties, name)
        if direct is not None:
            return direct not in OFF
        style_values = (self.style_switches(style, name) for style in (paragraph_style, value(properties, "w:rStyle")))
        return sum(style_values) in ((1, 2) if name == "w:u" else (1,))

    def style_switches(self, style: str | None, name: str) -> bool:
        """Return whether a style switches a property such as "w:b" or "w:u" on."""
        if (style, name) not in self._switched:
            values = (value(element.find(tag("w:rPr")), name) for element in self.chain(style))
            self._switched[style, name] = next((text for text in values if text is not None), "0") not in OFF
        return self._switched[style, name]


def set_list_levels(styles: Any, numbering: Any) -> None:
    """Give the styles "List Bullet 2", "List Number 3" and so on their list level in both parts.

    Word defines a separate one-level list for each style, and pandoc would not nest these lists.
    """
    levels: dict[str | None, str] = {}
    for style in styles.iter(tag("w:style")):
        match = _LIST_STYLE.fullmatch((value(style, "w:name") or "").lower())
        number = style.find(f"{tag('w:pPr')}/{tag('w:numPr')}")
        if match and number is not None and value(number, "w:ilvl") is None:
            levels[value(number, "w:numId")] = level = str(int(match[1]) - 1)
            number.insert(0, number.makeelement(tag("w:ilvl"), {_VAL: level}))
    lists = {value(num, "w:abstractNumId"): levels.get(num.get(tag("w:numId"))) for num in numbering.iter(tag("w:num"))}
    for abstract in numbering.iter(tag("w:abstractNum")):
        plans, new_level = abstract.findall(tag("w:lvl")), lists.get(abstract.get(tag("w:abstractNumId")))
        if new_level and len(plans) == 1:
            plans[0].set(tag("w:ilvl"), new_level)


P, R, TBL, TR, TC = tags("w:p w:r w:tbl w:tr w:tc")
PROPERTIES, RUN_PROPERTIES = tags("w:pPr w:rPr")
_STORIES = tags("w:body w:footnote w:endnote w:tc w:txbxContent")
_INLINES = tags("w:r w:hyperlink w:fldSimple m:oMath m:oMathPara")
_BOOKMARK = tag("w:bookmarkStart")
_STRUCTURE = {*_STORIES, *_INLINES, _BOOKMARK, *tags("w:p w:tbl w:tr w:ruby w:rt w:rubyBase w:drawing w:pict w:object")}
_REMOVED = tags(
    "w:del w:moveFrom w:delText w:fldData w:sdtPr w:sdtEndPr w:smartTagPr w:customXmlPr w:pPrChange w:rPrChange"
)
_WORD = "http://schemas.microsoft.com/office/word"
_UNDERSTOOD = {  # the namespaces of the alternatives (mc:Choice) that are read; others have a fallback
    "urn:schemas-microsoft-com:vml", "http://schemas.microsoft.com/office/drawing/2010/main",
    f"{_WORD}/2010/wordml", f"{_WORD}/2012/wordml", *(
        f"{_WORD}/2010/wordprocessing{name}" for name in ("Shape", "Group", "Canvas", "Drawing")
    ),
}  # fmt: skip


def simplify(root: Any) -> None:
    """Remove deleted text, choose alternatives, replace unknown elements by their content, and lift text boxes."""
    for alternatives in list(root.iter(tag("mc:AlternateContent"))):
        _choose(alternatives)
    for row in [row for row in root.iter(TR) if row.find(f"{tag('w:trPr')}/{tag('w:del')}") is not None]:
        row.getparent().remove(row)
    ends = [p for p in root.iter(P) if _joins_next(p.find(PROPERTIES))]
    etree.strip_elements(root, *_REMOVED, with_tail=False)
    wrappers = set(tags("mc:AlternateContent mc:Choice mc:Fallback"))
    for element in root.iter(P, R, TBL, TR, TC, tag("w:t")):
        for ancestor in element.iterancestors():
            if ancestor.tag in _STORIES:
                break
            wrappers.add(ancestor.tag)
    etree.strip_tags(root, *wrappers - _STRUCTURE - {root.tag})
    for story in root.iter(*_STORIES):
        _wrap_inlines(story)
    for p in reversed(ends):
        following = p.getnext()
        if following is not None and following.tag == P:
            prepend(following, [child for child in p if child.tag != PROPERTIES])
            p.getparent().remove(p)
    for element in reversed(list(root.iter(P, TBL))):
        _lift(element)


def _choose(alternatives: Any) -> None:
    """Keep the first alternative whose namespaces are understood (ECMA-376-3), else the fallback, else the first."""
    branches = alternatives.findall(tag("mc:Choice"))
    spaces = (
        ({branch.nsmap.get(prefix) for prefix in branch.get("Requires", "").split()}, branch) for branch in branches
    )
    kept = next((branch for used, branch in spaces if used <= _UNDERSTOOD), alternatives.find(tag("mc:Fallback")))
    for branch in branches + alternatives.findall(tag("mc:Fallback")):
        if branch is not (branches[0] if kept is None else kept):
            alternatives.remove(branch)


def _wrap_inlines(story: Any) -> None:
    """Put the runs that are in no paragraph into new ones, and bookmarks into the paragraph that follows."""
    paragraph: Any = None
    bookmarks: list[Any] = []
    for element in list(story):
        if element.tag == _BOOKMARK:
            bookmarks.append(element)
        elif element.tag in _INLINES:
            if paragraph is None:
                paragraph = story.makeelement(P)
                element.addprevious(paragraph)
            paragraph.append(element)
        else:
            paragraph = None
            if bookmarks and (first := next(element.iter(P), None)) is not None:
                prepend(first, bookmarks)
                bookmarks = []


def _joins_next(properties: Any) -> bool:
    """Return whether the end of a paragraph is deleted, or the paragraph is the large initial of the next one."""
    if properties is None:
        return False
    mark, frame = properties.find(RUN_PROPERTIES), properties.find(tag("w:framePr"))
    is_deleted = mark is not None and any(mark.find(name) is not None for name in tags("w:del w:moveFrom"))
    return is_deleted or (frame is not None and frame.attrib.pop(tag("w:dropCap"), "none") != "none")


def prepend(paragraph: Any, inlines: Sequence[Any]) -> None:
    """Put inlines at the start of a paragraph, behind its properties."""
    first = next(paragraph.iterchildren(), None)  # `len` and `find` need linear time
    for inline in reversed(inlines):
        if first is not None and first.tag == PROPERTIES:
            first.addnext(inline)
        else:
            paragraph.insert(0, inline)


def run_of(text: str) -> Any:
    """Return a new run with a text."""
    run = etree.Element(R)
    etree.SubElement(run, tag("w:t")).text = text
    return run


def _lift(element: Any) -> None:
    """Move a paragraph or a table that is in a paragraph, for example in a text box, behind that paragraph."""
    outermost = None
    for ancestor in element.iterancestors():
        if ancestor.tag == TC:
            break
        outermost = ancestor if ancestor.tag == P else outermost
    if outermost is not None:
        outermost.addnext(element)
