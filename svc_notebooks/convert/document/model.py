"""The model of a native document, which contains a pandoc tree and the images by name.

The tree is pandoc's JSON (https://hackage.haskell.org/package/pandoc-types) after the removals in clean.py. The target
of an image is a key of `resources`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..input import native_package

API_VERSION = [1, 23, 1]

Node = dict[str, Any]
"""A pandoc node (a block or an inline). The key `t` has the node's type, and `c` its content."""


@dataclass(frozen=True, slots=True)
class Document:
    """A native document with blocks and metadata as in pandoc's JSON, and the bytes of each image by file name.

    >>> Document.unpack(Document().pack()) == Document()
    True
    """

    blocks: list[Node] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    resources: Mapping[str, bytes] = field(default_factory=dict)

    def pack(self) -> bytes:
        """Serialize the document to the bytes that the service stores."""
        return native_package.pack(self.tree, self.resources)

    @classmethod
    def unpack(cls, body: bytes) -> Document:
        """Restore the document from the bytes that `pack` returned."""
        tree, resources = native_package.unpack(body)
        return cls(tree["blocks"], tree["meta"], resources)

    @property
    def tree(self) -> dict[str, Any]:
        """The document in pandoc's JSON format, without the images."""
        return {"pandoc-api-version": API_VERSION, "meta": self.meta, "blocks": self.blocks}


def text_inlines(text: str) -> list[Node]:
    """Convert a line of text to pandoc inlines, with a Space node between words.

    >>> text_inlines("two words")
    [{'t': 'Str', 'c': 'two'}, {'t': 'Space'}, {'t': 'Str', 'c': 'words'}]
    """
    inlines: list[Node] = []
    for word in text.split():
        inlines += [{"t": "Space"}, {"t": "Str", "c": word}]
    return inlines[1:]


def paragraph(text: str) -> Node:
    """Convert text to a pandoc paragraph, with a LineBreak node between lines."""
    inlines: list[Node] = []
    for line in text.splitlines():
        inlines += [{"t": "LineBreak"}, *text_inlines(line)]
    return {"t": "Para", "c": inlines[1:]}
