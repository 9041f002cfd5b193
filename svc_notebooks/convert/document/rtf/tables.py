"""Rows of cells with right edges as a table with spans."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...job import TooLarge
from ..model import Node

_NEAR = 40
"""Twips: edges so near to each other are one."""
_MOST_COLUMNS = 500
_NONE: list[Any] = ["", [], []]


@dataclass(frozen=True, slots=True)
class CellShape:
    """What the row says of a cell: its right edge, and whether it goes on from the left or from above."""

    edge: int
    joins_left: bool = False
    joins_above: bool = False


@dataclass(frozen=True, slots=True)
class RowShape:
    """What is said of a row before or after its cells."""

    left: int = 0
    heads: bool = False
    cells: tuple[CellShape, ...] = ()


@dataclass(frozen=True, slots=True)
class RtfCell:
    """A cell's content, as it will be made into blocks, and its alignment."""

    flow: list[Any]
    align: str = ""


@dataclass(slots=True)
class RtfTable:
    """The rows of a table, the cells that wait for their row to end, and the paragraphs that wait for their cell."""

    rows: list[tuple[RowShape, list[RtfCell]]] = field(default_factory=list)
    cells: list[RtfCell] = field(default_factory=list)
    flow: list[Any] = field(default_factory=list)

    def end_cell(self, align: str) -> None:
        """What came since the last cell is one."""
        self.cells.append(RtfCell(self.flow, align))
        self.flow = []

    def end_row(self, shape: RowShape) -> None:
        """What came since the last row is one."""
        if self.flow:
            self.end_cell("")
        if self.cells:
            self.rows.append((shape, self.cells))
        self.cells = []


@dataclass(slots=True)
class _Placed:
    column: int
    columns: int
    rows: int
    cell: RtfCell


def as_node(table: RtfTable, blocks: Callable[[list[Any]], list[Node]]) -> Node:
    """The table as pandoc's; `blocks` makes the content of its cells."""
    table.end_row(RowShape())
    edges = _edges(table)
    rows = _spread([_placed(shape, cells, edges) for shape, cells in table.rows], len(edges) - 1)
    heads = next((n for n, (shape, _) in enumerate(table.rows) if not shape.heads), len(rows))
    made = [[_NONE, [_node(placed, blocks) for placed in row]] for row in rows]
    body = [_NONE, 0, [], made[heads:]]
    return {"t": "Table", "c": [_NONE, [None, []], _columns(edges), [_NONE, made[:heads]], [body], [_NONE, []]]}


def _edges(table: RtfTable) -> list[int]:
    """Where columns begin and end; a row without edges has them one after the other."""
    found = {shape.left for shape, _ in table.rows} | {c.edge for shape, _ in table.rows for c in shape.cells}
    apart: list[int] = []
    for edge in sorted(found):
        if not apart or edge - apart[-1] > _NEAR:
            apart.append(edge)
    needed = 1 + max(
        (len(cells) - (len(shape.cells) >= len(cells)) * len(cells) for shape, cells in table.rows), default=0
    )
    while len(apart) < max(needed, 2):
        apart.append((apart[-1] if apart else 0) + 1440)
    if len(apart) > _MOST_COLUMNS:
        raise TooLarge(f"a table has more than {_MOST_COLUMNS} columns.")
    return apart


def _columns(edges: list[int]) -> list[Any]:
    whole = edges[-1] - edges[0]
    shares = [round((right - left) / whole, 4) for left, right in itertools.pairwise(edges)]
    return [[{"t": "AlignDefault"}, {"t": "ColWidth", "c": share}] for share in shares]


def _placed(shape: RowShape, cells: list[RtfCell], edges: list[int]) -> list[tuple[CellShape, _Placed]]:
    """The cells of a row in their columns, those that go on from the left being part of what they go on from."""
    found: list[tuple[CellShape, _Placed]] = []
    column = min(_nearest(edges, shape.left), len(edges) - 2)
    for number, cell in enumerate(cells):
        known = number < len(shape.cells)
        own = shape.cells[number] if known else CellShape(0)
        until = max(_nearest(edges, own.edge), column + 1) if known else column + 1
        until = min(until, len(edges) - 1)
        if until <= column:
            break
        if own.joins_left and found:
            found[-1][1].columns += until - column
        else:
            found.append((own, _Placed(column, until - column, 1, cell)))
        column = until
    return found


def _nearest(edges: list[int], edge: int) -> int:
    return max(0, bisect_left(edges, edge - _NEAR))


def _spread(rows: list[list[tuple[CellShape, _Placed]]], count: int) -> list[list[_Placed]]:
    """Cells that go on from above are part of those above; what is open between cells is filled."""
    above: dict[int, _Placed] = {}
    found: list[list[_Placed]] = []
    for row in rows:
        kept: list[_Placed] = []
        now: dict[int, _Placed] = {}
        column = 0
        for own, placed in row:
            kept += [_Placed(open_column, 1, 1, RtfCell([])) for open_column in range(column, placed.column)]
            over = above.get(placed.column)
            if own.joins_above and over and over.columns == placed.columns:
                over.rows += 1
                placed = over
            else:
                kept.append(placed)
            now[placed.column] = placed
            column = placed.column + placed.columns
        kept += [_Placed(open_column, 1, 1, RtfCell([])) for open_column in range(column, count)]
        found.append(kept)
        above = now
    return found


def _node(placed: _Placed, blocks: Callable[[list[Any]], list[Node]]) -> list[Any]:
    made = blocks(placed.cell.flow)
    if len(made) == 1 and made[0]["t"] == "Para":
        made = [{"t": "Plain", "c": made[0]["c"]}]
    return [_NONE, {"t": placed.cell.align or "AlignDefault"}, placed.rows, placed.columns, made]
