"""Rewrites tables with as many columns in the grid as in the rows, since pandoc cuts off the cells beyond."""

from __future__ import annotations

from typing import Any

from lxml.etree import SubElement

from ...job import TooLarge
from .body import TBL, TC, TR
from .package import tag, tags
from .styles import value

_MAX_COLUMNS = 1_001  # one more than clean.py accepts
_MAX_GRID_COLUMNS = 100_000  # of all tables in a part
_VAL, _WIDTH, _TEXT = tags("w:val w:w w:t")
_CELL_PROPERTIES, _SPAN, _MERGE = tags("w:tcPr w:gridSpan w:vMerge")
_Cells = dict[int, tuple[int, Any]]
"""The cells that the next row can continue, with their span, by column."""


def simplify(root: Any) -> None:
    """Rewrite the tables in a part, the inner ones first. Raises TooLarge above `_MAX_GRID_COLUMNS`."""
    total = 0
    for table in reversed(list(root.iter(TBL))):
        above: _Cells = {}
        rows = []
        for row in table.findall(TR):
            above, width = _simplify_row(row, above)
            rows.append((row, width))
        columns = max((width for _, width in rows), default=0)
        total += columns
        if total > _MAX_GRID_COLUMNS:
            raise TooLarge(f"the tables have more than {_MAX_GRID_COLUMNS} columns in all.")
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


def _simplify_row(row: Any, above: _Cells) -> tuple[_Cells, int]:
    """Rewrite the cells of a row. Returns the cells that the next row can continue, and the number of columns."""
    merged: _Cells = {}
    properties, width = row.find(tag("w:trPr")), 0
    before = None if properties is None else properties.find(tag("w:gridBefore"))
    if before is not None:
        if (columns := _number(before.get(_VAL))) > 0:
            properties.addnext(row.makeelement(TC))
            _set_span(properties.getnext(), columns)
        properties.remove(before)
    for cell in row.findall(TC):
        properties = cell.find(_CELL_PROPERTIES)
        span = min(max(_number(value(properties, "w:gridSpan")), 1), _MAX_COLUMNS)
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
    properties = cell.find(_CELL_PROPERTIES)
    if properties is None:
        properties = cell.makeelement(_CELL_PROPERTIES)
        cell.insert(0, properties)
    old = properties.find(_SPAN)
    (SubElement(properties, _SPAN) if old is None else old).set(_VAL, str(span))


def _number(text: str | None) -> int:
    """Return a whole number of at most nine digits, or 0 for another text."""
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0
