"""Reads the tables of odp pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...input.odf.namespaces import count_of, length, name
from ...input.odf.styles import OdfStyles, StyleProperties
from ..model import Box, SlideTable, TableCell
from .text import ANCHORS, OdpTextReader, is_color

_MAX_COLUMNS, _MAX_ROWS = 200, 1_000


def table_of(element: Any, box: Box, styles: OdfStyles, alt: str) -> SlideTable | None:
    """Read a table element as a slide table whose rows have equal length. Return None if the table has no cells."""
    lines = list(_row_elements(element))
    rows = [_row(line, styles) for line in lines]
    count = max((len(row) for row in rows), default=0)
    if not count:
        return None
    grid = tuple(row + (TableCell(),) * (count - len(row)) for row in rows)
    widths = _sizes(list(element.iter(name("table:table-column"))), "column", styles, box.width, count)
    heights = _sizes(lines, "row", styles, box.height, len(grid))
    has_header_rows = element.find(name("table:table-header-rows")) is not None
    header = element.get(name("table:use-first-row-styles")) == "true" or has_header_rows
    return SlideTable(box, grid, widths, heights, header, alt)


def _row_elements(element: Any) -> Iterator[Any]:
    count = 0
    for line in element.iter(name("table:table-row")):
        for _ in range(count_of(line, "table:number-rows-repeated", _MAX_ROWS)):
            count += 1
            if count <= _MAX_ROWS:
                yield line


def _row(line: Any, styles: OdfStyles) -> tuple[TableCell | None, ...]:
    cells: list[TableCell | None] = []
    default = line.get(name("table:default-cell-style-name"))
    for element in line:
        times = count_of(element, "table:number-columns-repeated", _MAX_COLUMNS)
        if element.tag == name("table:covered-table-cell"):
            cells += [None] * times
        elif element.tag == name("table:table-cell"):
            cells += [_cell(element, styles, default)] * times
    return tuple(cells[:_MAX_COLUMNS])


def _cell(element: Any, styles: OdfStyles, default: str | None) -> TableCell:
    properties = styles.properties("table-cell", element.get(name("table:style-name"), default))
    columns = count_of(element, "table:number-columns-spanned", _MAX_COLUMNS)
    rows = count_of(element, "table:number-rows-spanned", _MAX_ROWS)
    fill = properties.get("table-cell/" + name("fo:background-color"), "")
    if properties.get("graphic/" + name("draw:fill")) == "solid":
        fill = properties.get("graphic/" + name("draw:fill-color")) or fill
    color = fill.lstrip("#").lower()
    paragraphs = OdpTextReader(styles).paragraphs(element, properties)
    anchor = ANCHORS.get(properties.get("graphic/" + name("draw:textarea-vertical-align"), ""), "top")
    borders = tuple(_border(properties, side) for side in ("left", "top", "right", "bottom"))
    return TableCell(paragraphs, columns, rows, color if is_color(color) else None, anchor, borders)


def _border(properties: StyleProperties, side: str) -> str:
    """Return the colour of a border, or "" for no border."""
    keys = (
        f"{group}/{name(key)}" for group in ("paragraph", "table-cell") for key in (f"fo:border-{side}", "fo:border")
    )
    color = next((value for key in keys if (value := properties.get(key))), "").rpartition("#")[2].lower()
    return color if is_color(color) else ""


def _sizes(elements: list[Any], kind: str, styles: OdfStyles, total: int, count: int) -> tuple[int, ...]:
    """Return column widths or row heights in EMU. Missing sizes are `total / count`. `kind` is "column" or "row"."""
    key = f"table-{kind}/" + name("style:column-width" if kind == "column" else "style:row-height")
    sizes: list[int] = []
    for element in elements:
        properties = styles.properties(f"table-{kind}", element.get(name("table:style-name")))
        times = count_of(element, "table:number-columns-repeated", count) if kind == "column" else 1
        sizes += [int(length(properties.get(key)) or total / count)] * times
    return tuple(sizes[:count]) + (total // count,) * (count - len(sizes))
