"""Detects the character set and the delimiter of CSV and TSV files, as options of `pandas.read_csv`."""

from __future__ import annotations

import codecs
from typing import Any

from ...convert.spreadsheet.text.dialect import detect, split_declaration

SAMPLE_SIZE = 64 * 1024
"""The number of bytes at the start of a file from which the delimiter is detected."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def encoding_of(head: bytes) -> str:
    """Return the encoding that the byte order mark names, else UTF-8.

    >>> encoding_of("é".encode("utf-16")), encoding_of(b"a,b")
    ('utf-16', 'utf-8-sig')
    """
    return "utf-16" if head.startswith(_UTF16_MARKS) else "utf-8-sig"


def csv_options(head: bytes, encoding: str) -> dict[str, Any]:
    """Return the options for a CSV file with these first bytes. Decimal commas are detected only beside semicolons.

    >>> csv_options(b"a;b\\n1,5;2\\n", "utf-8-sig")
    {'sep': ';', 'decimal': ',', 'skipinitialspace': False, 'skiprows': 0}
    """
    declared, text = split_declaration(head.decode(encoding, "ignore"))
    dialect = detect(text, delimiter=declared)
    return {
        "sep": dialect.delimiter,
        "decimal": "," if dialect.comma and dialect.delimiter == ";" else ".",
        "skipinitialspace": dialect.spaced,
        "skiprows": 1 if declared else 0,
    }
