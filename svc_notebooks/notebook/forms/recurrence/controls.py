"""The controls for the weekdays, the day of the month and the end of a recurrence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import ipywidgets as widgets

from ...widgets.field import AUTO_WIDTH, LABEL, Field, describe, heading, number_field, on_change, set_visible
from ...widgets.month_table import WEEKDAYS, month_after
from .rule import nth_of_month


class StartField(Field):
    """A field whose value follows the start of the event until a person changes the value."""

    _is_set = _updating = False

    def _follow(self, *controls: widgets.Widget) -> None:
        on_change(self._on_change, *controls)

    def _on_change(self) -> None:
        self._is_set = self._is_set or not self._updating

    def set_start_day(self, day: date) -> None:
        """Set the value that fits an event on this day, unless a person has changed the value."""
        if not self._is_set:
            self._updating = True
            self._propose(day)
            self._updating = False

    def _propose(self, day: date) -> None:
        """Set the controls to the default values for an event that starts on this day."""


class WeekdaySwitches(StartField):
    """Checkboxes for Monday (0) to Sunday (6), which follow the event start until a person changes a checkbox."""

    def __init__(self) -> None:
        self.days = [
            widgets.Checkbox(description=name, tooltip=name, indent=False, layout={"width": "auto"})
            for name in WEEKDAYS
        ]
        super().__init__(heading("on"), *self.days)
        self.add_class("svc-days")
        self._follow(*self.days)

    @property
    def value(self) -> tuple[int, ...]:
        return tuple(number for number, day in enumerate(self.days) if day.value)

    @value.setter
    def value(self, numbers: Sequence[int]) -> None:
        self._set(numbers)
        self._is_set = True

    def set_start_day(self, day: date) -> None:
        """Select the weekday of this day, or show a hint if a person has not selected this weekday."""
        super().set_start_day(day)
        stays_out = day.weekday() not in self.value
        self.show_hint(f"The first instance is on {day:%A}, the start of the event." * stays_out)

    def _propose(self, day: date) -> None:
        self._set([day.weekday()])

    def _set(self, numbers: Sequence[int]) -> None:
        for number, switch in enumerate(self.days):
            switch.value = number in numbers


DAY, NTH = "day", "nth"
_DAY_CHOICES = (("Day of the month", DAY), ("Weekday", NTH))
_ORDINALS = (("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("last", -1))
_DAYS = (*((str(day), day) for day in range(1, 32)), ("the last", -1))


class MonthChoice(StartField):
    """A choice of a day of the month by number, such as 15, or by weekday, such as the first Monday."""

    def __init__(self) -> None:
        self.choice = widgets.Dropdown(
            options=_DAY_CHOICES, **describe("on", "How the day of the month is given"), style=LABEL
        )
        self.day = _dropdown(_DAYS, "day", "The day of the month; months without it are skipped")
        self.ordinal = _dropdown(_ORDINALS, "the", "Which one of the month")
        self.weekday = _dropdown([(name, n) for n, name in enumerate(WEEKDAYS)], "weekday", "Which day of the week")
        super().__init__(self.choice, self.day, self.ordinal, self.weekday)
        self._follow(self.day, self.ordinal, self.weekday)
        on_change(self._update_visibility, self.choice, self.day)
        self._update_visibility()

    @property
    def value(self) -> dict[str, Any]:
        """The argument `month_day` or `nth` of `Repeat`, as a dict."""
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

    def _propose(self, day: date) -> None:
        self.day.value = day.day
        self.ordinal.value, self.weekday.value = nth_of_month(day)

    def _update_visibility(self) -> None:
        by_day = self.choice.value == DAY
        for control, shown in ((self.day, by_day), (self.ordinal, not by_day), (self.weekday, not by_day)):
            set_visible(control, shown)
        self.show_hint("Months without this day are skipped." * (by_day and self.day.value > 28))


def _dropdown(options: Any, label: str, tooltip: str) -> widgets.Dropdown:
    return widgets.Dropdown(options=options, **describe(label, tooltip), style=AUTO_WIDTH, layout={"width": "auto"})


NEVER, UNTIL, COUNT = "never", "until", "count"
_ENDS = (("Never", NEVER), ("On a date", UNTIL), ("After a number of times", COUNT))
_PROPOSED_MONTHS = 3


class RepeatEnd(StartField):
    """The controls for the end of the recurrence, proposed about three months after the start."""

    def __init__(self) -> None:
        self.choice = widgets.Dropdown(options=_ENDS, **describe("Ends", "When the recurrence ends"), style=LABEL)
        self.until = widgets.DatePicker(
            **describe("last date", "The last date on which the event can take place"), style=AUTO_WIDTH
        )
        self.count = number_field(10, "times", "The number of instances")
        super().__init__(self.choice, self.until, self.count)
        self._follow(self.until)
        on_change(self._update_visibility, self.choice)
        self._update_visibility()

    @property
    def value(self) -> dict[str, Any]:
        """A dict with the argument `until` or `count` of `Repeat`, or {}. Raises ValueError for a missing end date."""
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

    def _propose(self, day: date) -> None:
        self.until.value = month_after(day, _PROPOSED_MONTHS)

    def _update_visibility(self) -> None:
        set_visible(self.until, self.choice.value == UNTIL)
        set_visible(self.count, self.choice.value == COUNT)
