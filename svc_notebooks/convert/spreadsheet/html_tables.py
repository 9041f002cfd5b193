"""Reads the tables of a web page as sheets, and writes a web page for each sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser

from ..input.charset import decode_markup
from ..input.native_package import zip_timestamp, zipped
from ..job import ConversionError, Job, TooLarge
from .formulas import MAX_COLUMNS, MAX_ROWS, column_letters, safe_link
from .model import Area, Cell, CellQuota, CellStyle, Sheet, Workbook, disjoint
from .number_format import format_cell
from .sheet_layout import LayoutCell, SheetLayout
from .values import clean, parse_cell

_MAX_SPAN = 1000
_BLOCKS = frozenset({"br", "p", "div", "li"})
_HIDDEN_TAGS = frozenset({"script", "style", "title"})


def read(source: bytes, job: Job) -> Workbook:
    """Read each table of a web page as a sheet. Raises ConversionError without a table, and TooLarge above a limit."""
    reader = _TableParser(job)
    reader.feed(decode_markup(source, job))
    reader.close()
    if not reader.sheets:
        raise ConversionError("the file is a web page without a table.")
    return Workbook(tuple(reader.sheets))


class _TableParser(HTMLParser):
    """Collects the outermost tables as sheets. A table inside a cell becomes text of the cell."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.sheets: list[Sheet] = []
        self._quota = CellQuota(job.limits)
        self._depth = 0
        self._hidden_depth = 0
        self._begin_table()

    def _begin_table(self) -> None:
        self._rows: dict[int, dict[int, Cell]] = {}
        self._merges: list[Area] = []
        self._occupied: dict[int, int] = {}  # by column, the first row below a cell that spans rows
        self._row = self._column = -1
        self._text: list[str] | None = None
        self._span = (1, 1)
        self._bold = False
        self._link: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self._begin_table()
        elif tag in _HIDDEN_TAGS:
            self._hidden_depth += 1
        elif self._depth == 1 and tag == "tr":
            self._end_cell()
            self._row, self._column = self._row + 1, -1
        elif self._depth == 1 and tag in ("td", "th"):
            self._begin_cell(attributes, bold=tag == "th")
        elif self._text is not None and tag in _BLOCKS and self._text:
            self._text.append("\n")
        elif self._text is not None and tag == "a":
            self._link = safe_link(attributes.get("href"))

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN_TAGS:
            self._hidden_depth = max(self._hidden_depth - 1, 0)
        elif self._depth == 1 and tag in ("td", "th", "tr", "table"):
            self._end_cell()
        if tag == "table" and self._depth:
            self._depth -= 1
            if self._depth == 0:
                self._end_table()

    def handle_data(self, data: str) -> None:
        if self._text is not None and not self._hidden_depth:
            self._text.append(data)

    def close(self) -> None:
        super().close()
        if self._depth:  # the page ends within a table
            self._end_cell()
            self._end_table()

    def _begin_cell(self, attributes: dict[str, str | None], *, bold: bool) -> None:
        self._end_cell()
        self._row = max(self._row, 0)
        self._column += 1
        while self._occupied.get(self._column, 0) > self._row:
            self._column += 1
        self._span = (_count(attributes.get("rowspan")), _count(attributes.get("colspan")))
        self._text, self._bold, self._link = [], bold, None

    def _end_cell(self) -> None:
        if self._text is None:
            return
        text = "\n".join(" ".join(line.split()) for line in "".join(self._text).strip().split("\n")).strip()
        height, width = self._span
        right = self._column + width - 1
        if right >= MAX_COLUMNS or self._row + height > MAX_ROWS:
            raise TooLarge(f"the table has more than {MAX_ROWS} rows or {MAX_COLUMNS} columns.")
        if text:
            self._quota.take()
            cell = parse_cell(text)
            style = CellStyle(cell.style.format, bold=True) if self._bold else cell.style
            self._rows.setdefault(self._row, {})[self._column] = cell._replace(style=style, link=self._link)
        self._merges.append(Area(self._row, self._column, self._row + height - 1, right))
        if height > 1:
            self._quota.take(width)
            self._occupied |= dict.fromkeys(range(self._column, right + 1), self._row + height)
        self._column, self._text = right, None

    def _end_table(self) -> None:
        name = f"Sheet{len(self.sheets) + 1}"
        self.sheets.append(Sheet(name, self._rows, disjoint(self._merges)))


def _count(text: str | None) -> int:
    return min(max(int(text), 1), _MAX_SPAN) if text and text.isascii() and text.isdigit() and len(text) < 9 else 1


_CSS = """\
body { font-family: "Noto Sans", "Segoe UI", Helvetica, Arial, sans-serif; font-size: 10pt; margin: 1em; }
nav { margin-bottom: 1em; }
nav a, nav b { margin-right: 1em; }
table { border-collapse: collapse; }
td, th { border: 1px solid #ccc; padding: 2px 5px; vertical-align: bottom; white-space: pre-wrap; }
th { background: #f3f3f3; color: #666; font-weight: normal; text-align: center; }
.r { text-align: right; white-space: nowrap; }
.c { text-align: center; }
.b { font-weight: bold; }
"""
_UNSAFE = re.compile(r"[^\w .()+-]|^\.+")
_MAX_EMPTY_CELLS = 500_000
"""A sheet with at most this number of empty cells has a separate `<td>` element for each empty cell."""


def write(workbook: Workbook, job: Job) -> bytes:
    """Return a zip file with a web page for each sheet. File names that differ only in case get a number."""
    files = _files(workbook.sheets)
    named = zip(workbook.sheets, files, strict=True)
    pages = {file: _page(sheet, _links(workbook, files, sheet), job) for sheet, file in named}
    return zipped({**pages, "resources/sheet.css": _CSS}, zip_timestamp(job.now))


def _files(sheets: tuple[Sheet, ...]) -> list[str]:
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


def _links(workbook: Workbook, files: list[str], current: Sheet) -> str:
    if len(files) < 2:
        return ""
    links = (
        f"<b>{escape(sheet.name)}</b>" if sheet is current else f'<a href="{escape(file)}">{escape(sheet.name)}</a>'
        for sheet, file in zip(workbook.sheets, files, strict=True)
        if not sheet.hidden or sheet is current
    )
    return f"<nav>{' '.join(links)}</nav>\n"


def _page(sheet: Sheet, links: str, job: Job) -> str:
    title = escape(clean(sheet.name))
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f'<link rel="stylesheet" href="resources/sheet.css">\n</head>\n<body>\n{clean(links)}'
        f"<table>\n{''.join(_rows(sheet, job))}</table>\n</body>\n</html>\n"
    )


def _rows(sheet: Sheet, job: Job) -> Iterator[str]:
    layout = SheetLayout.of(sheet)
    dense = len(layout.rows) * len(layout.columns) <= _MAX_EMPTY_CELLS + sum(map(len, sheet.rows.values()))
    yield f"<tr><th></th>{''.join(_heading(sheet, column) for column in layout.columns)}</tr>\n"
    for row, pieces in layout.layout_rows():
        yield f"<tr><th>{row + 1}</th>{''.join(_piece(piece, dense, job) for piece in pieces)}</tr>\n"


def _heading(sheet: Sheet, column: int) -> str:
    width = f' style="min-width: {sheet.widths[column]:.4g}ch"' if column in sheet.widths else ""
    return f"<th{width}>{column_letters(column)}</th>"


def _piece(piece: LayoutCell, dense: bool, job: Job) -> str:
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
