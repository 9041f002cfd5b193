"""Binary workbooks (xls), as records of BIFF8 written by hand ([MS-XLS] 2.4)."""

import struct
from dataclasses import replace
from datetime import date, timedelta

import pytest

from svc_notebooks.convert.job import ConversionError, JobLimits, TooLarge
from svc_notebooks.convert.spreadsheet.model import Area, Cell, CellStyle
from svc_notebooks.convert.spreadsheet.xls import read_by_signature

pytestmark = pytest.mark.spec("A5-01")

_DATE, _DURATION = 164, 165
_FORMATS = {_DATE: "yyyy-mm-dd", _DURATION: "[h]:mm"}
_STYLES = ((0, 0), (0, _DATE), (0, _DURATION), (1, 10), (0, 14), (0, 0, 0x0105, 1, 135))
"""The styles by number: (number of the font, number of the format, lines, pattern, rotation)."""


def record(kind, *values, layout=""):
    data = b"".join(value if isinstance(value, bytes) else struct.pack(f"<{layout}", value) for value in values)
    return struct.pack("<HH", kind, len(data)) + data


def text(content, size="B"):
    return struct.pack(f"<{size}B", len(content), 1) + content.encode("utf-16-le")


def font(*, bold):
    return record(
        0x31, struct.pack("<HHHHHBBBB", 200, bold, 0x7FFF, 700 if bold else 400, 0, 0, 0, 0, 0), text("Arial")
    )


def style(font, format, lines=0, pattern=0, rotation=0):
    return record(0xE0, struct.pack("<HHHBBBBIIH", font, format, 0, 0, rotation, 0, 0, lines, pattern << 26, 13))


def cell(row, column, value, style=0):
    """Return the record of a text, a number, a boolean, or of the code of an error as one byte."""
    place = struct.pack("<HHH", row, column, style)
    if isinstance(value, str):
        return record(0x204, place, text(value, "H"))
    if isinstance(value, bool):
        return record(0x205, place, bytes([value, 0]))
    if isinstance(value, bytes):
        return record(0x205, place, value + b"\1")
    return record(0x203, place, struct.pack("<d", value))


def merged(top, bottom, left, right):
    return record(0xE5, struct.pack("<HHHHH", 1, top, bottom, left, right))


def xls(*sheets, since_1904=False, extra=b""):
    beginning = record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)) + record(0x42, b"\xb0\x04")
    beginning += record(0x22, bytes([since_1904, 0])) + font(bold=False) + font(bold=True)
    beginning += b"".join(
        record(0x41E, struct.pack("<H", number), text(code, "H")) for number, code in _FORMATS.items()
    )
    beginning += b"".join(style(*numbers) for numbers in _STYLES) + extra
    contents = [
        record(0x809, struct.pack("<HHHHII", 0x600, 16, 0, 0, 0, 0)) + body + record(0x0A) for *_, body in sheets
    ]
    offset = len(beginning) + sum(len(record(0x85, bytes(6), text(name))) for name, *_ in sheets) + 4
    entries = b""
    for (name, visibility, _), content in zip(sheets, contents, strict=True):
        entries += record(0x85, struct.pack("<IBB", offset, visibility, 0), text(name))
        offset += len(content)
    return beginning + entries + record(0x0A) + b"".join(contents)


def compound(stream, size):
    """Return a compound file whose directory says that the stream "Workbook" has `size` bytes ([MS-CFB] 2)."""
    count = -(-len(stream) // 512)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    header += bytes(10) + struct.pack("<IIIIIIIII", 1, 1, 0, 0, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0)
    table = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, count + 2), 0xFFFFFFFE]
    entries = b""
    for name, kind, child, first, length in (("Root Entry", 5, 1, 0xFFFFFFFE, 0), ("Workbook", 2, -1, 2, size)):
        encoded = f"{name}\0".encode("utf-16-le")
        entries += encoded.ljust(64, b"\0") + struct.pack("<HBBiii", len(encoded), kind, 1, -1, -1, child)
        entries += bytes(36) + struct.pack("<IQ", first, length)
    sectors = (struct.pack("<128I", *table, *[0xFFFFFFFF] * (128 - len(table))), entries.ljust(512, b"\0"), stream)
    return header.ljust(512, b"\xff") + b"".join(sectors).ljust(1024 + count * 512, b"\0")


def read(source, job):
    return read_by_signature(source, job).sheets


def test_cells_after_empty_rows_and_columns_keep_their_position(job):
    [sheet] = read(xls(("S", 0, cell(9, 2, "C10") + cell(9, 4, 2.5) + cell(11, 2, True))), job)

    assert sheet.rows == {9: {2: Cell("C10"), 4: Cell(2.5)}, 11: {2: Cell(True)}}


def test_errors_are_error_values(job):
    errors = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
    body = b"".join(cell(0, column, bytes([code])) for column, code in enumerate(errors))

    [sheet] = read(xls(("S", 0, body)), job)

    assert [cell.value.code for _, _, cell in sheet.cells()] == list(errors.values())


def test_formats_and_types_of_cells(job):
    cells = ((45_351, 1), (1.5, 2), (0.25, 3), (45_351, 4), ("12", 3))

    [sheet] = read(xls(("S", 0, b"".join(cell(0, column, *it) for column, it in enumerate(cells)))), job)

    assert [cell.value for _, _, cell in sheet.cells()][:3] == [date(2024, 2, 29), timedelta(hours=36), 0.25]
    assert sheet.rows[0][2].style == CellStyle("0.00%", bold=True)
    assert sheet.rows[0][3].style.format == "yyyy-mm-dd"
    assert sheet.rows[0][4].value == "12"


def test_colours_borders_and_angles_of_cells(job):
    [sheet] = read(xls(("S", 0, cell(0, 0, 1, 5) + record(0x201, struct.pack("<HHH", 0, 1, 5)) + cell(0, 2, 2))), job)

    look = CellStyle(background="#ffff00", borders="tL", turn=-45)
    assert sheet.rows[0] == {0: Cell(1, look), 1: Cell(None, look), 2: Cell(2)}


def test_dates_of_the_calendar_of_1904(job):
    [sheet] = read(xls(("S", 0, cell(0, 0, 0, 1) + cell(1, 0, 43_889, 1)), since_1904=True), job)

    assert [cell.value for _, _, cell in sheet.cells()] == [date(1904, 1, 1), date(2024, 2, 29)]


def test_merges_widths_and_hidden_sheets(job):
    width = record(0x7D, struct.pack("<HHHHHH", 1, 1, 20 * 256, 0, 2, 0))
    shown, secret, very_secret = read(
        xls(("Shown", 0, cell(2, 1, "x") + merged(2, 4, 1, 2) + width), ("Hidden", 1, b""), ("Very", 2, b"")), job
    )

    assert shown.merges == (Area(2, 1, 4, 2),)
    assert shown.widths == {1: 19.29}
    assert [sheet.hidden for sheet in (shown, secret, very_secret)] == [False, True, True]


def test_records_that_are_not_read_and_more_sectors_than_the_size_says_refuse_no_file(job):
    name = record(0x18, struct.pack("<HBBHHHBBBB", 0, 0, 1, 9, 0, 0, 0, 0, 0, 0), b"\0n", b"\x2d" + bytes(8))
    everywhere = record(0x1B8, struct.pack("<HHHH", 0, 65_535, 0, 255))
    workbook = xls(("S", 0, cell(0, 0, "kept") + record(0x5C, bytes(4200))))

    for source in (
        xls(("S", 0, cell(0, 0, "kept") + everywhere), extra=name), compound(workbook + bytes(2048), len(workbook))
    ):  # fmt: skip
        assert read(source, job)[0].rows[0][0].value == "kept"


def test_a_damaged_encrypted_or_large_workbook_is_refused(job):
    source = xls(("S", 0, cell(0, 0, 1) + cell(0, 1, 2)))

    with pytest.raises(ConversionError, match="damaged"):
        read(source[:30], job)
    with pytest.raises(ConversionError, match="encrypted"):
        read(xls(("S", 0, b""), extra=record(0x2F, bytes(6))), job)
    with pytest.raises(TooLarge):
        read(source, replace(job, limits=JobLimits(cells=1)))
