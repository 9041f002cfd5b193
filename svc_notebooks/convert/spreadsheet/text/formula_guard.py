"""Adds an apostrophe before text that a spreadsheet program would run as a formula, and removes the apostrophe."""

from __future__ import annotations

import re

# East Asian programs treat full-width characters such as "\uff1d" like the ASCII characters.
_RISKY = re.compile(
    "[\t\r\n]|\\s*(?:"
    "[=\uff1d]"
    "|[@\uff20].*[(|!]"
    "|[+\\-\uff0b\uff0d\u2212](?![\\s0-9.,()/%:+-]*$|[0-9.]+[eE][+-]?[0-9]+$))",
    re.DOTALL,
)


def guard(text: str) -> str:
    """Add an apostrophe before text that a spreadsheet program would run as a formula, but not before numbers.

    >>> [guard(text) for text in ("=1+1", "+49 (30) 123", "-2+cmd|' /C calc'!A0", "@SUM(A1)", "@name", "plain")]
    ["'=1+1", '+49 (30) 123', "'-2+cmd|' /C calc'!A0", "'@SUM(A1)", '@name', 'plain']
    """
    return f"'{text}" if _RISKY.match(text) else text


def unguard(text: str) -> str:
    """Remove the apostrophe that `guard` has added. Return other text unchanged.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _RISKY.match(text, 1) else text
