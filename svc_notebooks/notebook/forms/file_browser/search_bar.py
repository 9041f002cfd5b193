"""The search controls of the file browser: where to search, in which field, for which text, in which order."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, labelled, set_visible, text_field
from .query import FIELDS, HERE, NAME, ORDERS, QUERY, SCOPES, FileQuery


class FileSearch(widgets.HBox):  # type: ignore[misc]
    """The controls; `query` is what they say of a folder.

    >>> search = FileSearch()
    >>> search.text.value = "birds"
    >>> search.query("root").q
    "'root' in parents and trashed = false and name contains 'birds'"
    """

    def __init__(self) -> None:
        self.scope = widgets.Dropdown(options=SCOPES, **labelled("Location", "Where to search"), style=AUTO_WIDTH)
        self.field = widgets.Dropdown(
            options=FIELDS, **labelled("Search in", "The field that is searched"), style=AUTO_WIDTH
        )
        self.text = text_field(
            "Search",
            "A text, or a query such as starred = true and name contains 'a'. Press Enter to search",
            hint="empty: all files",
            style=AUTO_WIDTH,
        )
        self.order = widgets.Dropdown(options=ORDERS, **labelled("Sort by", "The order of the files"), style=AUTO_WIDTH)
        super().__init__([self.scope, self.field, self.text, self.order])
        self.add_class("svc-filters")
        self._silent = False
        self._changed: Callable[[], None] = lambda: None
        self.field.observe(lambda _change: self._update_visibility(), "value")
        for control in self.children:
            control.observe(lambda _change: self._notify(), "value")

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever a control has another value."""
        self._changed = changed

    def _notify(self) -> None:
        if not self._silent:
            self._changed()

    def query(self, folder: str) -> FileQuery:
        """What is looked for, from this folder."""
        return FileQuery(self.scope.value, folder, self.field.value, self.text.value, self.order.value)

    def _update_visibility(self) -> None:
        """A query says itself where it looks."""
        set_visible(self.scope, self.field.value != QUERY)

    def reset(self) -> None:
        """Look in the folder that was opened, for everything. Tells it once, however much that changes."""
        self._silent = True
        self.field.value, self.text.value, self.scope.value = NAME, "", HERE
        self._silent = False
        self._notify()

    @property
    def in_folder(self) -> bool:
        """Whether it is the folder that matters."""
        return bool(self.scope.value == HERE and self.field.value != QUERY)
