"""Reads whole numbers, and writes the numbers of lists as digits, letters and Roman numerals."""

from __future__ import annotations

_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v",
          4: "iv", 1: "i"}  # fmt: skip
_MAX_LETTERS = 20


def integer(text: str | None, default: int = 0) -> int:
    """Return a whole number of at most nine digits, or `default` for another text.

    >>> integer("12"), integer("-1"), integer("x", 1)
    (12, 0, 1)
    """
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else default


def numeral(number: int, first: str) -> str:
    """Return a number, from 1, in the form that has the number one as "1", "a", "A", "i" or "I".

    >>> [numeral(4, first) for first in "1aAiI"], numeral(28, "a")
    (['4', 'd', 'D', 'iv', 'IV'], 'bb')
    """
    if first not in ("a", "A", "i", "I") or not 0 < number < 4_000:
        return str(number)
    letters = ""
    if first in "aA":
        letters = chr(ord("a") + (number - 1) % 26) * min(_MAX_LETTERS, 1 + (number - 1) // 26)
    else:
        for size, digits in _ROMAN.items():
            letters += digits * (number // size)
            number %= size
    return letters if first.islower() else letters.upper()
