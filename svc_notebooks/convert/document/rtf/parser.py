"""Converts the tokens of an RTF file to a pandoc tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ...job import Job, TooLarge
from ..looks import Looks, page_lines, page_sign
from ..model import Node, Page
from .blocks import (
    MAX_CELLS,
    MAX_COLUMNS,
    CellDefinition,
    Flow,
    RowDefinition,
    RtfTable,
    blocks,
    join_surrogates,
    take_title,
)
from .state import WORDS, CharacterFormat, Group, ParagraphFormat, RtfParagraph, RtfRun, StyleSheet

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,20})?\ ?"  # 1, 2: a control word and its parameter
    rb"|\\'([0-9A-Fa-f]{2})"  # 3: a byte in hexadecimal digits
    rb"|\\([^A-Za-z])"  # 4: a control symbol
    rb"|([{}])"  # 5: the begin or the end of a group
    rb"|([^\\{}\r\n]+)"  # 6: text
)
_MAX_DEPTH = 500


_MAX_TABLE_DEPTH = 8


@dataclass(slots=True)
class FlowBuilder:
    """Collects paragraphs and tables in `flow`. The open paragraph is in `runs` and `marker`."""

    flow: Flow = field(default_factory=list)
    note: Node | None = None  # the footnote node that contains this text, or None for other text
    part: str = ""  # the part of the page that contains this text ("header" or "footer"), or "" for other text
    # Two row definitions, for the next row of an outer table and for the next row of a nested table.
    rows: list[RowDefinition] = field(default_factory=lambda: [RowDefinition(), RowDefinition()])
    runs: list[RtfRun] = field(default_factory=list)
    marker: str = ""
    tables: list[RtfTable] = field(default_factory=list)

    def end_paragraph(self, paragraph_format: ParagraphFormat) -> None:
        """End the open paragraph, and add it to the flow or to the open table cell. An empty paragraph is ignored."""
        if self.runs or self.marker:
            paragraph = RtfParagraph(paragraph_format, self.runs, self.marker)
            self._flow_at(min(paragraph_format.tables, _MAX_TABLE_DEPTH)).append(paragraph)
        self.runs, self.marker = [], ""

    def end_cell(self, paragraph_format: ParagraphFormat, depth: int) -> None:
        """End the open cell of the table at a nesting depth (1 for an outer table)."""
        depth = max(1, min(depth, _MAX_TABLE_DEPTH))
        self.end_paragraph(replace(paragraph_format, outline=-1, tables=depth))
        self._flow_at(depth)
        self.tables[-1].end_cell()

    def end_row(self, depth: int) -> None:
        """End the open row of the table at a nesting depth (1 for an outer table)."""
        depth = max(1, min(depth, _MAX_TABLE_DEPTH))
        self._flow_at(depth)
        self.tables[-1].end_row(self.rows[min(depth, 2) - 1])

    def finish(self, paragraph_format: ParagraphFormat) -> Flow:
        """End the open paragraph and all open tables, and return the complete flow."""
        self.end_paragraph(paragraph_format)
        return self._flow_at(0)

    def _flow_at(self, depth: int) -> Flow:
        """Return the flow at a table depth (0 outside tables). Closes deeper tables and opens missing tables."""
        while len(self.tables) > depth:
            table = self.tables.pop()
            table.end_row(self.rows[min(len(self.tables), 1)])
            (self.tables[-1].flow if self.tables else self.flow).append(table)
        while len(self.tables) < depth:
            self.tables.append(RtfTable())
        return self.tables[-1].flow if self.tables else self.flow


_HYPERLINK = re.compile(
    r'\s*HYPERLINK\b(?:\s+\\[mnt])*(?:\s+"([^"]*)"|\s+([^\s"\\]+))?(?:.*?\\l\s+"([^"]*)")?', re.DOTALL
)
_DESTINATIONS: dict[str, str] = WORDS["destinations"]  # by control word; other ignorable ones are skipped
_SKIPPED_DESTINATIONS = frozenset(WORDS["skipped"].split())
_SYMBOLS = {b"~": "\u00a0", b"_": "\u2011", b"\\": "\\", b"{": "{", b"}": "}"}
_BREAK: Node = {"t": "LineBreak"}
_NON_HEX = re.compile(rb"[^0-9A-Fa-f]+")
_TWIPS_PER_INCH = 1440
_CELL = re.compile(rb"\\(?:nest)?cell(?![A-Za-z])")
_PLANE_16 = re.compile(rb"\\u(?:-92[1-8]\d|562[5-9]\d|563[0-1]\d)")  # half a character that `Looks` prefers


def parse(source: bytes, job: Job) -> dict[str, Any]:
    """Parse RTF to a pandoc tree, and write pictures to the folder `media`. Raises TooLarge for deep or wide text."""
    if len(_CELL.findall(source)) > MAX_CELLS:
        raise TooLarge(f"the tables have more than {MAX_CELLS} cells.")
    looks = Looks(["\U00100000"] if _PLANE_16.search(source) else [], 12.0)
    tree = _Parser(job, looks).tree(source)
    return looks.apply(tree)


@dataclass(slots=True)
class _Picture:
    """A picture in an RTF file, as hexadecimal digits or raw bytes. `goals` has the control words for the size."""

    digits: bytearray = field(default_factory=bytearray)
    data: bytearray = field(default_factory=bytearray)
    goals: dict[str, int] = field(default_factory=dict)

    def node(self, name: str, job: Job) -> Node:
        """Write the picture to a file `name` in the job's folder `media`, and return an image node."""
        digits = _NON_HEX.sub(b"", self.digits)
        data = bytes(self.data) or bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))
        folder = job.folder / "media"
        folder.mkdir(exist_ok=True)
        file = folder / name
        file.write_bytes(data)
        goals = (("width", "picwgoal", "picscalex"), ("height", "pichgoal", "picscaley"))
        twips = [(name, self.goals.get(goal, 0) * self.goals.get(scale, 100) / 100) for name, goal, scale in goals]
        size = [[name, f"{length / _TWIPS_PER_INCH:.3f}in"] for name, length in twips if length > 0]
        return {"t": "Image", "c": [["", [], size], [], [file.name, ""]]}


class _Parser:
    def __init__(self, job: Job, looks: Looks) -> None:
        self._job = job
        self._stylesheet = StyleSheet()
        self._group = Group()
        self._outer: list[Group] = []
        self._builders = [FlowBuilder()]  # for the body, and for the open footnote
        self._notes: list[tuple[Node, Flow]] = []
        self._pictures = 0
        self._bytes = bytearray()
        self._skip = 0
        self._character_counts = {True: 0, False: 0}  # in fixed-width fonts, and in other fonts
        self._cell = CellDefinition(0)
        self._at_group_start = False  # whether the next word may name the group's destination
        self._looks = looks
        self._page_break = ""  # the control word of a page break before the next text
        self._lengths: dict[str, int] = {}  # of the page in twips

    def tree(self, source: bytes) -> dict[str, Any]:
        leaving_out, position = self._job.leaving_out("A part of the text"), 0
        while match := _TOKEN.search(source, position):
            position = match.end()
            word, number, byte, _, _, text = match.groups()
            if word == b"bin":  # raw bytes follow, in which braces mean nothing
                size = max(0, int(number or 0))
                if self._group.destination == "picture":
                    self._group.payload.data += source[position : position + size]
                position += size
            elif text or byte:
                self._add_bytes(text or bytes.fromhex(byte.decode("ascii")))
            else:
                with leaving_out:
                    self._read(match)
        while self._outer:  # the file ends too early
            self._flush()
            self._close_group()
        self._flush()
        flow = self._builders[-1].finish(self._group.paragraph_format)
        self._stylesheet.all_mono = self._character_counts[True] > self._character_counts[False]
        meta = take_title(flow, self._stylesheet)
        for note, inside in self._notes:
            note["c"] = blocks(inside, self._stylesheet, self._job)
        if self._lengths:
            self._looks.page = Page(*(length / 20 for length in (_PAGE_WORDS | self._lengths).values()))
        return {"meta": meta, "blocks": blocks(flow, self._stylesheet, self._job)}

    def _read(self, match: re.Match[bytes]) -> None:
        """Read a control word, a control symbol or a brace. Raises TooLarge if groups are nested too deeply."""
        control_word, digits, _, symbol, brace, _ = match.groups()
        word, number = (control_word or b"").decode("ascii"), None if digits is None else int(digits)
        self._flush()
        self._skip = 0
        at_group_start = self._at_group_start
        if symbol:
            if symbol == b"*":
                self._group.ignorable = True
            elif symbol in (b"\n", b"\r"):
                self._apply("par", None)
            elif letter := _SYMBOLS.get(symbol):
                self._add_text(letter)
        elif brace == b"{":
            if len(self._outer) == _MAX_DEPTH:
                raise TooLarge(f"the document is nested more than {_MAX_DEPTH} levels deep.")
            self._outer.append(self._group)
            self._group = replace(self._group, ignorable=False)
            self._at_group_start = True
        elif brace:
            self._close_group()
        elif word == "u" and number is not None:
            self._add_text(chr(number % 65_536))
            self._skip = self._group.unicode_skip
        else:
            self._at_group_start = False
            if self._group.destination == "skip" or (at_group_start and self._set_destination(word)):
                return
            if self._group.destination != "silent":
                self._apply(word, number)

    def _close_group(self) -> None:
        ended, self._at_group_start = self._group, False
        if not self._outer:
            return
        self._group = self._outer.pop()
        if ended.destination == self._group.destination and ended.payload is self._group.payload:
            return
        if ended.destination == "picture" and isinstance(ended.payload, _Picture):
            node = ended.payload.node(str(self._pictures), self._job)
            self._pictures += 1
            if self._group.destination in ("body", "note"):
                self._add_node(node)
        elif ended.destination == "bookmark":
            self._add_node({"t": "Span", "c": [[join_surrogates(ended.payload[0]).strip(), [], []], []]})
        elif ended.destination == "note" and ended.payload is self._builders[-1]:
            builder = self._builders.pop()
            flow = builder.finish(ended.paragraph_format)
            if builder.note:
                self._notes.append((builder.note, flow))
                self._add_node(builder.note)
            elif not getattr(self._looks, builder.part):  # the part of the first section
                setattr(self._looks, builder.part, page_lines(_lines(flow)))

    def _set_destination(self, word: str) -> bool:
        """Set the destination of a new group. Returns False if the control word names no destination."""
        group, destination = self._group, _DESTINATIONS.get(word)
        if word in _SKIPPED_DESTINATIONS or (destination is None and group.ignorable):
            group.destination = "skip"
        elif destination is None:
            return False
        elif group.destination != "instruction" or destination == "result":
            group.destination = destination or group.destination
            if word in ("field", "bkmkstart"):
                group.payload = [""]
            elif word == "fldrslt":
                group.destination = self._outer[-1].destination
                group.character_format = replace(group.character_format, link=_link_target(group.payload))
                if self._builders[-1].part and (sign := page_sign("".join(group.payload or ()))):
                    self._add_text(sign)
                    group.destination = "skip"
            elif word == "pict":
                group.payload = _Picture()
            elif word in _PAGE_PARTS or (word == "footnote" and len(self._builders) == 1):
                part = _PAGE_PARTS.get(word, "")
                self._builders.append(FlowBuilder(note=None if part else {"t": "Note", "c": []}, part=part))
                group.character_format, group.paragraph_format = CharacterFormat(), ParagraphFormat()
                group.payload = self._builders[-1]
            elif word == "footnote":  # a note in a note
                group.destination = "body"
        return True

    def _add_bytes(self, data: bytes) -> None:
        """Add bytes to the text or to a picture, except replacement bytes after a Unicode character (`\\u`)."""
        kept = data[self._skip :]
        self._skip = max(0, self._skip - len(data))
        self._at_group_start = False
        if self._group.destination == "picture":
            self._group.payload.digits += kept
        else:
            self._bytes += kept

    def _flush(self) -> None:
        if self._bytes:
            sheet, font = self._stylesheet, self._group.character_format.font
            codec = sheet.font_codecs.get(sheet.default_font if font is None else font) or sheet.codec
            text = self._bytes.decode(codec, "replace")
            self._bytes.clear()
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        group, builder = self._group, self._builders[-1]
        if group.destination in ("body", "note"):
            starts_note = builder.note is not None and not builder.flow and not builder.runs
            if not group.character_format.hidden and not (starts_note and text == "\u00a0"):
                self._character_counts["Code" in group.character_format.marks] += len(text)
                builder.runs.append(RtfRun(group.character_format, text, marker=self._marker(text)))
        elif group.destination == "marker":
            builder.marker += text
        elif group.destination in ("instruction", "bookmark"):
            if isinstance(group.payload, list):  # an instruction outside a field has no payload
                group.payload[0] += text
        else:
            self._stylesheet.add_text(group, text)

    def _marker(self, text: str) -> str:
        """Return the marker of text at the current place."""
        look = self._stylesheet.look(self._group.character_format, self._group.paragraph_format)
        if text.strip() and self._page_break and not self._builders[-1].part:
            look["page-break"], self._page_break = "before", ""
        return self._looks.marker(look)

    def _add_node(self, node: Node) -> None:
        self._builders[-1].runs.append(RtfRun(CharacterFormat(), node=node))

    def _apply(self, word: str, number: int | None) -> None:
        group, builder = self._group, self._builders[-1]
        in_text = group.destination in ("body", "note")
        if (letter := WORDS["characters"].get(word)) is not None:
            self._add_text(letter)
        elif word in ("par", "sect", "page"):
            if in_text:
                builder.end_paragraph(group.paragraph_format)
                self._page_break = word if word != "par" else self._page_break
        elif word in ("sbknone", "sbkcol") and self._page_break == "sect":
            self._page_break = ""
        elif word == "pagebb" and in_text and number != 0:
            self._page_break = word
        elif word in _PAGE_WORDS:
            self._lengths[word] = number or 0
        elif word in ("line", "lbr"):
            if in_text:
                self._add_node(_BREAK)
        elif word in ("cell", "nestcell"):
            builder.end_cell(group.paragraph_format, 1 if word == "cell" else max(2, group.paragraph_format.tables))
        elif word in ("row", "nestrow"):
            builder.end_row(1 if word == "row" else max(2, group.paragraph_format.tables))
        elif word in _ROW_WORDS:
            self._define_row(word, number)
        elif isinstance(group.payload, _Picture):
            group.payload.goals[word] = number or 0
        elif not group.apply_control_word(word, number):
            self._stylesheet.apply_control_word(group, word, number)

    def _define_row(self, word: str, number: int | None) -> None:
        rows, nested = self._builders[-1].rows, self._group.destination == "rows"
        row = rows[nested]
        if word == "trowd":
            rows[nested], self._cell = RowDefinition(), CellDefinition(0)
            if self._page_break and not self._builders[-1].tables:  # a paragraph that only has the page break
                self._add_text(self._looks.marker({"page-break": "before"}))
                self._builders[-1].end_paragraph(ParagraphFormat())
                self._page_break = ""
        elif word == "trleft":
            rows[nested] = replace(row, left=number or 0)
        elif word == "trhdr":
            rows[nested] = replace(row, is_header=True)
        elif word in ("clmrg", "clvmrg"):
            self._cell = replace(self._cell, **{"merged_left" if word == "clmrg" else "merged_above": True})
        elif len(row.cells) == MAX_COLUMNS:
            raise TooLarge(f"a table has more than {MAX_COLUMNS} columns.")
        else:
            rows[nested] = replace(row, cells=(*row.cells, replace(self._cell, right_edge=number or 0)))
            self._cell = CellDefinition(0)


# The default lengths of the page in twips.
_PAGE_WORDS = {"paperw": 12240, "paperh": 15840, "margt": 1440, "margr": 1800, "margb": 1440, "margl": 1800}
_PAGE_PARTS = {"header": "header", "headerr": "header", "footer": "footer", "footerr": "footer"}
_ROW_WORDS = frozenset({"trowd", "trleft", "trhdr", "clmrg", "clvmrg", "cellx"})


def _lines(flow: Flow) -> Iterator[tuple[str, str]]:
    """Yield the alignments and texts of the paragraphs of a header or footer."""
    for block in flow:
        if isinstance(block, RtfTable):
            for _, cells in block.rows:
                yield "", "\t".join(" ".join(text for _, text in _lines(cell.flow)) for cell in cells)
        else:
            yield block.paragraph_format.align, join_surrogates("".join(run.text for run in block.runs))


def _link_target(payload: Any) -> str:
    """Return the link target of a HYPERLINK field. Returns "" if the field has another type."""
    match = _HYPERLINK.match(join_surrogates(payload[0])) if isinstance(payload, list) and payload else None
    if not match:
        return ""
    return (match[1] or match[2] or "") + (f"#{match[3]}" if match[3] else "")
