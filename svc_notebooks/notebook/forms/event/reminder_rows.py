"""The controls for the reminders of an event, which are the calendar's default, no reminders, or custom reminders."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as widgets

from ....core.events.field_table import MAX_REMINDERS as MOST
from ...widgets.editable_rows import EditableRows
from ...widgets.field import AUTO_WIDTH, LABEL, Field, describe, number_field, on_change, set_visible, small_button

if TYPE_CHECKING:
    from ....core.resources.events import Reminder, Reminders

CALENDAR, NONE, OWN = "calendar", "none", "own"
_MODES = (("Default", CALENDAR), ("None", NONE), ("Custom", OWN))
_METHODS = (("Notification", "popup"), ("E-mail", "email"))
_KNOWN = {method for _, method in _METHODS}
_UNITS = ((7 * 24 * 60, "week"), (24 * 60, "day"), (60, "hour"), (1, "minute"))


def before_text(minutes: int) -> str:
    """Return the time from a reminder to the event as text, in the largest unit that divides `minutes`.

    >>> before_text(1440), before_text(90)
    ('1 day before', '90 minutes before')
    """
    size, name = next((unit for unit in _UNITS if minutes and minutes % unit[0] == 0), _UNITS[-1])
    count = minutes // size
    return f"{count} {name}{'' if count == 1 else 's'} before" if minutes else "at the start"


class ReminderRow(Field):
    """A row for one reminder, with the method and the minutes before the start."""

    def __init__(self, method: str = "popup", minutes: int = 10) -> None:
        self.method = widgets.Dropdown(
            options=_METHODS,
            value=method,
            **describe("By", "How the reminder is sent"),
            style=AUTO_WIDTH,
            layout={"width": "auto"},
        )
        self.minutes = number_field(minutes, "minutes before", "Minutes before the start, 0 to 40320 (four weeks)")
        self.text = widgets.HTML()
        super().__init__(self.method, self.minutes, self.text)
        self.minutes.observe(lambda _change: self._show_text(), "value")
        self._show_text()

    @property
    def value(self) -> Reminder:
        return {"method": self.method.value, "minutes": self.minutes.value}

    def watch(self, changed: Callable[[], None]) -> None:
        on_change(changed, self.method, self.minutes)

    def _show_text(self) -> None:
        minutes = self.minutes.value
        self.text.value = before_text(minutes) if minutes >= 0 else ""


class ReminderRows(EditableRows[ReminderRow]):
    """A choice between default, no and custom reminders, and a row for each custom reminder."""

    def __init__(self) -> None:
        super().__init__(lambda row: False, MOST, f"An event has at most {MOST} reminders: remove one first.")
        self.way = widgets.RadioButtons(
            options=_MODES,
            orientation="horizontal",
            **describe("Reminders", "The reminders of the calendar, none, or your own"),
            style=LABEL,
            layout={"width": "auto"},
        )
        self.add = small_button("Add reminder", f"Add a row, up to {MOST}", lambda: self.append(ReminderRow()))
        self.choice = Field(self.way, self.add)
        self.children = [self.choice, self.box, self.note]
        self.way.observe(lambda _change: self._update_visibility(), "value")
        self._update_visibility()

    @property
    def value(self) -> Reminders | None:
        """The event field `reminders`, or None for the default of the calendar."""
        if self.way.value == CALENDAR:
            return None
        rows = [row.value for row in self.rows] if self.way.value == OWN else []
        return {"useDefault": False, "overrides": rows} if rows else {"useDefault": False}

    @value.setter
    def value(self, reminders: Reminders | None) -> None:
        settings = reminders or {"useDefault": True}
        overrides = settings.get("overrides") or []
        self.clear()
        for override in overrides:
            if override.get("method") in _KNOWN and isinstance(override.get("minutes"), int):
                self.append(ReminderRow(override["method"], override["minutes"]))
        self.way.value = OWN if self.rows else CALENDAR if settings.get("useDefault") else NONE

    def _update_visibility(self) -> None:
        set_visible(self.add, self.way.value == OWN)
        set_visible(self.box, self.way.value == OWN)
        if self.way.value == OWN and not self.rows:
            self.append(ReminderRow())
        self.notify()
