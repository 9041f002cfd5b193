"""Guards texts that a program would run as a formula with an apostrophe."""

from __future__ import annotations

import re

# The full-width signs are taken for the plain ones by the programs of East Asia.
_RISKY = re.compile(
    "[\t\r\n]|\\s*(?:"
    "[=\uff1d]"
    "|[@\uff20].*[(|!]"
    "|[+\\-\uff0b\uff0d\u2212](?![\\s0-9.,()/%:+-]*$|[0-9.]+[eE][+-]?[0-9]+$))",
    re.DOTALL,
)


def guard(text: str) -> str:
    """With an apostrophe in front where a program would run the text: numbers and telephone numbers have none.

    >>> [guard(text) for text in ("=1+1", "+49 (30) 123", "-2+cmd|' /C calc'!A0", "@SUM(A1)", "@name", "plain")]
    ["'=1+1", '+49 (30) 123', "'-2+cmd|' /C calc'!A0", "'@SUM(A1)", '@name', 'plain']
    """
    return f"'{text}" if _RISKY.match(text) else text


def unguard(text: str) -> str:
    """The inverse of `guard`.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _RISKY.match(text, 1) else text
