"""Reads workbooks of Excel 2 to 2003 (xls), and files in the format of their first bytes.

Formulas are only in the OpenDocument file that LibreOffice makes of the file (odf_copy.py). Many files have a wrong
media type: browsers send CSV files as Excel files.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ..engines import available
from ..input.detect import OLE, WORKBOOKS, ole_stream
from ..job import ConversionError, Job
from . import delimited
from .cell_texts import clean, parse_number, with_valid_sheet_names
from .format_code import LOCAL_FORMATS, from_serial
from .model import SIDES, Area, Cell, CellQuota, CellStyle, ErrorValue, PrintSetup, Sheet, Value, Workbook
from .ods import read as ods
from .xlsx import read as xlsx

# The methods of xlrd for links, comments and drawings, which are not read. Many of them refuse unusual records.
_PARSERS_OF_OTHER_RECORDS = ("hlink", "quicktip", "note", "obj", "txo", "msodrawingetc", "feat11")

_EMPTY, _TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR = range(6)  # the types of cells in xlrd; 6 are blank cells with a style

_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
_THICK_LINES = frozenset({2, 5, 6, 8, 10, 12, 13})
_BOLD = 600


def read(source: bytes, job: Job) -> Workbook:
    """Read the values of an xls file. Raises ConversionError or TooLarge."""
    if not available.XLRD.is_available():
        raise ConversionError(f"binary workbooks need xlrd: {available.XLRD.install}.")
    try:
        book = _open(source)
        sheets = list(_sheets(book, CellQuota(job.limits), job))
    except (ConversionError, MemoryError):
        raise
    except Exception as error:  # xlrd raises errors of many types for damaged files
        if "encrypted" in str(error):
            raise ConversionError("the file is encrypted; save the file without a password.") from error
        reason = f": {str(error)[:100]}" if str(error) else ""
        raise ConversionError(f"the file is damaged, or not a workbook{reason}.") from error
    if -1 in book._all_sheets_map:
        job.note(xlsx.OTHER_SHEETS)
    job.note("Only the values of the binary workbook (xls) were read; formulas need LibreOffice.")
    return with_valid_sheet_names(sheets)


def _open(source: bytes) -> Any:
    import xlrd

    xlrd.book.evaluate_name_formula = _ignore
    for name in _PARSERS_OF_OTHER_RECORDS:
        setattr(xlrd.sheet.Sheet, f"handle_{name}", _ignore)
    return xlrd.open_workbook(
        file_contents=ole_stream(source, *WORKBOOKS) or source, logfile=io.StringIO(),
        formatting_info=True, on_demand=True, ragged_rows=True, ignore_workbook_corruption=True,
    )  # fmt: skip


def _ignore(*arguments: object, **options: object) -> None:
    """Replaces the parsers of records that are not read."""


def _sheets(book: Any, quota: CellQuota, job: Job) -> Iterator[Sheet]:
    styles = [_style(book, xf) for xf in book.xf_list]
    for number in range(book.nsheets):
        sheet = book.sheet_by_index(number)
        rows = {row: cells for row in range(sheet.nrows) if (cells := _cells(book, sheet, row, styles, quota, job))}
        areas = [Area(top, left, bottom - 1, right - 1) for top, bottom, left, right in sheet.merged_cells]
        widths = {column: info.width / 256 - xlsx.PADDING for column, info in sheet.colinfo_map.items()}
        widths = {column: round(width, 2) for column, width in widths.items() if width > 0}
        breaks = (sheet.horizontal_page_breaks, sheet.vertical_page_breaks)
        row_breaks, column_breaks = (tuple(sorted(place for place, *_ in places)) for places in breaks)
        setup = PrintSetup(row_breaks=row_breaks, column_breaks=column_breaks)
        yield Sheet.trimmed(sheet.name, rows, areas, widths, setup, hidden=sheet.visibility != 0)
        book.unload_sheet(number)


def _cells(book: Any, sheet: Any, row: int, styles: list[CellStyle], quota: CellQuota, job: Job) -> dict[int, Cell]:
    cells, leaving_out = {}, job.leaving_out("A cell")
    for column, (kind, content) in enumerate(zip(sheet.row_types(row), sheet.row_values(row), strict=True)):
        if kind == _EMPTY:
            continue
        style = styles[sheet.cell_xf_index(row, column)]
        with leaving_out:
            value = _value(kind, content, style, since_1904=book.datemode == 1)
            if value is not None or quota.take_empty(style):
                cells[column] = Cell(value, style)
    quota.take(len(cells))
    return cells


def _value(kind: int, value: Any, style: CellStyle, *, since_1904: bool) -> Value:
    if kind in (_NUMBER, _DATE):
        number = parse_number(repr(value))
        return number if isinstance(number, ErrorValue) else from_serial(number, style.format, since_1904=since_1904)
    if kind == _TEXT:
        return clean(value)
    if kind == _BOOLEAN:
        return bool(value)
    return ErrorValue(_ERRORS.get(value, "#VALUE!")) if kind == _ERROR else None


def _style(book: Any, xf: Any) -> CellStyle:
    code = book.format_map[xf.format_key].format_str
    code = LOCAL_FORMATS.get(xf.format_key, code) if book.biff_version >= 50 else code
    font = book.font_list[xf.font_index]
    lines = ((letter, getattr(xf.border, f"{side}_line_style")) for letter, side in SIDES.items())
    return CellStyle(
        "" if code.lower() == "general" else code[:255],
        bool(font.bold) or font.weight >= _BOLD,
        _color(book, font.colour_index, (0, 0, 0)),
        _color(book, xf.background.pattern_colour_index, (255, 255, 255)) if xf.background.fill_pattern == 1 else "",
        "".join(letter.upper() if line in _THICK_LINES else letter for letter, line in lines if line),
        xlsx.turn_of(xf.alignment.rotation),
    )


def _color(book: Any, index: int, default: tuple[int, int, int]) -> str:
    color = book.colour_map.get(index) or default
    return "" if color == default else "#{:02x}{:02x}{:02x}".format(*color)


_BIFF = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08")
_ZIP = b"PK"
_HEAD = 4096


def read_xlsx(source: bytes, job: Job) -> Workbook:
    """Read a zip file as xlsx, or another file in the format of its first bytes. Raises ConversionError or TooLarge."""
    return xlsx.read(source, job) if source.startswith(_ZIP) else read_by_signature(source, job)


def read_ods(source: bytes, job: Job) -> Workbook:
    """Read a zip file as ods, or another file in the format of its first bytes. Raises ConversionError or TooLarge."""
    return ods.read(source, job) if source.startswith(_ZIP) else read_by_signature(source, job)


def read_by_signature(source: bytes, job: Job) -> Workbook:
    """Read a file in the format of its first bytes, else as CSV. Raises ConversionError or TooLarge."""
    if source.startswith((OLE, *_BIFF)):
        return read(source, job)
    if source.startswith(_ZIP):
        return ods.read(source, job) if b"opendocument.spreadsheet" in source[:200] else xlsx.read(source, job)
    head = source[:_HEAD].replace(b"\0", b"").lower()
    if b"urn:oasis:names:tc:opendocument:xmlns:office" in head:
        return ods.read(source, job)
    if b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        raise ConversionError("the file is a workbook of Excel 2003 XML; save it as xlsx.")
    if b"<table" in head or b"<html" in head or b"<!doctype html" in head:
        raise ConversionError('the file is a web page; upload it with convert_to="document", or save it as xlsx.')
    return delimited.read_csv(source, job)
