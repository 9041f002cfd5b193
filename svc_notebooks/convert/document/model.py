"""The model of a native document, which is pandoc's tree and its images by name.

The tree is pandoc's JSON (https://hackage.haskell.org/package/pandoc-types), cleaned by clean.py: links lead to
http, https, mailto or an anchor; an image's target is a key of `resources`; there are no raw nodes; attributes
are those of `clean.KEPT_ATTRIBUTES`; nothing is nested deeper than `clean.MAX_DEPTH`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..input import native_package

API_VERSION = [1, 23, 1]

Node = dict[str, Any]
"""A block or an inline, with its type in `t` and its content in `c`."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document, which is empty without arguments.

    >>> Document.unpack(Document().pack()) == Document()
    True
    """

    blocks: list[Node] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    resources: Mapping[str, bytes] = field(default_factory=dict)

    def pack(self) -> bytes:
        """Return the bytes to store."""
        return native_package.pack(self.tree, self.resources)

    @classmethod
    def unpack(cls, body: bytes) -> Document:
        """Return the document that `pack` stored."""
        tree, resources = native_package.unpack(body)
        return cls(tree["blocks"], tree["meta"], resources)

    @property
    def tree(self) -> dict[str, Any]:
        """The document as pandoc reads and writes it."""
        return {"pandoc-api-version": API_VERSION, "meta": self.meta, "blocks": self.blocks}


def text_inlines(text: str) -> list[Node]:
    """Return the inlines of a line of text.

    >>> text_inlines("two words")
    [{'t': 'Str', 'c': 'two'}, {'t': 'Space'}, {'t': 'Str', 'c': 'words'}]
    """
    inlines: list[Node] = []
    for word in text.split():
        inlines += [{"t": "Space"}, {"t": "Str", "c": word}]
    return inlines[1:]


def paragraph(text: str) -> Node:
    """Return text as a paragraph with its line breaks."""
    inlines: list[Node] = []
    for line in text.splitlines():
        inlines += [{"t": "LineBreak"}, *text_inlines(line)]
    return {"t": "Para", "c": inlines[1:]}
