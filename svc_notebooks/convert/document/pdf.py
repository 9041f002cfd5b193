"""A document as PDF: pandoc's tree made into the plainer one that `document.typ` draws."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..engines.typst import render
from ..job import Job
from .clean import nodes_of, plain
from .formulas import formulas
from .grid import Placed, grid, widths
from .model import Document, Node

_TEMPLATE = "document/document.typ"
_DEEPEST = 14
"""Lists in lists and such; what is deeper comes at this depth. The page setter's own limit is not much beyond."""
_POINTS = {"px": 0.75, "pt": 1.0, "in": 72.0, "cm": 28.3465, "mm": 2.83465, "pc": 12.0, "em": 11.0}
_LENGTH = re.compile(rf"(\d+\.?\d*|\.\d+)(%|{'|'.join(_POINTS)})")
_MOST_POINTS = 5_000.0
_BREAKABLE = re.compile(r"(\S{30})(?=\S)")
_STYLES = {"LowerRoman": "i", "UpperRoman": "I", "LowerAlpha": "a", "UpperAlpha": "A"}
_ENDS = {"OneParen": "{})", "TwoParens": "({})"}
_ALIGNS = {"AlignRight": "right", "AlignCenter": "center", "AlignLeft": "left"}
_META = (("title", "title"), ("subtitle", "subtitle"), ("author", "subtitle"), ("date", "subtitle"))


def write(document: Document, job: Job) -> bytes:
    """A PDF on A4 with page numbers and bookmarks; an empty document is an empty page."""
    drawn = _Drawing(document, job)
    blocks = [*drawn.front(), *drawn.blocks(document.blocks, 0)]
    title = plain(document.meta.get("title")) or job.name
    return render(job, _TEMPLATE, {"title": title, "blocks": blocks}, document.resources)


class _Drawing:
    """Makes the tree of one document plainer."""

    def __init__(self, document: Document, job: Job) -> None:
        self._document = document
        self._anchors = frozenset(_anchors(document.blocks))
        self._labelled: set[str] = set()
        self._formulas = formulas(document, job)

    def front(self) -> Iterator[Node]:
        """The title and what stands under it."""
        for name, kind in _META:
            value = self._document.meta.get(name)
            for part in value["c"] if value and value["t"] == "MetaList" else [value] if value else []:
                yield {"k": kind, "body": self.inlines(_meta_inlines(part), 0)}

    def blocks(self, nodes: list[Node], depth: int) -> list[Node]:
        """Blocks; those that nest stop nesting at `_DEEPEST`."""
        found: list[Node] = []
        for node in nodes:
            draw = _BLOCKS.get(node["t"])
            if draw and (depth < _DEEPEST or node["t"] not in _NESTING):
                found += draw(self, node, depth)
            elif draw:
                found.append({"k": "par", "body": _text(plain(node))})
        return found

    def inlines(self, nodes: list[Node], depth: int) -> list[Node]:
        """Inlines; words and blanks that follow each other become one text."""
        found: list[Node] = []
        for node in nodes:
            for drawn in self._inline(node, depth):
                if found and drawn["k"] == found[-1]["k"] == "text":
                    found[-1] = {"k": "text", "text": found[-1]["text"] + drawn["text"]}
                else:
                    found.append(drawn)
        return found

    def _inline(self, node: Node, depth: int) -> list[Node]:
        kind: str = node["t"]
        content: Any = node.get("c")
        if kind in _WRAPS:
            return self._wrapped(_WRAPS[kind], content, depth)
        draw = _INLINES.get(kind)
        return draw(self, content, depth) if draw else []

    def _wrapped(self, kind: str, content: list[Node], depth: int) -> list[Node]:
        if depth >= _DEEPEST:
            return _text(plain(content))
        return [{"k": kind, "body": self.inlines(content, depth + 1)}]

    # -- blocks

    def paragraph(self, node: Node, depth: int) -> list[Node]:
        """One paragraph, or several where formulas stand between lines of their own."""
        kind = "par" if node["t"] == "Para" else "line"
        found: list[Node] = [{"k": kind, "body": []}]
        for drawn in self.inlines(node["c"], depth):
            if drawn["k"] == "math" and drawn["block"]:
                found += [{"k": "formula", "body": [drawn]}, {"k": kind, "body": []}]
            else:
                found[-1]["body"].append(drawn)
        return [block for block in found if block["body"]]

    def lines(self, node: Node, depth: int) -> list[Node]:
        return [{"k": "line", "body": self.inlines(line, depth)} for line in node["c"]]

    def heading(self, node: Node, depth: int) -> list[Node]:
        level, (identifier, *_), inlines = node["c"]
        return [
            {"k": "heading", "level": max(1, min(level, 6)), "id": self._label(identifier),
             "body": self.inlines(inlines, depth)}
        ]  # fmt: skip

    def _label(self, identifier: str) -> str | None:
        """The label of a place that a link leads to; each can be given once."""
        if identifier not in self._anchors or identifier in self._labelled:
            return None
        self._labelled.add(identifier)
        return f"a-{identifier}"

    def bullets(self, node: Node, depth: int) -> list[Node]:
        return [self._list("list", node["c"], depth)]

    def numbers(self, node: Node, depth: int) -> list[Node]:
        (start, style, delimiter), items = node["c"]
        number = _ENDS.get(delimiter["t"], "{}.").format(_STYLES.get(style["t"], "1"))
        return [self._list("enum", items, depth) | {"start": max(0, min(start, 10**6)), "style": number}]

    def _list(self, kind: str, items: list[list[Node]], depth: int) -> Node:
        tight = all(item and item[0]["t"] == "Plain" for item in items)
        return {"k": kind, "tight": tight, "items": [self.blocks(item, depth + 1) for item in items]}

    def terms(self, node: Node, depth: int) -> list[Node]:
        items = [
            {"term": self.inlines(term, depth), "body": [it for part in parts for it in self.blocks(part, depth + 1)]}
            for term, parts in node["c"]
        ]
        return [{"k": "terms", "items": items}]

    def quote(self, node: Node, depth: int) -> list[Node]:
        return [{"k": "quote", "body": self.blocks(node["c"], depth + 1)}]

    def code(self, node: Node, depth: int) -> list[Node]:
        return [{"k": "code", "text": node["c"][1]}]

    def rule(self, node: Node, depth: int) -> list[Node]:
        return [{"k": "rule"}]

    def division(self, node: Node, depth: int) -> list[Node]:
        (identifier, _, pairs), inner = node["c"]
        label = self._label(identifier)
        place = [{"k": "anchor", "id": label}] if label else []
        if ["dir", "rtl"] in pairs:
            return [*place, {"k": "rtl", "body": self.blocks(inner, depth + 1)}]
        return [*place, *self.blocks(inner, depth)]

    def figure(self, node: Node, depth: int) -> list[Node]:
        _, (_, caption), body = node["c"]
        return [
            {"k": "figure", "body": self.blocks(body, depth + 1), "caption": self.blocks(caption, depth + 1)}
        ]  # fmt: skip

    def table(self, node: Node, depth: int) -> list[Node]:
        _, (_, caption), columns, (_, head), bodies, (_, foot) = node["c"]
        count = len(columns)
        if not count:
            return []
        aligns = [_ALIGNS.get(align["t"]) for align, _ in columns]
        rows = [*(row for _, _, upper, lower in bodies for row in (*upper, *lower)), *foot]
        shares = [width["c"] if width["t"] == "ColWidth" else None for _, width in columns]
        return [
            {
                "k": "table", "columns": widths(shares), "size": max(5.0, min(10.0, 10.0 * 10 / count)),
                "caption": self.blocks(caption, depth + 1),
                "head": [self._cell(cell, aligns, depth) for cells in grid(head, count) for cell in cells],
                "cells": [self._cell(cell, aligns, depth) for cells in grid(rows, count) for cell in cells],
            }
        ]  # fmt: skip

    def _cell(self, placed: Placed, aligns: list[str | None], depth: int) -> Node:
        column, columns, rows, (_, align, _, _, body) = placed
        own = _ALIGNS.get(align["t"]) or aligns[column]
        return {"columns": columns, "rows": rows, "align": own, "body": self.blocks(body, depth + 1)}

    # -- inlines

    def word(self, content: str, depth: int) -> list[Node]:
        return _text(content)

    def blank(self, content: None, depth: int) -> list[Node]:
        return [{"k": "text", "text": " "}]

    def line_break(self, content: None, depth: int) -> list[Node]:
        return [{"k": "break"}]

    def quoted(self, content: list[Any], depth: int) -> list[Node]:
        marks = "‘’" if content[0]["t"] == "SingleQuote" else "“”"  # noqa: RUF001  these are the marks
        return [*_text(marks[0]), *self.inlines(content[1], depth), *_text(marks[1])]

    def inline_code(self, content: list[Any], depth: int) -> list[Node]:
        return [{"k": "code", "text": content[1]}]

    def math(self, content: list[Any], depth: int) -> list[Node]:
        block = content[0]["t"] == "DisplayMath"
        return [{"k": "math", "text": content[1], "typst": self._formulas.get(content[1]), "block": block}]

    def link(self, content: list[Any], depth: int) -> list[Node]:
        _, inlines, (target, _) = content
        body = self.inlines(inlines, depth + 1) if depth < _DEEPEST else _text(plain(inlines))
        if not target.startswith("#"):
            return [{"k": "link", "to": target, "body": body or _text(target)}]
        known = target[1:] in self._anchors
        return [{"k": "anchor", "to": f"a-{target[1:]}", "body": body}] if known else body

    def image(self, content: list[Any], depth: int) -> list[Node]:
        (_, _, pairs), alt, (name, _) = content
        if name not in self._document.resources:
            return _text(plain(alt))
        wide, high = (_length(dict(pairs).get(side)) for side in ("width", "height"))
        if high and high["unit"] == "%":
            high = None  # of a page without an end
        return [{"k": "image", "name": name, "alt": plain(alt), "width": wide, "height": high}]

    def note(self, content: list[Node], depth: int) -> list[Node]:
        parts = [self.inlines(_flat(block), depth + 1) for block in content]
        return [{"k": "note", "body": parts}] if depth < _DEEPEST else _text(f" ({plain(content)})")

    def span(self, content: list[Any], depth: int) -> list[Node]:
        (_, _, pairs), inlines = content
        if ["dir", "rtl"] in pairs:
            return self._wrapped("rtl", inlines, depth)
        return self.inlines(inlines, depth)


def _text(text: str) -> list[Node]:
    """Text whose long words may be broken: a zero-width space is put into them."""
    return [{"k": "text", "text": _BREAKABLE.sub("\\1\u200b", text) if len(text) > 30 else text}] if text else []


def _flat(block: Node) -> list[Node]:
    """The inlines of a block, as a footnote has them."""
    return block["c"] if block["t"] in ("Para", "Plain") else [{"t": "Str", "c": plain(block)}]


def _meta_inlines(value: Node) -> list[Node]:
    if value["t"] == "MetaInlines":
        inlines: list[Node] = value["c"]
        return inlines
    return [{"t": "Str", "c": value["c"] if value["t"] == "MetaString" else plain(value)}]


def _anchors(value: Any) -> Iterator[str]:
    """Where there is something to lead to: identifiers that a link in the document names."""
    named, places = set(), set()
    for node in nodes_of(value):
        if node["t"] == "Link" and node["c"][2][0].startswith("#"):
            named.add(node["c"][2][0][1:])
        elif node["t"] == "Header":
            places.add(node["c"][1][0])
        elif node["t"] == "Div":
            places.add(node["c"][0][0])
    yield from (named & places) - {""}


def _length(text: str | None) -> dict[str, Any] | None:
    """None for what is no length, and for nothing: the picture has its own then."""
    match = _LENGTH.fullmatch(text or "")
    if match is None or not float(match[1]):
        return None
    size, unit = float(match[1]), match[2]
    if unit == "%":
        return {"size": min(size, 100.0), "unit": "%"}
    return {"size": min(size * _POINTS[unit], _MOST_POINTS), "unit": "pt"}


_WRAPS = {
    "Emph": "emph", "Strong": "strong", "Underline": "underline", "Strikeout": "strike", "Superscript": "super",
    "Subscript": "sub", "SmallCaps": "smallcaps",
}  # fmt: skip
_NESTING = frozenset({"BulletList", "OrderedList", "DefinitionList", "BlockQuote", "Div", "Figure", "Table"})
_BLOCKS: dict[str, Callable[[_Drawing, Node, int], list[Node]]] = {
    "Plain": _Drawing.paragraph,
    "Para": _Drawing.paragraph,
    "LineBlock": _Drawing.lines,
    "Header": _Drawing.heading,
    "BulletList": _Drawing.bullets,
    "OrderedList": _Drawing.numbers,
    "DefinitionList": _Drawing.terms,
    "BlockQuote": _Drawing.quote,
    "CodeBlock": _Drawing.code,
    "HorizontalRule": _Drawing.rule,
    "Div": _Drawing.division,
    "Figure": _Drawing.figure,
    "Table": _Drawing.table,
}
_INLINES: dict[str, Callable[[_Drawing, Any, int], list[Node]]] = {
    "Str": _Drawing.word,
    "Space": _Drawing.blank,
    "SoftBreak": _Drawing.blank,
    "LineBreak": _Drawing.line_break,
    "Quoted": _Drawing.quoted,
    "Code": _Drawing.inline_code,
    "Math": _Drawing.math,
    "Link": _Drawing.link,
    "Image": _Drawing.image,
    "Note": _Drawing.note,
    "Span": _Drawing.span,
}
