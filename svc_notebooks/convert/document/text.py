"""Reads plain text as a document, and keeps line breaks and spaces. Empty lines separate paragraphs."""

from __future__ import annotations

import re

from ..input.charset import decode
from ..job import ConversionError, Job
from .model import Document, Node

_BREAK = re.compile(r"\n(?:[ \t\f\v]*\n)+|\f")
_SPACES = re.compile(r" +")
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MAX_SPACES = 200
"""The maximum number of successive spaces that are kept, which is wider than any page."""
_MAX_WORD = 1_000
"""The maximum length of a word node. Longer words are split, since writers represent a word as a list of letters."""
_SPACE: Node = {"t": "Space"}
_LINE_BREAK: Node = {"t": "LineBreak"}


def text(source: bytes, job: Job) -> Document:
    """Read plain text in any character set. Raises ConversionError if over one percent of the characters are zero."""
    plain = decode(source, job).replace("\r\n", "\n").replace("\r", "\n")
    if plain.count("\0") > len(plain) // 100:
        raise ConversionError("the file is not text.")
    plain = _CONTROL_CHARACTERS.sub("", plain).strip("\n")
    nodes: dict[str, Node] = {}  # one node for each word: a book of ten megabytes has two million words
    return Document([_paragraph(part, nodes) for part in _BREAK.split(plain) if part.strip()])


def _paragraph(part: str, nodes: dict[str, Node]) -> Node:
    """Convert lines to a paragraph, with one breaking space in each sequence of spaces. `nodes` caches words."""
    inlines: list[Node] = []
    for line in part.strip("\n").split("\n"):
        inlines.append(_LINE_BREAK)
        for number, letters in enumerate(_SPACES.sub(_non_breaking, line.expandtabs(8).rstrip()).split(" ")):
            inlines += [_SPACE] if number else []
            for start in range(0, len(letters), _MAX_WORD):
                word = letters[start : start + _MAX_WORD]
                inlines.append(nodes.get(word) or nodes.setdefault(word, {"t": "Str", "c": word}))
    return {"t": "Para", "c": inlines[1:]}


def _non_breaking(blanks: re.Match[str]) -> str:
    width = min(len(blanks[0]), _MAX_SPACES)
    return "\u00a0" * width if blanks.start() == 0 else "\u00a0" * (width - 1) + " "
