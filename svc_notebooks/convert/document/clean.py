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
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from ..engines import images
from ..input.native_package import resource_name
from ..job import ConversionError, Job, TooLarge
from .model import Document, Node, text_inlines

KEPT_ATTRIBUTES = ("width", "height", "dir", "lang")
"""The names of the attributes that are kept. The only class that is kept is the programming language of code."""
MAX_DEPTH = 60
_LINK = re.compile(r"(?:https?://|mailto:)[^\s]|#", re.IGNORECASE)
_LENGTH = re.compile(r"(\d{1,5}(?:\.\d{1,6})?)\d*(px|in|cm|mm|pt|pc|em|%)?")
_CLASS = re.compile(r"[A-Za-z][\w.+#-]{0,39}")
_LANG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_DATA_URI = re.compile(r"data:([\w.+/-]*)((?:;[\w=.-]+)*),", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_MAX_TEX = 10_000
_MAX_LIST_START = 32_767
_MAX_COLUMNS = 1_000
_MIN_COLUMN_WIDTH = 0.002
"""The minimum width of a table column, as a share of the page width."""
_CONTAINER_BLOCKS = frozenset({"BulletList", "OrderedList", "BlockQuote", "Div", "Table", "DefinitionList", "Figure"})


def clean(tree: dict[str, Any], job: Job) -> Document:
    """Convert a pandoc tree to a document that is safe to store. Raises TooLarge for large tables or pictures."""
    cleaner = _Cleaner(job)
    rtl_types = {"Para", "Header", *_CONTAINER_BLOCKS} - {"Div"}
    blocks = [
        {"t": "Div", "c": [["", [], [["dir", "rtl"]]], [block]]}
        if block["t"] in rtl_types and is_rtl(plain_text(block))
        else block
        for block in cleaner.nodes(tree["blocks"], 0)
    ]
    meta = {name: cleaner.value(value, 0) for name, value in tree["meta"].items()}
    return Document(blocks, meta, cleaner.resources)


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
        if not isinstance(value, dict):
            return value
        if depth >= MAX_DEPTH and value.get("t") in _NESTING_TYPES:
            return self._flatten(value)
        deeper = depth + 1 if value.get("t") in _NESTING_TYPES else depth
        return {key: self.value(inner, deeper) for key, inner in value.items()}

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

    def span(self, node: Node, depth: int) -> list[Any]:
        attributes = _attributes(node["c"][0])
        inside = self.nodes(node["c"][1], depth + 1) if depth < MAX_DEPTH else text_inlines(plain_text(node["c"][1]))
        return inside if attributes == _NO_ATTRIBUTES else [{"t": "Span", "c": [attributes, inside]}]

    def div(self, node: Node, depth: int) -> list[Any]:
        attributes = _attributes(node["c"][0])
        if depth >= MAX_DEPTH:
            return [self._flatten(node)]
        inside = self.nodes(node["c"][1], depth + (attributes != _NO_ATTRIBUTES))
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
        return [self.value({"t": "Table", "c": [attributes, caption, columns, *rows]}, depth)]

    def cite(self, node: Node, depth: int) -> list[Any]:
        return self.nodes(node["c"][1], depth)

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
            self._job.note(
                "Links were removed, except links to web pages, e-mail addresses and places in the document."
            )
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
        except TooLarge:
            raise
        except ConversionError:
            self._job.note("Pictures in unknown formats were left out.")
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
    return (
        [type(part) for part in value] == [str, list, list]
        and all(isinstance(name, str) for name in value[1])
        and all(isinstance(pair, list) and len(pair) == 2 for pair in value[2])
    )


def _attributes(triple: list[Any]) -> list[Any]:
    identifier, _, pairs = triple
    kept = {name: value for name, text in pairs if (value := _attribute_value(name, str(text)))}
    return [re.sub(r"[\s\"'<>&]", "", _CONTROL.sub("", identifier))[:100], [], [list(pair) for pair in kept.items()]]


def _attribute_value(name: str, text: str) -> str | None:
    """Normalize an attribute's value. Returns None if the name or the value is not allowed."""
    if name in ("width", "height"):
        match = _LENGTH.fullmatch(text.strip())
        return match[1] + (match[2] or "px") if match and float(match[1]) > 0 else None
    if name == "dir":
        return text.lower() if text.lower() in ("rtl", "ltr") else None
    return text if name == "lang" and _LANG.fullmatch(text) else None


_NODE_HANDLERS: dict[str, Callable[[_Cleaner, Node, int], list[Any]]] = {
    "RawBlock": _Cleaner.raw, "RawInline": _Cleaner.raw, "Cite": _Cleaner.cite, "Math": _Cleaner.math,
    "Code": _Cleaner.code, "CodeBlock": _Cleaner.code, "Link": _Cleaner.link, "Image": _Cleaner.image,
    "Span": _Cleaner.span, "Div": _Cleaner.div, "OrderedList": _Cleaner.number_list, "Table": _Cleaner.table,
}  # fmt: skip
_NESTING_TYPES = _CONTAINER_BLOCKS | {
    "Emph", "Underline", "Strong", "Strikeout", "Superscript", "Subscript", "SmallCaps", "Quoted", "Span", "Note",
}  # fmt: skip
