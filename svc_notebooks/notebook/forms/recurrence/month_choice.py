"""The control for the day of a month: a number, or a weekday such as the third Tuesday."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, LABEL, Field, describe, on_change, set_visible
from ...widgets.month_table import WEEKDAYS
from .rule import nth_of_month

DAY, NTH = "day", "nth"
_CHOICES = (("Day of the month", DAY), ("Weekday", NTH))
_ORDINALS = (("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("last", -1))
_DAYS = (*((str(day), day) for day in range(1, 32)), ("the last", -1))


class MonthChoice(Field):
    """A day by its number or by its weekday, which follows the start until a control is changed."""

    def __init__(self) -> None:
        self._is_set = self._updating = False
        self.choice = widgets.Dropdown(
            options=_CHOICES, **describe("on", "How the day of the month is given"), style=LABEL
        )
        self.day = _dropdown(_DAYS, "day", "The day of the month; months without it are skipped")
        self.ordinal = _dropdown(_ORDINALS, "the", "Which one of the month")
        self.weekday = _dropdown([(name, n) for n, name in enumerate(WEEKDAYS)], "weekday", "Which day of the week")
        super().__init__(self.choice, self.day, self.ordinal, self.weekday)
        on_change(self._on_change, self.day, self.ordinal, self.weekday)
        on_change(self._update_visibility, self.choice, self.day)
        self._update_visibility()

    @property
    def value(self) -> dict[str, Any]:
        """The arguments of `Repeat`."""
        if self.choice.value == DAY:
            return {"month_day": self.day.value}
        return {"nth": (self.ordinal.value, self.weekday.value)}

    @value.setter
    def value(self, chosen: Mapping[str, Any]) -> None:
        day, nth = chosen.get("month_day"), chosen.get("nth")
        if day is not None:
            self.choice.value, self.day.value, self._is_set = DAY, day, True
        if nth is not None:
            self.choice.value, self._is_set = NTH, True
            self.ordinal.value, self.weekday.value = nth

    def set_start_day(self, day: date) -> None:
        """Set the day on which the event starts."""
        if self._is_set:
            return
        self._updating = True
        self.day.value = day.day
        self.ordinal.value, self.weekday.value = nth_of_month(day)
        self._updating = False

    def _on_change(self) -> None:
        self._is_set = self._is_set or not self._updating

    def _update_visibility(self) -> None:
        by_day = self.choice.value == DAY
        for control, shown in ((self.day, by_day), (self.ordinal, not by_day), (self.weekday, not by_day)):
            set_visible(control, shown)
        self.show_hint("Months without this day are skipped." * (by_day and self.day.value > 28))


def _dropdown(options: Any, label: str, tooltip: str) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, **describe(label, tooltip), style=AUTO_WIDTH, layout={"width": "auto"})
