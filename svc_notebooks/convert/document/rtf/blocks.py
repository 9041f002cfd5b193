"""Paragraphs and tables of a rich text as pandoc's blocks."""

from __future__ import annotations

from ..model import Node
from .inlines import inlines, whole
from .lists import Lists, as_item
from .state import RtfParagraph
from .stylesheet import StyleSheet
from .tables import RtfTable, as_node

Flow = list[RtfParagraph | RtfTable]
_QUOTES = ("quote", "intense quote", "quotations", "block text", "zitat", "citation")
_TITLES = {"title": "title", "subtitle": "subtitle"}


def front(flow: Flow, sheet: StyleSheet) -> dict[str, Node]:
    """The title and the subtitle that a text begins with; they are taken out of the flow."""
    found: dict[str, Node] = {}
    while flow and isinstance(flow[0], RtfParagraph):
        name = _TITLES.get(sheet.style_name(flow[0].shape))
        if name is None or name in found:
            break
        found[name] = {"t": "MetaInlines", "c": inlines(flow.pop(0).runs, ("Strong", "Emph", "Code"))}  # type: ignore[union-attr]
    return found


def blocks(flow: Flow, sheet: StyleSheet) -> list[Node]:
    """The blocks of the body, of a cell or of a note."""
    found: list[Node] = []
    lists = Lists(found, sheet)
    for part in flow:
        if isinstance(part, RtfTable):
            lists.close()
            found.append(as_node(part, lambda cell: blocks(cell, sheet)))
        else:
            _add(part, found, lists, sheet)
    return found


def _add(paragraph: RtfParagraph, found: list[Node], lists: Lists, sheet: StyleSheet) -> None:
    level = sheet.heading(paragraph.shape)
    if level is None and (item := as_item(paragraph, sheet)):
        lists.add(item)
        return
    block = _block(paragraph, level, sheet)
    if block is None:
        return
    if level is None and lists.goes_on(paragraph):
        lists.go_on(block)
        return
    lists.close()
    if block["t"] == "CodeBlock" and found and found[-1]["t"] == "CodeBlock":
        block["c"][1] = found.pop()["c"][1] + "\n" + block["c"][1]
    found.append(block)


def _block(paragraph: RtfParagraph, level: int | None, sheet: StyleSheet) -> Node | None:
    if level is not None:
        inside = inlines(paragraph.runs, ("Strong", "Code"))
        return {"t": "Header", "c": [min(level, 6), ["", [], []], inside]} if inside else None
    if not sheet.all_mono and _is_code(paragraph):
        return {"t": "CodeBlock", "c": [["", [], []], _typed(paragraph)]}
    inside = inlines(paragraph.runs, sheet.silent)
    if not inside:
        return None
    block: Node = {"t": "Para", "c": inside}
    if sheet.style_name(paragraph.shape) in _QUOTES:
        block = {"t": "BlockQuote", "c": [block]}
    if paragraph.shape.rtl:
        block = {"t": "Div", "c": [["", [], [["dir", "rtl"]]], [block]]}
    return block


def _is_code(paragraph: RtfParagraph) -> bool:
    letters = [run for run in paragraph.runs if run.text.strip()]
    only_breaks = all(run.node is None or run.node["t"] == "LineBreak" for run in paragraph.runs)
    return bool(letters) and only_breaks and all("Code" in run.look.marks for run in letters)


def _typed(paragraph: RtfParagraph) -> str:
    return whole("".join("\n" if run.node else run.text for run in paragraph.runs)).expandtabs(4)
