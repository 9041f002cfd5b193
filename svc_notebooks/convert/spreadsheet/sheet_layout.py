"""Selects the rows and columns of a sheet that PDF and HTML show, and places merged areas among them.

Long sequences of empty rows or columns are skipped. The running time depends on the number of cells, not on the size of
the rectangle that contains the cells.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from .model import Area, Cell, Sheet

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
