"""Reads binary workbooks of Excel 97 to 2003 (xls). Formulas are kept only if LibreOffice converts the file."""

from __future__ import annotations

import io
from typing import Any

from ..engines import available, libreoffice
from ..job import ConversionError, Job
from .date_serial import DEFAULTS
from .model import Area, Cell, CellQuota, CellStyle, Sheet, Workbook, disjoint
from .sheet_names import with_valid_sheet_names
from .values import clean, parse_number
from .xlsx import read as read_xlsx


def read(source: bytes, job: Job) -> Workbook:
    """Read xls with LibreOffice if `job.office` is true, else only the values. Raises ConversionError or TooLarge."""
    if job.office and available.OFFICE.is_available():
        return read_xlsx.read(libreoffice.convert(source, "xls", "xlsx", job), job)
    if not available.CALAMINE.is_available():
        raise ConversionError(f"binary workbooks need python_calamine: {available.CALAMINE.install}.")
    return _read_with_calamine(source, job)


def _read_with_calamine(source: bytes, job: Job) -> Workbook:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

    quota = CellQuota(job.limits)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(source))
        sheets = tuple(
            _sheet(book.get_sheet_by_name(about.name), about.visible != SheetVisibleEnum.Visible, quota)
            for about in book.sheets_metadata
            if about.typ == SheetTypeEnum.WorkSheet
        )
    except PasswordError as error:
        raise ConversionError("the file is encrypted; save the file without a password.") from error
    except CalamineError as error:
        raise ConversionError(f"the file is damaged, or not a workbook: {str(error)[:100]}.") from error
    job.note("Only the values of the binary workbook (xls) were read; formulas need LibreOffice.")
    return with_valid_sheet_names(sheets)


def _sheet(sheet: Any, hidden: bool, quota: CellQuota) -> Sheet:
    rows: dict[int, dict[int, Cell]] = {}
    for row, values in enumerate(sheet.iter_rows()):
        cells = {column: _cell(value) for column, value in enumerate(values) if value != ""}
        quota.take(len(cells))
        if cells:
            rows[row] = cells
    merges = [Area(*first, *last) for first, last in sheet.merged_cell_ranges or ()]
    return Sheet(sheet.name, rows, disjoint(merges), {}, hidden)


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return Cell(clean(value))
    if isinstance(value, bool):
        return Cell(value)
    if isinstance(value, (int, float)):
        return Cell(parse_number(repr(value)))
    return Cell(value, CellStyle(DEFAULTS[type(value)]))
