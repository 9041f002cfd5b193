"""Writes CSV and TSV: the first sheet only (A7-03), as in RFC 4180, in UTF-8 without a byte order mark.

Values, not formulas; numbers in full; dates as ISO 8601 has them; TRUE and FALSE. A text that a program would
run as a formula is given an apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from ...job import Job, TooLarge
from ..model import Cell, Sheet, Workbook
from ..number_format import to_text
from .formula_guard import guard

_MAX_EMPTY_FIELDS = 5_000_000
"""Fields with nothing in them that may be written so that all lines have the same number of fields."""


def write_csv(workbook: Workbook, job: Job) -> bytes:
    """The first sheet, with commas."""
    return _write(workbook, job, ",")


def write_tsv(workbook: Workbook, job: Job) -> bytes:
    """The first sheet, with tabs."""
    return _write(workbook, job, "\t")


def _write(workbook: Workbook, job: Job, delimiter: str) -> bytes:
    if len(workbook.sheets) > 1:
        job.note("Only the first sheet is in this format.")
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
        yield _line(columns, width)
        following = row + 1


def _line(columns: Mapping[int, Cell], width: int) -> list[str]:
    line = [""] * max(width, max(columns) + 1)
    for column, cell in columns.items():
        value = cell.display_value
        line[column] = guard(value) if isinstance(value, str) else to_text(value)
    return line


def _width(sheet: Sheet, job: Job) -> int:
    """How many fields each line has; 0 where lines end with their last cell, as all the same would be too many."""
    rows, columns = max(sheet.rows, default=-1) + 1, sheet.last_column + 1
    if rows * columns <= _MAX_EMPTY_FIELDS + sum(map(len, sheet.rows.values())):
        return columns
    if sum(max(cells) for cells in sheet.rows.values()) + rows > job.limits.output:
        raise TooLarge("its cells lie so far apart that there would be too many empty fields.")
    job.note("Lines end with their last cell: the cells lie too far apart for lines of the same length.")
    return 0
