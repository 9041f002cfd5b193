"""A list of selectable rows, which is a grid with anywidget and a plain list without anywidget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

import ipywidgets as widgets

from .field import describe


class RowList(Protocol):
    """A widget that shows selectable rows. `chosen` contains the ids of the selected rows."""

    chosen: Any

    def show(self, rows: Sequence[dict[str, Any]], empty_message: str) -> None:
        """Show rows, or `empty_message` if there are no rows. Selected rows stay selected."""

    def ids(self) -> list[str]:
        """Return the ids of the selected rows, from top to bottom."""

    def show_order(self, sortable: Sequence[str], column: str, descending: bool) -> None:
        """Show which columns a person can sort by, and by which column the rows are sorted ("" for none of them)."""

    def watch(
        self,
        changed: Callable[[], None],
        opened: Callable[[str], None],
        up: Callable[[], None],
        sorted_by: Callable[[str], None] = lambda _column: None,
        key_pressed: Callable[[str], None] = lambda _key: None,
    ) -> None:
        """Register functions to call with the person's actions.

        `changed` is called for a new selection, `opened` with the id of a row to open, `up` to go to the parent
        folder, `sorted_by` with a column whose heading was clicked, and `key_pressed` with "Delete" or "F2".
        """

    def focus(self) -> None:
        """Move the keyboard focus to the list."""

    def focus_if_lost(self) -> None:
        """Move the keyboard focus to the list if no other control has it."""


class PlainRowList(widgets.SelectMultiple):  # type: ignore[misc]
    """Implements RowList without anywidget, as a list with one line of text for each row.

    A person cannot open a row or go to the parent folder in this list. The form has buttons for these actions.

    >>> lines = PlainRowList("Files", {"name": "Name", "size": "Size"})
    >>> lines.show([{"id": "a", "name": "a.txt", "size": "1 byte"}], "Nothing")
    >>> lines.chosen = ["a"]; lines.ids()
    ['a']
    """

    def __init__(self, label: str, columns: dict[str, str]) -> None:
        self._columns = list(columns)
        super().__init__(rows=10, **describe(label, "Select several with Ctrl or Shift"))

    @property
    def chosen(self) -> list[str]:
        return [row_id for row_id in self.value if row_id]

    @chosen.setter
    def chosen(self, ids: Sequence[str]) -> None:
        self.value = tuple(ids)

    def show(self, rows: Sequence[dict[str, Any]], empty_message: str) -> None:
        before = self.ids()
        lines = []
        for row in rows:
            first, *others = (row[key] for key in self._columns)
            lines.append((f"{first} ({', '.join(filter(None, others))})", row["id"]))
        self.options = lines or [(empty_message, "")]
        self.value = tuple(row["id"] for row in rows if row["id"] in before)

    def ids(self) -> list[str]:
        return [key for _, key in self.options if key and key in self.value]

    def show_order(self, sortable: Sequence[str], column: str, descending: bool) -> None:
        """Do nothing, because this list has no headings. The form has a control for the order."""

    def watch(
        self,
        changed: Callable[[], None],
        opened: Callable[[str], None],
        up: Callable[[], None],
        sorted_by: Callable[[str], None] = lambda _column: None,
        key_pressed: Callable[[str], None] = lambda _key: None,
    ) -> None:
        """Call `changed` for a new selection. This list never calls the other functions."""
        self.observe(lambda _change: changed(), "value")

    def focus_if_lost(self) -> None:
        """Do nothing, because only the grid can see where the focus is."""

    def __repr__(self) -> str:
        count = len([key for _, key in self.options if key])
        return f"<PlainRowList: {count} row{'' if count == 1 else 's'}>"


def default_row_list(label: str, columns: dict[str, str]) -> RowList:
    """Create a Grid if anywidget is installed, otherwise a PlainRowList."""
    if find_spec("anywidget") is None:
        return PlainRowList(label, columns)
    from .grid import Grid

    return Grid(label, columns)
