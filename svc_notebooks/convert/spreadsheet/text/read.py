"""Reads CSV, TSV and other delimited text as a workbook (A5-06)."""

from __future__ import annotations

import re
from itertools import islice

from ...input.charset import decode
from ...job import Job, TooLarge
from ..formula import address
from ..model import Cell, CellQuota, Sheet, Workbook
from ..values import parse_cell
from .dialect import Dialect, detect, split_declaration
from .formula_guard import unguard

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
        if number >= address.MAX_ROWS or len(fields) > address.MAX_COLUMNS:
            raise TooLarge(f"the text has more than {address.MAX_ROWS} rows or {address.MAX_COLUMNS} columns.")
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
