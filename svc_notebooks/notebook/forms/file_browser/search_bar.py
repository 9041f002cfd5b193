"""The search controls of the file browser for scope, field, text and order."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, describe, set_visible, text_field
from .query import FIELDS, HERE, NAME, ORDERS, QUERY, SCOPES, FileQuery


class FileSearch(widgets.HBox):  # type: ignore[misc]
    """The controls.

    `query` returns their query.

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
        """Call `changed` whenever the value of a control changes."""
        self._changed = changed

    def _notify(self) -> None:
        if not self._silent:
            self._changed()

    def query(self, folder: str) -> FileQuery:
        """Return the query of the controls for this folder."""
        return FileQuery(self.scope.value, folder, self.field.value, self.text.value, self.order.value)

    def _update_visibility(self) -> None:
        """Hide the scope for a query, which has its own."""
        set_visible(self.scope, self.field.value != QUERY)

    def reset(self) -> None:
        """Search for everything in the open folder, and notify the watcher once."""
        self._silent = True
        self.field.value, self.text.value, self.scope.value = NAME, "", HERE
        self._silent = False
        self._notify()

    @property
    def in_folder(self) -> bool:
        """True if the files of the folder are listed."""
        return bool(self.scope.value == HERE and self.field.value != QUERY)
