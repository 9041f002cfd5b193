"""The forms in which the names and texts of files are compared, searched and sorted. They are stored as they were sent.

A letter with a mark is one character or two, and macOS writes two. Names are therefore compared in the Unicode form
NFC, which writes one wherever there is one.
"""

from __future__ import annotations

import json
import re
from typing import Any
from unicodedata import normalize

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")


def composed(text: str) -> str:
    """Return a text in the Unicode form NFC.

    >>> composed("A\\u030a") == composed("\\u212b") == "\\u00c5"
    True
    """
    return text if text.isascii() else normalize("NFC", text)


def name_key(text: str) -> str:
    """Return the form in which names are compared: in NFC, with ASCII letters in lower case."""
    return composed(text).translate(_LOWER)


def words_of(text: str) -> list[str]:
    """Return the words of a text, case-folded.

    >>> words_of("Straße_2, draft")
    ['strasse', '2', 'draft']
    """
    return _WORD.findall(composed(text).casefold())


def word_list(text: str) -> str:
    """Return the words of a text with a space before each word, so that ` x` matches words that begin with x."""
    return "".join(f" {word}" for word in words_of(text))


def search_keys(name: str, extra: str) -> dict[str, str]:
    """Return the columns of a file by which it is searched and sorted. `extra` is JSON with the file's other texts."""
    words = word_list(name)
    other_texts: tuple[Any, ...] = ()
    if '"description"' in extra or '"contentHints"' in extra:
        fields = json.loads(extra)
        other_texts = (fields.get("description"), (fields.get("contentHints") or {}).get("indexableText"))
    return {
        "name_key": name_key(name),
        "natural_key": _DIGITS.sub(lambda digits: digits[0].zfill(20), composed(name).casefold()),
        "words": words,
        "all_words": words + "".join(word_list(text) for text in other_texts if isinstance(text, str)),
    }
