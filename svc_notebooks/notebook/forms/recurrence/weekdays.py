"""The days of a week as seven switches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import ipywidgets as widgets

from ...widgets.field import Field, heading, on_change
from ...widgets.month_table import WEEKDAYS


class WeekdaySwitches(Field):
    """Monday to Sunday; `value` are their numbers, Monday 0. Until one is touched the start's day alone is on."""

    def __init__(self) -> None:
        self._mine = self._setting = False
        self.days = [
            widgets.Checkbox(description=name, tooltip=name, indent=False, layout={"width": "auto"})
            for name in WEEKDAYS
        ]
        super().__init__(heading("on"), *self.days)
        self.add_class("svc-days")
        on_change(self._touched, *self.days)

    @property
    def value(self) -> tuple[int, ...]:
        """The days that are on."""
        return tuple(number for number, day in enumerate(self.days) if day.value)

    @value.setter
    def value(self, numbers: Sequence[int]) -> None:
        self._set(numbers)
        self._mine = True

    def follow(self, day: date) -> None:
        """The event starts on this day now."""
        if not self._mine:
            self._set([day.weekday()])
        stays_out = day.weekday() not in self.value
        self.show_hint(f"The first instance is on {day:%A} all the same: that is when the event starts." * stays_out)

    def _set(self, numbers: Sequence[int]) -> None:
        self._setting = True
        for number, switch in enumerate(self.days):
            switch.value = number in numbers
        self._setting = False

    def _touched(self) -> None:
        self._mine = self._mine or not self._setting
