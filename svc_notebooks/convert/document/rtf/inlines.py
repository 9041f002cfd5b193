"""Converts the runs of a paragraph to pandoc's inlines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from ..model import Node
from .state import RtfRun

_ORDER = ("Strong", "Emph", "Underline", "Strikeout", "Superscript", "Subscript", "SmallCaps")
_SPACES = re.compile(r"([ \t\n]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def inlines(runs: list[RtfRun], without: Iterable[str] = ()) -> list[Node]:
    """The inlines of a paragraph; `without` names marks that say nothing here, as bold in a heading."""
    kept = tuple(mark for mark in _ORDER if mark not in without)
    if "Code" in without:
        runs = [replace(run, character_format=run.character_format.marked("Code", on=False)) for run in runs]
    return _trimmed(
        [
            node
            for link, part in groupby(runs, lambda run: run.character_format.link)
            for node in _linked(link, part, kept)
        ]
    )


def _linked(link: str, runs: Iterable[RtfRun], marks: tuple[str, ...]) -> list[Node]:
    inside = _marked(list(runs), tuple(mark for mark in marks if mark != "Underline" or not link))
    return [{"t": "Link", "c": [["", [], []], inside, [link, ""]]}] if link and inside else inside


def _marked(runs: list[RtfRun], marks: tuple[str, ...]) -> list[Node]:
    if not marks:
        return _unformatted(runs)
    first, others = marks[0], marks[1:]
    nodes: list[Node] = []
    for is_marked, part in groupby(runs, lambda run: first in run.character_format.marks and run.node is None):
        inside = _marked(list(part), others)
        nodes += _wrap(first, inside) if is_marked else inside
    return nodes


def _wrap(mark: str, inside: list[Node]) -> list[Node]:
    """Blanks at the edges stay outside, where writers that mark words with signs need them."""
    start, end = inside[:1] == [{"t": "Space"}], inside[-1:] == [{"t": "Space"}] and len(inside) > 1
    core = inside[start : len(inside) - end]
    blank: list[Node] = [{"t": "Space"}]
    return blank * start + ([{"t": mark, "c": core}] if core else []) + blank * end


def _unformatted(runs: list[RtfRun]) -> list[Node]:
    nodes: list[Node] = []
    for is_code, part in groupby(runs, lambda run: run.node is None and "Code" in run.character_format.marks):
        text = ""
        for run in part:
            if run.node is None:
                text += run.text
            else:
                nodes += [*_text_nodes(text), run.node]
                text = ""
        nodes += _code(join_surrogates(text)) if is_code else _text_nodes(text)
    return nodes


def _code(text: str) -> list[Node]:
    return [{"t": "Code", "c": [["", [], []], text]}] if text.strip() else _text_nodes(text)


def _text_nodes(text: str) -> list[Node]:
    parts = enumerate(_SPACES.split(join_surrogates(text)))
    return [{"t": "Space"} if number % 2 else {"t": "Str", "c": part} for number, part in parts if part]


def join_surrogates(text: str) -> str:
    """Text in which pairs of surrogates are the letters that they stand for."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _trimmed(nodes: list[Node]) -> list[Node]:
    blanks = ("Space", "LineBreak")
    start, end = 0, len(nodes)
    while start < end and nodes[start]["t"] in blanks:
        start += 1
    while end > start and nodes[end - 1]["t"] in blanks:
        end -= 1
    return nodes[start:end]
