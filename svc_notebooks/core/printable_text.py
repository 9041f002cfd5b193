"""Text from outside as it may be shown: short, on one line, and with no control character in it."""

from __future__ import annotations

_MAX_LENGTH = 300


def printable(text: str, limit: int = _MAX_LENGTH) -> str:
    """The text on one line, its control characters escaped, cut to `limit` characters.

    >>> printable("SSH-2.0\\r\\n" + chr(27) + "[31m"), printable("x" * 5_000_000, 5)
    ('SSH-2.0 \\\\x1b[31m', 'xxxxx ...')
    """
    line = " ".join(text[: limit + 1].split())
    shown = "".join(letter if letter.isprintable() else _escaped(letter) for letter in line)
    return shown if len(text) <= limit and len(shown) <= limit else f"{shown[:limit]} ..."


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
