"""Converts the runs of an RTF paragraph to pandoc inlines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from ..looks import BLANKS, strip_blanks
from ..model import Node
from .state import RtfRun

_ORDER = ("Strong", "Emph", "Underline", "Strikeout", "Superscript", "Subscript", "SmallCaps")
_SPACES = re.compile(r"([ \t\n]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def inlines(runs: list[RtfRun], without: Iterable[str] = ()) -> list[Node]:
    """Convert the runs of a paragraph to pandoc inlines without outer spaces. Formats in `without` are ignored."""
    kept = [mark for mark in _ORDER if mark not in without]
    if "Code" in without:
        runs = [replace(run, character_format=run.character_format.marked("Code", on=False)) for run in runs]
    nodes: list[Node] = []
    for link, part in groupby(_with_markers(runs), lambda run: run.character_format.link):
        inside = _marked(list(part), [mark for mark in kept if mark != "Underline" or not link])
        nodes += [{"t": "Link", "c": [["", [], []], inside, [link, ""]]}] if link and inside else inside
    return strip_blanks(nodes, BLANKS)


def _with_markers(runs: list[RtfRun]) -> Iterator[RtfRun]:
    """Put a marker before the text of each run that has another look than the run before."""
    marker = ""
    for run in runs:
        text = run.text.lstrip()
        if run.marker != marker and text:
            marker = run.marker
            run = replace(run, text=run.text[: -len(text)] + marker + text)
        yield run


def _marked(runs: list[RtfRun], marks: list[str]) -> list[Node]:
    """Convert runs to inlines nested in format nodes. The first format in `marks` is the outermost node."""
    if not marks:
        return _unformatted(runs)
    first, others = marks[0], marks[1:]
    nodes: list[Node] = []
    for is_marked, part in groupby(runs, lambda run: first in run.character_format.marks and run.node is None):
        inside = _marked(list(part), others)
        nodes += _wrap(first, inside) if is_marked else inside
    return nodes


def _wrap(mark: str, inside: list[Node]) -> list[Node]:
    """Put nodes into a node of type `mark`. Spaces at both ends stay outside, as Markdown requires."""
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
        if is_code and text.strip():
            nodes.append({"t": "Code", "c": [["", [], []], join_surrogates(text)]})
        else:
            nodes += _text_nodes(text)
    return nodes


def _text_nodes(text: str) -> list[Node]:
    parts = enumerate(_SPACES.split(join_surrogates(text)))
    return [{"t": "Space"} if number % 2 else {"t": "Str", "c": part} for number, part in parts if part]


def join_surrogates(text: str) -> str:
    """Replace surrogate pairs with their characters, and single surrogates with replacement characters."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
