"""The control for the end of a recurrence: never, on a day, or after a number of instances."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, LABEL, Field, describe, number_field, on_change, set_visible
from ...widgets.month_table import month_after

NEVER, UNTIL, COUNT = "never", "until", "count"
_CHOICES = (("Never", NEVER), ("On a date", UNTIL), ("After a number of times", COUNT))
_MONTHS = 3


class RepeatEnd(Field):
    """The end of the recurrence. The first proposal is some months after the start."""

    def __init__(self) -> None:
        self._is_set = self._updating = False
        self.choice = widgets.Dropdown(options=_CHOICES, **describe("Ends", "When the recurrence ends"), style=LABEL)
        self.until = widgets.DatePicker(
            **describe("last date", "The last date on which the event can take place"), style=AUTO_WIDTH
        )
        self.count = number_field(10, "times", "The number of instances")
        super().__init__(self.choice, self.until, self.count)
        on_change(self._on_change, self.until)
        on_change(self._update_visibility, self.choice)
        self._update_visibility()

    @property
    def value(self) -> dict[str, Any]:
        """The arguments of `Repeat`. Raises ValueError for a missing date."""
        if self.choice.value == UNTIL and self.until.value is None:
            raise ValueError("Enter the last date.")
        return {UNTIL: {UNTIL: self.until.value}, COUNT: {COUNT: self.count.value}}.get(self.choice.value, {})

    @value.setter
    def value(self, chosen: Mapping[str, Any]) -> None:
        until, count = chosen.get(UNTIL), chosen.get(COUNT)
        if until is not None:
            self.until.value = until
        if count is not None:
            self.count.value = count
        self.choice.value = UNTIL if until is not None else COUNT if count is not None else NEVER

    def set_start_day(self, day: date) -> None:
        """Set the day on which the event starts."""
        if not self._is_set:
            self._updating = True
            self.until.value = month_after(day, _MONTHS)
            self._updating = False

    def _on_change(self) -> None:
        self._is_set = self._is_set or not self._updating

    def _update_visibility(self) -> None:
        set_visible(self.until, self.choice.value == UNTIL)
        set_visible(self.count, self.choice.value == COUNT)
