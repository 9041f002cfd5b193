"""Escaping and shortening of untrusted text for printing."""

from __future__ import annotations

_MAX_LENGTH = 300
_JOINERS = "\u200c\u200d"  # invisible letters of names in some scripts, and of emoji


def terminal_text(text: object) -> str:
    """Return a text on one line, with escapes for control characters, line ends and marks of the writing direction.

    >>> terminal_text("Ada\\x1b[2J\\u202egnp.exe\\n"), terminal_text("Zoë 山田")
    ('Ada\\\\x1b[2J\\\\u202egnp.exe\\\\n', 'Zoë 山田')
    """
    return "".join(
        letter if letter.isprintable() or letter in _JOINERS else letter.encode("unicode_escape").decode("ascii")
        for letter in str(text)
    )


def printable(text: str, limit: int = _MAX_LENGTH) -> str:
    """Return a text on one line with escaped control characters, cut after `limit` characters with " ...".

    >>> printable("SSH-2.0\\r\\n" + chr(27) + "[31m"), printable("x" * 5_000_000, 5)
    ('SSH-2.0 \\\\x1b[31m', 'xxxxx ...')
    """
    line = " ".join(text[: limit + 1].split())
    shown = terminal_text(line)
    return shown if len(text) <= limit and len(shown) <= limit else f"{shown[:limit]} ..."
