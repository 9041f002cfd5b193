"""The model of a native document: pandoc's tree, and its images by name.

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
"""A block or an inline: `t` says which, `c` is its content."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document; without arguments an empty one.

    >>> Document.unpack(Document().pack()) == Document()
    True
    """

    blocks: list[Node] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    resources: Mapping[str, bytes] = field(default_factory=dict)

    def pack(self) -> bytes:
        """The bytes to store."""
        return native_package.pack(self.tree, self.resources)

    @classmethod
    def unpack(cls, body: bytes) -> Document:
        """The document that `pack` stored."""
        tree, resources = native_package.unpack(body)
        return cls(tree["blocks"], tree["meta"], resources)

    @property
    def tree(self) -> dict[str, Any]:
        """The document as pandoc reads and writes it."""
        return {"pandoc-api-version": API_VERSION, "meta": self.meta, "blocks": self.blocks}


def text_inlines(text: str) -> list[Node]:
    """A line of text as inlines.

    >>> text_inlines("two words")
    [{'t': 'Str', 'c': 'two'}, {'t': 'Space'}, {'t': 'Str', 'c': 'words'}]
    """
    inlines: list[Node] = []
    for word in text.split():
        inlines += [{"t": "Space"}, {"t": "Str", "c": word}]
    return inlines[1:]


def paragraph(text: str) -> Node:
    """Text as a paragraph; its line breaks are kept."""
    inlines: list[Node] = []
    for line in text.splitlines():
        inlines += [{"t": "LineBreak"}, *text_inlines(line)]
    return {"t": "Para", "c": inlines[1:]}
