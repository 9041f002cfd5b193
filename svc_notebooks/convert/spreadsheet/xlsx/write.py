"""Writes xlsx workbooks with XlsxWriter, including formulas and their last values."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any

from xlsxwriter import Workbook as Writer
from xlsxwriter.worksheet import Worksheet

from ...job import Job
from ..cell_texts import clean, to_text
from ..format_code import DEFAULTS, to_serial
from ..model import DEFAULT_STYLE, Cell, CellStyle, ErrorValue, PrintSetup, Sheet, Value, Workbook

_MAX_TEXT = 32_767
_MAX_ARRAY = 10_000
_MAX_LINKS = 65_000
_OPTIONS = {"in_memory": True, **dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)}


def write(workbook: Workbook, job: Job) -> bytes:
    """Return a workbook as an xlsx file. Text that is too long for Excel is cut, and the job gets a note."""
    target = io.BytesIO()
    writer = Writer(target, _OPTIONS)
    writer.set_properties({"created": job.now.replace(tzinfo=None), "title": clean(job.name)[:255]})
    formats: dict[CellStyle, Any] = {DEFAULT_STYLE: None}
    for sheet in workbook.sheets:
        _SheetWriter(writer, sheet.name, formats, job).write(sheet)
    _choose_visible(writer, workbook)
    writer.close()
    return target.getvalue()


class _SparseWorksheet(Worksheet):  # type: ignore[misc]
    """A worksheet that writes only rows and cells with content. The base class also loops over empty cells."""

    def _calculate_spans(self) -> None:
        self.row_spans: dict[int, str] = {}

    def _write_rows(self) -> None:
        for row in sorted(row for row, cells in self.table.items() if cells):
            self._write_row(row, None)
            for column, cell in sorted(self.table[row].items()):
                self._write_cell(row, column, cell)
            self._xml_end_tag("row")

    def _xml_number_element(self, number: float, attributes: Any = ()) -> None:
        """Write all digits of a number. The base class writes 16, and a float can have 17."""
        listed = "".join(f' {key}="{value}"' for key, value in attributes)
        self.fh.write(f"<c{listed}><v>{number!r}</v></c>")


def _choose_visible(writer: Writer, workbook: Workbook) -> None:
    """Hide the hidden sheets, and activate the first visible sheet. If all sheets are hidden, show all."""
    pages = writer.worksheets()
    visible = [index for index, sheet in enumerate(workbook.sheets) if not sheet.hidden]
    if not visible:
        return
    pages[visible[0]].activate()
    pages[visible[0]].set_first_sheet()
    for page, sheet in zip(pages, workbook.sheets, strict=True):
        if sheet.hidden:
            page.hide()


class _SheetWriter:
    def __init__(self, writer: Writer, name: str, formats: dict[CellStyle, Any], job: Job) -> None:
        self._worksheet = writer.add_worksheet(name, worksheet_class=_SparseWorksheet)
        self._writer, self._formats, self._job = writer, formats, job
        self._links = 0

    def _format(self, style: CellStyle) -> Any:
        if style not in self._formats:
            properties: dict[str, Any] = {"num_format": style.format} if style.format else {}
            colors = {"font_color": style.color, "bg_color": style.background}
            properties |= {key: color for key, color in colors.items() if color}
            properties |= {side: 2 if thick else 1 for side, thick in style.lines.items()}
            # Turned text is written flat: rows have no height, and LibreOffice would draw it over the rows above.
            self._formats[style] = self._writer.add_format({**properties, "bold": style.bold})
        return self._formats[style]

    def write(self, sheet: Sheet) -> None:
        leaving_out = self._job.leaving_out("A cell")
        for row, column, cell in sheet.cells():
            with leaving_out:
                self._cell(row, column, cell)
        # `merge_range` would add a cell for each position.
        self._worksheet.merge.extend(list(area) for area in sheet.merges)
        self._set_up_printing(sheet.setup)
        for column, width in sheet.widths.items():
            self._worksheet.set_column(column, column, width)

    def _set_up_printing(self, setup: PrintSetup) -> None:
        page = self._worksheet
        if setup.grid:
            page.hide_gridlines(0)
        if setup.landscape is not None:
            (page.set_landscape if setup.landscape else page.set_portrait)()
        if setup.fits_width:
            page.fit_to_pages(1, 0)
        if len(setup.areas) == 1:
            page.print_area(*setup.areas[0])
        if setup.titles:
            page.repeat_rows(*setup.titles)
        page.set_h_pagebreaks(list(setup.row_breaks))
        page.set_v_pagebreaks(list(setup.column_breaks))

    def _cell(self, row: int, column: int, cell: Cell) -> None:
        if cell.link:
            self._link(row, column, cell)
        if cell.formula:
            self._formula(row, column, cell)
        else:
            self._value(row, column, cell.value, cell.style)

    def _value(self, row: int, column: int, value: Value, style: CellStyle) -> None:
        style = _with_date_format(value, style)
        if isinstance(value, ErrorValue):
            self._worksheet.write_formula(row, column, f"={value.code}", self._format(style), value.code)
            return
        stored = _stored_value(value)
        if isinstance(stored, str):
            self._worksheet.write_string(row, column, self._truncate(stored), self._format(style))
        elif isinstance(stored, bool):
            self._worksheet.write_boolean(row, column, stored, self._format(style))
        elif stored is None:
            self._worksheet.write_blank(row, column, None, self._format(style))
        else:
            self._worksheet.write_number(row, column, stored, self._format(style))

    def _truncate(self, value: str) -> str:
        text = clean(value)
        if len(text) < _MAX_TEXT:
            return text
        self._job.note(f"Texts were cut after {_MAX_TEXT} characters, the limit of Excel.")
        return text[: _MAX_TEXT - 1]

    def _formula(self, row: int, column: int, cell: Cell) -> None:
        format = self._format(_with_date_format(cell.value, cell.style))
        value = cell.value.code if isinstance(cell.value, ErrorValue) else _stored_value(cell.value)
        cached_value = "" if value is None else value
        height, width = cell.array or (0, 0)
        if 0 < height * width <= _MAX_ARRAY:
            last = (row + height - 1, column + width - 1)
            self._worksheet.write_array_formula(row, column, *last, f"={cell.formula}", format, cached_value)
        else:
            self._worksheet.write_formula(row, column, f"={cell.formula}", format, cached_value)

    def _link(self, row: int, column: int, cell: Cell) -> None:
        self._links += 1
        if self._links > _MAX_LINKS:
            self._job.note(f"Only the first {_MAX_LINKS} links of each sheet were kept, the limit of Excel.")
            return
        target = f"internal:{cell.link[1:]}" if cell.link and cell.link.startswith("#") else cell.link
        # `write_url` also writes the text "-", which the value of the cell then replaces.
        self._worksheet.write_url(row, column, target, self._format(cell.style), "-")


def _with_date_format(value: Value, style: CellStyle) -> CellStyle:
    """Add the default date format to a style without a format, since Excel would display a number."""
    format = DEFAULTS.get(type(value))
    return replace(style, format=format) if format and not style.format else style


def _stored_value(value: Value) -> bool | float | str | None:
    if isinstance(value, (date, datetime, time, timedelta)):
        number = to_serial(value)
        return to_text(value) if number is None else number
    return None if isinstance(value, ErrorValue) else value
