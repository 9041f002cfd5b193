"""Resolves the looks of paragraphs and runs (ECMA-376-1, 17.7.2), and writes them as markers into the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...input.odf_file import color_of, length
from ...job import Job
from ..looks import Look, Looks, page_lines, page_sign, readable_color
from ..model import Page
from .parts import OFF, PROPERTIES, RUN_PROPERTIES, TBL, TC, P, R, WordStyles, prepend, run_of, tag, tags, value

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
_VAL, _TYPE = tags("w:val w:type")
_SIZES = dict(zip(tags("w:sz w:szCs"), ("size", "complex-size"), strict=True))
_INSTRUCTION, _SIMPLE_FIELD, _FIELD_MARK = tags("w:instrText w:fldSimple w:fldChar")
_BLANKS = dict(zip(tags("w:tab w:ptab w:br w:cr"), "\t\t  ", strict=True))
_REFERENCES = dict(zip(tags("w:headerReference w:footerReference"), ("header", "footer"), strict=True))
_SWITCHES = dict(zip(tags("w:bidi w:pageBreakBefore"), ("bidi", "break"), strict=True))


class WordLooks:
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
