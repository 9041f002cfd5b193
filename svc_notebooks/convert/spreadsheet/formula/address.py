"""Cell addresses: row and column counted from zero, and the A1 notation ("B3")."""

from __future__ import annotations

from functools import cache

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
"""What a sheet of any of these programs can hold."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def column_letters(column: int) -> str:
    """The letters of a column.

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
    """The inverse of `letters`, for either case."""
    number = 0
    for letter in text.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def cell_name(row: int, column: int) -> str:
    """What a formula calls this cell.

    >>> cell_name(2, 1)
    'B3'
    """
    return f"{column_letters(column)}{row + 1}"


def parse_cell_address(text: str) -> tuple[int, int]:
    """The inverse of `name`; dollar signs do not matter. Raises ValueError for what names no cell.

    >>> parse_cell_address("$B$3")
    (2, 1)
    """
    plain = text.replace("$", "")
    digits = plain.lstrip(_LETTERS + _LETTERS.lower())
    row, column = int(digits) - 1, column_number(plain[: len(plain) - len(digits)])
    if not (0 <= row < MAX_ROWS and 0 <= column < MAX_COLUMNS):
        raise ValueError(f"{text[:20]!r} is outside of a sheet")
    return row, column


def parse_area(text: str) -> tuple[int, int, int, int]:
    """The corners of "B3" or "B3:C9": top, left, bottom, right. Raises ValueError."""
    first, _, last = text.partition(":")
    (top, left), (bottom, right) = parse_cell_address(first), parse_cell_address(last or first)
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)
