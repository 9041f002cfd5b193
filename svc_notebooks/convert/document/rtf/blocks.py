"""Converts RTF paragraphs and tables to pandoc blocks."""

from __future__ import annotations

from dataclasses import replace

from ..model import Node
from .inlines import inlines, join_surrogates
from .lists import Lists, label, parse_list_item
from .state import CharacterFormat, RtfParagraph, RtfRun
from .stylesheet import StyleSheet
from .tables import RtfTable, table_node

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
