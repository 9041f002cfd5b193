"""The search controls of the file browser, and the search query in the query language of the interface (A4, `q`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets as widgets

from ....core.files.query import quote
from ...widgets.field import AUTO_WIDTH, describe, set_visible, text_field

HERE, EVERYWHERE, SHARED, TRASH = "here", "everywhere", "shared", "trash"
SCOPES = (
    ("This folder", HERE),
    ("All my files", EVERYWHERE),
    ("Shared with me", SHARED),
    ("Trash", TRASH),
)

NAME, TEXT, QUERY = "name", "fullText", "q"
FIELDS = (
    ("Name", NAME),
    ("Name and description", TEXT),
    ("Query (q)", QUERY),
)

ORDERS = (
    ("Folders first, then name", "folder,name"),
    ("Last modified", "modifiedTime desc"),
    ("Last created", "createdTime desc"),
    ("Largest", "quotaBytesUsed desc"),
)

ROOT = "root"
"""The id of the root folder."""


@dataclass(frozen=True, slots=True)
class FileQuery:
    """A file search with scope, field, text and sort order. `folder` is the folder id, used only for the scope HERE."""

    scope: str = HERE
    folder: str = ROOT
    field: str = NAME
    text: str = ""
    order: str = ORDERS[0][1]

    @property
    def q(self) -> str:
        """The query text for the request parameter `q`. A query that a person has written is not changed.

        >>> FileQuery(text="bird's").q
        "'root' in parents and trashed = false and name contains 'bird\\\\'s'"
        >>> FileQuery(field="q", text="starred = true").q
        'starred = true'
        """
        text = self.text.strip()
        if self.field == QUERY and text:
            return text
        terms = [*_SCOPE_TERMS[self.scope]]
        if self.scope == HERE:
            terms.insert(0, f"{quote(self.folder)} in parents")
        if text and self.field != QUERY:
            terms.append(f"{self.field} contains {quote(text)}")
        return " and ".join(terms)

    @property
    def order_by(self) -> str | None:
        """The sort order, or None for a full-text search, because the service ranks its results."""
        return None if TEXT in self.q else self.order

    def code(self) -> str:
        """Return the call that lists the same files.

        >>> FileQuery(scope="trash").code()
        "svc.files('trashed = true', order_by='folder,name')"
        """
        order = f", order_by={self.order_by!r}" if self.order_by else ""
        return f"svc.files({self.q!r}{order})"


_SCOPE_TERMS = {
    HERE: ("trashed = false",),
    EVERYWHERE: ("trashed = false",),
    SHARED: ("sharedWithMe = true", "trashed = false"),
    TRASH: ("trashed = true",),
}


class FileSearch(widgets.HBox):  # type: ignore[misc]
    """The search controls. `query` returns the search that the controls describe.

    >>> search = FileSearch()
    >>> search.text.value = "birds"
    >>> search.query("root").q
    "'root' in parents and trashed = false and name contains 'birds'"
    """

    def __init__(self) -> None:
        self.scope = widgets.Dropdown(options=SCOPES, **describe("Location", "Where to search"), style=AUTO_WIDTH)
        self.field = widgets.Dropdown(
            options=FIELDS, **describe("Search in", "The field that is searched"), style=AUTO_WIDTH
        )
        self.text = text_field(
            "Search",
            "A text, or a query such as starred = true and name contains 'a'. Press Enter to search",
            hint="empty: all files",
            style=AUTO_WIDTH,
        )
        self.order = widgets.Dropdown(options=ORDERS, **describe("Sort by", "The order of the files"), style=AUTO_WIDTH)
        super().__init__([self.scope, self.field, self.text, self.order])
        self.add_class("svc-filters")
        self._silent = False
        self._changed: Callable[[], None] = lambda: None
        self.field.observe(lambda _change: self._update_visibility(), "value")
        for control in self.children:
            control.observe(lambda _change: self._notify(), "value")

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def _notify(self) -> None:
        if not self._silent:
            self._changed()

    def query(self, folder: str) -> FileQuery:
        """Return the search that the controls describe. `folder` is the id of the open folder."""
        return FileQuery(self.scope.value, folder, self.field.value, self.text.value, self.order.value)

    def _update_visibility(self) -> None:
        """Hide the scope control while a person writes a query, which contains its own conditions."""
        set_visible(self.scope, self.field.value != QUERY)

    def reset(self) -> None:
        """Reset the controls, so that all files in the open folder are listed. Call the watcher once."""
        self._silent = True
        self.field.value, self.text.value, self.scope.value = NAME, "", HERE
        self._silent = False
        self._notify()

    @property
    def in_folder(self) -> bool:
        return bool(self.scope.value == HERE and self.field.value != QUERY)
