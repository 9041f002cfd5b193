"""A list of rows that a person can add and remove, such as guests, reminders and attachments."""

from __future__ import annotations

import re
from collections.abc import Callable
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
        row.watch(self.notify)
        remover = small_button("Remove", "Remove this row", lambda: self.remove(row))
        self._set([*self.rows, row], [*self.removers, remover])
        return True

    def remove(self, row: R) -> None:
        kept = [pair for pair in zip(self.rows, self.removers, strict=True) if pair[0] is not row]
        self._set([kept_row for kept_row, _ in kept], [button for _, button in kept])

    def clear(self) -> None:
        self._set([], [])

    def notify(self) -> None:
        """Call all functions that were passed to `watch`."""
        for changed in self._changed:
            changed()

    def _set(self, rows: list[R], removers: list[widgets.Button]) -> None:
        self.rows, self.removers = rows, removers
        for row, button in zip(rows, removers, strict=True):
            row.line.children = [*row.controls, button]
        self.box.children = rows
        self.note.show_problems(())
        self.notify()
