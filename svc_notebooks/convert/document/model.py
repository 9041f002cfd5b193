"""The model of a native document, which contains a pandoc tree and the images by name.

The tree is pandoc's JSON (https://hackage.haskell.org/package/pandoc-types) after the removals in clean.py. The target
of an image is a key of `resources`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from operator import is_
from typing import Any

from ..input import native_package
from ..job import TooLarge

API_VERSION = [1, 23, 1]
_RECURSION_LIMIT = 5_000  # for functions that follow a tree: a nested table adds ten levels of lists and dicts

PAGE_NUMBER, PAGE_COUNT = "\x01", "\x02"  # stand for these numbers in headers and footers

Node = dict[str, Any]  # a pandoc node (a block or an inline). The key `t` has the node's type, and `c` its content.
SPACE: Node = {"t": "Space"}
_WORDS = ("Str", "Space", "SoftBreak")


@dataclass(frozen=True, slots=True)
class Page:
    """The size and the margins of a page in points, and the number of its columns of text."""

    width: float
    height: float
    top: float
    right: float
    bottom: float
    left: float
    columns: int = field(default=1, kw_only=True)


@dataclass(frozen=True, slots=True)
class Document:
    """A native document with blocks and metadata as in pandoc's JSON, and the bytes of each image by file name.

    `text_size` is the size of the body text in points, and `font` the name of its font. `page`, `text_size` and `font`
    are None if the source does not define them. `header` and `footer` are the lines of text that each page has at its
    top and bottom, in which a tab is before the part in the middle and before the part at the right.

    >>> Document.unpack(Document().pack()) == Document()
    True
    """

    blocks: list[Node] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    resources: Mapping[str, bytes] = field(default_factory=dict)
    page: Page | None = None
    text_size: float | None = None
    font: str | None = None
    header: tuple[str, ...] = ()
    footer: tuple[str, ...] = ()

    def pack(self) -> bytes:
        """Serialize the document to the bytes that the service stores."""
        looks: dict[str, Any] = {"page": asdict(self.page)} if self.page else {}
        looks |= {"text-size": self.text_size} if self.text_size else {}
        looks |= {"font": self.font} if self.font else {}
        looks |= {name: lines for name, lines in (("header", self.header), ("footer", self.footer)) if lines}
        return native_package.pack(self.tree | looks, self.resources)

    @classmethod
    def unpack(cls, body: bytes) -> Document:
        """Restore the document from the bytes that `pack` returned."""
        tree, resources = native_package.unpack(body, load_tree)
        page = Page(**tree["page"]) if "page" in tree else None
        lines = (tuple(tree.get(name, ())) for name in ("header", "footer"))
        return cls(tree["blocks"], tree["meta"], resources, page, tree.get("text-size"), tree.get("font"), *lines)

    @property
    def tree(self) -> dict[str, Any]:
        """The document in pandoc's JSON format, without the images."""
        return {"pandoc-api-version": API_VERSION, "meta": self.meta, "blocks": self.blocks}


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit for a function that follows a tree. Raises TooLarge above the new limit."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    except RecursionError as error:
        raise TooLarge("the document is nested too deeply.") from error
    finally:
        sys.setrecursionlimit(before)


def load_tree(text: str | bytes) -> dict[str, Any]:
    """Parse a pandoc tree from JSON. Equal words and blanks are one node, since a long text would need much memory."""
    shared: dict[tuple[str, str], Node] = {}

    def node(value: Node) -> Node:
        content = value.get("c", "")
        return shared.setdefault((value["t"], content), value) if "t" in value and isinstance(content, str) else value

    tree: dict[str, Any] = json.loads(text, object_hook=node)
    return tree


@deep_recursion()
def replace_nodes(document: Document, changes: dict[str, Callable[[Node], Node]]) -> Document:
    """Return the document with other nodes. `changes` maps a node type to a function from the old to the new node.

    Words and blanks stay. Both documents share what does not change, since a copy of a long document would need much
    memory.
    """

    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            items = [replaced(item) for item in value]
            return value if all(map(is_, items, value)) else items
        if not isinstance(value, dict) or value.get("t") in _WORDS:
            return value
        inner = {key: replaced(content) for key, content in value.items()}
        if value.get("t") in changes:
            return changes[value["t"]](inner)
        return value if all(map(is_, inner.values(), value.values())) else inner

    return replace(document, blocks=replaced(document.blocks), meta=replaced(document.meta))


def text_inlines(text: str) -> list[Node]:
    """Convert a line of text to pandoc inlines, with a Space node between words.

    >>> text_inlines("two words")
    [{'t': 'Str', 'c': 'two'}, {'t': 'Space'}, {'t': 'Str', 'c': 'words'}]
    """
    inlines: list[Node] = []
    for word in text.split():
        inlines += [SPACE, {"t": "Str", "c": word}]
    return inlines[1:]


def paragraph(text: str) -> Node:
    """Convert text to a pandoc paragraph, with a LineBreak node between lines."""
    inlines: list[Node] = []
    for line in text.splitlines():
        inlines += [{"t": "LineBreak"}, *text_inlines(line)]
    return {"t": "Para", "c": inlines[1:]}
