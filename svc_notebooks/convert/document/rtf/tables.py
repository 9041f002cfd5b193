"""Converts RTF table rows, whose cells are defined by their right edges, to tables with spans."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...job import TooLarge
from ..model import Node

_EDGE_TOLERANCE = 40
"""Twips: edges so near to each other are one."""
_MAX_COLUMNS = 500
_NO_ATTRIBUTES: list[Any] = ["", [], []]


@dataclass(frozen=True, slots=True)
class CellDefinition:
    """What the row says of a cell: its right edge, and whether it goes on from the left or from above."""

    right_edge: int
    merged_left: bool = False
    merged_above: bool = False


@dataclass(frozen=True, slots=True)
class RowDefinition:
    """What is said of a row before or after its cells."""

    left: int = 0
    is_header: bool = False
    cells: tuple[CellDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class RtfCell:
    """A cell's content, as it will be made into blocks, and its alignment."""

    flow: list[Any]
    align: str = ""


@dataclass(slots=True)
class RtfTable:
    """The rows of a table, the cells that wait for their row to end, and the paragraphs that wait for their cell."""

    rows: list[tuple[RowDefinition, list[RtfCell]]] = field(default_factory=list)
    cells: list[RtfCell] = field(default_factory=list)
    flow: list[Any] = field(default_factory=list)

    def end_cell(self, align: str) -> None:
        """What came since the last cell is one."""
        self.cells.append(RtfCell(self.flow, align))
        self.flow = []

    def end_row(self, definition: RowDefinition) -> None:
        """What came since the last row is one."""
        if self.flow:
            self.end_cell("")
        if self.cells:
            self.rows.append((definition, self.cells))
        self.cells = []


@dataclass(slots=True)
class _PlacedRtfCell:
    column: int
    columns: int
    rows: int
    cell: RtfCell


def table_node(table: RtfTable, blocks: Callable[[list[Any]], list[Node]]) -> Node:
    """The table as pandoc's; `blocks` makes the content of its cells."""
    table.end_row(RowDefinition())
    edges = _edges(table)
    rows = _merge_vertically(
        [_place_cells(definition, cells, edges) for definition, cells in table.rows], len(edges) - 1
    )
    header_count = next((n for n, (definition, _) in enumerate(table.rows) if not definition.is_header), len(rows))
    nodes = [[_NO_ATTRIBUTES, [_cell_node(placed, blocks) for placed in row]] for row in rows]
    body = [_NO_ATTRIBUTES, 0, [], nodes[header_count:]]
    return {
        "t": "Table",
        "c": [
            _NO_ATTRIBUTES,
            [None, []],
            _columns(edges),
            [_NO_ATTRIBUTES, nodes[:header_count]],
            [body],
            [_NO_ATTRIBUTES, []],
        ],
    }


def _edges(table: RtfTable) -> list[int]:
    """Where columns begin and end; a row without edges has them one after the other."""
    edges = {definition.left for definition, _ in table.rows} | {
        c.right_edge for definition, _ in table.rows for c in definition.cells
    }
    distinct: list[int] = []
    for edge in sorted(edges):
        if not distinct or edge - distinct[-1] > _EDGE_TOLERANCE:
            distinct.append(edge)
    needed = 1 + max(
        (len(cells) - (len(definition.cells) >= len(cells)) * len(cells) for definition, cells in table.rows), default=0
    )
    while len(distinct) < max(needed, 2):
        distinct.append((distinct[-1] if distinct else 0) + 1440)
    if len(distinct) > _MAX_COLUMNS:
        raise TooLarge(f"a table has more than {_MAX_COLUMNS} columns.")
    return distinct


def _columns(edges: list[int]) -> list[Any]:
    total = edges[-1] - edges[0]
    shares = [round((right - left) / total, 4) for left, right in itertools.pairwise(edges)]
    return [[{"t": "AlignDefault"}, {"t": "ColWidth", "c": share}] for share in shares]


def _place_cells(
    definition: RowDefinition, cells: list[RtfCell], edges: list[int]
) -> list[tuple[CellDefinition, _PlacedRtfCell]]:
    """The cells of a row in their columns, those that go on from the left being part of what they go on from."""
    placed: list[tuple[CellDefinition, _PlacedRtfCell]] = []
    column = min(_nearest(edges, definition.left), len(edges) - 2)
    for number, cell in enumerate(cells):
        known = number < len(definition.cells)
        own = definition.cells[number] if known else CellDefinition(0)
        until = max(_nearest(edges, own.right_edge), column + 1) if known else column + 1
        until = min(until, len(edges) - 1)
        if until <= column:
            break
        if own.merged_left and placed:
            placed[-1][1].columns += until - column
        else:
            placed.append((own, _PlacedRtfCell(column, until - column, 1, cell)))
        column = until
    return placed


def _nearest(edges: list[int], edge: int) -> int:
    return max(0, bisect_left(edges, edge - _EDGE_TOLERANCE))


def _merge_vertically(
    rows: list[list[tuple[CellDefinition, _PlacedRtfCell]]], count: int
) -> list[list[_PlacedRtfCell]]:
    """Cells that go on from above are part of those above; what is open between cells is filled."""
    above: dict[int, _PlacedRtfCell] = {}
    spread_rows: list[list[_PlacedRtfCell]] = []
    for row in rows:
        kept: list[_PlacedRtfCell] = []
        now: dict[int, _PlacedRtfCell] = {}
        column = 0
        for own, placed in row:
            kept += [_PlacedRtfCell(open_column, 1, 1, RtfCell([])) for open_column in range(column, placed.column)]
            over = above.get(placed.column)
            if own.merged_above and over and over.columns == placed.columns:
                over.rows += 1
                placed = over
            else:
                kept.append(placed)
            now[placed.column] = placed
            column = placed.column + placed.columns
        kept += [_PlacedRtfCell(open_column, 1, 1, RtfCell([])) for open_column in range(column, count)]
        spread_rows.append(kept)
        above = now
    return spread_rows


def _cell_node(placed: _PlacedRtfCell, blocks: Callable[[list[Any]], list[Node]]) -> list[Any]:
    content = blocks(placed.cell.flow)
    if len(content) == 1 and content[0]["t"] == "Para":
        content = [{"t": "Plain", "c": content[0]["c"]}]
    return [_NO_ATTRIBUTES, {"t": placed.cell.align or "AlignDefault"}, placed.rows, placed.columns, content]
