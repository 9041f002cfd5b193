"""Tables on slides."""

from __future__ import annotations

from typing import Any

from ..model import Box, Cell, Table
from .colors import A, fill
from .ground import Ground
from .words import Words

_MOST_COLUMNS = 200


def table_of(element: Any, box: Box, ground: Ground, part: Any) -> Table | None:
    """A table with its cells in a grid; None for one without cells."""
    words = Words(ground, part)
    widths = [_number(column, "w") for column in element.iter(f"{A}gridCol")][:_MOST_COLUMNS]
    lines = list(element.iterchildren(f"{A}tr"))
    rows = tuple(_row(line, len(widths), words) for line in lines)
    if not rows or not widths:
        return None
    heights = tuple(_number(line, "h") for line in lines)
    box = Box.of(box.x, box.y, sum(widths), sum(heights), box.turn)
    header = element.find(f"{A}tblPr") is not None and element.find(f"{A}tblPr").get("firstRow") == "1"
    return Table(box, rows, tuple(widths), heights, header)


def _row(line: Any, count: int, words: Words) -> tuple[Cell | None, ...]:
    cells = [_cell(element, words) for element in line.iterchildren(f"{A}tc")][:count]
    return tuple(cells + [Cell()] * (count - len(cells)))


def _cell(element: Any, words: Words) -> Cell | None:
    if element.get("hMerge") == "1" or element.get("vMerge") == "1":
        return None
    columns, rows = max(1, _number(element, "gridSpan")), max(1, _number(element, "rowSpan"))
    paragraphs = words.paragraphs(element.find(f"{A}txBody"))
    return Cell(paragraphs, columns, rows, fill(element.find(f"{A}tcPr"), words.ground.colors) or None)


def _number(element: Any, name: str) -> int:
    try:
        return max(0, min(10**9, int(element.get(name, "0"))))
    except ValueError:
        return 0
