"""Removes unsafe nodes from a pandoc tree before the tree is stored, and normalizes the safe nodes.

The module removes raw nodes, links except web, mail and internal links, pictures that are not in the source file or
cannot be decoded, attributes except `KEPT_ATTRIBUTES`, and nesting beyond `MAX_DEPTH`.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator
from operator import is_
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from ..engines import images
from ..engines.typst import CHART_KINDS
from ..input.native_package import resource_name
from ..job import ConversionError, Job, TooLarge
from .model import SPACE, Document, Node, Page, text_inlines

KEPT_ATTRIBUTES = ("width", "height", "dir", "lang", "chart")  # and of classes, the programming language of code
PARAGRAPH_LOOKS = ("align", "page-break")
TEXT_LOOKS = ("size", "color", "background")  # these attributes of Div, Header and Span nodes are the looks of text
_LOOKS = {
    "align": re.compile("left|center|right|justify"), "page-break": re.compile("before"),
    "color": re.compile("#[0-9a-f]{6}"), "background": re.compile("#[0-9a-f]{6}"),
    "chart": re.compile("|".join(CHART_KINDS)),
}  # fmt: skip
_TEXT_SIZE = re.compile(r"\d{1,3}(?:\.\d{1,6})?pt")
_MAX_TEXT_SIZE = 400.0
_ALMOST_WHITE = 0xD0  # the least brightness of a colour that cannot be read on white, such as yellow
_PAGE_SIDES = (72.0, 14_400.0)
_MIN_PAGE_TEXT = 36.0
MAX_DEPTH = 60
_LINK = re.compile(r"(?:https?://|mailto:)[^\s]|#", re.IGNORECASE)
_LENGTH = re.compile(r"(\d{1,5}(?:\.\d{1,6})?)\d*(e-[1-3])?(px|in|cm|mm|pt|pc|em|%)?")  # pandoc writes exponents
_CLASS = re.compile(r"[A-Za-z][\w.+#-]{0,39}")
_LANG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_DATA_URI = re.compile(r"data:([\w.+/-]*)((?:;[\w=.-]+)*),", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MAX_TEX = 10_000
_MAX_LIST_START = 32_767
_MAX_COLUMNS = 1_000
_MIN_COLUMN_WIDTH = 0.002  # the minimum width of a table column, as a share of the page width
_CONTAINER_BLOCKS = frozenset({"BulletList", "OrderedList", "BlockQuote", "Div", "Table", "DefinitionList", "Figure"})


def clean(tree: dict[str, Any], job: Job) -> Document:
    """Convert a pandoc tree to a document that is safe to store. Raises TooLarge for a table with too many columns."""
    cleaner = _Cleaner(job)
    blocks = [_with_direction(block) for block in cleaner.nodes(tree["blocks"], 0)]
    meta = {name: cleaner.value(value, 0) for name, value in tree["meta"].items()}
    size = tree.get("text-size")
    text_size = size if size and 1 <= size <= _MAX_TEXT_SIZE else None
    font = _CONTROL.sub("", tree.get("font") or "")[:100] or None
    lines = (tree.get(name, ()) for name in ("header", "footer"))
    return Document(blocks, meta, cleaner.resources, _page(tree.get("page")), text_size, font, *lines)


def _with_direction(block: Node) -> Node:
    """Mark a block as right-to-left if its text is. A Div needs no mark unless it has a look only."""
    if block["t"] == "Div" and (block["c"][0][0] or not look_of(block["c"][0]) or "dir" in dict(block["c"][0][2])):
        return block
    if block["t"] not in {"Para", "Header", *_CONTAINER_BLOCKS} or not is_rtl(plain_text(block)):
        return block
    pairs, inside = (block["c"][0][2], block["c"][1]) if block["t"] == "Div" else ([], [block])
    return {"t": "Div", "c": [["", [], [*pairs, ["dir", "rtl"]]], inside]}


def _page(page: Page | None) -> Page | None:
    """Return the page, or None if its size is out of bounds or its margins leave too little space for text."""
    if page is None or not all(_PAGE_SIDES[0] <= side <= _PAGE_SIDES[1] for side in (page.width, page.height)):
        return None
    margins = (page.top, page.right, page.bottom, page.left)
    shorter_side = min(page.width - page.left - page.right, page.height - page.top - page.bottom)
    return page if min(margins) >= 0 and shorter_side >= _MIN_PAGE_TEXT else None


def look_of(attributes: list[Any]) -> dict[str, str]:
    """Return the look in the attributes of a node."""
    return {name: value for name, value in attributes[2] if name in (*PARAGRAPH_LOOKS, *TEXT_LOOKS)}


def cell_background(blocks: list[Node]) -> str | None:
    """Return the background that all blocks of a table cell have, also those in its lists, or None."""
    colors = {_background(block) for block in blocks}
    return colors.pop() if len(colors) == 1 else None


def _background(block: Node) -> str | None:
    if block["t"] in ("BulletList", "OrderedList"):
        items = block["c"] if block["t"] == "BulletList" else block["c"][1]
        return cell_background([inner for item in items for inner in item])
    return look_of(block["c"][0]).get("background") if block["t"] == "Div" else None


def brightness(color: str) -> int:
    """Return how bright a colour such as "#ffff00" is, from 0 to 255."""
    red, green, blue = bytes.fromhex(color[1:])
    return (299 * red + 587 * green + 114 * blue) // 1000


def with_look(block: Node, look: dict[str, str]) -> Node:
    """Return a block with a look, which is added to the attributes of a heading and of a Div."""
    if not look:
        return block
    place = {"Header": 1, "Div": 0}.get(block["t"])
    if place is None:
        return {"t": "Div", "c": [["", [], [list(pair) for pair in look.items()]], [block]]}
    content = list(block["c"])
    identifier, classes, pairs = content[place]
    content[place] = [identifier, classes, [list(pair) for pair in (look | dict(pairs)).items()]]
    return {"t": block["t"], "c": content}


def plain_text(nodes: Any) -> str:
    """Return the text in a pandoc node or a list of nodes. Line breaks become spaces."""
    parts: list[str] = []
    stack = [nodes]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += reversed(value)
        elif isinstance(value, dict):
            node_type = value.get("t")
            if node_type == "Str":
                parts.append(value["c"])
            elif node_type in ("Code", "CodeBlock", "Math"):
                parts.append(value["c"][1])
            elif node_type in ("Space", "SoftBreak", "LineBreak"):
                parts.append(" ")
            else:
                stack.append(value.get("c", []))
    return "".join(parts)


def nodes_of(value: Any) -> Iterator[Node]:
    """Yield all nodes in a pandoc tree, at any depth and in undefined order."""
    stack = [value]
    while stack:
        element = stack.pop()
        if isinstance(element, list):
            stack += element
        elif isinstance(element, dict):
            if "t" in element:
                yield element
                stack.append(element.get("c"))
            else:
                stack += element.values()


def is_rtl(text: str) -> bool:
    """Return whether the first character with a direction in a text is a right-to-left letter.

    >>> is_rtl("12 \u05d0 a"), is_rtl("a \u05d0"), is_rtl("12")
    (True, False, False)
    """
    directions = map(unicodedata.bidirectional, text[:200])
    return next((direction for direction in directions if direction in ("L", "R", "AL")), "L") != "L"


class _Cleaner:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._media = (job.folder / "media").resolve()
        self.resources: dict[str, bytes] = {}
        self._names: dict[str, str | None] = {}
        self._look: dict[str, str] = {}  # of the Div nodes around the current node
        self._has_background = False
        self._is_in_note = False

    def nodes(self, values: list[Any], depth: int) -> list[Any]:
        cleaned: list[Any] = []
        for value in values:
            if isinstance(value, dict) and value.get("t") in _NODE_HANDLERS:
                cleaned += _NODE_HANDLERS[value["t"]](self, value, depth)
            else:
                cleaned.append(self.value(value, depth))
        return cleaned

    def value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return _CONTROL.sub("", value)
        if isinstance(value, list):
            return _attributes(value) if _is_attributes(value) else self.nodes(value, depth)
        if not isinstance(value, dict) or value == SPACE:
            return value
        if depth >= MAX_DEPTH and value.get("t") in _NESTING_TYPES:
            return self._flatten(value)
        deeper = depth + 1 if value.get("t") in _NESTING_TYPES else depth
        inner = {key: self.value(content, deeper) for key, content in value.items()}
        return value if all(map(is_, inner.values(), value.values())) else inner  # words share nodes

    def _flatten(self, node: Node) -> Node:
        self._job.note(f"Content nested more than {MAX_DEPTH} deep was kept as plain text.")
        text = text_inlines(_CONTROL.sub("", plain_text(node)))
        if node["t"] in _CONTAINER_BLOCKS:
            return {"t": "Plain", "c": text}
        return {"t": "Span", "c": [_NO_ATTRIBUTES, text]}

    def raw(self, node: Node, depth: int) -> list[Any]:
        """Remove a raw node, which contains code in another format, such as HTML. Returns []."""
        if not node["c"][1].startswith("<!--"):
            self._job.note("HTML and other code in the text was left out.")
        return []

    def _visible(self, attributes: list[Any]) -> list[Any]:
        """Remove a colour that is almost as bright as white if no background is known."""
        look = look_of(attributes)
        self._has_background = self._has_background or "background" in look
        if brightness(look.get("color", "#000000")) >= _ALMOST_WHITE and not self._has_background:
            attributes[2] = [pair for pair in attributes[2] if pair[0] != "color"]
        return attributes

    def paragraph(self, node: Node, depth: int) -> list[Any]:
        """Clean a paragraph or a heading, and give it the look of the Div nodes around it. Removes empty headings."""
        outer, had_background = self._look, self._has_background
        self._look = {}
        *others, inlines = node["c"] if node["t"] == "Header" else [node["c"]]
        if others:
            others[1] = self._visible(_attributes(others[1], looks=True))
        inside = self.nodes(inlines, depth)
        self._look, self._has_background = outer, had_background
        if others and not inside:
            return []
        return [with_look({"t": node["t"], "c": [*others, inside] if others else inside}, outer)]

    def span(self, node: Node, depth: int) -> list[Any]:
        outer = self._has_background
        attributes = self._visible(_attributes(node["c"][0], looks=True))
        inside = self.nodes(node["c"][1], depth + 1) if depth < MAX_DEPTH else text_inlines(plain_text(node["c"][1]))
        self._has_background = outer
        return inside if attributes == _NO_ATTRIBUTES else [{"t": "Span", "c": [attributes, inside]}]

    def div(self, node: Node, depth: int) -> list[Any]:
        """Clean a Div, whose look goes to the paragraphs in it."""
        if depth >= MAX_DEPTH:
            return [self._flatten(node)]
        had_background = self._has_background
        attributes = self._visible(_attributes(node["c"][0], looks=True))
        look = look_of(attributes)
        page_break = {name: look.pop(name) for name in ("page-break",) if name in look}
        attributes[2] = [pair for pair in attributes[2] if pair[0] in KEPT_ATTRIBUTES]
        outer, self._look = self._look, self._look | look
        inside = self.nodes(node["c"][1], depth + (attributes != _NO_ATTRIBUTES))
        self._look, self._has_background = outer, had_background
        inside[:1] = [with_look(block, page_break) for block in inside[:1]]
        if attributes != _NO_ATTRIBUTES:
            return [{"t": "Div", "c": [attributes, inside]}]
        return [{**block, "t": "Para"} if block["t"] == "Plain" else block for block in inside]

    def number_list(self, node: Node, depth: int) -> list[Any]:
        (start, style, end), items = node["c"]
        if depth >= MAX_DEPTH:
            return [self._flatten(node)]
        order = [min(max(start, 0), _MAX_LIST_START), style, end]
        return [{"t": "OrderedList", "c": [order, [self.nodes(item, depth + 1) for item in items]]}]

    def table(self, node: Node, depth: int) -> list[Any]:
        """Clean a table, and reset invisible column widths. Raises TooLarge above `_MAX_COLUMNS` columns."""
        if len(node["c"][2]) > _MAX_COLUMNS:
            raise TooLarge(f"a table has more than {_MAX_COLUMNS} columns.")
        attributes, caption, columns, *rows = node["c"]
        shares = [width.get("c", _MIN_COLUMN_WIDTH) for _, width in columns]
        if not all(_MIN_COLUMN_WIDTH <= share <= 1 for share in shares):  # at least one column would be invisible
            columns = [[align, {"t": "ColWidthDefault"}] for align, _ in columns]
        outer = self._look
        self._look = {name: value for name, value in outer.items() if name != "align"}
        table = self.value({"t": "Table", "c": [attributes, caption, columns, *rows]}, depth)
        self._look = outer
        return [table]

    def note(self, node: Node, depth: int) -> list[Any]:
        """Clean a note. A note in a note, which no export has, becomes text in parentheses."""
        if self._is_in_note:
            self._job.note("A note that was nested in a note was kept as plain text.")
            return [SPACE, *text_inlines(f"({_CONTROL.sub('', plain_text(node))})")]
        self._is_in_note = True
        cleaned = self.value(node, depth)
        self._is_in_note = False
        return [cleaned]

    def math(self, node: Node, depth: int) -> list[Any]:
        display, tex = node["c"]
        return [{"t": "Math", "c": [display, _CONTROL.sub("", tex)[:_MAX_TEX]]}]

    def code(self, node: Node, depth: int) -> list[Any]:
        """Clean inline code or a code block. The first valid class, which names the programming language, is kept."""
        (_, classes, _), text = node["c"]
        kept = [name for name in classes if _CLASS.fullmatch(name)][:1]
        return [{"t": node["t"], "c": [["", kept, []], _CONTROL.sub("", text)]}]

    def link(self, node: Node, depth: int) -> list[Any]:
        attributes, inlines, (target, title) = node["c"]
        inside = self.nodes(inlines, depth + 1) if depth < MAX_DEPTH else text_inlines(plain_text(inlines))
        if not is_safe_link(target):
            kept = "web pages, e-mail addresses and places in the document"
            self._job.note(f"Links were removed, except links to {kept}.")
            return inside
        return [{"t": "Link", "c": [_attributes(attributes), inside, [target.strip(), _CONTROL.sub("", title)]]}]

    def image(self, node: Node, depth: int) -> list[Any]:
        """Return an image node, or the alternative text or "[picture]" if the picture is missing or not valid."""
        attributes, inlines, (target, title) = node["c"]
        alt = text_inlines(_CONTROL.sub("", plain_text(inlines)))
        if target not in self._names:
            self._names[target] = self._resource(target)
        name = self._names[target]
        if name is None:
            return alt or text_inlines("[picture]")
        return [{"t": "Image", "c": [_attributes(attributes), alt, [name, _CONTROL.sub("", title)]]}]

    def _resource(self, target: str) -> str | None:
        """Store the picture at an image target, and return its name. Returns None if the picture is not valid."""
        if match := _DATA_URI.match(target):
            data = _decode_data_uri(target[match.end() :], match[2].lower())
        else:
            data = self._read_media(target) or self._read_media(unquote(target))
        if data is None:
            self._job.note("Pictures that are not in the file itself were left out.")
            return None
        try:
            picture = images.validate_image(data, self._job.limits)
        except ConversionError as error:  # also TooLarge
            self._job.note(f"A picture was left out: {error}")
            return None
        name = resource_name(picture.data, picture.extension)
        self.resources[name] = picture.data
        return name

    def _read_media(self, name: str) -> bytes | None:
        """Read a file in the folder `media`. Returns None if the file is missing or outside the folder."""
        try:
            path = (self._media / name).resolve()
            return path.read_bytes() if path.is_relative_to(self._media) and path.is_file() else None
        except (OSError, ValueError):  # not a valid file name
            return None


def _decode_data_uri(text: str, parameters: str) -> bytes | None:
    plain_bytes = unquote_to_bytes(text)
    if not parameters.endswith(";base64"):
        return plain_bytes
    try:
        return base64.b64decode(b"".join(plain_bytes.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def is_safe_link(target: str) -> bool:
    """Return whether a link target is a web address, a mail address or an anchor in the document.

    >>> is_safe_link("https://a.example/"), is_safe_link(" java\\nscript:alert(1)"), is_safe_link("#top"), is_safe_link("file:///etc")
    (True, False, True, False)
    """
    return bool(_LINK.match(_CONTROL.sub("", target).strip())) and not re.search(r"[\x00-\x1f]", target.strip())


_NO_ATTRIBUTES: list[Any] = ["", [], []]


def _is_attributes(value: list[Any]) -> bool:
    if [type(part) for part in value] != [str, list, list] or not all(isinstance(name, str) for name in value[1]):
        return False
    return all(isinstance(pair, list) and len(pair) == 2 for pair in value[2])


def _attributes(triple: list[Any], *, looks: bool = False) -> list[Any]:
    identifier, _, pairs = triple
    values = ((name, _attribute_value(name, str(text))) for name, text in pairs if looks or name in KEPT_ATTRIBUTES)
    kept = {name: value for name, value in values if value}
    return [re.sub(r"[\s\"'<>&]", "", _CONTROL.sub("", identifier))[:100], [], [list(pair) for pair in kept.items()]]


def _attribute_value(name: str, text: str) -> str | None:
    """Normalize an attribute's value. Returns None if the name or the value is not allowed."""
    if name in ("width", "height"):
        match = _LENGTH.fullmatch(text.strip())
        if match is None or not float(match[1]):
            return None
        number = f"{float(match[1] + match[2]):.6f}" if match[2] else match[1]
        return number + (match[3] or "px")
    if name == "size":
        size = float(text[:-2]) if _TEXT_SIZE.fullmatch(text) else 0
        return f"{size:g}pt" if 1 <= size <= _MAX_TEXT_SIZE else None
    if name in _LOOKS:
        return text.lower() if _LOOKS[name].fullmatch(text.lower()) else None
    if name == "dir":
        return text.lower() if text.lower() in ("rtl", "ltr") else None
    return text if name == "lang" and _LANG.fullmatch(text) else None


_NODE_HANDLERS: dict[str, Callable[[_Cleaner, Node, int], list[Any]]] = {
    "RawBlock": _Cleaner.raw, "RawInline": _Cleaner.raw, "Math": _Cleaner.math,
    "Cite": lambda cleaner, node, depth: cleaner.nodes(node["c"][1], depth),
    "Code": _Cleaner.code, "CodeBlock": _Cleaner.code, "Link": _Cleaner.link, "Image": _Cleaner.image,
    "Span": _Cleaner.span, "Div": _Cleaner.div, "OrderedList": _Cleaner.number_list, "Table": _Cleaner.table,
    "Para": _Cleaner.paragraph, "Plain": _Cleaner.paragraph, "Header": _Cleaner.paragraph, "Note": _Cleaner.note,
}  # fmt: skip
_NESTING_TYPES = _CONTAINER_BLOCKS | {
    "Emph", "Underline", "Strong", "Strikeout", "Superscript", "Subscript", "SmallCaps", "Quoted", "Span", "Note",
}  # fmt: skip
