"""Computes the grid position of each table cell: pandoc's rows leave out the cells that spans cover."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def column_widths(shares: list[float | None]) -> list[float | None]:
    """Shares of the page; where none is given, the page setter finds them, unless there are very many columns."""
    if all(share is None for share in shares):
        return [None] * len(shares) if len(shares) <= 12 else [1.0] * len(shares)
    return [share or 1 / len(shares) for share in shares]


PlacedCell = tuple[int, int, int, list[Any]]


def cell_grid(rows: list[Any], count: int) -> Iterator[list[PlacedCell]]:
    """For each row its cells: column, columns, rows, and the cell; none reaches beyond the table or over another."""
    occupied: dict[tuple[int, int], bool] = {}
    for y, (_, cells) in enumerate(rows):
        placed: list[PlacedCell] = []
        x = 0
        for cell in cells:
            while (y, x) in occupied:
                x += 1
            if x >= count:
                break
            height, width = min(max(cell[2], 1), len(rows) - y), 1
            while width < min(cell[3], count - x) and (y, x + width) not in occupied:
                width += 1
            occupied |= {(y + down, x + across): True for down in range(height) for across in range(width)}
            placed.append((x, width, height, cell))
            x += width
        yield placed + _empty_cells(y, count, occupied)


def _empty_cells(y: int, count: int, occupied: dict[tuple[int, int], bool]) -> list[PlacedCell]:
    """Empty cells for what a row leaves open, so that the next one begins where it should."""
    empty = [["", [], []], {"t": "AlignDefault"}, 1, 1, []]
    open_columns = [x for x in range(count) if (y, x) not in occupied]
    return [(x, 1, 1, empty) for x in open_columns]
