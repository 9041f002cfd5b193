"""Parses the tokens of an RTF file into pandoc's tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...job import Job
from ..model import Node
from . import formatting, header
from .blocks import Flow, blocks, take_title
from .flow import FlowBuilder
from .inlines import join_surrogates
from .pictures import RtfPicture
from .state import CharacterFormat, Group, ParagraphFormat
from .stylesheet import StyleSheet
from .tables import CellDefinition
from .tokens import RtfToken, tokens

_HYPERLINK = re.compile(
    r'\s*HYPERLINK\b(?:\s+\\[mnt])*(?:\s+"([^"]*)"|\s+([^\s"\\]+))?(?:.*?\\l\s+"([^"]*)")?', re.DOTALL
)
_DESTINATIONS = {
    "fonttbl": "fonts", "stylesheet": "styles", "listtable": "lists", "listoverridetable": "overrides",
    "fldinst": "instruction", "fldrslt": "result", "listtext": "marker", "pntext": "marker", "pict": "picture",
    "bkmkstart": "bookmark", "footnote": "note", "shp": "silent", "shpinst": "silent", "shpgrp": "silent",
    "shptxt": "body", "object": "silent", "result": "body", "upr": "silent", "ud": "body",
    "nesttableprops": "rows", "field": "", "shppict": "",
}  # fmt: skip
"""The destinations that are read. Other ignorable destinations and `_SKIPPED_DESTINATIONS` are skipped."""
_SKIPPED_DESTINATIONS = frozenset({
    "colortbl", "info", "header", "headerf", "headerl", "headerr", "footer", "footerf", "footerl", "footerr",
    "nonshppict", "nonesttables", "shprslt", "annotation", "atnid", "atnauthor", "xe", "tc", "rxe", "bkmkend", "pn",
    "filetbl", "revtbl", "do", "sp", "private", "template", "objdata", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc",
})  # fmt: skip
_SPECIAL_CHARACTERS = {
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
        self.stylesheet = StyleSheet()
        self.group = Group()
        self._outer: list[Group] = []
        self._builders = [FlowBuilder()]
        self._notes: list[tuple[Node, Flow]] = []
        self._bytes = bytearray()
        self._skip = 0
        self._character_counts = {True: 0, False: 0}  # of typewriters, and of others
        self._cell = CellDefinition(0)
        self._at_group_start = False  # whether the group has only begun, so that a word may say what it is

    @property
    def builder(self) -> FlowBuilder:
        """The body, or the note that is being told."""
        return self._builders[-1]

    def tree(self, source: bytes) -> dict[str, Any]:
        """The whole of it."""
        for token in tokens(source):
            _HANDLERS[token.kind](self, token)
        while self._outer:  # of a file that ends too early
            self.close()
        self._flush()
        flow = self.builder.finish(self.group.paragraph_format)
        self.stylesheet.all_mono = self._character_counts[True] > self._character_counts[False]
        meta = take_title(flow, self.stylesheet)
        for note, inside in self._notes:
            note["c"] = blocks(inside, self.stylesheet)
        return {"meta": meta, "blocks": blocks(flow, self.stylesheet)}

    # -- groups

    def open(self, token: RtfToken | None = None) -> None:
        """A group begins."""
        self._flush()
        self._skip = 0
        self._outer.append(self.group)
        self.group = replace(self.group, ignorable=False)
        self._at_group_start = True

    def close(self, token: RtfToken | None = None) -> None:
        """A group ends."""
        self._flush()
        self._skip = 0
        ended, self._at_group_start = self.group, False
        if not self._outer:
            return
        self.group = self._outer.pop()
        if ended.destination != self.group.destination or ended.payload is not self.group.payload:
            self._close_destination(ended)

    def _set_destination(self, word: str) -> bool:
        """Whether a word says what its group is for."""
        destination = _DESTINATIONS.get(word)
        if word in _SKIPPED_DESTINATIONS or (destination is None and self.group.ignorable):
            self.group.destination = "skip"
        elif destination is None:
            return False
        elif self.group.destination != "instruction" or destination == "result":
            self.group.destination = destination or self.group.destination
            self._open_destination(word)
        return True

    def _open_destination(self, word: str) -> None:
        group = self.group
        if word == "field":
            group.payload = [""]
        elif word == "fldrslt":
            group.destination = self._outer[-1].destination
            group.character_format = replace(group.character_format, link=_target(group.payload))
        elif word == "pict":
            group.payload = RtfPicture()
        elif word == "bkmkstart":
            group.payload = [""]
        elif word == "footnote" and len(self._builders) == 1:
            self._builders.append(FlowBuilder(note={"t": "Note", "c": []}))
            group.character_format, group.paragraph_format, group.payload = (
                CharacterFormat(),
                ParagraphFormat(),
                self.builder,
            )
        elif word == "footnote":  # a note in a note
            group.destination = "body"

    def _close_destination(self, group: Group) -> None:
        if group.destination == "picture" and isinstance(group.payload, RtfPicture):
            node = group.payload.node(self._job)
            if self.group.destination in ("body", "note"):
                self.builder.add_node(node)
        elif group.destination == "bookmark":
            self.builder.add_node({"t": "Span", "c": [[join_surrogates(group.payload[0]).strip(), [], []], []]})
        elif group.destination == "note" and group.payload is self.builder:
            builder = self._builders.pop()
            assert builder.note
            self._notes.append((builder.note, builder.finish(group.paragraph_format)))
            self.builder.add_node(builder.note)

    # -- letters

    def byte(self, token: RtfToken) -> None:
        """Bytes of text; as many as stand for a letter already told are passed over."""
        data = token.data[self._skip :]
        self._skip = max(0, self._skip - len(token.data))
        self._at_group_start = False
        if self.group.destination == "picture":
            self.group.payload.digits += data
        else:
            self._bytes += data

    def binary(self, token: RtfToken) -> None:
        """Bytes that are no text."""
        if self.group.destination == "picture":
            self.group.payload.data += token.data

    def _flush(self) -> None:
        if self._bytes:
            text = self._bytes.decode(self.stylesheet.codec_of(self.group.character_format.font), "replace")
            self._bytes.clear()
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        group = self.group
        if group.destination in ("body", "note"):
            if not group.character_format.hidden and (text != "\u00a0" or not self.builder.is_empty_note):
                self._character_counts[("Code" in group.character_format.marks)] += len(text)
                self.builder.add_text(group.character_format, text)
        elif group.destination == "marker":
            self.builder.add_marker(text)
        elif group.destination in ("instruction", "bookmark"):
            group.payload[0] += text
        elif group.destination == "fonts":
            self.stylesheet.set_font_name(group.character_format.font or 0, text)
        elif group.destination == "styles":
            self.stylesheet.style_names[group.paragraph_format.style] = (
                self.stylesheet.style_names.get(group.paragraph_format.style, "") + text
            )

    def symbol(self, token: RtfToken) -> None:
        """A backslash and a sign."""
        self._flush()
        self._skip = 0
        if token.data == b"*":
            self.group.ignorable = True
        elif token.data in (b"\n", b"\r"):
            self._apply("par", None)
        elif letter := _SYMBOLS.get(token.data):
            self._add_text(letter)

    # -- words

    def word(self, token: RtfToken) -> None:
        """A control word."""
        if token.word == "u" and token.number is not None:
            self._flush()
            self._add_text(chr(token.number % 65_536))
            self._skip = self.group.unicode_skip
            return
        self._flush()
        self._skip = 0
        at_group_start, self._at_group_start = self._at_group_start, False
        if (
            self.group.destination == "skip"
            or (at_group_start and self._set_destination(token.word))
            or self.group.destination == "silent"
        ):
            return
        self._apply(token.word, token.number)

    def _apply(self, word: str, number: int | None) -> None:
        if (letter := _SPECIAL_CHARACTERS.get(word)) is not None:
            self._add_text(letter)
        elif action := _ACTIONS.get(word):
            action(self, number)
        elif isinstance(self.group.payload, RtfPicture):
            self.group.payload.apply_control_word(word, number)
        else:
            _ = formatting.apply_control_word(self.stylesheet, self.group, word, number) or header.apply_control_word(
                self.stylesheet, self.group, word, number
            )

    def end_paragraph(self, number: int | None) -> None:
        if self.group.destination in ("body", "note"):
            self.builder.end_paragraph(self.group.paragraph_format)

    def line(self, number: int | None) -> None:
        if self.group.destination in ("body", "note"):
            self.builder.add_node(_BREAK)

    def cell(self, number: int | None) -> None:
        self.builder.end_cell(self.group.paragraph_format, 1)

    def nested_cell(self, number: int | None) -> None:
        self.builder.end_cell(self.group.paragraph_format, max(2, self.group.paragraph_format.tables))

    def row(self, number: int | None) -> None:
        self.builder.end_row(1)

    def nested_row(self, number: int | None) -> None:
        self.builder.end_row(max(2, self.group.paragraph_format.tables))

    @property
    def _nested(self) -> bool:
        return self.group.destination == "rows"

    def row_defaults(self, number: int | None) -> None:
        self.builder.begin_row_definition(self._nested)
        self._cell = CellDefinition(0)

    def cell_edge(self, number: int | None) -> None:
        self.builder.add_cell_definition(self._nested, replace(self._cell, right_edge=number or 0))
        self._cell = CellDefinition(0)

    def merged_left(self, number: int | None) -> None:
        self._cell = replace(self._cell, merged_left=True)

    def merged_above(self, number: int | None) -> None:
        self._cell = replace(self._cell, merged_above=True)

    def row_left(self, number: int | None) -> None:
        self.builder.set_row(self._nested, left=number or 0)

    def row_is_header(self, number: int | None) -> None:
        self.builder.set_row(self._nested, is_header=True)


def _target(payload: Any) -> str:
    """Where a field leads: only those of links lead anywhere."""
    match = _HYPERLINK.match(join_surrogates(payload[0])) if isinstance(payload, list) and payload else None
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
    "clmrg": _Parser.merged_left,
    "clvmrg": _Parser.merged_above,
    "trleft": _Parser.row_left,
    "trhdr": _Parser.row_is_header,
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
