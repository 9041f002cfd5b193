"""Reads the tables of odp pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model import Box, SlideTable, TableCell
from .namespaces import length, name
from .styles import Facts, Looks
from .text import OdpTextReader, is_color

_MOST_COLUMNS, _MOST_ROWS = 200, 1_000


def table_of(element: Any, box: Box, looks: Looks, alt: str) -> SlideTable | None:
    """A table with its cells in a grid; None for one without cells."""
    lines = list(_lines(element))
    rows = [_row(line, looks) for line in lines]
    count = max((len(row) for row in rows), default=0)
    if not count:
        return None
    grid = tuple(row + (TableCell(),) * (count - len(row)) for row in rows)
    widths = _sizes(list(element.iter(name("table:table-column"))), "column", looks, box.width, count)
    heights = _sizes(lines, "row", looks, box.height, len(grid))
    header = element.get(name("table:use-first-row-styles")) == "true" or _has_header(element)
    return SlideTable(box, grid, widths, heights, header, alt)


def _has_header(element: Any) -> bool:
    return element.find(name("table:table-header-rows")) is not None


def _lines(element: Any) -> Iterator[Any]:
    """The rows, as often as they are said to repeat, but for endless ones."""
    count = 0
    for line in element.iter(name("table:table-row")):
        for _ in range(_number(line, "table:number-rows-repeated", _MOST_ROWS)):
            count += 1
            if count <= _MOST_ROWS:
                yield line


def _row(line: Any, looks: Looks) -> tuple[TableCell | None, ...]:
    cells: list[TableCell | None] = []
    for element in line:
        times = _number(element, "table:number-columns-repeated", _MOST_COLUMNS)
        if element.tag == name("table:covered-table-cell"):
            cells += [None] * times
        elif element.tag == name("table:table-cell"):
            cells += [_cell(element, looks)] * times
    return tuple(cells[:_MOST_COLUMNS])


def _cell(element: Any, looks: Looks) -> TableCell:
    facts = looks.facts("table-cell", element.get(name("table:style-name")))
    columns = _number(element, "table:number-columns-spanned", _MOST_COLUMNS)
    rows = _number(element, "table:number-rows-spanned", _MOST_ROWS)
    return TableCell(OdpTextReader(looks).paragraphs(element, facts), columns, rows, _fill(facts))


def _fill(facts: Facts) -> str | None:
    drawn = (
        facts.get("graphic/" + name("draw:fill-color")) if facts.get("graphic/" + name("draw:fill")) == "solid" else ""
    )
    color = (drawn or facts.get("table-cell/" + name("fo:background-color"), "")).lstrip("#").lower()
    return color if is_color(color) else None


def _sizes(elements: list[Any], kind: str, looks: Looks, whole: int, count: int) -> tuple[int, ...]:
    """Widths or heights: as styles have them, or equal shares of the whole."""
    key = f"table-{kind}/" + name("style:column-width" if kind == "column" else "style:row-height")
    found: list[int] = []
    for element in elements:
        facts = looks.facts(f"table-{kind}", element.get(name("table:style-name")))
        times = _number(element, "table:number-columns-repeated", count) if kind == "column" else 1
        found += [int(length(facts.get(key)) or whole / count)] * times
    return tuple(found[:count]) + (whole // count,) * (count - len(found))


def _number(element: Any, key: str, most: int) -> int:
    value = element.get(name(key), "1")
    return max(1, min(most, int(value))) if value.isdecimal() and len(value) < 10 else 1
