"""Lists rows to choose from: a grid with anywidget, a plain list without it; both work by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import ipywidgets as widgets

from .field import labelled


class RowList(Protocol):
    """What shows rows and knows which are chosen."""

    chosen: Any

    def show(self, rows: Sequence[dict[str, Any]], empty_message: str) -> None:
        """Show these rows, or say this where there are none."""

    def ids(self) -> list[str]:
        """The ids of those that are chosen, from top to bottom."""

    def watch(self, changed: Callable[[], None], opened: Callable[[str], None], up: Callable[[], None]) -> None:
        """Call these when others are chosen, when one is opened, and when a person wants to go up."""

    def focus(self) -> None:
        """Bring the keyboard to it."""


class PlainRowList(widgets.SelectMultiple):  # type: ignore[misc]
    """A line for each row. Opening and going up is for the buttons beside it.

    >>> lines = PlainRowList("Files", {"name": "Name", "size": "Size"})
    >>> lines.show([{"id": "a", "name": "a.txt", "size": "1 byte"}], "Nothing")
    >>> lines.chosen = ["a"]; lines.ids()
    ['a']
    """

    def __init__(self, label: str, columns: dict[str, str]) -> None:
        self._columns = list(columns)
        super().__init__(rows=10, **labelled(label, "Select several with Ctrl or Shift"))

    @property
    def chosen(self) -> list[str]:
        """The ids of the chosen ones."""
        return [row_id for row_id in self.value if row_id]

    @chosen.setter
    def chosen(self, ids: Sequence[str]) -> None:
        self.value = tuple(ids)

    def show(self, rows: Sequence[dict[str, Any]], empty_message: str) -> None:
        """Show these; what was chosen stays chosen while it is among them."""
        before = self.ids()
        self.options = [(self._row_text(row), row["id"]) for row in rows] or [(empty_message, "")]
        self.value = tuple(row["id"] for row in rows if row["id"] in before)

    def ids(self) -> list[str]:
        """The chosen ones, from top to bottom."""
        return [key for _, key in self.options if key and key in self.value]

    def watch(self, changed: Callable[[], None], opened: Callable[[str], None], up: Callable[[], None]) -> None:
        """Call the first one when others are chosen."""
        self.observe(lambda _change: changed(), "value")

    def __repr__(self) -> str:
        count = len([key for _, key in self.options if key])
        return f"<PlainRowList: {count} row{'' if count == 1 else 's'}>"

    def _row_text(self, row: dict[str, Any]) -> str:
        first, *others = (row[key] for key in self._columns)
        return f"{first} ({', '.join(filter(None, others))})"


def default_row_list(label: str, columns: dict[str, str]) -> RowList:
    """What this environment can have."""
    if find_spec("anywidget") is None:
        return PlainRowList(label, columns)
    from .grid import Grid

    return Grid(label, columns)
