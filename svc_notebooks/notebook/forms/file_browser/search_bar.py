"""Where a file browser looks, what for, and in which order."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, labelled, set_visible, text_field
from .query import HERE, NAME, ORDERS, PLACES, QUERY, WAYS, FileQuery


class FileSearch(widgets.HBox):  # type: ignore[misc]
    """The controls; `query` is what they say of a folder.

    >>> search = FileSearch()
    >>> search.words.value = "birds"
    >>> search.query("root").q
    "'root' in parents and trashed = false and name contains 'birds'"
    """

    def __init__(self) -> None:
        self.place = widgets.Dropdown(
            options=PLACES, **labelled("Look in", "The folder that is open, or further"), style=AUTO_WIDTH
        )
        self.way = widgets.Dropdown(
            options=WAYS, **labelled("Files of which", "What the words beside it are compared with"), style=AUTO_WIDTH
        )
        self.words = text_field(
            "These words",
            "Words; or a query, such as: starred = true and name contains 'a'. Enter searches",
            hint="empty: every file",
            style=AUTO_WIDTH,
        )
        self.order = widgets.Dropdown(
            options=ORDERS, **labelled("In the order", "Which files come first"), style=AUTO_WIDTH
        )
        super().__init__([self.place, self.way, self.words, self.order])
        self.add_class("svc-filters")
        self._quiet = False
        self._changed: Callable[[], None] = lambda: None
        self.way.observe(lambda _change: self._adapt(), "value")
        for control in self.children:
            control.observe(lambda _change: self._tell(), "value")

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever a control has another value."""
        self._changed = changed

    def _tell(self) -> None:
        if not self._quiet:
            self._changed()

    def query(self, folder: str) -> FileQuery:
        """What is looked for, from this folder."""
        return FileQuery(self.place.value, folder, self.way.value, self.words.value, self.order.value)

    def _adapt(self) -> None:
        """A query says itself where it looks."""
        set_visible(self.place, self.way.value != QUERY)

    def enter(self) -> None:
        """Look in the folder that was opened, for everything. Tells it once, however much that changes."""
        self._quiet = True
        self.way.value, self.words.value, self.place.value = NAME, "", HERE
        self._quiet = False
        self._tell()

    @property
    def in_folder(self) -> bool:
        """Whether it is the folder that matters."""
        return bool(self.place.value == HERE and self.way.value != QUERY)
