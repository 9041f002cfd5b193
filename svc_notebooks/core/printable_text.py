"""Escaping and shortening of untrusted text for printing."""

from __future__ import annotations

_MAX_LENGTH = 300


def printable(text: str, limit: int = _MAX_LENGTH) -> str:
    """Return a text on one line with escaped control characters, cut after `limit` characters with " ...".

    >>> printable("SSH-2.0\\r\\n" + chr(27) + "[31m"), printable("x" * 5_000_000, 5)
    ('SSH-2.0 \\\\x1b[31m', 'xxxxx ...')
    """
    line = " ".join(text[: limit + 1].split())
    shown = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in line
    )
    return shown if len(text) <= limit and len(shown) <= limit else f"{shown[:limit]} ..."
