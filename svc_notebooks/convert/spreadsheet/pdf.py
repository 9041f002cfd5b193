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
from .formula.address import column_letters
from .model import Cell, ErrorValue, Sheet, Workbook
from .number_format import format_cell
from .sheet_layout import LayoutCell, LayoutRow, SheetLayout
from .values import clean

_PORTRAIT, _LANDSCAPE = 520.0, 767.0
"""Room between the margins of an A4 page, in points."""

_SIZE, _MIN_SIZE = 9.0, 6.0
_CHARACTER_WIDTH = 0.64
"""The width of a digit in units of the font's size: in DejaVu Sans, the widest of the fonts that sheet.typ names."""
_CELL_PADDING = 1.0
"""The room beside the text of a cell, in the same units."""

_MIN_CHARACTERS, _MAX_CHARACTERS, _MAX_TEXT_CHARACTERS = 3, 60, 36
_EDGE_WIDTH = 40.0
_LONGEST_TEXT = 20_000
_EMPTY_PER_CELL = 4
_MAX_SEPARATE_EMPTY = 8
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
        self._limit = self._cells_left = job.limits.pdf_cells
        self._layout_cells_left = self._limit * _EMPTY_PER_CELL

    def take(self, number: int) -> None:
        """Cells with something in them."""
        self._cells_left -= number
        self._check(self._cells_left)

    def take_layout_cells(self, number: int) -> None:
        """All cells of a table, the empty ones, too."""
        self._layout_cells_left -= number
        self._check(self._layout_cells_left)

    def _check(self, left: int) -> None:
        if left < 0:
            raise TooLarge(
                f"it has more than {self._limit} cells, which is too much to print; another format has room."
            )


def _pages(sheet: Sheet, budget: _Budget) -> Iterator[dict[str, Any]]:
    budget.take(sum(map(len, sheet.rows.values())))
    layout = SheetLayout.of(sheet)
    if not layout.rows:
        return
    widths = _widths(layout)
    size, flipped = _fit(sum(widths))
    bands = list(_bands(widths, size, _LANDSCAPE if flipped else _PORTRAIT))
    for number, (first, end) in enumerate(bands, 1):
        part = f"{number} / {len(bands)}" if len(bands) > 1 else ""
        band = layout.band(first, end) if part else layout
        yield from _page(band, widths[first:end], size, flipped, part, budget)


def _page(
    layout: SheetLayout, widths: list[float], size: float, flipped: bool, part: str, budget: _Budget
) -> Iterator[dict[str, Any]]:
    """A table, and how its page is to be; none, if there is nothing in these columns."""
    lines = list(layout.layout_rows())
    if not lines:
        return
    rows: list[dict[str, Any]] = [{"n": line.row + 1, "c": _row_cells(line, widths)} for line in lines]
    budget.take_layout_cells(sum(len(row["c"]) for row in rows))
    marked = bool(part) or layout.has_gaps
    heading = 1 if not marked and _is_heading(lines) else 0
    yield {
        "name": layout.sheet.name,
        "part": part,
        "flipped": flipped,
        "size": size,
        "marked": marked,
        "letters": [column_letters(column) for column in layout.columns],
        "widths": [round(width * size, 2) for width in widths],
        "head": [cell for row in rows[:heading] for cell in row["c"]],
        "rows": rows[heading:],
    }


def _is_heading(lines: list[LayoutRow]) -> bool:
    """Whether the first row names the columns: it is full of words, and others follow."""
    cells = [piece.cell for piece in lines[0].cells]
    return len(lines) > 1 and all(cell is not None and isinstance(cell.value, str) for cell in cells)


def _row_cells(line: LayoutRow, widths: list[float]) -> list[dict[str, Any]]:
    cells, position = [], 0
    for piece in line.cells:
        cells += _cells(piece, sum(widths[position : position + piece.colspan]))
        position += piece.colspan
    return cells


def _cells(piece: LayoutCell, width: float) -> list[dict[str, Any]]:
    if piece.cell:
        return [_cell(piece, width)]
    return [{}] * piece.colspan if piece.colspan <= _MAX_SEPARATE_EMPTY else [{"x": piece.colspan}]


def _cell(piece: LayoutCell, width: float) -> dict[str, Any]:
    cell = piece.cell
    assert cell
    entry: dict[str, Any] = {"t": _breakable(format_cell(cell)[:_LONGEST_TEXT], width)}
    entry |= {"x": piece.colspan} if piece.colspan > 1 else {}
    entry |= {"y": piece.rowspan} if piece.rowspan > 1 else {}
    entry |= {"b": 1} if cell.style.bold else {}
    entry |= {"l": cell.link} if cell.link and not cell.link.startswith("#") else {}
    return entry | _kind(cell)


def _kind(cell: Cell) -> dict[str, str]:
    if isinstance(cell.value, (bool, ErrorValue)):
        return {"k": "c"}
    return {"k": "n"} if isinstance(cell.value, (int, float, date, time, timedelta)) else {}


def _breakable(text: str, width: float) -> str:
    """With places to break words that are longer than their cell is wide."""
    room = max(int((width - _CELL_PADDING) / _CHARACTER_WIDTH + 0.01), 1)  # 7 characters shall not become 6.999
    if len(text) <= room:
        return text
    return " ".join(_break_word(word, room) for word in text.split(" "))


def _break_word(word: str, room: int) -> str:
    if len(word) <= room:
        return word
    return "\u200b".join(word[start : start + room] for start in range(0, len(word), room))


def _widths(layout: SheetLayout) -> list[float]:
    """Of the columns, in units of the font's size: what the sheet says, but no less than the longest number needs."""
    needed = dict.fromkeys(layout.columns, _MIN_CHARACTERS)
    for line in layout.layout_rows():
        position = 0
        for piece in line.cells:
            if piece.cell and piece.colspan == 1:
                column = layout.columns[position]
                needed[column] = max(needed[column], _needed_characters(piece.cell, column in layout.sheet.widths))
            position += piece.colspan
    return [
        max(layout.sheet.widths.get(column, 0), min(characters, _MAX_CHARACTERS)) * _CHARACTER_WIDTH + _CELL_PADDING
        for column, characters in needed.items()
    ]


def _needed_characters(cell: Cell, has_width: bool) -> int:
    """The characters that a cell needs: words may go below each other, numbers may not."""
    text = format_cell(cell)[:500]
    if not isinstance(cell.value, str):
        return len(text)
    lines = text.split() if has_width else text.split("\n")
    return min(max(map(_length, lines), default=0), _MAX_TEXT_CHARACTERS)


def _length(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _fit(width: float) -> tuple[float, bool]:
    """The font's size and whether the page lies on its side; `width` in units of that size."""
    if width * _SIZE <= _PORTRAIT:
        return _SIZE, False
    if width * _SIZE <= _LANDSCAPE:
        return _SIZE, True
    smaller = int(_LANDSCAPE / width * 10) / 10
    return (smaller, True) if smaller >= _MIN_SIZE else (_SIZE - 1, True)


def _bands(widths: list[float], size: float, room: float) -> Iterator[tuple[int, int]]:
    """Runs of columns that fit on a page beside each other."""
    if sum(widths) * size <= room:
        yield 0, len(widths)
        return
    first, used = 0, _EDGE_WIDTH
    for index, width in enumerate(widths):
        if used + width * size > room and index > first:
            yield first, index
            first, used = index, _EDGE_WIDTH
        used += width * size
    yield first, len(widths)
