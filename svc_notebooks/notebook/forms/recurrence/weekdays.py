"""The weekdays of a recurrence as seven checkboxes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import ipywidgets as widgets

from ...widgets.field import Field, heading, on_change
from ...widgets.month_table import WEEKDAYS


class WeekdaySwitches(Field):
    """Monday to Sunday. `value` has their numbers, Monday is 0. They follow the start until one is changed."""

    def __init__(self) -> None:
        self._is_set = self._updating = False
        self.days = [
            widgets.Checkbox(description=name, tooltip=name, indent=False, layout={"width": "auto"})
            for name in WEEKDAYS
        ]
        super().__init__(heading("on"), *self.days)
        self.add_class("svc-days")
        on_change(self._on_change, *self.days)

    @property
    def value(self) -> tuple[int, ...]:
        """The selected weekdays."""
        return tuple(number for number, day in enumerate(self.days) if day.value)

    @value.setter
    def value(self, numbers: Sequence[int]) -> None:
        self._set(numbers)
        self._is_set = True

    def set_start_day(self, day: date) -> None:
        """Set the day on which the event starts."""
        if not self._is_set:
            self._set([day.weekday()])
        stays_out = day.weekday() not in self.value
        self.show_hint(f"The first instance is on {day:%A}, the start of the event." * stays_out)

    def _set(self, numbers: Sequence[int]) -> None:
        self._updating = True
        for number, switch in enumerate(self.days):
            switch.value = number in numbers
        self._updating = False

    def _on_change(self) -> None:
        self._is_set = self._is_set or not self._updating
