"""The search controls of the file browser, and the search query in the query language of the interface (A4, `q`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets as widgets

from ...core.files.query import quote
from ...notebook.files.search import wire_query
from ..widgets.field import AUTO_WIDTH, describe, set_visible, text_field

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
    ("Name, A to Z", "folder,name_natural"),
    ("Name, Z to A", "folder,name_natural desc"),
    ("Modified, newest first", "modifiedTime desc"),
    ("Modified, oldest first", "modifiedTime"),
    ("Size, largest first", "quotaBytesUsed desc"),
    ("Size, smallest first", "quotaBytesUsed"),
    ("Created, newest first", "createdTime desc"),
    ("Created, oldest first", "createdTime"),
)
"""The sort orders, which the service applies to all pages. The service cannot sort by type."""

HEADING_ORDERS = {
    "name": ("folder,name_natural", "folder,name_natural desc"),
    "changed": ("modifiedTime desc", "modifiedTime"),
    "size": ("quotaBytesUsed desc", "quotaBytesUsed"),
}
"""The sort orders of each heading of the list. The first click on a heading applies the first one."""

ROOT = "root"
"""The id of the root folder."""

ROOT_FOLDER = (ROOT, "My files")


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
        """The query text for the request parameter `q`. Names in snake_case become wire names.

        >>> FileQuery(text="bird's").q
        "'root' in parents and trashed = false and name contains 'bird\\\\'s'"
        >>> FileQuery(field="q", text="mime_type = 'text/csv'").q
        "mimeType = 'text/csv'"
        """
        text = self.text.strip()
        if self.field == QUERY and text:
            return wire_query(text)
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
        "svc.files('trashed = true', order_by='folder,name_natural')"
        """
        order = f", order_by={self.order_by!r}" if self.order_by else ""
        return f"svc.files({self.q!r}{order})"


_SCOPE_TERMS = {
    HERE: ("trashed = false",),
    EVERYWHERE: ("trashed = false",),
    SHARED: ("sharedWithMe = true", "trashed = false"),
    TRASH: ("trashed = true",),
}


def heading_of(order: str | None) -> tuple[str, bool]:
    """Return the heading of a sort order, or an empty text if it has none, and True for a descending order.

    >>> heading_of("folder,name_natural"), heading_of("modifiedTime desc"), heading_of(None)
    (('name', False), ('changed', True), ('', False))
    """
    column = next((column for column, orders in HEADING_ORDERS.items() if order in orders), "")
    return column, bool(column and order and order.endswith(" desc"))


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
            "Search", "The list is updated while you type", hint="empty: all files", style=AUTO_WIDTH
        )
        self.text.continuous_update = True  # a letter that arrives late lists the files once more, which does no harm
        self.order = widgets.Dropdown(options=ORDERS, **describe("Sort by", "The order of the files"), style=AUTO_WIDTH)
        super().__init__([self.scope, self.field, self.text, self.order])
        self.add_class("svc-filters")
        self._silent = False
        self._changed: Callable[[bool], None] = lambda _typed: None
        self.field.observe(lambda _change: self._update_controls(), "value")
        for control in self.children:
            control.observe(lambda change: self._notify(change["owner"] is self.text), "value")

    def watch(self, changed: Callable[[bool], None]) -> None:
        """Call `changed` for each change, with True for a letter that a person has typed."""
        self._changed = changed

    def _notify(self, typed: bool) -> None:
        if not self._silent:
            self._changed(typed)

    def query(self, folder: str) -> FileQuery:
        """Return the search that the controls describe. `folder` is the id of the open folder."""
        return FileQuery(self.scope.value, folder, self.field.value, self.text.value, self.order.value)

    def sort_by(self, column: str) -> None:
        """Sort by a heading of the list. The second call for the same heading reverses the order."""
        first, second = HEADING_ORDERS[column]
        self.order.value = second if self.order.value == first else first

    def _update_controls(self) -> None:
        """Show the controls that belong to the searched field.

        A query contains its own conditions, and is not valid before it is complete. The service sorts the results of a
        full-text search itself.
        """
        hint = "starred = true and name contains 'a'; then press Enter" if self.field.value == QUERY else ""
        with self.text.hold_sync():  # a page that gets a message about the text field restores its last sent text
            self.text.continuous_update = self.field.value != QUERY
            self.text.placeholder = hint or "empty: all files"
        set_visible(self.scope, self.field.value != QUERY)
        set_visible(self.order, self.field.value != TEXT)

    def reset(self) -> None:
        """Reset the controls, so that all files in the open folder are listed. Call the watcher once."""
        self._silent = True
        self.field.value, self.text.value, self.scope.value = NAME, "", HERE
        self._silent = False
        self._notify(False)

    @property
    def in_folder(self) -> bool:
        return bool(self.scope.value == HERE and self.field.value != QUERY)
