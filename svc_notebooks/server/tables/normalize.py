"""Texts as they are compared: words in one case, and names with their ASCII letters in lower case."""

from __future__ import annotations

import re

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def words_of(text: str) -> list[str]:
    """The words of a text in one case.

    >>> words_of("Straße_2, draft")
    ['strasse', '2', 'draft']
    """
    return re.findall(r"[^\W_]+", text.casefold())


def word_list(text: str) -> str:
    """The words of a text, each behind a blank, so that ` x` finds what begins a word."""
    return "".join(f" {word}" for word in words_of(text))


def ascii_lower(text: str) -> str:
    """A text with its ASCII letters in lower case: names are compared so."""
    return text.translate(_LOWER)
