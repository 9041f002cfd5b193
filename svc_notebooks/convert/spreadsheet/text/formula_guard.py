"""Adds an apostrophe to text that a program would run as a formula."""

from __future__ import annotations

import re

# Programs of East Asia treat full-width signs like the plain ones.
_RISKY = re.compile(
    "[\t\r\n]|\\s*(?:"
    "[=\uff1d]"
    "|[@\uff20].*[(|!]"
    "|[+\\-\uff0b\uff0d\u2212](?![\\s0-9.,()/%:+-]*$|[0-9.]+[eE][+-]?[0-9]+$))",
    re.DOTALL,
)


def guard(text: str) -> str:
    """Add an apostrophe to text that a program would run, but not to numbers and telephone numbers.

    >>> [guard(text) for text in ("=1+1", "+49 (30) 123", "-2+cmd|' /C calc'!A0", "@SUM(A1)", "@name", "plain")]
    ["'=1+1", '+49 (30) 123', "'-2+cmd|' /C calc'!A0", "'@SUM(A1)", '@name', 'plain']
    """
    return f"'{text}" if _RISKY.match(text) else text


def unguard(text: str) -> str:
    """Remove the apostrophe that `guard` adds.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _RISKY.match(text, 1) else text
