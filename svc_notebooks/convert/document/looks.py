"""Brings looks (alignment, page breaks, size and colours) through pandoc as markers in the text of a source file.

A marker is a private-use character. It means that the following text has a look, until the next marker or the end of
the paragraph. The names and values of the attributes are those of clean.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import is_
from typing import Any

from .clean import TEXT_LOOKS, brightness, is_rtl, nodes_of, plain_text, with_look
from .model import PAGE_COUNT, PAGE_NUMBER, SPACE, Node, Page

# The attributes of a paragraph and of its text, such as {"align": "center", "size": "14pt", "color": "#c00000"}.
#
# In a marker, `background` is of text only, and `shading` is the background of the paragraph.
Look = dict[str, str]

_PLANES = (0x100000, 0xF0000)  # the first characters of the two private-use planes
_OF_PARAGRAPH = {"align": "align", "shading": "background", "chart": "chart"}  # attributes of paragraphs
_BLACK = "#000000"
_DARK = 0x60
_MAX_LOOKS = 60_000
_MAX_BODY_SIZE = 18.0  # the maximum size of body text. Larger text is a title, as in a document with a cover page only.
_LEAF_BLOCKS = ("Para", "Plain", "Header")
_SPACES = ("Space", "SoftBreak")
BLANKS = (*_SPACES, "LineBreak")
_MARKS = ("Emph", "Strong", "Underline", "Strikeout", "Superscript", "Subscript", "SmallCaps")
_WRAPPERS = ("Span", "Link", "Quoted", "Cite")  # the inlines whose second part is a list of inlines
_EMPTY = [{"t": "Str", "c": ""}, *({"t": mark, "c": []} for mark in _MARKS)]
_TABS = {"center": 1, "right": 2}  # the number of tabs before a text with an alignment in a header or footer
_PAGE_FIELDS = {"PAGE": PAGE_NUMBER, "NUMPAGES": PAGE_COUNT, "SECTIONPAGES": PAGE_COUNT}
_CONTROL = re.compile("[\x00\x03-\x08\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # all but the signs for numbers of pages
_MAX_LINES, _MAX_LINE = 10, 300
_CELL_ALIGNS = {"left": "AlignLeft", "center": "AlignCenter", "right": "AlignRight"}


class Looks:
    """The looks in a source file, whose markers a reader inserts before pandoc reads the file."""

    def __init__(self, texts: Iterable[str], text_size: float | None = None) -> None:
        """Choose markers that are not in `texts`. `text_size` is the size in points of text without a marker."""
        self.page: Page | None = None
        self.font: str | None = None  # of the body text
        self.header: tuple[str, ...] = ()
        self.footer: tuple[str, ...] = ()
        self._default = f"{text_size:g}pt" if text_size else ""
        is_taken = any(re.search("[\U00100000-\U0010fffd]", text) for text in texts)
        self._first = _PLANES[is_taken]
        self._looks: list[Look] = []
        self._markers: dict[tuple[tuple[str, str], ...], str] = {}

    def marker(self, look: Look) -> str:
        """Return the marker of a look, which is {} for plain text. Returns "" if there are too many looks."""
        key = tuple(sorted(look.items()))
        if key not in self._markers and len(self._looks) < _MAX_LOOKS:
            self._markers[key] = chr(self._first + len(self._looks))
            self._looks.append(look)
        return self._markers.get(key, "")

    def apply(self, tree: dict[str, Any]) -> dict[str, Any]:
        """Return a pandoc tree in which attributes replace the markers, with the page and the size of the body text."""
        if self._looks:
            tree = _MarkerReader(self._looks, self._first, self._default).tree(tree)
        size = tree.get("text-size", self._default)
        page = {"page": self.page, "font": self.font, "header": self.header, "footer": self.footer}
        return tree | page | {"text-size": float(size.removesuffix("pt")) if size else None}


class _MarkerReader:
    """Replaces markers in a pandoc tree. `_look` is the look of text at the current place in a paragraph."""

    def __init__(self, looks: list[Look], first: int, default: str) -> None:
        self._looks, self._first, self._default = looks, first, default
        self._marker = re.compile(f"([{chr(first)}-{chr(first + len(looks) - 1)}])")
        breaks = "".join(chr(first + number) for number, look in enumerate(looks) if "page-break" in look)
        self._break = re.compile(f"(?=[{breaks}])" if breaks else "(?!)")
        self._size = default
        self._look: Look = {}
        self._is_page_text = True  # not a table cell or a footnote, where page breaks are ignored

    def tree(self, tree: dict[str, Any]) -> dict[str, Any]:
        sizes = Counter({self._default: 1})
        for node in nodes_of(tree["blocks"]):
            if node["t"] in ("Para", "Plain"):
                for look, text in self._texts({}, plain_text(node["c"])):
                    sizes[look.get("size", self._default)] += len(text)
        common = [size for size, _ in sizes.most_common() if size and float(size[:-2]) <= _MAX_BODY_SIZE]
        self._size = common[0] if common else self._default
        return {**self._value(tree), "text-size": self._size}

    def _texts(self, look: Look, text: str) -> Iterator[tuple[Look, str]]:
        """Yield the looks and the pieces of a text. A piece is "" between two markers."""
        for number, piece in enumerate(self._marker.split(text)):
            if number % 2:
                look = self._looks[ord(piece) - self._first]
            else:
                yield look, piece

    def _text_look(self, look: Look) -> Look:
        look = {"size": self._default} | look
        return {name: look[name] for name in TEXT_LOOKS if look.get(name, self._size) != self._size}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._marker.sub("", value)
        if isinstance(value, list):
            return self._cell(value) if is_cell(value) else self._nodes(value)
        if not isinstance(value, dict) or value == SPACE:
            return value
        if value.get("t") == "MetaInlines":
            pages = list(self._pages(value["c"]))
            inlines = [node for _, _, inside in pages for node in inside]
            look = pages[0][1] if is_rtl(plain_text(inlines)) else {"align": "left"} | pages[0][1]
            return {"t": "MetaInlines", "c": [{"t": "Span", "c": [_attributes(look), inlines]}]}
        if value.get("t") == "Note":
            return {"t": "Note", "c": self._outside_page(value["c"])}
        if value.get("t") == "Table":  # pandoc gives a column the alignment of its first cells
            value["c"][2] = [[{"t": "AlignDefault"}, width] for _, width in value["c"][2]]
        inner = {key: self._value(content) for key, content in value.items()}
        return value if all(map(is_, inner.values(), value.values())) else inner  # words share nodes

    def _nodes(self, values: list[Any]) -> list[Any]:
        nodes: list[Any] = []
        page_break: Look = {}
        for value in values:
            if not isinstance(value, dict) or value.get("t") not in _LEAF_BLOCKS:
                node = self._value(value)
                if node in _EMPTY and node != value:  # it had only a marker
                    continue
                nodes.append(with_look(node, page_break))
                page_break = {}
                continue
            *others, inlines = value["c"] if value["t"] == "Header" else [value["c"]]
            for follows_break, look, inside in self._pages(inlines):
                if follows_break and self._is_page_text:
                    page_break = {"page-break": "before"}
                if not inside and (inlines or others):
                    continue
                if others and self._size:  # exports have large and coloured headings
                    look = {"size": self._size, "color": _BLACK} | look
                look, page_break = look | page_break, {}
                nodes.append(with_look({"t": value["t"], "c": [*others, inside] if others else inside}, look))
        return nodes

    def _cell(self, cell: list[Any]) -> list[Any]:
        """Convert a table cell. The cell gets the alignment that all its paragraphs have."""
        attributes, align, rows, columns, blocks = cell
        blocks = self._outside_page(blocks)
        pairs = [block["c"][0][2] if block["t"] == "Div" else [] for block in blocks]
        shared = {dict(names).get("align") for names in pairs}
        if len(shared) == 1 and (name := _CELL_ALIGNS.get(shared.pop() or "")):
            align = {"t": name}
            for names in pairs:
                names[:] = [pair for pair in names if pair[0] != "align"]
        return [attributes, align, rows, columns, blocks]

    def _outside_page(self, value: Any) -> Any:
        outer = self._look, self._is_page_text
        self._is_page_text = False
        value = self._value(value)
        self._look, self._is_page_text = outer
        return value

    def _pages(self, inlines: list[Node]) -> Iterator[tuple[bool, Look, list[Node]]]:
        """Yield the parts of a paragraph that page breaks separate, as tuples (follows a break, look, inlines)."""
        pages: list[list[Node]] = [[]]
        for node in inlines:
            if node["t"] == "Str":
                first, *others = self._break.split(node["c"])
                pages[-1] += [{"t": "Str", "c": first}] * bool(first)
                pages += [[{"t": "Str", "c": text}] for text in others]
            else:
                pages[-1].append(node)
        body = [node for node in inlines if node["t"] != "Note"]
        pieces = list(self._texts({}, plain_text(body)))
        paragraph = {_OF_PARAGRAPH[name]: look[name] for look, _ in pieces for name in _OF_PARAGRAPH if name in look}
        looks = [self._text_look(look) for look, text in pieces if text.strip()]
        is_uniform = all(look == looks[0] and "background" not in look for look in looks)
        look = paragraph | looks[0] if looks and is_uniform else paragraph
        self._look = {}
        for number, page in enumerate(pages):
            inside = self._value(page) if is_uniform else self._inlines(page)
            yield number > 0, look, strip_blanks(inside, _SPACES if len(pages) == 1 else BLANKS)

    def _inlines(self, nodes: list[Node]) -> list[Node]:
        """Put text with a look into spans."""
        inlines: list[Node] = []
        for node in nodes:
            if node["t"] == "Str":
                for look, text in self._texts(self._look, node["c"]):
                    self._look = look
                    if text:
                        _add(inlines, self._text_look(look), node if text == node["c"] else {"t": "Str", "c": text})
            elif node["t"] in _MARKS:
                inlines.append({"t": node["t"], "c": self._inlines(node["c"])})
            elif node["t"] in _WRAPPERS:
                first, inside, *others = node["c"]
                inlines.append({"t": node["t"], "c": [first, self._inlines(inside), *others]})
            else:
                _add(inlines, {} if node["t"] == "Note" else self._text_look(self._look), self._value(node))
        return [node for node in inlines if node not in _EMPTY]


def page_lines(paragraphs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the lines of a header or footer as in `Document.header`, from alignments and texts of its paragraphs.

    >>> page_lines([("center", "Report"), ("", "Draft\\t\\tPage  2"), ("right", " ")])
    ('\\tReport', 'Draft\\t\\tPage 2')
    """
    lines = []
    for align, text in paragraphs:
        parts = text.split("\t", 2) if "\t" in text else [""] * _TABS.get(align, 0) + [text]
        parts = [" ".join(_CONTROL.sub("", part).split())[:_MAX_LINE] for part in parts]
        lines.append("\t".join(parts).rstrip("\t"))
    return tuple(filter(None, lines))[:_MAX_LINES]


def page_sign(instruction: str) -> str:
    """Return the sign of a field of Word that numbers or counts pages, or "" for another field."""
    return next((_PAGE_FIELDS.get(word.upper(), "") for word in instruction.split()), "")


def readable_color(look: Look) -> Look:
    """Return white as the automatic colour of text on the dark background of a look, or {} on another background."""
    background = look.get("background") or look.get("shading")
    return {"color": "#ffffff"} if background and brightness(background) < _DARK else {}


def _add(nodes: list[Node], look: Look, node: Node) -> None:
    """Add an inline to a span with its look, which is the last node if the look is the same."""
    if look:
        attributes = _attributes(look)
        if not nodes or nodes[-1]["t"] != "Span" or nodes[-1]["c"][0] != attributes:
            nodes.append({"t": "Span", "c": [attributes, []]})
        nodes = nodes[-1]["c"][1]
    if nodes and nodes[-1]["t"] == node["t"] == "Str":
        nodes[-1] = {"t": "Str", "c": nodes[-1]["c"] + node["c"]}
    else:
        nodes.append(node)


def strip_blanks(nodes: list[Node], blanks: tuple[str, ...]) -> list[Node]:
    """Remove the nodes of the types `blanks` from both ends of a list of inlines, and return the list."""
    while nodes and nodes[0]["t"] in blanks:
        del nodes[0]
    while nodes and nodes[-1]["t"] in blanks:
        del nodes[-1]
    return nodes


def _attributes(look: Look) -> list[Any]:
    return ["", [], [list(pair) for pair in look.items()]]


def is_cell(value: list[Any]) -> bool:
    """Return whether a list in a pandoc tree is a table cell."""
    return len(value) == 5 and isinstance(value[1], dict) and value[1].get("t", "").startswith("Align")
