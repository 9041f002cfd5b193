"""The cells of a table where they lie: pandoc's rows leave out what spans cover, and trust them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def widths(shares: list[float | None]) -> list[float | None]:
    """Shares of the page; where none is given, the page setter finds them, unless there are very many columns."""
    if all(share is None for share in shares):
        return [None] * len(shares) if len(shares) <= 12 else [1.0] * len(shares)
    return [share or 1 / len(shares) for share in shares]


Placed = tuple[int, int, int, list[Any]]


def grid(rows: list[Any], count: int) -> Iterator[list[Placed]]:
    """For each row its cells: column, columns, rows, and the cell; none reaches beyond the table or over another."""
    taken: dict[tuple[int, int], bool] = {}
    for y, (_, cells) in enumerate(rows):
        placed: list[Placed] = []
        x = 0
        for cell in cells:
            while (y, x) in taken:
                x += 1
            if x >= count:
                break
            height, width = min(max(cell[2], 1), len(rows) - y), 1
            while width < min(cell[3], count - x) and (y, x + width) not in taken:
                width += 1
            taken |= {(y + down, x + across): True for down in range(height) for across in range(width)}
            placed.append((x, width, height, cell))
            x += width
        yield placed + _rest(y, count, taken)


def _rest(y: int, count: int, taken: dict[tuple[int, int], bool]) -> list[Placed]:
    """Empty cells for what a row leaves open, so that the next one begins where it should."""
    empty = [["", [], []], {"t": "AlignDefault"}, 1, 1, []]
    open_columns = [x for x in range(count) if (y, x) not in taken]
    return [(x, 1, 1, empty) for x in open_columns]
