"""A widget that shows rows in a grid with one tab stop.

Arrow keys and typed letters move between rows, Space selects a row, Enter opens a row. A click on a heading sorts the
rows.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ...notebook.display import count_text

_FOLDER = Path(__file__).parent


class Grid(anywidget.AnyWidget):
    """A grid of selectable rows. `rows` contains the rows, `chosen` contains the ids of the selected rows.

    A row is a dict with the key `id` and a text for each column. Optional keys are `note` (a text below the name),
    `more` (a text that replaces the columns on narrow pages) and `folder` (True for a folder).

    >>> grid = Grid("Files", {"name": "Name", "size": "Size"})
    >>> grid.show([{"id": "a", "name": "a.txt", "size": "1 byte"}], "")
    >>> grid.chosen = ["a"]; grid.ids()
    ['a']
    """

    _esm = (_FOLDER / "grid.js").read_text(encoding="utf-8")
    _css = (_FOLDER / "grid.css").read_text(encoding="utf-8")

    label = traitlets.Unicode("", help="the name of the grid").tag(sync=True)
    columns = traitlets.Dict(help="the heading of each column; the first column has the names").tag(sync=True)
    rows = traitlets.List(traitlets.Dict(), help="the rows from top to bottom").tag(sync=True)
    empty_message = traitlets.Unicode("", help="the text without rows").tag(sync=True)
    chosen = traitlets.List(traitlets.Unicode(), help="the ids of the selected rows").tag(sync=True)
    sortable = traitlets.List(traitlets.Unicode(), help="the columns whose headings sort the rows").tag(sync=True)
    order = traitlets.Dict(help="the column by which the rows are sorted, and whether descending").tag(sync=True)

    def __init__(self, label: str, columns: dict[str, str]) -> None:
        super().__init__(label=label, columns=columns)
        self._handlers: dict[str, Callable[..., None]] = {}
        self.on_msg(lambda _widget, content, _buffers: self.handle_message(content))

    def show(self, rows: Sequence[dict[str, Any]], empty_message: str) -> None:
        """Show rows, or `empty_message` if there are no rows. Selected rows stay selected."""
        row_ids = {row["id"] for row in rows}
        with self.hold_sync():
            self.rows, self.empty_message = list(rows), empty_message
            self.chosen = [row_id for row_id in self.chosen if row_id in row_ids]

    def ids(self) -> list[str]:
        """Return the ids of the selected rows, from top to bottom."""
        return [row["id"] for row in self.rows if row["id"] in self.chosen]

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
        self._handlers = {"open": opened, "up": up, "sort": sorted_by, "key": key_pressed}
        self.observe(lambda _change: changed(), "chosen")

    def handle_message(self, content: dict[str, Any]) -> None:
        """Handle a browser message, which opens a row, goes up, sorts the rows or has a key for the selected rows."""
        values = [str(content[name]) for name in ("id", "column", "key") if name in content]
        if (kind := content.get("kind")) in self._handlers and (kind != "sort" or values[0] in self.sortable):
            self._handlers[kind](*values)

    def focus_if_lost(self) -> None:
        """Move the keyboard focus to the list if no other control has it."""
        self.send({"kind": "focus", "lost": True})

    def __repr__(self) -> str:
        return f"<Grid: {self.label}, {count_text(len(self.rows), 'row')}>"
