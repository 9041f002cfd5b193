"""Writes the first sheet of a workbook as CSV or TSV (A7-03), in UTF-8 without a byte order mark, as in RFC 4180.

The text contains values instead of formulas, all digits of numbers, and dates as in ISO 8601. An apostrophe precedes
text that a spreadsheet program would run as a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from ...job import Job, TooLarge
from ..model import Sheet, Workbook
from ..number_format import to_text
from .read import guard

_MAX_EMPTY_FIELDS = 5_000_000
"""The maximum number of empty fields that are added to give all lines the same number of fields."""


def write_csv(workbook: Workbook, job: Job) -> bytes:
    """Return the first sheet of a workbook as CSV. Raises TooLarge if there would be too many empty fields."""
    return _write(workbook, job, ",")


def write_tsv(workbook: Workbook, job: Job) -> bytes:
    """Return the first sheet of a workbook as TSV. Raises TooLarge if there would be too many empty fields."""
    return _write(workbook, job, "\t")


def _write(workbook: Workbook, job: Job, delimiter: str) -> bytes:
    if len(workbook.sheets) > 1:
        job.note("Only the first sheet was written: this format has one sheet.")
    target = io.StringIO(newline="")
    writer = csv.writer(target, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows(_lines(workbook.sheets[0], job))
    return target.getvalue().encode("utf-8", "replace")


def _lines(sheet: Sheet, job: Job) -> Iterator[list[str]]:
    width = _width(sheet, job)
    empty = [""] * width
    following = 0
    for row, columns in sheet.rows.items():
        for _ in range(following, row):
            yield empty
        line = [""] * max(width, max(columns) + 1)
        for column, cell in columns.items():
            value = cell.display_value
            line[column] = guard(value) if isinstance(value, str) else to_text(value)
        yield line
        following = row + 1


def _width(sheet: Sheet, job: Job) -> int:
    """Return the field count of each line, or 0 for lines of different lengths. Raises TooLarge for too many fields."""
    rows, columns = max(sheet.rows, default=-1) + 1, sheet.last_column + 1
    if rows * columns <= _MAX_EMPTY_FIELDS + sum(map(len, sheet.rows.values())):
        return columns
    if sum(max(cells) for cells in sheet.rows.values()) + rows > job.limits.output:
        raise TooLarge("the cells are so far apart that the text would have too many empty fields.")
    job.note("Each line ends with its last cell; padding the lines to equal length would add too many empty fields.")
    return 0
