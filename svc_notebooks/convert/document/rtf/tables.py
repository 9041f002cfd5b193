"""Converts RTF tables, whose cells have right edges, to pandoc tables, whose cells have row and column spans."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...job import TooLarge
from ..model import Node

_EDGE_TOLERANCE = 40
"""The maximum distance, in twips, of two edges that count as the same edge."""
MAX_COLUMNS = 500
MAX_CELLS = 200_000
_NO_ATTRIBUTES: list[Any] = ["", [], []]


@dataclass(frozen=True, slots=True)
class CellDefinition:
    """A cell definition, with the right edge in twips and whether the cell is merged with the left or upper cell."""

    right_edge: int
    merged_left: bool = False
    merged_above: bool = False


@dataclass(frozen=True, slots=True)
class RowDefinition:
    """A row definition with the left edge in twips, which RTF files contain before or after the cell text."""

    left: int = 0
    is_header: bool = False
    cells: tuple[CellDefinition, ...] = ()


@dataclass(slots=True)
class RtfCell:
    """A table cell with RTF content (`flow`), the first column and the spans."""

    flow: list[Any]
    column: int = 0
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class RtfTable:
    """A table while its rows are read, with the cells of the open row and the content of the open cell."""

    rows: list[tuple[RowDefinition, list[RtfCell]]] = field(default_factory=list)
    cells: list[RtfCell] = field(default_factory=list)
    flow: list[Any] = field(default_factory=list)

    def end_cell(self) -> None:
        """End the open cell, and add it to the open row."""
        self.cells.append(RtfCell(self.flow))
        self.flow = []

    def end_row(self, definition: RowDefinition) -> None:
        """End the open row, and add it to the table with its definition. A row without cells is ignored."""
        if self.flow:
            self.end_cell()
        if self.cells:
            self.rows.append((definition, self.cells))
            if len(self.rows).bit_count() == 1:  # refuses a table that is too large before the end of the file
                _edges(self)
        self.cells = []


def table_node(table: RtfTable, blocks: Callable[[list[Any]], list[Node]]) -> Node:
    """Convert a table to a pandoc table. The function `blocks` converts the content of each cell.

    Raises TooLarge if the table has more than `MAX_COLUMNS` columns or `MAX_CELLS` cells.
    """
    table.end_row(RowDefinition())
    edges = _edges(table)
    rows = _merge_vertically(
        [_place_cells(definition, cells, edges) for definition, cells in table.rows], len(edges) - 1
    )
    header_count = next((n for n, (definition, _) in enumerate(table.rows) if not definition.is_header), len(rows))
    nodes = [[_NO_ATTRIBUTES, [_cell_node(cell, blocks) for cell in row]] for row in rows]
    width = edges[-1] - edges[0]
    shares = [round((right - left) / width, 4) for left, right in itertools.pairwise(edges)]
    columns = [[{"t": "AlignDefault"}, {"t": "ColWidth", "c": share}] for share in shares]
    head, body = [_NO_ATTRIBUTES, nodes[:header_count]], [_NO_ATTRIBUTES, 0, [], nodes[header_count:]]
    return {"t": "Table", "c": [_NO_ATTRIBUTES, [None, []], columns, head, [body], [_NO_ATTRIBUTES, []]]}


def _edges(table: RtfTable) -> list[int]:
    """Return the sorted column edges in twips. Raises TooLarge above `MAX_COLUMNS` edges or `MAX_CELLS` cells."""
    edges = {row.left for row, _ in table.rows} | {cell.right_edge for row, _ in table.rows for cell in row.cells}
    distinct: list[int] = []
    for edge in sorted(edges):
        if not distinct or edge - distinct[-1] > _EDGE_TOLERANCE:
            distinct.append(edge)
    undefined = max((len(cells) for row, cells in table.rows if len(row.cells) < len(cells)), default=0)
    while len(distinct) < max(undefined + 1, 2):
        distinct.append((distinct[-1] if distinct else 0) + 1440)
    if len(distinct) > MAX_COLUMNS:
        raise TooLarge(f"a table has more than {MAX_COLUMNS} columns.")
    if len(table.rows) * (len(distinct) - 1) > MAX_CELLS:
        raise TooLarge(f"a table has more than {MAX_CELLS} cells.")
    return distinct


def _place_cells(row: RowDefinition, cells: list[RtfCell], edges: list[int]) -> list[tuple[bool, RtfCell]]:
    """Set the columns of each cell, and return pairs (whether the cell is merged with the cell above, cell).

    A cell that is merged with the cell to its left is left out, and the left cell's span grows.
    """
    placed: list[tuple[bool, RtfCell]] = []
    column = min(_column_at(edges, row.left), len(edges) - 2)
    for number, cell in enumerate(cells):
        definition = row.cells[number] if number < len(row.cells) else None
        until = max(_column_at(edges, definition.right_edge), column + 1) if definition else column + 1
        until = min(until, len(edges) - 1)
        if until <= column:  # the row has more cells than columns
            placed[-1][1].flow += cell.flow
            continue
        if definition and definition.merged_left and placed:
            placed[-1][1].columns += until - column
        else:
            cell.column, cell.columns = column, until - column
            placed.append((bool(definition and definition.merged_above), cell))
        column = until
    return placed


def _column_at(edges: list[int], edge: int) -> int:
    return max(0, bisect_left(edges, edge - _EDGE_TOLERANCE))


def _merge_vertically(rows: list[list[tuple[bool, RtfCell]]], count: int) -> list[list[RtfCell]]:
    above: dict[int, RtfCell] = {}
    merged_rows: list[list[RtfCell]] = []
    for row in rows:
        kept: list[RtfCell] = []
        now: dict[int, RtfCell] = {}
        column = 0
        for merged_above, cell in row:
            kept += [RtfCell([]) for _ in range(column, cell.column)]
            over = above.get(cell.column)
            column = cell.column + cell.columns
            if merged_above and over and over.columns == cell.columns:
                over.rows += 1
                now[cell.column] = over
            else:
                kept.append(cell)
                now[cell.column] = cell
        kept += [RtfCell([]) for _ in range(column, count)]
        merged_rows.append(kept)
        above = now
    return merged_rows


def _cell_node(cell: RtfCell, blocks: Callable[[list[Any]], list[Node]]) -> list[Any]:
    content = blocks(cell.flow)
    if len(content) == 1 and content[0]["t"] == "Para":
        content = [{"t": "Plain", "c": content[0]["c"]}]
    return [_NO_ATTRIBUTES, {"t": "AlignDefault"}, cell.rows, cell.columns, content]
