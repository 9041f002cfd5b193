"""Writes a workbook as PDF: one table for each sheet, on as many pages as it takes.

A sheet that is too wide for a page lies on its side, then is set smaller, then is split into bands of columns.
Where columns are split or empty ones are skipped, letters and numbers at the edges say where one is.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any
from unicodedata import east_asian_width

from ..engines.typst import render
from ..job import Job, TooLarge
from .formula.address import letters
from .grid import LayoutCell, LayoutRow, SheetLayout
from .model import Cell, Fault, Sheet, Workbook
from .number_format import show
from .values import clean

_PORTRAIT, _LANDSCAPE = 520.0, 767.0
"""Room between the margins of an A4 page, in points."""

_SIZE, _SMALLEST = 9.0, 6.0
_CHARACTER = 0.64
"""The width of a digit in units of the font's size: in DejaVu Sans, the widest of the fonts that sheet.typ names."""
_EDGES = 1.0
"""The room beside the text of a cell, in the same units."""

_NARROWEST, _WIDEST, _USUAL = 3, 60, 36
_EDGE_WIDTH = 40.0
_LONGEST_TEXT = 20_000
_EMPTY_PER_CELL = 4
_LINED = 8
"""So many empty cells beside each other have lines between them; more are one."""


def write(workbook: Workbook, job: Job) -> bytes:
    """The sheets that are not hidden. Raises TooLarge for more cells than can be set."""
    sheets = [sheet for sheet in workbook.sheets if not sheet.hidden] or list(workbook.sheets)
    if len(sheets) < len(workbook.sheets):
        job.note("Hidden sheets are not printed.")
    budget = _Budget(job)
    pages = [page for sheet in sheets for page in _pages(sheet, budget)]
    return render(job, "spreadsheet/sheet.typ", {"title": clean(job.name), "pages": pages}, {})


class _Budget:
    """How many cells may still be set."""

    def __init__(self, job: Job) -> None:
        self._most = self._left = job.limits.pdf_cells
        self._places = self._most * _EMPTY_PER_CELL

    def take(self, number: int) -> None:
        """Cells with something in them."""
        self._left -= number
        self._check(self._left)

    def lay_out(self, number: int) -> None:
        """All cells of a table, the empty ones, too."""
        self._places -= number
        self._check(self._places)

    def _check(self, left: int) -> None:
        if left < 0:
            raise TooLarge(f"it has more than {self._most} cells, which is too much to print; another format has room.")


def _pages(sheet: Sheet, budget: _Budget) -> Iterator[dict[str, Any]]:
    budget.take(sum(map(len, sheet.rows.values())))
    grid = SheetLayout.of(sheet)
    if not grid.rows:
        return
    widths = _widths(grid)
    size, flipped = _fit(sum(widths))
    bands = list(_bands(widths, size, _LANDSCAPE if flipped else _PORTRAIT))
    for number, (first, end) in enumerate(bands, 1):
        part = f"{number} / {len(bands)}" if len(bands) > 1 else ""
        shown = grid.band(first, end) if part else grid
        yield from _page(shown, widths[first:end], size, flipped, part, budget)


def _page(
    grid: SheetLayout, widths: list[float], size: float, flipped: bool, part: str, budget: _Budget
) -> Iterator[dict[str, Any]]:
    """A table, and how its page is to be; none, if there is nothing in these columns."""
    lines = list(grid.lines())
    if not lines:
        return
    rows: list[dict[str, Any]] = [{"n": line.row + 1, "c": _told(line, widths)} for line in lines]
    budget.lay_out(sum(len(row["c"]) for row in rows))
    marked = bool(part) or grid.skips
    heading = 1 if not marked and _is_heading(lines) else 0
    yield {
        "name": grid.sheet.name,
        "part": part,
        "flipped": flipped,
        "size": size,
        "marked": marked,
        "letters": [letters(column) for column in grid.columns],
        "widths": [round(width * size, 2) for width in widths],
        "head": [cell for row in rows[:heading] for cell in row["c"]],
        "rows": rows[heading:],
    }


def _is_heading(lines: list[LayoutRow]) -> bool:
    """Whether the first row names the columns: it is full of words, and others follow."""
    cells = [piece.cell for piece in lines[0].pieces]
    return len(lines) > 1 and all(cell is not None and isinstance(cell.value, str) for cell in cells)


def _told(line: LayoutRow, widths: list[float]) -> list[dict[str, Any]]:
    told, place = [], 0
    for piece in line.pieces:
        told += _cells(piece, sum(widths[place : place + piece.across]))
        place += piece.across
    return told


def _cells(piece: LayoutCell, width: float) -> list[dict[str, Any]]:
    if piece.cell:
        return [_cell(piece, width)]
    return [{}] * piece.across if piece.across <= _LINED else [{"x": piece.across}]


def _cell(piece: LayoutCell, width: float) -> dict[str, Any]:
    cell = piece.cell
    assert cell
    told: dict[str, Any] = {"t": _breakable(show(cell)[:_LONGEST_TEXT], width)}
    told |= {"x": piece.across} if piece.across > 1 else {}
    told |= {"y": piece.down} if piece.down > 1 else {}
    told |= {"b": 1} if cell.style.bold else {}
    told |= {"l": cell.link} if cell.link and not cell.link.startswith("#") else {}
    return told | _kind(cell)


def _kind(cell: Cell) -> dict[str, str]:
    if isinstance(cell.value, (bool, Fault)):
        return {"k": "c"}
    return {"k": "n"} if isinstance(cell.value, (int, float, date, time, timedelta)) else {}


def _breakable(text: str, width: float) -> str:
    """With places to break words that are longer than their cell is wide."""
    room = max(int((width - _EDGES) / _CHARACTER + 0.01), 1)  # 7 characters shall not become 6.999
    if len(text) <= room:
        return text
    return " ".join(_broken(word, room) for word in text.split(" "))


def _broken(word: str, room: int) -> str:
    if len(word) <= room:
        return word
    return "\u200b".join(word[start : start + room] for start in range(0, len(word), room))


def _widths(grid: SheetLayout) -> list[float]:
    """Of the columns, in units of the font's size: what the sheet says, but no less than the longest number needs."""
    needed = dict.fromkeys(grid.columns, _NARROWEST)
    for line in grid.lines():
        place = 0
        for piece in line.pieces:
            if piece.cell and piece.across == 1:
                column = grid.columns[place]
                needed[column] = max(needed[column], _needs(piece.cell, column in grid.sheet.widths))
            place += piece.across
    return [
        max(grid.sheet.widths.get(column, 0), min(characters, _WIDEST)) * _CHARACTER + _EDGES
        for column, characters in needed.items()
    ]


def _needs(cell: Cell, has_width: bool) -> int:
    """The characters that a cell needs: words may go below each other, numbers may not."""
    text = show(cell)[:500]
    if not isinstance(cell.value, str):
        return len(text)
    lines = text.split() if has_width else text.split("\n")
    return min(max(map(_length, lines), default=0), _USUAL)


def _length(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _fit(width: float) -> tuple[float, bool]:
    """The font's size and whether the page lies on its side; `width` in units of that size."""
    if width * _SIZE <= _PORTRAIT:
        return _SIZE, False
    if width * _SIZE <= _LANDSCAPE:
        return _SIZE, True
    smaller = int(_LANDSCAPE / width * 10) / 10
    return (smaller, True) if smaller >= _SMALLEST else (_SIZE - 1, True)


def _bands(widths: list[float], size: float, room: float) -> Iterator[tuple[int, int]]:
    """Runs of columns that fit on a page beside each other."""
    if sum(widths) * size <= room:
        yield 0, len(widths)
        return
    first, used = 0, _EDGE_WIDTH
    for place, width in enumerate(widths):
        if used + width * size > room and place > first:
            yield first, place
            first, used = place, _EDGE_WIDTH
        used += width * size
    yield first, len(widths)
