"""Reads the tables of slides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..model import Box, SlideTable, TableCell
from .colors import A, fill, tint
from .slide_theme import SlideTheme
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
"""The theme colour of each built-in table style. Files name these styles but do not define them."""


def table_of(element: Any, box: Box, slide_theme: SlideTheme, part: Any) -> SlideTable | None:
    """Read a table element as a slide table whose rows have equal length. Return None if the table has no cells."""
    text_styles = PptxTextStyles(slide_theme, part)
    widths = [_number(column, "w") for column in element.iter(f"{A}gridCol")][:_MAX_COLUMNS]
    row_elements = list(element.iterchildren(f"{A}tr"))
    style, properties = TableStyle(), element.find(f"{A}tblPr")
    if properties is not None:
        name = _MEDIUM_STYLES.get(properties.findtext(f"{A}tableStyleId", ""), "")
        header, banded = (properties.get(flag) in ("1", "true") for flag in ("firstRow", "bandRow"))
        style = TableStyle(header, banded, slide_theme.colors.get(name))
    rows = tuple(style.row(_row(line, len(widths), text_styles), n) for n, line in enumerate(row_elements))
    if not rows or not widths:
        return None
    heights = tuple(_number(line, "h") for line in row_elements)
    box = Box.of(box.x, box.y, sum(widths), sum(heights), box.turn)
    return SlideTable(box, rows, tuple(widths), heights, style.header)


@dataclass(frozen=True, slots=True)
class TableStyle:
    """A built-in table style with shaded rows and white header text. If `color` is None, the cells do not change."""

    header: bool = False
    banded: bool = False
    color: str | None = None

    def row(self, row: tuple[TableCell | None, ...], n: int) -> tuple[TableCell | None, ...]:
        """Return the cells of the row with index `n`, with the fill and text colour of the table style."""
        if not self.color:
            return row
        if self.header and n == 0:
            return tuple(cell and _header_cell(cell, self.color) for cell in row)
        shade = tint(self.color, 0.4 if self.banded and (n - self.header) % 2 == 0 else 0.2)
        return tuple(cell and replace(cell, fill=cell.fill or shade) for cell in row)


def _header_cell(cell: TableCell, color: str) -> TableCell:
    paragraphs = tuple(
        replace(paragraph, runs=tuple(replace(run, bold=True, color=run.color or "ffffff") for run in paragraph.runs))
        for paragraph in cell.paragraphs
    )
    return replace(cell, fill=cell.fill or color, paragraphs=paragraphs)


def _row(row_element: Any, count: int, text_styles: PptxTextStyles) -> tuple[TableCell | None, ...]:
    cells = [_cell(element, text_styles) for element in row_element.iterchildren(f"{A}tc")][:count]
    return tuple(cells + [TableCell()] * (count - len(cells)))


def _cell(element: Any, text_styles: PptxTextStyles) -> TableCell | None:
    if element.get("hMerge") == "1" or element.get("vMerge") == "1":
        return None
    columns, rows = max(1, _number(element, "gridSpan")), max(1, _number(element, "rowSpan"))
    paragraphs = text_styles.paragraphs(element.find(f"{A}txBody"))
    return TableCell(paragraphs, columns, rows, fill(element.find(f"{A}tcPr"), text_styles.slide_theme.colors) or None)


def _number(element: Any, name: str) -> int:
    try:
        return max(0, min(10**9, int(element.get(name, "0"))))
    except ValueError:
        return 0
