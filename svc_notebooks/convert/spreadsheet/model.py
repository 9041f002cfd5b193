"""The model of a native spreadsheet, which has sheets of sparse cells.

A sheet with one cell at XFD1048576 costs as much as one with a cell at A1. Rows and columns are counted from zero and
are in ascending order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from ..input import native_package
from ..job import JobLimits, TooLarge


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """The error that a formula results in, such as "#N/A"."""

    code: str


Value = None | bool | int | float | str | date | datetime | time | timedelta | ErrorValue
"""The value of a cell, or None for a formula that has not been computed."""


@dataclass(frozen=True, slots=True)
class CellStyle:
    """The display of a value, with a number format as in spreadsheets ("0.00%", or "" for General)."""

    format: str = ""
    bold: bool = False


DEFAULT_STYLE = CellStyle()


class Cell(NamedTuple):
    """A cell of a sheet.

    formula: without the equals sign, in the notation of xlsx; `array` is the rows and columns that it fills.
    link: http, https, mailto, or a cell of the workbook ("#Sheet2!A1").
    """

    value: Value
    style: CellStyle = DEFAULT_STYLE
    formula: str | None = None
    array: tuple[int, int] | None = None
    link: str | None = None

    @property
    def display_value(self) -> Value:
        """The value, or the formula as text if it has not been computed."""
        return f"={self.formula}" if self.value is None and self.formula else self.value


class Area(NamedTuple):
    """A rectangle, both corners included."""

    top: int
    left: int
    bottom: int
    right: int


Rows = Mapping[int, Mapping[int, Cell]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet with the widths of columns in characters, and merged areas that do not overlap."""

    name: str = "Sheet1"
    rows: Rows = field(default_factory=dict)
    merges: tuple[Area, ...] = ()
    widths: Mapping[int, float] = field(default_factory=dict)
    hidden: bool = False

    def cells(self) -> Iterator[tuple[int, int, Cell]]:
        """Yield every cell with its row and column, row by row."""
        for row, columns in self.rows.items():
            for column, cell in columns.items():
                yield row, column, cell

    @property
    def last_column(self) -> int:
        """The rightmost column that has a cell, or -1 if there is none."""
        return max((max(columns) for columns in self.rows.values()), default=-1)


@dataclass(frozen=True, slots=True)
class Workbook:
    """A workbook of at least one sheet."""

    sheets: tuple[Sheet, ...] = (Sheet(),)

    def pack(self) -> bytes:
        """Return the bytes to store."""
        return native_package.pack({"sheets": [_sheet_to_json(sheet) for sheet in self.sheets]}, {})

    @classmethod
    def unpack(cls, body: bytes) -> Workbook:
        """Return the workbook that `pack` stored."""
        value, _ = native_package.unpack(body)
        return cls(tuple(_sheet_from_json(sheet) for sheet in value["sheets"]))


class CellQuota:
    """Counts the cells that are read, up to the limit."""

    def __init__(self, limits: JobLimits) -> None:
        self._limit = self._remaining = limits.cells

    def take(self, number: int = 1) -> None:
        """Count cells, and raise TooLarge if there are too many."""
        self._remaining -= number
        if self._remaining < 0:
            raise TooLarge(f"the spreadsheet has more than {self._limit} cells.")


def in_order(rows: Mapping[int, Mapping[int, Cell]]) -> Rows:
    """Return rows and columns in ascending order, without empty rows."""
    return {row: dict(sorted(rows[row].items())) for row in sorted(rows) if rows[row]}


_MAX_MERGES = 50_000


def disjoint(areas: list[Area]) -> tuple[Area, ...]:
    """Return the areas of several cells that overlap no earlier one, since programs refuse files with others.

    >>> disjoint([Area(1, 0, 1, 1), Area(0, 0, 1, 0), Area(5, 5, 5, 5)])
    (Area(top=0, left=0, bottom=1, right=0),)
    """
    kept: list[Area] = []
    open_areas: list[Area] = []  # the last ones of their columns, from left to right
    for area in sorted(areas)[:_MAX_MERGES]:
        first = bisect_left(open_areas, area.left, key=lambda other: other.right)
        end = bisect_right(open_areas, area.right, key=lambda other: other.left)
        if area[:2] != area[2:] and all(other.bottom < area.top for other in open_areas[first:end]):
            open_areas[first:end] = [area]
            kept.append(area)
    return tuple(kept)


# A cell with only a JSON value is that value, else a list [kind, value, style, formula, array, link] without
# missing fields at its end. A row is a flat list: its number, then column, cell, column, cell, ...

_TO_JSON: dict[type, tuple[str, Any]] = {
    datetime: ("datetime", datetime.isoformat),
    date: ("date", date.isoformat),
    time: ("time", time.isoformat),
    timedelta: ("duration", timedelta.total_seconds),
    ErrorValue: ("fault", lambda fault: fault.code),
}
_FROM_JSON: dict[str, Any] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "duration": lambda seconds: timedelta(seconds=seconds),
    "fault": ErrorValue,
}


def _sheet_to_json(sheet: Sheet) -> dict[str, Any]:
    styles: dict[CellStyle, int] = {DEFAULT_STYLE: 0}
    rows = []
    for row, columns in sheet.rows.items():
        line: list[Any] = [row]
        for column, cell in columns.items():
            line += (column, _cell_to_json(cell, styles))
        rows.append(line)
    return {
        "name": sheet.name,
        "hidden": sheet.hidden,
        "widths": list(sheet.widths.items()),
        "merges": sheet.merges,
        "styles": [[style.format, style.bold] for style in styles],
        "rows": rows,
    }


def _cell_to_json(cell: Cell, styles: dict[CellStyle, int]) -> Any:
    kind, convert = _TO_JSON.get(type(cell.value), ("", None))
    value = convert(cell.value) if convert else cell.value
    style = styles.setdefault(cell.style, len(styles))
    rest = [style, cell.formula, cell.array, cell.link]
    while rest and not rest[-1]:
        rest.pop()
    return [kind, value, *rest] if kind or rest else value


def _sheet_from_json(value: Mapping[str, Any]) -> Sheet:
    styles = [CellStyle(*style) for style in value["styles"]]
    return Sheet(
        name=value["name"],
        rows={
            row: {column: _cell_from_json(cell, styles) for column, cell in zip(cells[::2], cells[1::2], strict=True)}
            for row, *cells in value["rows"]
        },
        merges=tuple(Area(*area) for area in value["merges"]),
        widths=dict(value["widths"]),
        hidden=value["hidden"],
    )


def _cell_from_json(value: Any, styles: list[CellStyle]) -> Cell:
    if not isinstance(value, list):
        return Cell(value)
    kind, content, *rest = value
    style, formula, array, link = rest + [None] * (4 - len(rest))
    return Cell(
        value=_FROM_JSON[kind](content) if kind else content,
        style=styles[style or 0],
        formula=formula,
        array=tuple(array) if array else None,
        link=link,
    )
