"""The controls for the frequency and the end of a recurrence, and a text field for any other recurrence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

import ipywidgets as widgets

from ....core.events.recurrence_words import recurrence_lines
from ....core.events.rrule import Freq, Start
from ...widgets.field import LABEL, Field, describe, number_field, on_change, set_visible, text_area
from .controls import MonthChoice, RepeatEnd, WeekdaySwitches
from .rule import Repeat

NEVER, CUSTOM = "never", "own"
_FREQUENCIES = (
    ("Does not repeat", NEVER),
    ("Daily", Freq.DAILY),
    ("Weekly", Freq.WEEKLY),
    ("Monthly", Freq.MONTHLY),
    ("Yearly", Freq.YEARLY),
    ("Custom", CUSTOM),
)
_UNITS = {Freq.DAILY: "days", Freq.WEEKLY: "weeks", Freq.MONTHLY: "months", Freq.YEARLY: "years"}
_EXAMPLES = (
    "weekly on Mon, Wed until 2027-02-12\n\nor lines:\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE\nEXDATE;VALUE=DATE:20261223"
)


class RecurrenceBuilder(widgets.VBox):  # type: ignore[misc]
    """The controls for a recurrence. The values follow the start of the event until a person changes the controls."""

    def __init__(self) -> None:
        self._read_lines: tuple[Repeat | None, tzinfo | None, list[str]] = (
            None,
            None,
            [],
        )  # the lines of `read`, kept unless a control changes
        self.frequency = widgets.Dropdown(
            options=_FREQUENCIES, **describe("Repeats", "How often the event takes place"), style=LABEL
        )
        self.interval = number_field(1, "every", "1 is each of them, 2 every other")
        self.unit = widgets.HTML()
        self.weekdays, self.month, self.ends = WeekdaySwitches(), MonthChoice(), RepeatEnd()
        self.text_input = text_area("In words", "Plain words, or lines of RFC 5545", hint=_EXAMPLES, rows=5)
        self.frequency_field, self.text = Field(self.frequency, self.interval, self.unit), Field(self.text_input)
        self.field = Field()
        super().__init__([self.frequency_field, self.weekdays, self.month, self.ends, self.text, self.field])
        on_change(self._update_visibility, self.frequency)
        self._update_visibility()

    def watch(self, changed: Callable[[], None]) -> None:
        for part in (self.frequency_field, self.weekdays, self.month, self.ends, self.text):
            part.watch(changed)

    def field_at(self, path: str) -> Field:
        return self.field

    def set_start_day(self, day: date) -> None:
        """Update the controls that follow the start day of the event."""
        self.weekdays.set_start_day(day)
        self.month.set_start_day(day)
        self.ends.set_start_day(day)

    def lines(self, start: Start) -> list[str]:
        """Return the RFC 5545 lines, or [] without a recurrence. Raises ValueError for an invalid recurrence."""
        if self.frequency.value == NEVER:
            return []
        if self.frequency.value == CUSTOM:
            return lines_from_text(self.text_input.value, start)
        repeat = self.repeat()
        return self._read_lines[2] if self._read_lines[:2] == (repeat, _zone(start)) else [repeat.line(start)]

    def argument(self, lines: list[str], start: Start) -> str | list[str]:
        """Return the argument `recurrence` of `create_event`, which is plain words or else the RFC 5545 lines."""
        words = (
            " ".join(str(self.text_input.value).split()) if self.frequency.value == CUSTOM else self.repeat().words()
        )
        try:
            means = recurrence_lines(words, start)
        except ValueError:
            means = []
        return words if means == lines else lines

    def repeat(self) -> Repeat:
        """Return the recurrence in the controls. Raises ValueError for a missing end date."""
        freq = self.frequency.value
        days: dict[str, Any] = self.month.value if freq == Freq.MONTHLY else {}
        if freq == Freq.WEEKLY:
            days = {"weekdays": self.weekdays.value}
        return Repeat(freq, self.interval.value, **days, **self.ends.value)

    def read(self, lines: Sequence[str], start: Start | None) -> None:
        """Set the controls from RFC 5545 lines, or the text field if the controls cannot represent the lines."""
        repeat = Repeat.read(lines[0], start) if start is not None and len(lines) == 1 else None
        if start is None or repeat is None:
            self.text_input.value = "\n".join(lines)
            self.frequency.value = CUSTOM if lines else NEVER
            return
        self.frequency.value, self.interval.value = repeat.freq, repeat.interval
        if repeat.weekdays:
            self.weekdays.value = repeat.weekdays
        self.month.value = {"month_day": repeat.month_day, "nth": repeat.nth}
        self.ends.value = {"until": repeat.until, "count": repeat.count}
        self._read_lines = (self.repeat(), _zone(start), list(lines))

    def show_lines(self, lines: Sequence[str]) -> None:
        self.field.show_hint("\n".join(lines))

    def _update_visibility(self) -> None:
        way = self.frequency.value
        self.unit.value = _UNITS.get(way, "")
        for part, shown in (
            (self.interval, way in _UNITS),
            (self.unit, way in _UNITS),
            (self.weekdays, way == Freq.WEEKLY),
            (self.month, way == Freq.MONTHLY),
            (self.ends, way in _UNITS),
            (self.text, way == CUSTOM),
        ):
            set_visible(part, shown)


def _zone(start: Start) -> tzinfo | None:
    return start.tzinfo if isinstance(start, datetime) else None


def lines_from_text(text: str, start: Start) -> list[str]:
    """Convert a text with RFC 5545 lines or plain words to RFC 5545 lines. Raises ValueError for other text.

    >>> lines_from_text("daily, 3 times", date(2026, 11, 2))
    ['RRULE:FREQ=DAILY;COUNT=3']
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("Enter a recurrence such as weekly on Mon, Wed until 2027-02-12, or RRULE lines.")
    return recurrence_lines(" ".join(lines), start) if ":" not in text else lines
