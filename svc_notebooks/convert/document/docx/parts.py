"""Opens the parts of a docx file, resolves styles and formatting, and rewrites their structure.

The formatting (ECMA-376-1, 17.7.2) is written as markers into the text.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from typing import Any

from lxml import etree

from ...input.odf_file import color_of, length
from ...input.zip_file import OpcPackage
from ...job import ConversionError, Job, TooLarge
from ..looks import Look, Looks, page_lines, page_sign, readable_color
from ..model import Page

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
    spaces = [{branch.nsmap.get(prefix) for prefix in branch.get("Requires", "").split()} for branch in branches]
    understood = (branch for branch, used in zip(branches, spaces, strict=True) if used <= _UNDERSTOOD)
    kept = next(understood, alternatives.find(tag("mc:Fallback")))
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


_TEXT, _LINK, _BREAK, _SECTION = tags("w:t w:hyperlink w:br w:sectPr")
_HIGHLIGHTS = {
    "yellow": "ffff00", "green": "00ff00", "cyan": "00ffff", "magenta": "ff00ff", "blue": "0000ff", "red": "ff0000",
    "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080", "darkRed": "800000",
    "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0", "black": "000000",
}  # fmt: skip
_ALIGNMENTS = {
    "left": "left", "start": "left", "right": "right", "end": "right", "center": "center", "both": "justify",
    "distribute": "justify", "lowKashida": "justify", "mediumKashida": "justify", "highKashida": "justify",
    "thaiDistribute": "justify",
}  # fmt: skip
_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,6})?")
_DEFAULT_SIZE = "10pt"
_TYPE = tag("w:type")
_SIZES = dict(zip(tags("w:sz w:szCs"), ("size", "complex-size"), strict=True))
_INSTRUCTION, _SIMPLE_FIELD, _FIELD_MARK = tags("w:instrText w:fldSimple w:fldChar")
_BLANKS = dict(zip(tags("w:tab w:ptab w:br w:cr"), "\t\t  ", strict=True))
_REFERENCES = dict(zip(tags("w:headerReference w:footerReference"), ("header", "footer"), strict=True))
_SWITCHES = dict(zip(tags("w:bidi w:pageBreakBefore"), ("bidi", "break"), strict=True))


class WordFormatting:
    """The looks of a docx file with the parts `roots`.

    `looks` has the markers that `mark` writes. `page_parts` has the relationships of the header and of the footer.
    """

    def __init__(self, styles: WordStyles, roots: Iterable[Any], theme: Any) -> None:
        self._styles = styles
        self._resolved: dict[tuple[str | None, str], Look] = {}
        self.page_parts: dict[str, str] = {}
        normal = self._style(None, RUN_PROPERTIES) | self._style(styles.default, RUN_PROPERTIES)
        self._size = normal.get("size", _DEFAULT_SIZE)
        self.looks = Looks((text for root in roots for text in root.itertext()), float(self._size.removesuffix("pt")))
        self.looks.font = font = normal.get("font")
        if font and font.startswith(("minor", "major")) and theme is not None:
            fonts = next(theme.iter(tag(f"a:{font[:5]}Font")), None)
            self.looks.font = None if fonts is None else fonts[0].get("typeface")

    def page_lines(self, root: Any) -> tuple[str, ...]:
        """Return the lines of a header or footer."""
        return page_lines((_alignment(self._block(it, {})).get("align", ""), _line(it)) for it in root.iter(P))

    def _block(self, paragraph: Any, shade: Look) -> Look:
        """Return the look of a paragraph in a cell with the look `shade`."""
        properties = paragraph.find(PROPERTIES)
        style = value(properties, "w:pStyle") or self._styles.default
        return self._style(None, PROPERTIES) | shade | self._style(style, PROPERTIES) | _own(properties)

    def mark(self, root: Any, job: Job) -> None:
        """Write the markers of a part, and read the page of the document."""
        body = root.find(tag("w:body"))
        first_blocks = set() if body is None else self._read_sections(body)
        for table in [block for block in first_blocks if block.tag == TBL]:
            table.addprevious(table.makeelement(P))
            first_blocks.add(table.getprevious())
        for paragraph in root.iter(P):
            with job.leaving_out("The look of a paragraph"):
                self._mark_paragraph(paragraph, body is not None, paragraph in first_blocks)

    def _mark_paragraph(self, paragraph: Any, is_page_text: bool, starts_page: bool) -> None:
        style = value(paragraph.find(PROPERTIES), "w:pStyle") or self._styles.default
        cell = next(paragraph.iterancestors(TC), None)
        is_page_text = is_page_text and cell is None
        first = None if cell is None else next(cell.iterchildren(), None)  # `find` needs linear time
        shade = _own(first) if first is not None and first.tag == tag("w:tcPr") else {}
        block = self._block(paragraph, shade)
        align, look = _alignment(block), Look()
        if is_page_text and (starts_page or block.get("break")):
            prepend(paragraph, [run_of(self.looks.marker({"page-break": "before"}))])
        if align and paragraph.find(f"{R}/{tag('w:drawing')}") is not None:
            neighbours = [other for other in (paragraph.getprevious(), paragraph.getnext()) if other is not None]
            names = (self._styles.name(value(other.find(PROPERTIES), "w:pStyle")) for other in neighbours)
            if not any("caption" in name for name in names):  # pandoc joins such a paragraph with its caption
                prepend(paragraph, [run_of(self.looks.marker(align))])
        for run in list(paragraph.iter(R)):
            page_break = run.find(_BREAK)
            if is_page_text and page_break is not None and page_break.get(_TYPE) == "page":
                run[:] = [page_break]
                page_break.tag, page_break.text, look = _TEXT, self.looks.marker({"page-break": "before"}), {}
                continue
            text = next((text for text in run.iter(_TEXT) if (text.text or "").strip()), None)
            if text is not None and ((new_look := self._run_look(run, style, block)) != look or align):
                blanks = len(text.text) - len(text.text.lstrip())
                text.text = text.text[:blanks] + self.looks.marker(align | new_look) + text.text[blanks:]
                align, look = {}, new_look
        if cell is not None and shade.get("shade") and next(cell.iterchildren(P), None) is paragraph:
            is_empty = next(cell.iter(tag("w:drawing")), None) is None and not "".join(cell.itertext()).strip()
            prepend(paragraph, [run_of(self.looks.marker({"shading": shade["shade"]}) + "\u00a0")] * is_empty)

    def _run_look(self, run: Any, style: str | None, block: Look) -> Look:
        properties = run.find(RUN_PROPERTIES)
        own = _own(properties)
        character_style = value(properties, "w:rStyle")
        merged = self._style(None, RUN_PROPERTIES) | self._style(style, RUN_PROPERTIES)
        merged |= (self._style(character_style, RUN_PROPERTIES) if character_style else {}) | own
        is_complex = any(value(properties, name) not in (None, *OFF) for name in ("w:rtl", "w:cs"))
        size = merged.get("complex-size" if is_complex else "size", self._size)
        look = {"size": "" if size == self._size else size, "shading": block.get("shade", "")}
        look["background"] = merged.get("highlight") or merged.get("shade") or ""
        look["color"] = (own if run.getparent().tag == _LINK else merged).get("color", "")
        look = {name: text for name, text in look.items() if text}
        return look if "color" in look else readable_color(look) | look

    def _style(self, style: str | None, kind: str) -> Look:
        """Return the look of the w:pPr or w:rPr of a style, or for None of the defaults of the document."""
        if (style, kind) not in self._resolved:
            look = Look()
            for properties in self._styles.properties(style, kind):
                look |= _own(properties)
            self._resolved[style, kind] = look
        return self._resolved[style, kind]

    def _read_sections(self, body: Any) -> set[Any]:
        """Take the page of the longest section, and return the blocks that start a section on a new page."""
        lengths: list[tuple[int, Any]] = []
        starts: list[tuple[Any, Any]] = []
        first, count = None, 0
        for block in body.iterchildren(P, TBL, _SECTION):
            section = block if block.tag == _SECTION else block.find(f"{PROPERTIES}/{_SECTION}")
            first, count = (block if first is None else first), count + sum(1 for _ in block.iter(P))
            if section is not None:
                lengths.append((count, section))
                starts.append((first, section))
                first, count = None, 0
        if lengths:
            longest = max(lengths, key=lambda pair: pair[0])[1]
            self.looks.page = _page(longest)
            sections = [section for _, section in lengths]  # a section may have the header of one before it
            for before in sections[: sections.index(longest) + 1]:
                for reference in before.iterchildren(*_REFERENCES):
                    kind = _REFERENCES[reference.tag]
                    if reference.get(_TYPE) == "default" or kind not in self.page_parts:
                        self.page_parts[kind] = reference.get(tag("r:id"), "")
        same_page = ("continuous", "nextColumn")
        return {block for block, section in starts[1:] if value(section, "w:type") not in same_page}


def _own(properties: Any) -> Look:
    """Return what a w:pPr or w:rPr says itself. Values are empty where it removes a look."""
    look = Look()
    for child in () if properties is None else properties:
        text = child.get(_VAL, "")
        if child.tag in _SIZES and (size := points(text, 0.5)):
            look[_SIZES[child.tag]] = f"{size:g}pt"
        elif child.tag == tag("w:color"):
            look["color"] = color_of(f"#{text}", "#000000")
        elif child.tag == tag("w:highlight"):
            look["highlight"] = color_of(f"#{_HIGHLIGHTS.get(text)}")
        elif child.tag == tag("w:shd"):
            look["shade"] = "" if text == "nil" else color_of(f"#{child.get(tag('w:fill'))}", "#ffffff")
        elif child.tag == tag("w:rFonts"):
            look["font"] = child.get(tag("w:asciiTheme"), "") or child.get(tag("w:ascii"), "")
        elif child.tag == tag("w:jc"):
            look["align"] = text
        elif child.tag in _SWITCHES:
            look[_SWITCHES[child.tag]] = "" if text in OFF else "on"
    return look


def _alignment(block: Look) -> Look:
    """Return the physical alignment of a paragraph, or {} for the side where its direction starts."""
    align = _ALIGNMENTS.get(block.get("align", ""), "left")
    if align == "left":
        return {}
    return {"align": "left" if align == "right" and block.get("bidi") else align}


def points(text: str | None, unit: float) -> float:
    """Convert a length with a unit, or a number of `unit` points, to points. Returns 0 for another text."""
    plain = _NUMBER.fullmatch(text or "")
    return round(float(plain[0]) * unit if plain else (length(text) or 0.0) / 12_700, 2)


def _page(section: Any) -> Page | None:
    size, margins = section.find(tag("w:pgSz")), section.find(tag("w:pgMar"))
    if size is None or margins is None:
        return None
    width, height = (points(size.get(name), 0.05) for name in tags("w:w w:h"))
    sides = "w:top w:right w:bottom w:left w:gutter"
    top, right, bottom, left, gutter = (abs(points(margins.get(name), 0.05)) for name in tags(sides))
    columns = section.find(tag("w:cols"))
    count = "" if columns is None else columns.get(tag("w:num"), "")
    number = int(count) if re.fullmatch("[1-4]", count) else 1
    return Page(width, height, top, right, bottom, left + gutter, columns=number)


def _line(paragraph: Any) -> str:
    """Return the text of a paragraph in a header or footer, with tabs, and signs for the numbers of pages."""
    for field in [field for field in paragraph.iter(_SIMPLE_FIELD) if _page_field(field)]:
        del field[:]
    line, is_result = "", False
    for element in paragraph.iter(_TEXT, *_BLANKS, _INSTRUCTION, _SIMPLE_FIELD, _FIELD_MARK):
        if element.tag in (_INSTRUCTION, _SIMPLE_FIELD):
            line += (sign := _page_field(element))
            is_result = is_result or bool(sign and element.tag == _INSTRUCTION)
        elif element.tag == _FIELD_MARK:
            is_result = is_result and element.get(tag("w:fldCharType")) != "end"
        elif not is_result and element.getparent().tag == R:
            line += _BLANKS.get(element.tag, element.text or "")
    return line


def _page_field(element: Any) -> str:
    return page_sign(element.get(tag("w:instr")) or element.text or "")
