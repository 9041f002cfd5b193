"""Reads attributes and parts of single OpenDocument elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...input.odf.namespaces import name

_SKIPPED = frozenset(
    name(it)
    for it in (
        "office:annotation", "office:forms", "svg:title", "svg:desc", "table:title", "table:desc", "text:note-citation",
        "text:script", "text:tracked-changes", "text:table-of-content-source", "text:illustration-index-source",
        "text:table-index-source", "text:object-index-source", "text:user-index-source",
        "text:alphabetical-index-source", "text:bibliography-source",
    )
)  # fmt: skip
_GROUPS = tuple(
    name(f"table:table-{it}")
    for it in ("header-rows", "rows", "row-group", "header-columns", "columns", "column-group")
)


def is_left_out(element: Any) -> bool:
    """Return whether an element is hidden, or has no text of the page."""
    is_hidden = element.get(name("text:display")) == "none" or element.get(name("text:is-hidden")) == "true"
    return not isinstance(element.tag, str) or element.tag in _SKIPPED or is_hidden


def link_target(element: Any) -> str:
    """Return where a link or a reference leads. A target in the document is "#" and the name of an anchor."""
    target = str(element.get(name("xlink:href")) or f"#{element.get(name('text:ref-name'), '')}")
    return _fragment(target[1:]) if target.startswith("#") else target


def anchor_of(element: Any) -> str:
    """Return "#" and the name of the anchor that an element defines."""
    return _fragment(element.get(name("text:name"), ""))


def _fragment(text: str) -> str:
    return "#" + re.sub(r"[^\w.-]", "-", text)[:90]


def table_parts(element: Any, tag: str) -> Iterator[Any]:
    """Yield the rows or columns of a table, which may be in groups."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _GROUPS:
            yield from table_parts(child, tag)
