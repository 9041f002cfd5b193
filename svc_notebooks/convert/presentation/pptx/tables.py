"""Reads the tables of slides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..model import Anchor, Box, SlideTable, TableCell
from .colors import A, color, fill, number, theme_color
from .slide_theme import SlideTheme, parse_xml
from .text import PptxTextStyles

_MAX_COLUMNS = 200
_MEDIUM_STYLES = {
    "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}": "accent1",
    "{21E4AEA4-8DFA-4A89-87EB-49C32662AFE0}": "accent2",
    "{F5AB1C69-6EDB-4FF4-983F-18BD219EF322}": "accent3",
    "{00A15C55-8517-42AA-B614-E9B94910E393}": "accent4",
    "{7DF18680-E054-41AD-8BC1-D1AEF772440D}": "accent5",
    "{93296810-A885-4BE3-A3E7-6D5BEEA58F35}": "accent6",
}
"""The theme colours of common built-in table styles, which some files name without a definition."""
_SHADE = '<a:fill><a:solidFill><a:schemeClr val="{0}"><a:tint val="{1}"/></a:schemeClr></a:solidFill></a:fill>'
_LINES = "".join(
    f'<a:{side}><a:ln><a:solidFill><a:schemeClr val="lt1"/></a:solidFill></a:ln></a:{side}>'
    for side in ("left", "right", "top", "bottom", "insideH", "insideV")
)
_MEDIUM_STYLE = (
    f'<a:tblStyle xmlns:a="{A[1:-1]}"><a:wholeTbl><a:tcStyle><a:tcBdr>{_LINES}</a:tcBdr>{_SHADE.format("{0}", 20_000)}'
    f"</a:tcStyle></a:wholeTbl><a:band1H><a:tcStyle>{_SHADE.format('{0}', 40_000)}</a:tcStyle></a:band1H>"
    f'<a:firstRow><a:tcTxStyle b="on"><a:schemeClr val="lt1"/></a:tcTxStyle>'
    f"<a:tcStyle>{_SHADE.format('{0}', 100_000)}</a:tcStyle></a:firstRow></a:tblStyle>"
)
_ANCHORS: dict[str, Anchor] = {"ctr": "middle", "b": "bottom"}
_SIDES = ("left", "top", "right", "bottom")
_OWN_SIDES = dict(zip(_SIDES, ("lnL", "lnT", "lnR", "lnB"), strict=True))
_INSIDE = {"left": "insideV", "right": "insideV", "top": "insideH", "bottom": "insideH"}


def table_of(element: Any, box: Box, slide_theme: SlideTheme, part: Any) -> SlideTable | None:
    """Read a table element as a slide table whose rows have equal length. Return None if the table has no cells."""
    widths = [_number(column, "w") for column in element.iter(f"{A}gridCol")][:_MAX_COLUMNS]
    row_elements = list(element.iterchildren(f"{A}tr"))
    if not row_elements or not widths:
        return None
    reader = TableReader(element, slide_theme, part, len(widths), len(row_elements))
    rows = tuple(reader.row(line, y) for y, line in enumerate(row_elements))
    heights = tuple(_number(line, "h") for line in row_elements)
    box = Box.of(box.x, box.y, sum(widths), sum(heights), box.turn)
    return SlideTable(box, rows, tuple(widths), heights, "firstRow" in reader.flags)


@dataclass(frozen=True, slots=True)
class TableCellStyle:
    """What a table style says about a cell. Borders have colours by side, "" for no line."""

    fill: str | None = None
    color: str | None = None
    bold: bool = False
    borders: tuple[tuple[str, str], ...] = ()


class TableReader:
    """Reads the cells of one table, and formats them as its table style says (ECMA-376 part 1, 20.1.4.2)."""

    def __init__(self, element: Any, slide_theme: SlideTheme, part: Any, columns: int, rows: int) -> None:
        self._slide_theme, self._part, self._columns, self._rows = slide_theme, part, columns, rows
        properties = element.find(f"{A}tblPr")
        names = ("firstRow", "lastRow", "firstCol", "lastCol", "bandRow", "bandCol")
        self.flags = {name for name in names if properties is not None and properties.get(name) in ("1", "true")}
        style = "" if properties is None else properties.findtext(f"{A}tableStyleId", "")
        self._style = slide_theme.table_styles.get(style)
        if self._style is None and style in _MEDIUM_STYLES:
            self._style = parse_xml(_MEDIUM_STYLE.format(_MEDIUM_STYLES[style]).encode())
        self._text_styles: dict[TableCellStyle, PptxTextStyles] = {}

    def row(self, element: Any, y: int) -> tuple[TableCell | None, ...]:
        """Return the cells of a row, with empty cells for missing cells."""
        elements = list(element.iterchildren(f"{A}tc"))[: self._columns]
        cells = [self._cell(cell, x, y) for x, cell in enumerate(elements)]
        return tuple(cells + [TableCell()] * (self._columns - len(cells)))

    def _cell(self, element: Any, x: int, y: int) -> TableCell | None:
        if element.get("hMerge") in ("1", "true") or element.get("vMerge") in ("1", "true"):
            return None
        columns, rows = max(1, _number(element, "gridSpan")), max(1, _number(element, "rowSpan"))
        style, properties = self._cell_style(x, y, columns, rows), element.find(f"{A}tcPr")
        colors = self._slide_theme.colors
        key = TableCellStyle(color=style.color, bold=style.bold)
        if key not in self._text_styles:
            self._text_styles[key] = PptxTextStyles(self._slide_theme, self._part, color=style.color, bold=style.bold)
        own = fill(properties, colors)
        shade = style.fill if own is None else own
        borders = dict(style.borders)
        for side, name in _OWN_SIDES.items():
            line = None if properties is None else fill(properties.find(f"{A}{name}"), colors)
            borders |= {} if line is None else {side: line[:6]}
        return TableCell(
            self._text_styles[key].paragraphs(element.find(f"{A}txBody")), columns, rows, shade[:6] if shade else None,
            "top" if properties is None else _ANCHORS.get(properties.get("anchor", ""), "top"),
            tuple(borders.get(side, "") for side in _SIDES),
        )  # fmt: skip

    def _cell_style(self, x: int, y: int, columns: int, rows: int) -> TableCellStyle:
        style, colors, formats = TableCellStyle(), self._slide_theme.colors, self._slide_theme.formats
        for name, edges in self._parts(x, y, x + columns >= self._columns, y + rows >= self._rows):
            part = None if self._style is None else self._style.find(f"{A}{name}")
            text, cell = (None if part is None else part.find(f"{A}{kind}") for kind in ("tcTxStyle", "tcStyle"))
            if text is not None:
                digits = next((it for child in text if (it := color((child,), colors))), style.color)
                style = replace(style, color=digits and digits[:6], bold=style.bold or text.get("b") == "on")
            if cell is not None:
                shade = fill(cell.find(f"{A}fill"), colors) or theme_color(formats, cell.find(f"{A}fillRef"), colors)
                names = ((side, side if side in edges else _INSIDE[side]) for side in _SIDES)
                lines = ((side, cell.find(f"{A}tcBdr/{A}{name}")) for side, name in names)
                borders = tuple((side, self._line(line[0])) for side, line in lines if line is not None and len(line))
                style = replace(style, fill=shade or style.fill, borders=style.borders + borders)
        return style

    def _line(self, element: Any) -> str:
        colors, formats = self._slide_theme.colors, self._slide_theme.formats
        digits = fill(element, colors) if element.tag == f"{A}ln" else theme_color(formats, element, colors)
        return (digits or "")[:6]

    def _parts(self, x: int, y: int, last_column: bool, last_row: bool) -> Iterator[tuple[str, set[str]]]:
        """Yield the parts of a table style that format a cell, and the sides where the part ends at the cell."""
        across = {side for side, ends in (("left", x == 0), ("right", last_column)) if ends}
        down = {side for side, ends in (("top", y == 0), ("bottom", last_row)) if ends}
        yield "wholeTbl", across | down
        if "bandCol" in self.flags:
            yield f"band{(x - ('firstCol' in self.flags)) % 2 + 1}V", {"left", "right"} | down
        if "bandRow" in self.flags:
            yield f"band{(y - ('firstRow' in self.flags)) % 2 + 1}H", across | {"top", "bottom"}
        for name, applies in (("firstCol", x == 0), ("lastCol", last_column)):
            if applies and name in self.flags:
                yield name, {"left", "right"} | down
        for name, applies in (("firstRow", y == 0), ("lastRow", last_row)):
            if applies and name in self.flags:
                yield name, across | {"top", "bottom"}


def _number(element: Any, name: str) -> int:
    return max(0, int(number(element.get(name))))
