"""Converts RTF paragraphs and tables to pandoc blocks."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from ...job import Job, TooLarge
from ..looks import BLANKS, strip_blanks
from ..model import Node
from .state import CharacterFormat, ListLevel, RtfParagraph, RtfRun, StyleSheet

_EDGE_TOLERANCE = 40  # the maximum distance, in twips, of two edges that count as the same edge
MAX_COLUMNS = 500
MAX_CELLS = 200_000
_NO_ATTRIBUTES: list[Any] = ["", [], []]


@dataclass(frozen=True, slots=True)
class CellDefinition:
    """A cell definition, with the right edge in twips and whether the cell is merged with the left or upper cell."""

    right_edge: int
    merged_left: bool = False
    merged_above: bool = False


@dataclass(frozen=True, slots=True)
class RowDefinition:
    """A row definition with the left edge in twips, which RTF files contain before or after the cell text."""

    left: int = 0
    is_header: bool = False
    cells: tuple[CellDefinition, ...] = ()


@dataclass(slots=True)
class RtfCell:
    """A table cell with RTF content (`flow`), the first column and the spans."""

    flow: list[Any]
    column: int = 0
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class RtfTable:
    """A table while its rows are read, with the cells of the open row and the content of the open cell."""

    rows: list[tuple[RowDefinition, list[RtfCell]]] = field(default_factory=list)
    cells: list[RtfCell] = field(default_factory=list)
    flow: list[Any] = field(default_factory=list)

    def end_cell(self) -> None:
        """End the open cell, and add it to the open row."""
        self.cells.append(RtfCell(self.flow))
        self.flow = []

    def end_row(self, definition: RowDefinition) -> None:
        """End the open row, and add it to the table with its definition. A row without cells is ignored."""
        if self.flow:
            self.end_cell()
        if self.cells:
            self.rows.append((definition, self.cells))
            if len(self.rows).bit_count() == 1:  # refuses a table that is too large before the end of the file
                _edges(self)
        self.cells = []


def table_node(table: RtfTable, blocks: Callable[[list[Any]], list[Node]]) -> Node:
    """Convert a table to a pandoc table. The function `blocks` converts the content of each cell.

    Raises TooLarge if the table has more than `MAX_COLUMNS` columns or `MAX_CELLS` cells.
    """
    table.end_row(RowDefinition())
    edges = _edges(table)
    placed = [_place_cells(definition, cells, edges) for definition, cells in table.rows]
    rows = _merge_vertically(placed, len(edges) - 1)
    header_count = next((n for n, (definition, _) in enumerate(table.rows) if not definition.is_header), len(rows))
    nodes = [[_NO_ATTRIBUTES, [_cell_node(cell, blocks) for cell in row]] for row in rows]
    width = edges[-1] - edges[0]
    shares = [round((right - left) / width, 4) for left, right in itertools.pairwise(edges)]
    columns = [[{"t": "AlignDefault"}, {"t": "ColWidth", "c": share}] for share in shares]
    head, body = [_NO_ATTRIBUTES, nodes[:header_count]], [_NO_ATTRIBUTES, 0, [], nodes[header_count:]]
    return {"t": "Table", "c": [_NO_ATTRIBUTES, [None, []], columns, head, [body], [_NO_ATTRIBUTES, []]]}


def _edges(table: RtfTable) -> list[int]:
    """Return the sorted column edges in twips. Raises TooLarge above `MAX_COLUMNS` edges or `MAX_CELLS` cells."""
    edges = {row.left for row, _ in table.rows} | {cell.right_edge for row, _ in table.rows for cell in row.cells}
    distinct: list[int] = []
    for edge in sorted(edges):
        if not distinct or edge - distinct[-1] > _EDGE_TOLERANCE:
            distinct.append(edge)
    undefined = max((len(cells) for row, cells in table.rows if len(row.cells) < len(cells)), default=0)
    while len(distinct) < max(undefined + 1, 2):
        distinct.append((distinct[-1] if distinct else 0) + 1440)
    if len(distinct) > MAX_COLUMNS:
        raise TooLarge(f"a table has more than {MAX_COLUMNS} columns.")
    if len(table.rows) * (len(distinct) - 1) > MAX_CELLS:
        raise TooLarge(f"a table has more than {MAX_CELLS} cells.")
    return distinct


def _place_cells(row: RowDefinition, cells: list[RtfCell], edges: list[int]) -> list[tuple[bool, RtfCell]]:
    """Set the columns of each cell, and return pairs (whether the cell is merged with the cell above, cell).

    A cell that is merged with the cell to its left is left out, and the left cell's span grows.
    """
    placed: list[tuple[bool, RtfCell]] = []
    column = min(_column_at(edges, row.left), len(edges) - 2)
    for number, cell in enumerate(cells):
        definition = row.cells[number] if number < len(row.cells) else None
        until = max(_column_at(edges, definition.right_edge), column + 1) if definition else column + 1
        until = min(until, len(edges) - 1)
        if until <= column:  # the row has more cells than columns
            placed[-1][1].flow += cell.flow
            continue
        if definition and definition.merged_left and placed:
            placed[-1][1].columns += until - column
        else:
            cell.column, cell.columns = column, until - column
            placed.append((bool(definition and definition.merged_above), cell))
        column = until
    return placed


def _column_at(edges: list[int], edge: int) -> int:
    return max(0, bisect_left(edges, edge - _EDGE_TOLERANCE))


def _merge_vertically(rows: list[list[tuple[bool, RtfCell]]], count: int) -> list[list[RtfCell]]:
    above: dict[int, RtfCell] = {}
    merged_rows: list[list[RtfCell]] = []
    for row in rows:
        kept: list[RtfCell] = []
        now: dict[int, RtfCell] = {}
        column = 0
        for merged_above, cell in row:
            kept += [RtfCell([]) for _ in range(column, cell.column)]
            over = above.get(cell.column)
            column = cell.column + cell.columns
            if merged_above and over and over.columns == cell.columns:
                over.rows += 1
                now[cell.column] = over
            else:
                kept.append(cell)
                now[cell.column] = cell
        kept += [RtfCell([]) for _ in range(column, count)]
        merged_rows.append(kept)
        above = now
    return merged_rows


def _cell_node(cell: RtfCell, blocks: Callable[[list[Any]], list[Node]]) -> list[Any]:
    content = blocks(cell.flow)
    if len(content) == 1 and content[0]["t"] == "Para":
        content = [{"t": "Plain", "c": content[0]["c"]}]
    return [_NO_ATTRIBUTES, {"t": "AlignDefault"}, cell.rows, cell.columns, content]


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


_NUMBER = re.compile(r"(\()?(\d{1,5}|[ivxlcdm]{1,7}|[IVXLCDM]{1,7}|[a-z]|[A-Z])([.)])")
_BULLET = re.compile("[-\u2013\u2014*o\u00a7\u00b7\u2022\u2023\u25a0\u25aa\u25ab\u25cf\u25cb\u25e6\u25b8\uf000-\uf0ff]")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


@dataclass(frozen=True, slots=True)
class RtfListItem:
    """A list item's first paragraph, with pandoc's number style (None for a bullet), delimiter, number and runs."""

    position: tuple[int, int]  # the list level and the left indent. A greater tuple means a more deeply nested item.
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
        first = self._open[-1][0] if self._open and self._open[-1][0].position == item.position else None
        is_same_list = first and (first.style, first.end) == (item.style, item.end)
        if first and not (is_same_list and (not item.style or item.number != first.number)):
            self._open.pop()
            first = None
        if not first:
            items: list[list[Node]] = []
            order = [item.number, {"t": item.style}, {"t": item.end}]
            node = {"t": "OrderedList", "c": [order, items]} if item.style else {"t": "BulletList", "c": items}
            (self._open[-1][1][-1] if self._open else self._blocks).append(node)
            self._open.append((item, items))
        self._open[-1][1].append([{"t": "Plain", "c": inlines(item.runs, self._stylesheet.ignored_marks)}])

    def close(self) -> None:
        """Close all open lists, so that the next item begins a new list."""
        self._open.clear()


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


def blocks(flow: Flow, stylesheet: StyleSheet, job: Job) -> list[Node]:
    """Convert the paragraphs and tables of the body, a table cell or a footnote to pandoc blocks."""
    nodes: list[Node] = []
    lists = Lists(nodes, stylesheet)
    for part in flow:
        with job.leaving_out("A paragraph or a table"):
            _add_block(part, nodes, lists, stylesheet, job)
    return nodes


def _add_block(
    part: RtfParagraph | RtfTable, nodes: list[Node], lists: Lists, stylesheet: StyleSheet, job: Job
) -> None:
    if isinstance(part, RtfTable):
        lists.close()
        nodes.append(table_node(part, lambda cell: blocks(cell, stylesheet, job)))
        return
    level = stylesheet.heading(part.paragraph_format)
    if text := label(part, is_heading=level is not None):
        part = replace(part, runs=[RtfRun(CharacterFormat(), f"{text} "), *part.runs])
    elif level is None and (item := parse_list_item(part, stylesheet)):
        lists.add(item)
        return
    block = _block(part, level, stylesheet)
    if block is None:
        return
    lists.close()
    if block["t"] == "CodeBlock" and nodes and nodes[-1]["t"] == "CodeBlock":
        block["c"][1] = nodes.pop()["c"][1] + "\n" + block["c"][1]
    nodes.append(block)


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
