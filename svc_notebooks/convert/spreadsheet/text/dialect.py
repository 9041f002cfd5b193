"""Detects the delimiter of delimited text, and the use of quotation marks and decimal commas."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from sys import maxsize
from typing import Literal

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

    def rows(self, text: str) -> Iterator[list[str]]:
        """Parse a text, and return an iterator over the rows. Each row is a list of fields."""
        csv.field_size_limit(min(maxsize, 2**31 - 1))
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        return csv.reader(
            io.StringIO(text, newline=""), delimiter=self.delimiter, quoting=quoting, skipinitialspace=self.spaced
        )


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
    csv.field_size_limit(min(maxsize, 2**31 - 1))
    strict = csv.reader(
        io.StringIO(text, newline=""), delimiter=dialect.delimiter, strict=True, skipinitialspace=dialect.spaced
    )
    try:
        for _ in strict:
            pass
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False
