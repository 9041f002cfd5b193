"""Reads CSV, TSV and other delimited text (A5-06), and writes the first sheet as CSV or TSV (A7-03) as in RFC 4180."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from sys import maxsize
from typing import Literal

from ..input.charset import decode
from ..job import Job, TooLarge
from .cell_texts import parse_cell, to_text
from .formulas import MAX_COLUMNS, MAX_ROWS
from .model import Cell, CellQuota, Sheet, Workbook

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 64 * 1024
_LINES = 200
_SEP_LINE = re.compile(r"""\s*["']?sep=(.)["']?\s*\r?\n""", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"\s*-?\d+,\d+%?\s*", re.ASCII)
_DECIMAL_POINT = re.compile(r"\s*-?\d+\.\d+%?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The syntax of delimited text.

    delimiter: the character between two fields.
    quoted: whether quotation marks enclose fields, or are part of the text.
    spaced, comma: whether a space follows each delimiter, and whether numbers have decimal commas.
    """

    delimiter: str = ","
    quoted: bool = True
    spaced: bool = False
    comma: bool = False

    def rows(self, text: str, *, strict: bool = False) -> Iterator[list[str]]:
        """Parse a text, and return an iterator over the rows. Each row is a list of fields.

        If `strict` is true, the iterator raises csv.Error for a quotation mark without an end.
        """
        csv.field_size_limit(min(maxsize, 2**31 - 1))
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        return csv.reader(
            io.StringIO(text, newline=""), delimiter=self.delimiter, quoting=quoting, skipinitialspace=self.spaced,
            strict=strict,
        )  # fmt: skip


def split_declaration(text: str) -> tuple[str | None, str]:
    """Remove a first line such as `sep=;`, and return its delimiter (or None) and the remaining text.

    >>> split_declaration("sep=;\\r\\na;b")
    (';', 'a;b')
    """
    match = _SEP_LINE.match(text[:20])
    return (match[1], text[match.end() :]) if match else (None, text)


def detect(text: str, default: str = ",", *, delimiter: str | None = None) -> Dialect:
    """Detect the dialect of a text with `delimiter`, or with the delimiter that gives most rows the same length.

    >>> detect("a;b\\n1,5;2\\n")
    Dialect(delimiter=';', quoted=True, spaced=False, comma=True)
    """
    sample = _sample(text)
    chosen = delimiter or max((default, *DELIMITERS), key=lambda candidate: _evenness(sample, candidate))
    spaced = chosen != "\t" and f'{chosen} "' in sample and f'{chosen}"' not in sample
    dialect = Dialect(chosen, spaced=spaced)
    if text.count('"') % 2 and _has_unclosed_quote(text, dialect):
        dialect = Dialect(chosen, quoted=False)
    fields = [field for row, _ in zip(dialect.rows(sample), range(_LINES), strict=False) for field in row]
    comma = any(map(_DECIMAL_COMMA.fullmatch, fields)) and not any(map(_DECIMAL_POINT.fullmatch, fields))
    return Dialect(chosen, dialect.quoted, spaced, comma=chosen != "," and comma)


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE:
        return text
    cut = max(text.rfind("\n", 0, _SAMPLE), text.rfind("\r", 0, _SAMPLE))
    return text[: cut if cut > 0 else _SAMPLE]


def _evenness(sample: str, delimiter: str) -> float:
    """Return the share of rows with the most common field count, or 0 if unused.

    Several fields add to it if the first row, which is usually a header, has that count too.
    """
    rows = zip(Dialect(delimiter).rows(sample), range(_LINES), strict=False)
    lengths = [len(row) for row, _ in rows if row]
    counts = Counter(lengths)
    several = {size: times for size, times in counts.items() if size > 1}
    if not several:
        return 0
    common = max(several, key=several.__getitem__)
    return several[common] / counts.total() * (1 + 0.001 * min(common, 50) * (lengths[0] == common))


def _has_unclosed_quote(text: str, dialect: Dialect) -> bool:
    try:
        for _ in dialect.rows(text, strict=True):
            pass
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


# East Asian programs treat full-width characters such as "\uff1d" like the ASCII characters.
_RISKY = re.compile(
    "[\t\r\n]|\\s*(?:"
    "[=\uff1d]"
    "|[@\uff20].*[(|!]"
    "|[+\\-\uff0b\uff0d\u2212](?![\\s0-9.,()/%:+-]*$|[0-9.]+[eE][+-]?[0-9]+$))",
    re.DOTALL,
)


def guard(text: str) -> str:
    """Add an apostrophe before text that a spreadsheet program would run as a formula, but not before numbers.

    >>> [guard(text) for text in ("=1+1", "+49 (30) 123", "-2+cmd|' /C calc'!A0", "@SUM(A1)", "@name", "plain")]
    ["'=1+1", '+49 (30) 123', "'-2+cmd|' /C calc'!A0", "'@SUM(A1)", '@name', 'plain']
    """
    return f"'{text}" if _RISKY.match(text) else text


def unguard(text: str) -> str:
    """Remove the apostrophe that `guard` has added. Return other text unchanged.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _RISKY.match(text, 1) else text


_LEADING_ZERO = re.compile(r"\b0[0-9]")


def read_csv(source: bytes, job: Job) -> Workbook:
    """Read CSV as a workbook with a single sheet. Raises TooLarge if there are too many rows, columns or cells."""
    return _read(source, job, ",")


def read_tsv(source: bytes, job: Job) -> Workbook:
    """Read TSV as a workbook with a single sheet. Raises TooLarge if there are too many rows, columns or cells."""
    return _read(source, job, "\t")


def _read(source: bytes, job: Job, default_delimiter: str) -> Workbook:
    text = decode(source, job)
    if "\0" in text:
        job.note("Zero bytes were removed from the text.")
        text = text.replace("\0", "")
    delimiter, text = split_declaration(text)
    dialect = detect(text, default_delimiter, delimiter=delimiter)
    if not dialect.quoted:
        job.note("A quotation mark is never closed, so quotation marks were read as text.")
    return Workbook((Sheet(rows=_rows(text, dialect, CellQuota(job.limits))),))


def _rows(text: str, dialect: Dialect, quota: CellQuota) -> dict[int, dict[int, Cell]]:
    rows: dict[int, dict[int, Cell]] = {}
    comma = dialect.comma
    codes = _columns_of_codes(text, dialect)
    for number, fields in enumerate(dialect.rows(text)):
        if not any(fields):
            continue
        if number >= MAX_ROWS or len(fields) > MAX_COLUMNS:
            raise TooLarge(f"the text has more than {MAX_ROWS} rows or {MAX_COLUMNS} columns.")
        rows[number] = {
            column: Cell(field) if column in codes and field.isdecimal() else parse_cell(unguard(field), comma=comma)
            for column, field in enumerate(fields)
            if field
        }
        quota.take(len(rows[number]))
    return rows


def _columns_of_codes(text: str, dialect: Dialect) -> set[int]:
    """Return the columns that have only digits below their heading, with a leading zero in one of them.

    Their cells are texts. Otherwise the postal codes 00123 and 94110 would be a text and a number.
    """
    if not _LEADING_ZERO.search(text):
        return set()
    zeros: set[int] = set()
    others: set[int] = set()
    for fields in islice(filter(any, dialect.rows(text)), 1, None):
        for column, field in enumerate(fields):
            if field and not field.isdecimal():
                others.add(column)
            elif len(field) > 1 and field[0] == "0":
                zeros.add(column)
    return zeros - others


_MAX_EMPTY_FIELDS = 5_000_000  # which are added so that all lines have the same number of fields


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
    width, leaving_out = _width(sheet, job), job.leaving_out("A cell")
    empty = [""] * width
    following = 0
    for row, columns in sheet.rows.items():
        for _ in range(following, row):
            yield empty
        line = [""] * max(width, max(columns) + 1)
        for column, cell in columns.items():
            value = cell.display_value
            with leaving_out:
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
