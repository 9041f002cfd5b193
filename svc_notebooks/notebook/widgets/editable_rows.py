"""A list of rows that a person can add and remove, such as guests, reminders and attachments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import ipywidgets as widgets

from .field import Field, small_button

R = TypeVar("R", bound=Field)


class EditableRows(widgets.VBox, Generic[R]):  # type: ignore[misc]
    """A list of rows, each with a Remove button. `note` shows the problems of the whole list.

    `filled` contains the rows that are not blank. In a path such as attendees[1], 1 is an index into `filled`.
    """

    def __init__(self, is_blank: Callable[[R], bool], maximum: int | None = None, too_many_message: str = "") -> None:
        self.rows: list[R] = []
        self.removers: list[widgets.Button] = []
        self._is_blank, self._maximum, self._too_many_message = is_blank, maximum, too_many_message
        self._changed: list[Callable[[], None]] = []
        self.box = widgets.VBox()
        self.box.add_class("svc-indent")
        self.note = Field()
        super().__init__([self.box, self.note])

    @property
    def filled(self) -> list[R]:
        return [row for row in self.rows if not self._is_blank(row)]

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed.append(changed)

    def field(self, index: int) -> Field:
        """Return the row with this index in `filled`, or `note` if there is no such row."""
        return self.filled[index] if index < len(self.filled) else self.note

    def field_at(self, path: str) -> Field:
        """Return the row for a path such as attendees[1].email, or `note` if there is no such row."""
        match = re.search(r"\[(\d+)\]", path)
        return self.field(int(match[1])) if match else self.note

    def append(self, row: R) -> bool:
        """Add a row at the end. If there are `maximum` rows already, show a message and return False."""
        if self._maximum is not None and len(self.rows) >= self._maximum:
            self.note.show_problems([self._too_many_message])
            return False
        self.replace([*self.rows, row])
        return True

    def remove(self, row: R) -> None:
        self.replace([kept_row for kept_row in self.rows if kept_row is not row])

    def clear(self) -> None:
        self.replace([])

    def notify(self) -> None:
        """Call all functions that were passed to `watch`."""
        for changed in self._changed:
            changed()

    def replace(self, rows: Sequence[R]) -> None:
        """Replace the rows. The new rows can include rows that are already shown."""
        removers = dict(zip(self.rows, self.removers, strict=True))
        for row in rows:
            if row not in removers:
                removers[row] = self._remover(row)
                row.line.children = [*row.controls, removers[row]]
                row.watch(self.notify)
        self.rows, self.removers = [*rows], [removers[row] for row in rows]
        self.box.children = self.rows
        self.note.show_problems(())
        self.notify()

    def _remover(self, row: R) -> widgets.Button:
        return small_button("Remove", "Remove this row", lambda: self.remove(row))
