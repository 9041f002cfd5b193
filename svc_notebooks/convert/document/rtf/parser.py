"""Tokens of a rich text in turn: each says something of the letters, the paragraph, the row, or of what a group is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...job import Job
from ..model import Node
from . import formatting as looks, header as head
from .blocks import Flow, blocks, front
from .flow import FlowBuilder
from .inlines import whole
from .pictures import Pictured
from .state import CharacterFormat, Group, Shape
from .stylesheet import StyleSheet
from .tables import CellShape
from .tokens import RtfToken, tokens

_HYPERLINK = re.compile(
    r'\s*HYPERLINK\b(?:\s+\\[mnt])*(?:\s+"([^"]*)"|\s+([^\s"\\]+))?(?:.*?\\l\s+"([^"]*)")?', re.DOTALL
)
_PURPOSES = {
    "fonttbl": "fonts", "stylesheet": "styles", "listtable": "lists", "listoverridetable": "overrides",
    "fldinst": "instruction", "fldrslt": "result", "listtext": "marker", "pntext": "marker", "pict": "picture",
    "bkmkstart": "bookmark", "footnote": "note", "shp": "silent", "shpinst": "silent", "shpgrp": "silent",
    "shptxt": "body", "object": "silent", "result": "body", "upr": "silent", "ud": "body",
    "nesttableprops": "rows", "field": "", "shppict": "",
}  # fmt: skip
"""What the first word of a group makes of it; what is starred and not here is left out, as is `_SKIPPED`."""
_SKIPPED = frozenset({
    "colortbl", "info", "header", "headerf", "headerl", "headerr", "footer", "footerf", "footerl", "footerr",
    "nonshppict", "nonesttables", "shprslt", "annotation", "atnid", "atnauthor", "xe", "tc", "rxe", "bkmkend", "pn",
    "filetbl", "revtbl", "do", "sp", "private", "template", "objdata", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc",
})  # fmt: skip
_LETTERS = {
    "tab": "\t", "emdash": "\u2014", "endash": "\u2013", "lquote": "\u2018", "rquote": "\u2019", "bullet": "\u2022",
    "ldblquote": "\u201c", "rdblquote": "\u201d", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
    "zwj": "\u200d", "zwnj": "\u200c", "ltrmark": "\u200e", "rtlmark": "\u200f",
}  # fmt: skip
_SYMBOLS = {b"~": "\u00a0", b"_": "\u2011", b"\\": "\\", b"{": "{", b"}": "}"}
_BREAK: Node = {"t": "LineBreak"}


def parse(source: bytes, job: Job) -> dict[str, Any]:
    """The tree of a rich text; its pictures are files in the job's folder `media`.

    Raises:
        TooLarge: it is nested too deep, or has a table with too many columns.
    """
    return _Parser(job).tree(source)


class _Parser:
    def __init__(self, job: Job) -> None:
        self._job = job
        self.sheet = StyleSheet()
        self.group = Group()
        self._outer: list[Group] = []
        self._stories = [FlowBuilder()]
        self._notes: list[tuple[Node, Flow]] = []
        self._bytes = bytearray()
        self._skip = 0
        self._letters = {True: 0, False: 0}  # of typewriters, and of others
        self._cell = CellShape(0)
        self._fresh = False  # whether the group has only begun, so that a word may say what it is

    @property
    def story(self) -> FlowBuilder:
        """The body, or the note that is being told."""
        return self._stories[-1]

    def tree(self, source: bytes) -> dict[str, Any]:
        """The whole of it."""
        for token in tokens(source):
            _HANDLERS[token.kind](self, token)
        while self._outer:  # of a file that ends too early
            self.close()
        self._flush()
        flow = self.story.end(self.group.shape)
        self.sheet.all_mono = self._letters[True] > self._letters[False]
        meta = front(flow, self.sheet)
        for note, inside in self._notes:
            note["c"] = blocks(inside, self.sheet)
        return {"meta": meta, "blocks": blocks(flow, self.sheet)}

    # -- groups

    def open(self, token: RtfToken | None = None) -> None:
        """A group begins."""
        self._flush()
        self._skip = 0
        self._outer.append(self.group)
        self.group = replace(self.group, starred=False)
        self._fresh = True

    def close(self, token: RtfToken | None = None) -> None:
        """A group ends."""
        self._flush()
        self._skip = 0
        ended, self._fresh = self.group, False
        if not self._outer:
            return
        self.group = self._outer.pop()
        if ended.purpose != self.group.purpose or ended.owner is not self.group.owner:
            self._end(ended)

    def _begin(self, word: str) -> bool:
        """Whether a word says what its group is for."""
        purpose = _PURPOSES.get(word)
        if word in _SKIPPED or (purpose is None and self.group.starred):
            self.group.purpose = "skip"
        elif purpose is None:
            return False
        elif self.group.purpose != "instruction" or purpose == "result":
            self.group.purpose = purpose or self.group.purpose
            self._prepare(word)
        return True

    def _prepare(self, word: str) -> None:
        group = self.group
        if word == "field":
            group.owner = [""]
        elif word == "fldrslt":
            group.purpose = self._outer[-1].purpose
            group.look = replace(group.look, link=_target(group.owner))
        elif word == "pict":
            group.owner = Pictured()
        elif word == "bkmkstart":
            group.owner = [""]
        elif word == "footnote" and len(self._stories) == 1:
            self._stories.append(FlowBuilder(note={"t": "Note", "c": []}))
            group.look, group.shape, group.owner = CharacterFormat(), Shape(), self.story
        elif word == "footnote":  # a note in a note
            group.purpose = "body"

    def _end(self, group: Group) -> None:
        if group.purpose == "picture" and isinstance(group.owner, Pictured):
            node = group.owner.node(self._job)
            if self.group.purpose in ("body", "note"):
                self.story.show(node)
        elif group.purpose == "bookmark":
            self.story.show({"t": "Span", "c": [[whole(group.owner[0]).strip(), [], []], []]})
        elif group.purpose == "note" and group.owner is self.story:
            story = self._stories.pop()
            assert story.note
            self._notes.append((story.note, story.end(group.shape)))
            self.story.show(story.note)

    # -- letters

    def byte(self, token: RtfToken) -> None:
        """Bytes of text; as many as stand for a letter already told are passed over."""
        data = token.data[self._skip :]
        self._skip = max(0, self._skip - len(token.data))
        self._fresh = False
        if self.group.purpose == "picture":
            self.group.owner.digits += data
        else:
            self._bytes += data

    def binary(self, token: RtfToken) -> None:
        """Bytes that are no text."""
        if self.group.purpose == "picture":
            self.group.owner.data += token.data

    def _flush(self) -> None:
        if self._bytes:
            text = self._bytes.decode(self.sheet.codec_of(self.group.look.font), "replace")
            self._bytes.clear()
            self._say(text)

    def _say(self, text: str) -> None:
        group = self.group
        if group.purpose in ("body", "note"):
            if not group.look.hidden and (text != "\u00a0" or not self.story.silent):
                self._letters[("Code" in group.look.marks)] += len(text)
                self.story.say(group.look, text)
        elif group.purpose == "marker":
            self.story.mark(text)
        elif group.purpose in ("instruction", "bookmark"):
            group.owner[0] += text
        elif group.purpose == "fonts":
            self.sheet.set_font_name(group.look.font or 0, text)
        elif group.purpose == "styles":
            self.sheet.names[group.shape.style] = self.sheet.names.get(group.shape.style, "") + text

    def symbol(self, token: RtfToken) -> None:
        """A backslash and a sign."""
        self._flush()
        self._skip = 0
        if token.data == b"*":
            self.group.starred = True
        elif token.data in (b"\n", b"\r"):
            self._do("par", None)
        elif letter := _SYMBOLS.get(token.data):
            self._say(letter)

    # -- words

    def word(self, token: RtfToken) -> None:
        """A control word."""
        if token.word == "u" and token.number is not None:
            self._flush()
            self._say(chr(token.number % 65_536))
            self._skip = self.group.skip
            return
        self._flush()
        self._skip = 0
        fresh, self._fresh = self._fresh, False
        if self.group.purpose == "skip" or (fresh and self._begin(token.word)) or self.group.purpose == "silent":
            return
        self._do(token.word, token.number)

    def _do(self, word: str, number: int | None) -> None:
        if (letter := _LETTERS.get(word)) is not None:
            self._say(letter)
        elif action := _ACTIONS.get(word):
            action(self, number)
        elif isinstance(self.group.owner, Pictured):
            self.group.owner.told(word, number)
        else:
            _ = looks.tell(self.sheet, self.group, word, number) or head.tell(self.sheet, self.group, word, number)

    def end_paragraph(self, number: int | None) -> None:
        if self.group.purpose in ("body", "note"):
            self.story.end_paragraph(self.group.shape)

    def line(self, number: int | None) -> None:
        if self.group.purpose in ("body", "note"):
            self.story.show(_BREAK)

    def cell(self, number: int | None) -> None:
        self.story.end_cell(self.group.shape, 1)

    def nested_cell(self, number: int | None) -> None:
        self.story.end_cell(self.group.shape, max(2, self.group.shape.tables))

    def row(self, number: int | None) -> None:
        self.story.end_row(1)

    def nested_row(self, number: int | None) -> None:
        self.story.end_row(max(2, self.group.shape.tables))

    @property
    def _nested(self) -> bool:
        return self.group.purpose == "rows"

    def row_defaults(self, number: int | None) -> None:
        self.story.begin_row_shape(self._nested)
        self._cell = CellShape(0)

    def cell_edge(self, number: int | None) -> None:
        self.story.add_cell_shape(self._nested, replace(self._cell, edge=number or 0))
        self._cell = CellShape(0)

    def joins_left(self, number: int | None) -> None:
        self._cell = replace(self._cell, joins_left=True)

    def joins_above(self, number: int | None) -> None:
        self._cell = replace(self._cell, joins_above=True)

    def row_left(self, number: int | None) -> None:
        self.story.set_row(self._nested, left=number or 0)

    def row_heads(self, number: int | None) -> None:
        self.story.set_row(self._nested, heads=True)


def _target(owner: Any) -> str:
    """Where a field leads: only those of links lead anywhere."""
    match = _HYPERLINK.match(whole(owner[0])) if isinstance(owner, list) and owner else None
    if not match:
        return ""
    return (match[1] or match[2] or "") + (f"#{match[3]}" if match[3] else "")


_ACTIONS: dict[str, Callable[[_Parser, int | None], None]] = {
    "par": _Parser.end_paragraph,
    "sect": _Parser.end_paragraph,
    "page": _Parser.end_paragraph,
    "line": _Parser.line,
    "lbr": _Parser.line,
    "cell": _Parser.cell,
    "nestcell": _Parser.nested_cell,
    "row": _Parser.row,
    "nestrow": _Parser.nested_row,
    "trowd": _Parser.row_defaults,
    "cellx": _Parser.cell_edge,
    "clmrg": _Parser.joins_left,
    "clvmrg": _Parser.joins_above,
    "trleft": _Parser.row_left,
    "trhdr": _Parser.row_heads,
}
_HANDLERS: dict[str, Callable[[_Parser, RtfToken], None]] = {
    "open": _Parser.open,
    "close": _Parser.close,
    "word": _Parser.word,
    "symbol": _Parser.symbol,
    "byte": _Parser.byte,
    "text": _Parser.byte,
    "binary": _Parser.binary,
}
