"""The native model of a spreadsheet, in which sheets store only the cells with content.

The numbers of rows and columns start at 0, and rows and columns are in ascending order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from ..input import native_package
from ..job import JobLimits, TooLarge


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """An error as the value of a formula, such as "#N/A"."""

    code: str


# The type of cell values. A formula that has not been computed has the value None.
Value = None | bool | int | float | str | date | datetime | time | timedelta | ErrorValue


SIDES = {"t": "top", "r": "right", "b": "bottom", "l": "left"}  # by their letter in `CellStyle.borders`
STACKED = 270  # the value of `CellStyle.turn` for letters below each other


@dataclass(frozen=True, slots=True)
class CellStyle:
    """The look of a cell.

    format: a number format code such as "0.00%", or "" for General.
    color, background: the colours of the text and of the cell as "#rrggbb", or "" for black on white.
    borders: a letter of "trbl" (top, right, bottom, left) for each side with a line, a capital for a thick line.
    turn: the angle of the text in degrees counterclockwise, from -90 to 90, or STACKED.
    """

    format: str = ""
    bold: bool = False
    color: str = ""
    background: str = ""
    borders: str = ""
    turn: int = 0

    @property
    def lines(self) -> dict[str, bool]:
        """Whether the line is thick, for each side with a line ("top", "right", "bottom", "left")."""
        return {SIDES[line.lower()]: line.isupper() for line in self.borders}


DEFAULT_STYLE = CellStyle()


class Cell(NamedTuple):
    """A cell of a sheet.

    formula: the formula in the notation of xlsx, without the equals sign.
    array: the numbers of rows and columns that an array formula fills, or None for other cells.
    link: an http, https or mailto address, or a cell of the workbook ("#Sheet2!A1").
    """

    value: Value
    style: CellStyle = DEFAULT_STYLE
    formula: str | None = None
    array: tuple[int, int] | None = None
    link: str | None = None

    @property
    def display_value(self) -> Value:
        """The value of the cell. If the formula has not been computed, the formula as text with an equals sign."""
        return f"={self.formula}" if self.value is None and self.formula else self.value

    @property
    def is_empty(self) -> bool:
        """True if the cell has nothing but a style."""
        return self.value is None and not self.formula

    @property
    def alignment(self) -> str:
        """The place where programs show a value of this type: "" (the start), "center" or "right"."""
        if isinstance(self.value, (bool, ErrorValue)):
            return "center"
        return "right" if isinstance(self.value, (int, float, date, time, timedelta)) else ""


class Area(NamedTuple):
    """A rectangle of cells. The row `bottom` and the column `right` belong to the rectangle."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class PrintSetup:
    """How a sheet is printed.

    grid: whether lines between all cells are printed.
    landscape: whether the pages are in landscape, or None if the file does not say so.
    fits_width: whether a page has all columns.
    areas: the printed cells, or () for all cells.
    titles: the first and the last row that each page repeats, or ().
    row_breaks, column_breaks: the rows and the columns before which a page begins.
    """

    grid: bool = False
    landscape: bool | None = None
    fits_width: bool = False
    areas: tuple[Area, ...] = ()
    titles: tuple[int, ...] = ()
    row_breaks: tuple[int, ...] = ()
    column_breaks: tuple[int, ...] = ()


class SheetChart(NamedTuple):
    """A chart of a sheet. The first row has the names of the series, the first column the categories."""

    kind: str
    title: str
    rows: tuple[tuple[str, ...], ...]


PLAIN_PRINT = PrintSetup()
Rows = Mapping[int, Mapping[int, Cell]]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet, with cells by row and column, merged areas that do not overlap, and column widths in characters."""

    name: str = "Sheet1"
    rows: Rows = field(default_factory=dict)
    merges: tuple[Area, ...] = ()
    widths: Mapping[int, float] = field(default_factory=dict)
    hidden: bool = False
    setup: PrintSetup = PLAIN_PRINT
    charts: tuple[SheetChart, ...] = ()

    def cells(self) -> Iterator[tuple[int, int, Cell]]:
        """Yield the row number, the column number and the cell for every cell, row by row."""
        for row, columns in self.rows.items():
            for column, cell in columns.items():
                yield row, column, cell

    @classmethod
    def trimmed(
        cls, name: str, rows: Rows, areas: Iterable[Area], widths: Mapping[int, float], setup: PrintSetup, hidden: bool
    ) -> Sheet:
        """Return a sheet without styles and widths outside of the cells with content, and without overlapping areas."""
        sheet = cls(name, _trim(rows), disjoint(areas), hidden=hidden)
        last_row, last = max(sheet.rows, default=-1), sheet.last_column
        setup = replace(
            setup,
            titles=setup.titles if setup.titles and 0 <= setup.titles[0] <= setup.titles[1] <= last_row else (),
            row_breaks=tuple(row for row in setup.row_breaks if 0 < row <= last_row),
            column_breaks=tuple(column for column in setup.column_breaks if 0 < column <= last),
        )
        widths = {column: width for column, width in sorted(widths.items()) if column <= last}
        return replace(sheet, widths=widths, setup=setup)

    @property
    def last_column(self) -> int:
        """The number of the rightmost column with a cell, or -1 if the sheet has no cells."""
        return max(map(max, self.rows.values()), default=-1)


@dataclass(frozen=True, slots=True)
class Workbook:
    """A workbook of at least one sheet."""

    sheets: tuple[Sheet, ...] = (Sheet(),)

    def pack(self) -> bytes:
        """Serialize the workbook as a zip file with JSON."""
        return native_package.pack({"sheets": [_sheet_to_json(sheet) for sheet in self.sheets]}, {})

    @classmethod
    def unpack(cls, body: bytes) -> Workbook:
        """Restore a workbook from the bytes that `pack` returned."""
        value, _ = native_package.unpack(body)
        return cls(tuple(_sheet_from_json(sheet) for sheet in value["sheets"]))


_MAX_EMPTY = 100_000  # the number of cells without content that a reader keeps for their background and borders


class CellQuota:
    """Limits the number of cells that a reader reads from a file."""

    def __init__(self, limits: JobLimits) -> None:
        self._limit = self._remaining = limits.cells
        self._remaining_empty = _MAX_EMPTY

    def take(self, number: int = 1) -> None:
        """Subtract `number` cells from the quota. Raises TooLarge if the quota is exceeded."""
        self._remaining -= number
        if self._remaining < 0:
            raise TooLarge(f"the spreadsheet has more than {self._limit} cells.")

    def take_empty(self, style: CellStyle, number: int = 1) -> bool:
        """Return whether `number` more cells without content are to be kept, because their style is visible."""
        is_visible = bool(style.background or style.borders)
        self._remaining_empty -= number if is_visible else 0
        return is_visible and self._remaining_empty >= 0


def in_order(rows: Mapping[int, Mapping[int, Cell]]) -> Rows:
    """Sort the rows and their columns in ascending order, and remove empty rows."""
    return {row: dict(sorted(rows[row].items())) for row in sorted(rows) if rows[row]}


def _trim(rows: Rows) -> Rows:
    """Remove the cells without content that are below or to the right of all cells with content."""
    filled = {row: [column for column, cell in cells.items() if not cell.is_empty] for row, cells in rows.items()}
    used = {row: max(columns) for row, columns in filled.items() if columns}
    bottom, right = max(used, default=-1), max(used.values(), default=-1)
    return {
        row: cells if max(cells) <= right else {column: cell for column, cell in cells.items() if column <= right}
        for row, cells in rows.items()
        if row <= bottom and min(cells) <= right
    }


_MAX_MERGES = 50_000


def disjoint(areas: Iterable[Area]) -> tuple[Area, ...]:
    """Sort merged areas, and remove single cells and areas that overlap an earlier area.

    >>> disjoint([Area(1, 0, 1, 1), Area(0, 0, 1, 0), Area(5, 5, 5, 5)])
    (Area(top=0, left=0, bottom=1, right=0),)
    """
    kept: list[Area] = []
    open_areas: list[Area] = []  # the lowest areas so far, from left to right
    for area in sorted(areas)[:_MAX_MERGES]:
        first = bisect_left(open_areas, area.left, key=lambda other: other.right)
        end = bisect_right(open_areas, area.right, key=lambda other: other.left)
        if area[:2] != area[2:] and all(other.bottom < area.top for other in open_areas[first:end]):
            open_areas[first:end] = [area]
            kept.append(area)
    return tuple(kept)


# A cell that has nothing but a value of a JSON type is stored as this value. Any other cell is stored as a list
# [kind, value, style, formula, array, link] without empty fields at the end. A row is stored as a flat list
# [row number, column number, cell, column number, cell, ...].

# The kind, the type, and the functions from and to a value of each type that JSON does not have.
_JSON: tuple[tuple[str, type, Any, Any], ...] = (
    ("datetime", datetime, datetime.isoformat, datetime.fromisoformat),
    ("date", date, date.isoformat, date.fromisoformat),
    ("time", time, time.isoformat, time.fromisoformat),
    ("duration", timedelta, timedelta.total_seconds, lambda seconds: timedelta(seconds=seconds)),
    ("fault", ErrorValue, lambda fault: fault.code, ErrorValue),
)
_TO_JSON = {value_type: (kind, convert) for kind, value_type, convert, _ in _JSON}
_FROM_JSON = {kind: restore for kind, _, _, restore in _JSON}


def _sheet_to_json(sheet: Sheet) -> dict[str, Any]:
    styles: dict[CellStyle, int] = {DEFAULT_STYLE: 0}
    rows = []
    for row, columns in sheet.rows.items():
        line: list[Any] = [row]
        for column, cell in columns.items():
            line += (column, _cell_to_json(cell, styles))
        rows.append(line)
    return {
        "name": sheet.name, "hidden": sheet.hidden, "widths": list(sheet.widths.items()), "merges": sheet.merges,
        "styles": [_shorten(list(astuple(style))) for style in styles], "rows": rows,
        **({"print": asdict(sheet.setup)} if sheet.setup != PLAIN_PRINT else {}),
        **({"charts": sheet.charts} if sheet.charts else {}),
    }  # fmt: skip


def _cell_to_json(cell: Cell, styles: dict[CellStyle, int]) -> Any:
    kind, convert = _TO_JSON.get(type(cell.value), ("", None))
    value = convert(cell.value) if convert else cell.value
    style = styles.setdefault(cell.style, len(styles))
    rest = _shorten([style, cell.formula, cell.array, cell.link])
    return [kind, value, *rest] if kind or rest else value


def _shorten(fields: list[Any]) -> list[Any]:
    """Remove the empty fields at the end."""
    while fields and not fields[-1]:
        fields.pop()
    return fields


def _sheet_from_json(value: Mapping[str, Any]) -> Sheet:
    styles = [CellStyle(*style) for style in value["styles"]]
    setup = value.get("print", {"grid": value.get("grid", False)})  # sheets of older versions have a grid only
    setup = {name: tuple(content) if isinstance(content, list) else content for name, content in setup.items()}
    return Sheet(
        name=value["name"],
        rows={
            row: {column: _cell_from_json(cell, styles) for column, cell in zip(cells[::2], cells[1::2], strict=True)}
            for row, *cells in value["rows"]
        },
        merges=tuple(Area(*area) for area in value["merges"]), widths=dict(value["widths"]), hidden=value["hidden"],
        setup=PrintSetup(**{**setup, "areas": tuple(Area(*area) for area in setup.get("areas", ()))}),
        charts=tuple(SheetChart(kind, title, tuple(map(tuple, rows))) for kind, title, rows in value.get("charts", ())),
    )  # fmt: skip


def _cell_from_json(value: Any, styles: list[CellStyle]) -> Cell:
    if not isinstance(value, list):
        return Cell(value)
    kind, content, *rest = value
    style, formula, array, link = rest + [None] * (4 - len(rest))
    return Cell(
        value=_FROM_JSON[kind](content) if kind else content, style=styles[style or 0], formula=formula,
        array=tuple(array) if array else None, link=link,
    )  # fmt: skip
