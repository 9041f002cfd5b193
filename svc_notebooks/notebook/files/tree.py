"""Draws folders and the files below them as a tree, as text and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...client.files import ROOT, get_file
from ...client.session import SessionLike, session_or_current
from ...core.errors.public_calls import public_methods
from ..arguments import is_missing
from ..byte_sizes import size_text
from ..folder_tree import one_folder_id
from ..html import Markup, tag
from . import search

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..arguments import File

_MAX_LINES = 1000
"""The maximum number of lines that are drawn. The attribute `files` has all files."""


@dataclass(frozen=True, slots=True)
class _Node:
    name: str
    size: int | None
    """The bytes of a file, or None for a document of the service, which has no size."""
    children: list[_Node] | None
    """The members of a folder, None for a file."""

    @property
    def count(self) -> int:
        return 1 if self.children is None else sum(child.count for child in self.children)

    @property
    def total(self) -> int:
        return self.size or 0 if self.children is None else sum(child.total for child in self.children)

    @property
    def label(self) -> str:
        """The number of files and their size, or the size of a file."""
        if self.children is None:
            return "" if self.size is None else size_text(self.size)
        return f"{self.count:,} file{'s' * (self.count != 1)}, {size_text(self.total)}"


@public_methods
class Tree:
    """A tree of folders and files, which a notebook shows with folders to open, and `print` as text.

    `files` is the DataFrame of the files and folders in it, with the columns of `files()` and `path`.
    """

    def __init__(self, top: _Node, rows: DataFrame) -> None:
        self._top = top
        self.files = rows

    def __repr__(self) -> str:
        lines = _lines(self._top)
        width = max(len(text) for text, _ in lines)
        shown = [f"{text:{width}}  {label}".rstrip() for text, label in lines[:_MAX_LINES]]
        hidden = len(lines) - len(shown)
        return "\n".join([*shown, *([f"... and {hidden:,} more; the attribute files has all"] if hidden else [])])

    def _repr_html_(self) -> str:
        return str(tag("div", _html(self._top, is_open=True), style="line-height: 1.6; font-family: monospace"))


def _lines(node: _Node, head: str = "", rest: str = "") -> list[tuple[str, str]]:
    """Return the text and the size of a node and of each node below it, with the lines of the tree before it."""
    name = node.name if node.children is None else f"{node.name}/"
    lines = [(head + name, node.label)]
    for n, child in enumerate(node.children or (), start=1):
        is_last = n == len(node.children or ())
        lines += _lines(child, rest + ("└── " if is_last else "├── "), rest + ("    " if is_last else "│   "))
    return lines


def _html(node: _Node, *, is_open: bool = False) -> Markup:
    size = tag("span", node.label, style="opacity: 0.7; padding-left: 1em")
    if node.children is None:
        return tag("div", node.name, size, style="padding-left: 1em")
    hidden = len(node.children) - _MAX_LINES
    more = [tag("div", f"... and {hidden:,} more; the attribute files has all")] if hidden > 0 else []
    shown = map(_html, node.children[:_MAX_LINES])
    members = tag("div", *shown, *more, style="padding-left: 1.5em")
    return tag("details", tag("summary", f"{node.name}/", size), members, open="" if is_open else None)


def tree(folder: File | None = None, *, session: SessionLike = None) -> Tree:
    """Draw a folder with all folders and files below it, and their sizes. Files in the trash are left out.

    Args:
        folder: A folder, as an id, a link, a path like "birds/2026", a row or a DataFrame of one row. None means
            the top folder.

    Returns:
        A Tree, which a notebook shows with folders to open, and `print` as text. Its attribute `files` is the DataFrame
        of `files(folder=folder, recursive=True, paths=True, trashed=False)`.

    Raises:
        NotFound: The folder does not exist, or this user may not see it.
        ValueError: `folder` is a file that is not a folder.

    >>> lab = svc.sandbox()
    >>> year = svc.create_folder("birds/2026")
    >>> made = svc.upload([b"robin", b"wren"], name=["may.csv", "june.csv"], folder=year)
    >>> svc.tree()
    My files/             2 files, 9 bytes
    └── birds/            2 files, 9 bytes
        └── 2026/         2 files, 9 bytes
            ├── june.csv  4 bytes
            └── may.csv   5 bytes
    """
    session = session_or_current(session)
    top = get_file(session, ROOT if folder is None else one_folder_id(session, folder), fields="id,name")
    rows = search.files(
        folder=top["id"], recursive=True, paths=True, trashed=False, order_by="name_natural", session=session
    )
    is_folder = (rows["mime_type"] == session.names.native("folder")).tolist()
    nodes: dict[str, list[_Node]] = {str(top["id"]): []}
    nodes |= {file_id: [] for file_id, folder_row in zip(rows["id"], is_folder, strict=True) if folder_row}
    for row in rows.to_dict("records"):
        size = None if is_missing(row["size"]) else int(row["size"])
        node = _Node(row["name"], size, nodes.get(row["id"]))
        for parent in row["parents"] or ():
            nodes.setdefault(parent, []).append(node)
    return Tree(_Node(str(top.get("name")), None, nodes[str(top["id"])]), rows)
