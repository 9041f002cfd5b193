"""Converts RTF paragraphs and tables to pandoc blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..model import Node
from .inlines import inlines, join_surrogates
from .state import CharacterFormat, RtfParagraph, RtfRun
from .stylesheet import ListLevel, StyleSheet
from .tables import RtfTable, table_node

_NUMBER = re.compile(r"(\()?(\d{1,5}|[ivxlcdm]{1,7}|[IVXLCDM]{1,7}|[a-z]|[A-Z])([.)])")
_BULLET = re.compile("[-\u2013\u2014*o\u00a7\u00b7\u2022\u2023\u25a0\u25aa\u25ab\u25cf\u25cb\u25e6\u25b8\uf000-\uf0ff]")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


@dataclass(frozen=True, slots=True)
class RtfListItem:
    """A list item's first paragraph, with pandoc's number style (None for a bullet), delimiter, number and runs."""

    position: tuple[int, int]
    """The list level and the left indent. A greater tuple means a more deeply nested item."""
    style: str | None
    end: str
    number: int
    runs: list[RtfRun]


def parse_list_item(paragraph: RtfParagraph, stylesheet: StyleSheet) -> RtfListItem | None:
    """Return the list item that begins with a paragraph. Returns None if the paragraph has no number or bullet."""
    paragraph_format, marker, runs = paragraph.paragraph_format, paragraph.marker.strip(), paragraph.runs
    if not paragraph_format.list_id and not marker:
        marker, runs = _leading_marker(paragraph)
    if not paragraph_format.list_id and not marker:
        return None
    style, end, number = _parse_marker(marker, stylesheet.level(paragraph_format) if paragraph_format.list_id else None)
    return RtfListItem((paragraph_format.level, paragraph_format.left), style, end, number, runs)


def label(paragraph: RtfParagraph, *, is_heading: bool) -> str:
    """Return the label of a paragraph if pandoc's headings and lists do not have it, such as "Article 1.", or ""."""
    marker = paragraph.marker.strip()
    if is_heading:
        return marker if any(map(str.isalnum, marker)) and not _BULLET.fullmatch(marker) else ""
    is_worded = len(marker) > 2 and any(map(str.isalpha, marker))
    return marker if is_worded and not _NUMBER.fullmatch(marker) else ""


def _leading_marker(paragraph: RtfParagraph) -> tuple[str, list[RtfRun]]:
    """Split a paragraph with a hanging indent at its first tab into a list marker (or "") and other runs."""
    text, runs = "", list(paragraph.runs)
    while paragraph.paragraph_format.first < 0 and runs and runs[0].node is None and len(text) < 16:
        run = runs.pop(0)
        before, tab, after = run.text.partition("\t")
        text = join_surrogates(text + before)
        if tab and (_NUMBER.fullmatch(text.strip()) or _BULLET.fullmatch(text.strip())):
            return text.strip(), [replace(run, text=after), *runs]
        if tab:
            break
    return "", paragraph.runs


def _parse_marker(marker: str, level: ListLevel | None) -> tuple[str | None, str, int]:
    """Return the number style (None for a bullet), the delimiter and the number of a list marker.

    The style of the list level, if given, takes precedence. Other markers get the values of the list level.
    """
    match = _NUMBER.fullmatch(marker)
    if level and level.style is None:
        return None, "Period", 1
    if not match:
        return (level.style, "Period", level.start) if level and not _BULLET.fullmatch(marker) else (None, "Period", 1)
    if level and level.style:
        style = level.style
    elif match[2].isdigit():
        style = "Decimal"
    else:
        roman = match[2].lower().strip("ivx") == ""
        style = ("Lower" if match[2].islower() else "Upper") + ("Roman" if roman else "Alpha")
    end = "TwoParens" if match[1] else "Period" if match[3] == "." else "OneParen"
    return style, end, _number_value(match[2], style)


def _number_value(number: str, style: str) -> int:
    """Convert a list number in digits, Roman numerals or one letter to an integer.

    >>> _number_value("xiv", "LowerRoman"), _number_value("c", "LowerAlpha"), _number_value("12", "Decimal")
    (14, 3, 12)
    """
    if number.isdigit():
        return int(number)
    small = number.lower()
    if style.endswith("Alpha"):
        return ord(small[0]) - ord("a") + 1
    values = [_ROMAN.get(letter, 0) for letter in small]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-digit if digit < following else digit for digit, following in pairs)


class Lists:
    """Builds nested lists from successive list items, and adds the outermost lists to `blocks`."""

    def __init__(self, blocks: list[Node], stylesheet: StyleSheet) -> None:
        self._blocks = blocks
        self._stylesheet = stylesheet
        self._open: list[tuple[RtfListItem, list[list[Node]]]] = []

    def add(self, item: RtfListItem) -> None:
        """Add an item to the open list with the same position, style and delimiter, or begin a new list."""
        while self._open and self._open[-1][0].position > item.position:
            self._open.pop()
        same_position = self._open and self._open[-1][0].position == item.position
        if same_position and not _continues_list(self._open[-1][0], item):
            self._open.pop()
            same_position = False
        if not same_position:
            items: list[list[Node]] = []
            order = [item.number, {"t": item.style}, {"t": item.end}]
            node = {"t": "OrderedList", "c": [order, items]} if item.style else {"t": "BulletList", "c": items}
            (self._open[-1][1][-1] if self._open else self._blocks).append(node)
            self._open.append((item, items))
        self._open[-1][1].append([{"t": "Plain", "c": inlines(item.runs, self._stylesheet.ignored_marks)}])

    def continues_item(self, paragraph: RtfParagraph) -> bool:
        """Return whether a paragraph has the indent of an open item. Closes lists with a greater indent."""
        paragraph_format = paragraph.paragraph_format
        while self._open and paragraph_format.left and paragraph_format.first >= 0:
            indent = self._open[-1][0].position[1]
            if indent <= paragraph_format.left:
                return indent == paragraph_format.left
            self._open.pop()
        return False

    def append_to_item(self, block: Node) -> None:
        """Append a block to the last item of the innermost open list."""
        item = self._open[-1][1][-1]
        item[:] = [{**node, "t": "Para"} if node["t"] == "Plain" else node for node in item]
        item.append(block)

    def close(self) -> None:
        """Close all open lists, so that the next item begins a new list."""
        self._open.clear()


def _continues_list(first: RtfListItem, item: RtfListItem) -> bool:
    return first.style == item.style and first.end == item.end and (not item.style or item.number != first.number)


Flow = list[RtfParagraph | RtfTable]
_QUOTES = ("quote", "intense quote", "quotations", "block text", "zitat", "citation")


def take_title(flow: Flow, stylesheet: StyleSheet) -> dict[str, Node]:
    """Remove the title and subtitle at the start of a flow, and return them as pandoc metadata ({} if missing)."""
    nodes: dict[str, Node] = {}
    while flow and isinstance(paragraph := flow[0], RtfParagraph):
        name = stylesheet.style_name(paragraph.paragraph_format)
        if name not in ("title", "subtitle") or name in nodes:
            break
        nodes[name] = {"t": "MetaInlines", "c": inlines(paragraph.runs, ("Strong", "Emph", "Code"))}
        del flow[0]
    return nodes


def blocks(flow: Flow, stylesheet: StyleSheet) -> list[Node]:
    """Convert the paragraphs and tables of the body, a table cell or a footnote to pandoc blocks."""
    nodes: list[Node] = []
    lists = Lists(nodes, stylesheet)
    for part in flow:
        if isinstance(part, RtfTable):
            lists.close()
            nodes.append(table_node(part, lambda cell: blocks(cell, stylesheet)))
            continue
        level = stylesheet.heading(part.paragraph_format)
        if text := label(part, is_heading=level is not None):
            part = replace(part, runs=[RtfRun(CharacterFormat(), f"{text} "), *part.runs])
        elif level is None and (item := parse_list_item(part, stylesheet)):
            lists.add(item)
            continue
        block = _block(part, level, stylesheet)
        if block is None:
            continue
        if level is None and lists.continues_item(part):
            lists.append_to_item(block)
            continue
        lists.close()
        if block["t"] == "CodeBlock" and nodes and nodes[-1]["t"] == "CodeBlock":
            block["c"][1] = nodes.pop()["c"][1] + "\n" + block["c"][1]
        nodes.append(block)
    return nodes


def _block(paragraph: RtfParagraph, level: int | None, stylesheet: StyleSheet) -> Node | None:
    """Convert a paragraph (with a heading level or None) to a pandoc block. Returns None for an empty paragraph."""
    if level is not None:
        inside = inlines(paragraph.runs, ("Strong", "Code"))
        return {"t": "Header", "c": [min(level, 6), ["", [], []], inside]} if inside else None
    if not stylesheet.all_mono and _is_code(paragraph):
        code = join_surrogates("".join("\n" if run.node else run.text for run in paragraph.runs)).expandtabs(4)
        return {"t": "CodeBlock", "c": [["", [], []], code]}
    inside = inlines(paragraph.runs, stylesheet.ignored_marks)
    if not inside:
        return None
    block: Node = {"t": "Para", "c": inside}
    if stylesheet.style_name(paragraph.paragraph_format) in _QUOTES:
        block = {"t": "BlockQuote", "c": [block]}
    if paragraph.paragraph_format.rtl:
        block = {"t": "Div", "c": [["", [], [["dir", "rtl"]]], [block]]}
    return block


def _is_code(paragraph: RtfParagraph) -> bool:
    letters = [run for run in paragraph.runs if run.text.strip()]
    only_breaks = all(run.node is None or run.node["t"] == "LineBreak" for run in paragraph.runs)
    return bool(letters) and only_breaks and all("Code" in run.character_format.marks for run in letters)
