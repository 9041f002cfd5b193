"""Writes the sheets of a workbook as tables on the pages of a PDF, and as a web page for each sheet.

Long sequences of empty rows or columns are skipped. The running time of the layout depends on the number of cells, not
on the size of the rectangle that contains the cells.

A PDF obeys the print setup of a sheet. Without one, wide sheets are on landscape pages, then in a smaller font, then in
bands of columns on separate pages. Pages with bands, or with skipped rows or columns, show column letters and row
numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from importlib import resources
from itertools import pairwise
from math import ceil, cos, radians
from typing import Any, NamedTuple
from unicodedata import east_asian_width

from ..engines.typst import chart_data, render
from ..input.native_package import zip_timestamp, zipped
from ..job import Job, TooLarge
from .cell_texts import clean, format_cell
from .formulas import column_letters
from .model import STACKED, Area, Cell, PrintSetup, Sheet, Workbook

_ROW_GAP, _COLUMN_GAP = 50, 10  # longer sequences of empty rows or columns are skipped

_MERGED_GAP = 20  # the maximum number of rows or columns that a merged area adds after its first row or column


class LayoutCell(NamedTuple):
    """A cell of the layout with its spans, or `colspan` adjacent empty cells if `cell` is None."""

    cell: Cell | None
    colspan: int = 1
    rowspan: int = 1
    merged: bool = False


class LayoutRow(NamedTuple):
    """A row of the layout, with its row number in the sheet and its cells from left to right."""

    row: int
    cells: list[LayoutCell]


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """The numbers of the rows and columns of a sheet that PDF and HTML show."""

    sheet: Sheet
    rows: list[int]
    columns: list[int]

    @classmethod
    def of(cls, sheet: Sheet) -> SheetLayout:
        """Select the rows and columns to show of a whole sheet, and return the layout."""
        if not sheet.rows:
            return cls(sheet, [], [])
        with_cell = [area for area in sheet.merges if area.left in sheet.rows.get(area.top, ())]
        rows = {min(area.bottom, area.top + _MERGED_GAP) for area in with_cell}
        columns = {min(area.right, area.left + _MERGED_GAP) for area in with_cell}
        columns.update(column for cells in sheet.rows.values() for column in cells)
        shown_rows = _with_small_gaps({0, *sheet.rows, *rows}, _ROW_GAP)
        return cls(sheet, shown_rows, _with_small_gaps({0, *columns}, _COLUMN_GAP))

    @property
    def has_gaps(self) -> bool:
        """True if the layout skips empty rows or columns."""
        return any(numbers and numbers[-1] - numbers[0] + 1 > len(numbers) for numbers in (self.rows, self.columns))

    def within(self, area: Area) -> SheetLayout:
        """Return the layout of the rows and columns in an area."""
        rows = [row for row in self.rows if area.top <= row <= area.bottom]
        return SheetLayout(self.sheet, rows, [column for column in self.columns if area.left <= column <= area.right])

    def parts(self) -> Iterator[SheetLayout]:
        """Yield the layout of the rows between two page breaks, each with the title rows above it."""
        first, last = self.sheet.setup.titles or (0, -1)
        titles = [row for row in self.rows if first <= row <= last]
        breaks = [bisect_left(self.rows, row) for row in self.sheet.setup.row_breaks]
        for start, end in pairwise(sorted({0, *breaks, len(self.rows)})):
            above = [row for row in titles if row < self.rows[start]]
            yield SheetLayout(self.sheet, [*above, *self.rows[start:end]], self.columns)

    def band(self, first: int, end: int) -> SheetLayout:
        """Return the layout of the columns from `first` to before `end`, without rows that are empty in the band."""
        columns = self.columns[first:end]
        inside = range(columns[0], columns[-1] + 1)
        rows = [row for row in self.rows if any(column in inside for column in self.sheet.rows.get(row, ()))]
        return SheetLayout(self.sheet, rows, columns)

    def layout_rows(self) -> Iterator[LayoutRow]:
        """Yield the rows of the layout from top to bottom."""
        pending = sorted(filter(None, (self._layout_area(area) for area in self.sheet.merges)), reverse=True)
        open_areas: list[Area] = []
        for index, row in enumerate(self.rows):
            open_areas = [area for area in open_areas if area.bottom >= index]
            starting = []
            while pending and pending[-1].top <= index:
                starting.append(pending.pop())
            yield LayoutRow(row, list(self._layout_cells(row, starting, open_areas)))
            open_areas += starting

    def _layout_area(self, area: Area) -> Area | None:
        """Convert a merged area to layout indexes. Returns None if fewer than two cells are shown."""
        top, bottom = bisect_left(self.rows, area.top), bisect_right(self.rows, area.bottom) - 1
        left, right = bisect_left(self.columns, area.left), bisect_right(self.columns, area.right) - 1
        if top > bottom or left > right or (top, left) == (bottom, right):
            return None
        return Area(top, left, bottom, right)

    def _layout_cells(self, row: int, starting: list[Area], covering: list[Area]) -> Iterator[LayoutCell]:
        starts = {area.left: area for area in starting}
        skipped = {area.left: area.right for area in covering}
        cells = self.sheet.rows.get(row, {})
        cells_by_position = {
            position: cells[column]
            for column in cells
            if (position := bisect_left(self.columns, column)) < len(self.columns) and self.columns[position] == column
        }
        following = 0
        for place in sorted({*cells_by_position, *starts, *skipped}):
            if place < following:
                continue
            if place > following:
                yield LayoutCell(None, place - following)
            if place in skipped:
                following = skipped[place] + 1
                continue
            area = starts.get(place)
            across, down = (area.right - area.left + 1, area.bottom - area.top + 1) if area else (1, 1)
            cell = cells_by_position.get(place)
            if area:
                cell = self._with_outer_borders(cell or _EMPTY, area)
            yield LayoutCell(cell, across, down, area is not None)
            following = place + across
        if following < len(self.columns):
            yield LayoutCell(None, len(self.columns) - following)

    def _with_outer_borders(self, cell: Cell, area: Area) -> Cell:
        """Add the right and bottom borders of a merged area, which the cells at these sides have."""
        borders = cell.style.borders
        for row, column, side in ((area.top, area.right, "r"), (area.bottom, area.left, "b")):
            other = self.sheet.rows.get(self.rows[row], {}).get(self.columns[column], _EMPTY).style.borders
            borders += "".join(line for line in other if line.lower() == side and side not in borders.lower())
        return cell._replace(style=replace(cell.style, borders=borders)) if borders != cell.style.borders else cell


_EMPTY = Cell("")


def _with_small_gaps(numbers: set[int], gap: int) -> list[int]:
    """Return the numbers in ascending order, and add missing numbers where at most `gap` numbers are missing."""
    filled: list[int] = []
    for number in sorted(numbers):
        if filled and number - filled[-1] <= gap + 1:
            filled += range(filled[-1] + 1, number)
        filled.append(number)
    return filled


_PORTRAIT, _LANDSCAPE = 520.0, 767.0  # the width between the margins of an A4 page, in points

_SIZE, _MIN_SIZE, _MIN_FIT_SIZE = 9.0, 6.0, 0.9
_CHARACTER_WIDTH = 0.64  # of a digit in units of the font size; DejaVu Sans has the widest
_BOLD_WIDTH = 1.15
_CELL_PADDING = 1.0  # the total space to the left and right of the text in a cell, in units of the font size

_MIN_CHARACTERS, _MAX_CHARACTERS, _MAX_TEXT_CHARACTERS = 3, 60, 36
_TURNED_WIDTH = 24.0  # the maximum width of a line of turned text, in units of the font size, as in sheet.typ
_MAX_TURNED_LINES = 5
_CHARACTERS_PER_LINE = 2  # the height of a line in characters
_EDGE_WIDTH = 40.0
_LONGEST_TEXT = 20_000
_MAX_OVERFLOW = 60.0  # of a text into empty cells, in units of the font size: about a page
_EMPTY_PAGE = {
    "part": "", "size": _SIZE, "marked": False, "grid": False, "letters": [], "widths": [], "above": [], "head": [],
    "rows": [],
}  # fmt: skip
_MAX_HEADING = 12  # the maximum number of title rows, since each page needs space for other rows too
_MAX_SEPARATE_EMPTY = 8  # up to this number of adjacent empty cells in a row have lines between them


def write_pdf(workbook: Workbook, job: Job) -> bytes:
    """Return a PDF of the visible sheets, or of all sheets if all are hidden. Raises TooLarge for too many cells."""
    sheets = [sheet for sheet in workbook.sheets if not sheet.hidden] or list(workbook.sheets)
    if len(sheets) < len(workbook.sheets):
        job.note("Hidden sheets are not printed.")
    if any(sheet.setup.areas for sheet in sheets):
        job.note("Cells outside of the print area of their sheet are not printed.")
    if sum(not cell.is_empty for sheet in sheets for _, _, cell in sheet.cells()) > job.limits.pdf_cells:
        limit = f"{job.limits.pdf_cells} cells, the limit for a PDF"
        raise TooLarge(f"the spreadsheet has more than {limit}; use another format.")
    pages = [page for sheet in sheets for page in _with_charts(sheet, list(_pages(sheet, job)))]
    return render(job, "spreadsheet/sheet.typ", {"title": clean(job.name), "pages": pages}, {})


def _pages(sheet: Sheet, job: Job) -> Iterator[dict[str, Any]]:
    whole = SheetLayout.of(sheet)
    for layout in [whole.within(area) for area in sheet.setup.areas] or [whole]:
        if not layout.rows or not layout.columns:
            continue
        widths = _widths(layout, job)
        size, flipped = _fit(sum(widths), sheet.setup)
        breaks = {bisect_left(layout.columns, column) for column in sheet.setup.column_breaks}
        bands = list(_bands(widths, size, _LANDSCAPE if flipped else _PORTRAIT, breaks))
        for number, (first, end) in enumerate(bands, 1):
            part = f"{number} / {len(bands)}" if len(bands) > 1 else ""
            band = layout.band(first, end) if part else layout
            for page in band.parts():
                yield from _page(page, widths[first:end], size, flipped, part, job)


def _with_charts(sheet: Sheet, pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the charts of a sheet to its last page, since the place of a chart is not known."""
    charts = [data for kind, title, rows in sheet.charts if rows and (data := chart_data(kind, rows, title))]
    if charts and not pages:
        pages = [_EMPTY_PAGE | {"name": sheet.name, "flipped": bool(sheet.setup.landscape)}]
    return [*pages[:-1], pages[-1] | {"charts": charts}] if charts else pages


def _page(
    layout: SheetLayout, widths: list[float], size: float, flipped: bool, part: str, job: Job
) -> Iterator[dict[str, Any]]:
    lines = list(layout.layout_rows())
    if not lines:
        return
    page_width = (_LANDSCAPE if flipped else _PORTRAIT) / size
    rows: list[dict[str, Any]] = [{"n": line.row + 1, "c": _row_cells(line, widths, page_width, job)} for line in lines]
    marked = bool(part) or layout.has_gaps
    heading = _heading(lines, layout.sheet.setup.titles, marked=marked)
    yield {
        "name": layout.sheet.name, "part": part, "flipped": flipped, "size": size, "marked": marked,
        "grid": layout.sheet.setup.grid, "letters": [column_letters(column) for column in layout.columns],
        "widths": [round(width * size, 2) for width in widths], "above": rows[: heading.start],
        "head": rows[heading.start : heading.stop], "rows": rows[heading.stop :],
    }  # fmt: skip


def _heading(lines: list[LayoutRow], titles: tuple[int, ...], *, marked: bool) -> range:
    """Return the indexes of the rows that each page repeats: the title rows, or else a first row of texts only."""
    first, last = titles or (0, -1)
    indexes = [index for index, line in enumerate(lines) if first <= line.row <= last]
    texts = [piece.cell is not None and isinstance(piece.cell.value, str) for piece in lines[0].cells]
    if not titles and not marked and all(texts):
        indexes = [0]
    spanned = [index + piece.rowspan for index in indexes for piece in lines[index].cells]
    heading = range(indexes[0], max(spanned)) if indexes else range(0)
    return heading if heading.stop < len(lines) and len(heading) <= _MAX_HEADING else range(0)


def _row_cells(line: LayoutRow, widths: list[float], page_width: float, job: Job) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = []
    position = 0
    for index, piece in enumerate(line.cells, 1):
        if piece.cell:
            end = position + piece.colspan
            own = width = sum(widths[position:end])
            available = page_width - sum(widths[:position])
            needed = _overflow(piece.cell) if piece.colspan == 1 else 0.0
            while width < needed and index < len(line.cells) and _is_free(line.cells[index]):
                index, end = index + 1, end + line.cells[index].colspan
                width = sum(widths[position:end])
            if width < needed and index == len(line.cells):  # the text may run beyond the last column
                width = max(width, min(needed, available))
            overflow = {"o": round(min(width, needed), 2)} if width > own else {}
            cells.append(_cell(piece, piece.cell, width, available, job) | overflow)
        else:
            cells += [{}] * piece.colspan if piece.colspan <= _MAX_SEPARATE_EMPTY else [{"x": piece.colspan}]
        position += piece.colspan
    return cells


def _is_free(piece: LayoutCell) -> bool:
    return piece.cell is None or (piece.cell.is_empty and not piece.merged)


def _overflow(cell: Cell) -> float:
    """Return the width of a text that may run into the empty cells beside it, or 0 for other cells."""
    if not isinstance(cell.value, str) or "\n" in cell.value or cell.style.turn:
        return 0.0
    width = _text_width(cell.value[:500]) * _CHARACTER_WIDTH * (_BOLD_WIDTH if cell.style.bold else 1)
    return min(_MAX_OVERFLOW, width + _CELL_PADDING)


def _cell(piece: LayoutCell, cell: Cell, width: float, available: float, job: Job) -> dict[str, Any]:
    text = format_cell(cell, job)[:_LONGEST_TEXT]
    turned = _turned_lines(cell, text)
    entry: dict[str, Any] = {"t": _breakable(text, _TURNED_WIDTH if turned else width)}
    if turned:  # a slanted text runs over the cells beside it, but not beyond the page
        across = min(_text_width(text) * _CHARACTER_WIDTH, _TURNED_WIDTH) * cos(radians(cell.style.turn))
        entry["r"] = cell.style.turn if across <= available else 90
    entry |= {"x": piece.colspan} if piece.colspan > 1 else {}
    entry |= {"y": piece.rowspan} if piece.rowspan > 1 else {}
    entry |= {"b": 1} if cell.style.bold else {}
    entry |= {"c": cell.style.color} if cell.style.color else {}
    entry |= {"f": cell.style.background} if cell.style.background else {}
    entry |= {"s": cell.style.lines} if cell.style.borders else {}
    entry |= {"l": cell.link} if cell.link and not cell.link.startswith("#") else {}
    return entry | ({"k": cell.alignment} if cell.alignment else {})


def _turned_lines(cell: Cell, text: str) -> int:
    """Return the number of lines of a turned text, or 0 for other texts and those that are too long to turn."""
    if not cell.style.turn or not text:
        return 0
    lines = sum(max(1, ceil(_text_width(line) / _MAX_TEXT_CHARACTERS)) for line in text.split("\n"))
    return lines if lines <= (1 if cell.style.turn == STACKED else _MAX_TURNED_LINES) else 0


def _breakable(text: str, width: float) -> str:
    """Insert zero-width spaces into words that are longer than `width`, in units of the font size."""
    limit = max(int((width - _CELL_PADDING) / _CHARACTER_WIDTH + 0.01), 1)  # so that 7 characters do not become 6.999
    if len(text) <= limit:
        return text
    words = ([word[start : start + limit] for start in range(0, len(word), limit)] for word in text.split(" "))
    return " ".join(map("\u200b".join, words))


def _widths(layout: SheetLayout, job: Job) -> list[float]:
    """Return column widths in units of the font size, large enough for numbers up to a limit. Text can wrap."""
    needed = dict.fromkeys(layout.columns, _MIN_CHARACTERS)
    for line in layout.layout_rows():
        position = 0
        for piece in line.cells:
            if piece.cell and piece.colspan == 1:
                column = layout.columns[position]
                needed[column] = max(needed[column], _character_count(piece.cell, column in layout.sheet.widths, job))
            position += piece.colspan
    set_widths = layout.sheet.widths
    shown = (max(set_widths.get(column, 0), min(count, _MAX_CHARACTERS)) for column, count in needed.items())
    return [count * _CHARACTER_WIDTH + _CELL_PADDING for count in shown]


def _character_count(cell: Cell, has_width: bool, job: Job) -> int:
    text = format_cell(cell, job)[:500]
    if turned := _turned_lines(cell, text):
        return turned * _CHARACTERS_PER_LINE
    if not isinstance(cell.value, str):
        return len(text)
    lines = text.split() if has_width else text.split("\n")
    width = max(map(_text_width, lines), default=0) * (_BOLD_WIDTH if cell.style.bold else 1)
    return min(ceil(width), _MAX_TEXT_CHARACTERS)


def _text_width(text: str) -> int:
    return len(text) if text.isascii() else sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _fit(width: float, setup: PrintSetup) -> tuple[float, bool]:
    """Return the font size in points and whether the page is in landscape. `width` is in units of the font size."""
    flipped = width * _SIZE > _PORTRAIT if setup.landscape is None else setup.landscape
    page_width = _LANDSCAPE if flipped else _PORTRAIT
    if width * _SIZE <= page_width:
        return _SIZE, flipped
    smaller = int(page_width / width * 10) / 10
    if setup.fits_width:
        return max(smaller, _MIN_FIT_SIZE), flipped
    return (smaller, flipped) if smaller >= _MIN_SIZE else (_SIZE - 1, flipped)


def _bands(widths: list[float], size: float, page_width: float, breaks: set[int]) -> Iterator[tuple[int, int]]:
    """Yield (first index, end index) of each band of columns that fits on a page of width `page_width`, in points.

    A band also begins at each index in `breaks`.
    """
    if sum(widths) * size <= page_width and not breaks:
        yield 0, len(widths)
        return
    first, used = 0, _EDGE_WIDTH
    for index, width in enumerate(widths):
        if (used + width * size > page_width or index in breaks) and index > first:
            yield first, index
            first, used = index, _EDGE_WIDTH
        used += width * size
    yield first, len(widths)


_UNSAFE = re.compile(r"[^\w .()+-]|^\.+")
_MAX_EMPTY_CELLS = 500_000  # of a sheet in which each has its own `<td>` element


def write_html(workbook: Workbook, job: Job) -> bytes:
    """Return a zip file with a web page for each sheet. File names that differ only in case get a number."""
    files = _file_names(workbook.sheets)
    named = zip(workbook.sheets, files, strict=True)
    pages = {file: _web_page(sheet, _sheet_links(workbook, files, sheet), job) for sheet, file in named}
    css = (resources.files(__package__) / "sheet.css").read_bytes()
    return zipped({**pages, "resources/sheet.css": css}, zip_timestamp(job.now))


def _file_names(sheets: tuple[Sheet, ...]) -> list[str]:
    names: list[str] = []
    for sheet in sheets:
        plain = _UNSAFE.sub("_", clean(sheet.name)).strip(" .") or "Sheet"
        used = {name.casefold() for name in names}
        number = 1
        name = f"{plain}.html"
        while name.casefold() in used:
            number += 1
            name = f"{plain}_{number}.html"
        names.append(name)
    return names


def _sheet_links(workbook: Workbook, files: list[str], current: Sheet) -> str:
    if len(files) < 2:
        return ""
    links = []
    for sheet, file in zip(workbook.sheets, files, strict=True):
        link = f'<a href="{escape(file)}">{escape(sheet.name)}</a>'
        links += [f"<b>{escape(sheet.name)}</b>"] if sheet is current else [] if sheet.hidden else [link]
    return f"<nav>{' '.join(links)}</nav>\n"


def _web_page(sheet: Sheet, links: str, job: Job) -> str:
    title = escape(clean(sheet.name))
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<link rel="stylesheet" href="resources/sheet.css">\n</head>\n<body>\n{clean(links)}'
        f"<table>\n{''.join(_table_rows(sheet, job))}</table>\n</body>\n</html>\n"
    )


def _table_rows(sheet: Sheet, job: Job) -> Iterator[str]:
    layout = SheetLayout.of(sheet)
    dense = len(layout.rows) * len(layout.columns) <= _MAX_EMPTY_CELLS + sum(map(len, sheet.rows.values()))
    widths = {column: f' style="min-width: {width:.4g}ch"' for column, width in sheet.widths.items()}
    headings = (f"<th{widths.get(column, '')}>{column_letters(column)}</th>" for column in layout.columns)
    yield f"<tr><th></th>{''.join(headings)}</tr>\n"
    for row, pieces in layout.layout_rows():
        yield f"<tr><th>{row + 1}</th>{''.join(_table_cell(piece, dense, job) for piece in pieces)}</tr>\n"


def _table_cell(piece: LayoutCell, dense: bool, job: Job) -> str:
    if piece.cell is None:
        return "<td></td>" * piece.colspan if dense else f'<td colspan="{piece.colspan}"></td>'
    spans = f' colspan="{piece.colspan}"' if piece.colspan > 1 else ""
    spans += f' rowspan="{piece.rowspan}"' if piece.rowspan > 1 else ""
    cell = piece.cell
    classes = " ".join(filter(None, (cell.alignment[:1], "b" if cell.style.bold else "")))
    attributes = spans + (f' class="{classes}"' if classes else "")
    text = escape(clean(format_cell(cell, job)))
    if cell.link and not cell.link.startswith("#"):
        text = f'<a href="{escape(clean(cell.link))}" rel="noopener noreferrer">{text}</a>'
    return f"<td{attributes}>{text}</td>"
