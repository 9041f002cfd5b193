"""Writes a document as PDF. The pandoc tree is converted to a simpler tree, which `document.typ` renders."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from ..engines.typst import chart_data, compiles, installed_font, render
from ..job import ConversionError, Job
from . import pandoc
from .clean import TEXT_LOOKS, cell_background, nodes_of, plain_text
from .model import PAGE_COUNT, PAGE_NUMBER, Document, Node


def typst_formulas(document: Document, job: Job) -> dict[str, str]:
    """Return a dict from TeX to typst formulas, without formulas that pandoc or typst cannot process."""
    sources = list(dict.fromkeys(n["c"][1] for n in nodes_of(document.blocks) if n["t"] == "Math"))
    if not sources:
        return {}
    marker = "\u2016\u2016"
    blocks = [{"t": "Para", "c": [{"t": "Math", "c": [{"t": "InlineMath"}, tex]}]} for tex in sources]
    try:
        markup = pandoc.write(Document(blocks), "typst", job, "--wrap=none").decode()
    except ConversionError:
        return {}
    parts = [part.strip() for part in markup.replace("\n\n", marker).split(marker) if part.strip()]
    if len(parts) != len(sources):
        return {}
    converted = {tex: part[1:-1] for tex, part in zip(sources, parts, strict=True) if re.fullmatch(r"\$[^$#]*\$", part)}
    valid = _compilable(list(set(converted.values())))
    return {tex: part for tex, part in converted.items() if part in valid}


def _compilable(formulas: list[str]) -> set[str]:
    """Return the formulas that typst can compile. After an error, each half is compiled separately."""
    escaped = (text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for text in formulas)
    # As in `document.typ`, without `std`, whose functions can read files.
    if compiles("\n".join(f'#math.equation(eval("{it}", mode: "math", scope: (std: none)))' for it in escaped)):
        return set(formulas)
    half = len(formulas) // 2
    return _compilable(formulas[:half]) | _compilable(formulas[half:]) if half else set()


_TEMPLATE = "document/document.typ"
_MAX_DEPTH = 14  # the maximum nesting depth of blocks and inlines, which is slightly below the limit of typst
_TEXT_SIZE = 11.0
_TABLE_TEXT_SIZE = 10.0
_MAX_HEAD_TEXT = 1_000
_POINTS = {"px": 0.75, "pt": 1.0, "in": 72.0, "cm": 28.3465, "mm": 2.83465, "pc": 12.0, "em": _TEXT_SIZE}
_LENGTH = re.compile(rf"(\d+\.?\d*|\.\d+)(%|{'|'.join(_POINTS)})")
_MAX_POINTS = 5_000.0
_LONG_WORD = re.compile(r"(\S{30})(?=\S)")
_STYLES = {"LowerRoman": "i", "UpperRoman": "I", "LowerAlpha": "a", "UpperAlpha": "A"}
_DELIMITERS = {"OneParen": "{})", "TwoParens": "({})"}
_ALIGNS = {"AlignRight": "right", "AlignCenter": "center", "AlignLeft": "left"}
_TITLE_BLOCK = {
    "title": "title", "subtitle": "subtitle", "author": "subtitle", "date": "subtitle", "abstract": "par",
}  # fmt: skip


def write(document: Document, job: Job) -> bytes:
    """Return the document as a PDF of at least one page, which is A4 by default, with page numbers and bookmarks."""
    tree = _TypstTree(document, job)
    blocks = [*tree.title_block(), *tree.blocks(document.blocks, 0)]
    title = plain_text(document.meta.get("title")) or job.name
    page = asdict(document.page) if document.page else None
    data: dict[str, Any] = {"title": title, "blocks": blocks, "page": page, "size": document.text_size or _TEXT_SIZE}
    data["fonts"] = installed_font(document.font, job)
    data |= {"header": _page_lines(document.header), "footer": _page_lines(document.footer)}
    return render(job, _TEMPLATE, data, document.resources)


def _page_lines(lines: tuple[str, ...]) -> list[list[list[str]]]:
    """Split the lines of a header or footer into three parts, and the parts at the numbers of pages."""
    signs = f"({PAGE_NUMBER}|{PAGE_COUNT})"
    return [[re.split(signs, part) for part in [*line.split("\t"), "", ""][:3]] for line in lines]


class _TypstTree:
    """Converts pandoc nodes to the nodes of `document.typ`, whose key `k` has the node's type."""

    def __init__(self, document: Document, job: Job) -> None:
        self._document, self._leaving_out = document, job.leaving_out("The structure or the format of a text")
        self._anchors = _anchors(document.blocks)
        self._used_labels: set[str] = set()
        self._formulas = typst_formulas(document, job)

    def title_block(self) -> Iterator[Node]:
        for name, style in _TITLE_BLOCK.items():
            value = self._document.meta.get(name)
            for part in value["c"] if value and value["t"] == "MetaList" else [value] if value else []:
                inlines: list[Node] = part["c"] if part["t"] == "MetaInlines" else [{"t": "Str", "c": plain_text(part)}]
                pairs: Any = inlines[0]["c"][0][2] if [node["t"] for node in inlines] == ["Span"] else []
                yield {"k": style, "align": dict(pairs).get("align", "center"), "body": self.inlines(inlines, 0)}

    def blocks(self, nodes: list[Node], depth: int) -> list[Node]:
        rendered: list[Node] = []
        for node in nodes:
            if not depth and _starts_page(node):
                rendered.append({"k": "pagebreak"})
            draw = _BLOCKS.get(node["t"])
            with self._leaving_out:
                if draw and (depth < _MAX_DEPTH or node["t"] not in _NESTING_BLOCKS):
                    rendered += draw(self, node, depth)
                    continue
            if draw:
                rendered.append({"k": "par", "body": _text(plain_text(node))})
        return rendered

    def inlines(self, nodes: list[Node], depth: int) -> list[Node]:
        rendered: list[Node] = []
        for node in nodes:
            node_type, content = node["t"], node.get("c")
            drawn_nodes = None
            with self._leaving_out:
                if node_type in _FORMATTING:
                    drawn_nodes = self._nest(_FORMATTING[node_type], content, depth)  # type: ignore[arg-type]
                else:
                    draw = _INLINES.get(node_type)
                    drawn_nodes = draw(self, content, depth) if draw else []
            drawn_nodes = _text(plain_text(node)) if drawn_nodes is None else drawn_nodes
            for drawn in drawn_nodes:
                if rendered and drawn["k"] == rendered[-1]["k"] == "text":
                    rendered[-1] = {"k": "text", "text": rendered[-1]["text"] + drawn["text"]}
                else:
                    rendered.append(drawn)
        return rendered

    def _nest(self, kind: str, content: list[Node], depth: int, **fields: Any) -> list[Node]:
        if depth >= _MAX_DEPTH:
            return _text(plain_text(content))
        return [{"k": kind, "body": self.inlines(content, depth + 1), **fields}]

    def paragraph(self, node: Node, depth: int) -> list[Node]:
        kind = "par" if node["t"] == "Para" else "line"
        rendered: list[Node] = [{"k": kind, "body": []}]
        for drawn in self.inlines(node["c"], depth):
            if drawn["k"] == "math" and drawn["block"]:
                rendered += [{"k": "formula", "body": [drawn]}, {"k": kind, "body": []}]
            else:
                rendered[-1]["body"].append(drawn)
        return [block for block in rendered if block["body"]]

    def heading(self, node: Node, depth: int) -> list[Node]:
        level, (identifier, _, pairs), inlines = node["c"]
        body, label, look = self.inlines(inlines, depth), self._label(identifier), _look(pairs)
        align = look.pop("align", None)
        heading = {"k": "heading", "level": max(1, min(level, 6)), "id": label, "body": _with_look(look, body)}
        return _with_look({"align": align} if align else {}, [heading])

    def _label(self, identifier: str) -> str | None:
        """Return an unused typst label, or None if no link targets the identifier or the label is used."""
        if identifier not in self._anchors or identifier in self._used_labels:
            return None
        self._used_labels.add(identifier)
        return f"a-{identifier}"

    def number_list(self, node: Node, depth: int) -> list[Node]:
        (start, style, delimiter), items = node["c"]
        number = _DELIMITERS.get(delimiter["t"], "{}.").format(_STYLES.get(style["t"], "1"))
        first = max(0, min(start, 10**6))
        return [part | {"start": part["start"] + first, "style": number} for part in self._lists("enum", items, depth)]

    def _lists(self, kind: str, items: list[list[Node]], depth: int) -> Iterator[Node]:
        """Yield the parts of a list that page breaks separate. The number of the first item is in `start`."""
        firsts = [item[0]["c"][1][0] if item and item[0]["t"] == "Div" else (item or [{"t": ""}])[0] for item in items]
        tight = all(first["t"] == "Plain" for first in firsts)
        breaks = [n for n, item in enumerate(items) if n and not depth and item and _starts_page(item[0])]
        for start, end in itertools.pairwise([0, *breaks, len(items)]):
            if start:
                yield {"k": "pagebreak", "start": 0}
            bodies = [self.blocks(item, depth + 1) for item in items[start:end]]
            yield {"k": kind, "tight": tight, "items": bodies, "start": start}

    def definition_list(self, node: Node, depth: int) -> list[Node]:
        items = [
            {"term": self.inlines(term, depth), "body": [it for part in parts for it in self.blocks(part, depth + 1)]}
            for term, parts in node["c"]
        ]
        return [{"k": "terms", "items": items}]

    def div(self, node: Node, depth: int) -> list[Node]:
        (identifier, _, pairs), inner = node["c"]
        label = self._label(identifier)
        anchor = [{"k": "anchor", "id": label}] if label else []
        is_rtl, look = ["dir", "rtl"] in pairs, _look(pairs)
        body = _with_look(look, self.blocks(inner, depth + (is_rtl or bool(look))))
        return [*anchor, {"k": "rtl", "body": body}] if is_rtl else [*anchor, *body]

    def figure(self, node: Node, depth: int) -> list[Node]:
        _, (_, caption), body = node["c"]
        return [{"k": "figure", "body": self.blocks(body, depth + 1), "caption": self.blocks(caption, depth + 1)}]

    def table(self, node: Node, depth: int) -> list[Node]:
        _, (_, caption), columns, (_, head), bodies, (_, foot) = node["c"]
        count = len(columns)
        if not count:
            return []
        aligns = [_ALIGNS.get(align["t"]) for align, _ in columns]
        rows = [*(row for _, _, upper, lower in bodies for row in (*upper, *lower)), *foot]
        if not rows or len(plain_text(head)) > _MAX_HEAD_TEXT:  # a head does not continue on the next page
            head, rows = [], [*head, *rows]
        texts = [[plain_text(cell[4]).strip() for cell in cells] for _, cells in [*head, *rows]]
        corner: list[Node] = next((cells[0][4] for _, cells in [*head, *rows][:1] if cells), [])
        kind = dict(corner[0]["c"][0][2]).get("chart", "") if corner and corner[0]["t"] == "Div" else ""
        if kind and (chart := chart_data(kind, texts)):
            return [{"k": "chart", "chart": chart}]
        shares = [width["c"] if width["t"] == "ColWidth" else None for _, width in columns]
        size = self._document.text_size or _TABLE_TEXT_SIZE
        most = max([1, *(len(cells) for _, cells in [*head, *rows])])  # cells may span the columns of other rows
        if any(shares):
            shares = [share or 1 / count for share in shares]
        elif count > 12:  # typst calculates the widths of up to 12 columns
            shares = [1.0] * count
        return [
            {
                "k": "table", "columns": shares, "size": max(5.0, min(size, size * 10 / most)),
                "caption": self.blocks(caption, depth + 1),
                "head": [self._cell(cell, aligns, depth) for cells in _cell_grid(head, count) for cell in cells],
                "cells": [self._cell(cell, aligns, depth) for cells in _cell_grid(rows, count) for cell in cells],
            }
        ]  # fmt: skip

    def _cell(self, placed: _PlacedCell, aligns: list[str | None], depth: int) -> Node:
        column, columns, rows, (_, align, _, _, body) = placed
        own = _ALIGNS.get(align["t"]) or aligns[column]
        fill, drawn = cell_background(body), self.blocks(body, depth + 1)
        return {"columns": columns, "rows": rows, "align": own, "fill": fill, "body": drawn}

    def quotation(self, content: list[Any], depth: int) -> list[Node]:
        marks = "‘’" if content[0]["t"] == "SingleQuote" else "“”"  # noqa: RUF001  these are the marks
        return [*_text(marks[0]), *self.inlines(content[1], depth), *_text(marks[1])]

    def math(self, content: list[Any], depth: int) -> list[Node]:
        block = content[0]["t"] == "DisplayMath"
        return [{"k": "math", "text": content[1], "typst": self._formulas.get(content[1]), "block": block}]

    def link(self, content: list[Any], depth: int) -> list[Node]:
        _, inlines, (target, _) = content
        body = self.inlines(inlines, depth + 1) if depth < _MAX_DEPTH else _text(plain_text(inlines))
        if not target.startswith("#"):
            return [{"k": "link", "to": target, "body": body or _text(target)}]
        known = target[1:] in self._anchors
        return [{"k": "anchor", "to": f"a-{target[1:]}", "body": body}] if known else body

    def image(self, content: list[Any], depth: int) -> list[Node]:
        (_, _, pairs), alt, (name, _) = content
        if name not in self._document.resources:
            return _text(plain_text(alt))
        width, height = (_length(dict(pairs).get(side)) for side in ("width", "height"))
        if height and height["unit"] == "%":
            height = None  # a percentage needs a page height
        return [{"k": "image", "name": name, "alt": plain_text(alt), "width": width, "height": height}]

    def note(self, content: list[Node], depth: int) -> list[Node]:
        if depth >= _MAX_DEPTH:
            return _text(f" ({plain_text(content)})")
        is_paragraph = [block["t"] in ("Para", "Plain") for block in content]
        texts = [
            it["c"] if is_it else [{"t": "Str", "c": plain_text(it)}]
            for it, is_it in zip(content, is_paragraph, strict=True)
        ]
        return [{"k": "note", "body": [self.inlines(text, depth + 1) for text in texts]}]

    def span(self, content: list[Any], depth: int) -> list[Node]:
        (_, _, pairs), inlines = content
        if ["dir", "rtl"] in pairs:
            return self._nest("rtl", inlines, depth)
        look = _look(pairs)
        return self._nest("look", inlines, depth, look=look) if look else self.inlines(inlines, depth)


def _starts_page(node: Node) -> bool:
    while node["t"] == "Div" and node["c"][1] and ["page-break", "before"] not in node["c"][0][2]:
        node = node["c"][1][0]
    attributes = {"Div": 0, "Header": 1}.get(node["t"])
    return attributes is not None and ["page-break", "before"] in node["c"][attributes][2]


def _look(pairs: list[list[str]]) -> dict[str, Any]:
    """Return the look in the attributes of a node without page breaks and with the size as a number."""
    look: dict[str, Any] = {name: value for name, value in pairs if name in ("align", *TEXT_LOOKS)}
    return look | {"size": float(look["size"][:-2])} if "size" in look else look


def _with_look(look: dict[str, Any], body: list[Node]) -> list[Node]:
    return [{"k": "look", "look": look, "body": body}] if look else body


_PlacedCell = tuple[int, int, int, list[Any]]


def _cell_grid(rows: list[Any], count: int) -> Iterator[list[_PlacedCell]]:
    """Yield the cells of each row as tuples (column, column span, row span, pandoc cell).

    Overlapping spans are cut. Positions without a cell get an empty cell, so that typst places the next row correctly.
    """
    occupied: set[tuple[int, int]] = set()
    for y, (_, cells) in enumerate(rows):
        placed: list[_PlacedCell] = []
        x = 0
        for cell in cells:
            while (y, x) in occupied:
                x += 1
            if x >= count:
                break
            height, width = min(max(cell[2], 1), len(rows) - y), 1
            while width < min(cell[3], count - x) and (y, x + width) not in occupied:
                width += 1
            occupied |= {(y + down, x + across) for down in range(height) for across in range(width)}
            placed.append((x, width, height, cell))
            x += width
        empty = [["", [], []], {"t": "AlignDefault"}, 1, 1, []]
        yield placed + [(x, 1, 1, empty) for x in range(count) if (y, x) not in occupied]


def _text(text: str) -> list[Node]:
    """Return one text node with break points in long words, or [] if the text is empty."""
    return [{"k": "text", "text": _LONG_WORD.sub("\\1\u200b", text) if len(text) > 30 else text}] if text else []


def _anchors(value: Any) -> set[str]:
    """Return the identifiers of headings and divs that are targets of links in the document."""
    linked, identifiers = set(), set()
    for node in nodes_of(value):
        if node["t"] == "Link" and node["c"][2][0].startswith("#"):
            linked.add(node["c"][2][0][1:])
        elif node["t"] == "Header":
            identifiers.add(node["c"][1][0])
        elif node["t"] == "Div":
            identifiers.add(node["c"][0][0])
    return (linked & identifiers) - {""}


def _length(text: str | None) -> dict[str, Any] | None:
    """Parse a picture length to a dict with `size` and `unit` ("pt" or "%"). Returns None for other text."""
    match = _LENGTH.fullmatch(text or "")
    if match is None or not float(match[1]):
        return None
    size, unit = float(match[1]), match[2]
    if unit == "%":
        return {"size": min(size, 100.0), "unit": "%"}
    return {"size": min(size * _POINTS[unit], _MAX_POINTS), "unit": "pt"}


_FORMATTING = {
    "Emph": "emph", "Strong": "strong", "Underline": "underline", "Strikeout": "strike", "Superscript": "super",
    "Subscript": "sub", "SmallCaps": "smallcaps",
}  # fmt: skip
_NESTING_BLOCKS = frozenset({"BulletList", "OrderedList", "DefinitionList", "BlockQuote", "Div", "Figure", "Table"})
_BLOCKS: dict[str, Callable[[_TypstTree, Node, int], list[Node]]] = {
    "Plain": _TypstTree.paragraph, "Para": _TypstTree.paragraph, "Header": _TypstTree.heading,
    "LineBlock": lambda tree, node, depth: [{"k": "line", "body": tree.inlines(line, depth)} for line in node["c"]],
    "BulletList": lambda tree, node, depth: list(tree._lists("list", node["c"], depth)),
    "OrderedList": _TypstTree.number_list, "DefinitionList": _TypstTree.definition_list,
    "BlockQuote": lambda tree, node, depth: [{"k": "quote", "body": tree.blocks(node["c"], depth + 1)}],
    "CodeBlock": lambda tree, node, depth: [{"k": "code", "text": node["c"][1]}],
    "HorizontalRule": lambda tree, node, depth: [{"k": "rule"}],
    "Div": _TypstTree.div, "Figure": _TypstTree.figure, "Table": _TypstTree.table,
}  # fmt: skip
_INLINES: dict[str, Callable[[_TypstTree, Any, int], list[Node]]] = {
    **dict.fromkeys(("Space", "SoftBreak"), lambda tree, content, depth: [{"k": "text", "text": " "}]),
    "Str": lambda tree, content, depth: _text(content), "Quoted": _TypstTree.quotation,
    "LineBreak": lambda tree, content, depth: [{"k": "break"}],
    "Code": lambda tree, content, depth: [{"k": "code", "text": content[1]}], "Math": _TypstTree.math,
    "Link": _TypstTree.link, "Image": _TypstTree.image, "Note": _TypstTree.note, "Span": _TypstTree.span,
}  # fmt: skip
