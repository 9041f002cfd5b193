"""Converts between cell names such as "B3" and row and column numbers, which start at 0."""

from __future__ import annotations

from functools import cache

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
"""The numbers of rows and columns of a sheet in Excel and LibreOffice are MAX_ROWS and MAX_COLUMNS."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def column_letters(column: int) -> str:
    """Convert a column number, which starts at 0, to the letters of the column.

    >>> column_letters(0), column_letters(26), column_letters(16_383)
    ('A', 'AA', 'XFD')
    """
    text = ""
    number = column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = _LETTERS[rest] + text
    return text


@cache
def column_number(text: str) -> int:
    """Convert the letters of a column, in upper or lower case, to the column number, which starts at 0."""
    number = 0
    for letter in text.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def parse_cell_address(text: str) -> tuple[int, int]:
    """Return the row and column (from 0) of a cell name. Raises ValueError if the name is invalid or outside a sheet.

    >>> parse_cell_address("$B$3")
    (2, 1)
    """
    plain = text.replace("$", "")
    digits = plain.lstrip(_LETTERS + _LETTERS.lower())
    row, column = int(digits) - 1, column_number(plain[: len(plain) - len(digits)])
    if not (0 <= row < MAX_ROWS and 0 <= column < MAX_COLUMNS):
        raise ValueError(f"{text[:20]!r} is outside the limits of a sheet")
    return row, column


def parse_area(text: str) -> tuple[int, int, int, int]:
    """Return (top, left, bottom, right) of an area such as "B3:C9". Raises ValueError if invalid or outside a sheet."""
    first, _, last = text.partition(":")
    (top, left), (bottom, right) = parse_cell_address(first), parse_cell_address(last or first)
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)
