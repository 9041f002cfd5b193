"""Reads plain text as a document: blank lines separate paragraphs; line breaks and spaces are kept."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..input.charset import decode
from ..job import ConversionError, Job
from .model import Document, Node

_BREAK = re.compile(r"\n(?:[ \t\f\v]*\n)+|\f")
_SPACES = re.compile(r" +")
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MAX_SPACES = 200
"""More blanks in a row than any page is wide are so many."""
_MAX_WORD = 1_000
"""Longer words are several: writers keep lists of letters."""
_SPACE: Node = {"t": "Space"}
_LINE_BREAK: Node = {"t": "LineBreak"}


def text(source: bytes, job: Job) -> Document:
    """Plain text, in any character set.

    Raises:
        ConversionError: it is no text.
    """
    plain = decode(source, job.charset).replace("\r\n", "\n").replace("\r", "\n")
    if plain.count("\0") > len(plain) // 100:
        raise ConversionError("this is no text.")
    plain = _CONTROL_CHARACTERS.sub("", plain).strip("\n")
    word = _word_cache()
    return Document([_paragraph(part, word) for part in _BREAK.split(plain) if part.strip()])


def _word_cache() -> Callable[[str], Node]:
    """Makes words into nodes, the same word into the same one: a book of ten megabytes has two million words."""
    known: dict[str, Node] = {}

    def word(letters: str) -> Node:
        node = known.get(letters)
        if node is None:
            node = known[letters] = {"t": "Str", "c": letters}
        return node

    return word


def _paragraph(part: str, word: Callable[[str], Node]) -> Node:
    inlines: list[Node] = []
    for line in part.strip("\n").split("\n"):
        inlines.append(_LINE_BREAK)
        inlines += _line(line.expandtabs(8).rstrip(), word)
    return {"t": "Para", "c": inlines[1:]}


def _line(line: str, word: Callable[[str], Node]) -> list[Node]:
    """Words and the blanks between them; where there are several, all but the last do not break."""
    inlines: list[Node] = []
    for number, letters in enumerate(_SPACES.sub(_non_breaking, line).split(" ")):
        inlines += [_SPACE] if number else []
        inlines += [word(letters[at : at + _MAX_WORD]) for at in range(0, len(letters), _MAX_WORD)]
    return inlines


def _non_breaking(blanks: re.Match[str]) -> str:
    width = min(len(blanks[0]), _MAX_SPACES)
    return "\u00a0" * width if blanks.start() == 0 else "\u00a0" * (width - 1) + " "
