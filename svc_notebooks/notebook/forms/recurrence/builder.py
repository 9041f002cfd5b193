"""How an event repeats: switches for what is usual, and lines or plain words for everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

import ipywidgets as widgets

from ....core.events.plain_words import recurrence_lines
from ....core.events.rrule import Freq, Start
from ...widgets.field import LABEL, Field, labelled, number_field, on_change, set_visible, text_area
from .end import RepeatEnd
from .month_choice import MonthChoice
from .rule import Repeat
from .weekdays import WeekdaySwitches

NEVER, OWN = "never", "own"
_WAYS = (
    ("does not repeat", NEVER),
    ("daily", Freq.DAILY),
    ("weekly", Freq.WEEKLY),
    ("monthly", Freq.MONTHLY),
    ("yearly", Freq.YEARLY),
    ("in words or lines of my own", OWN),
)
_UNITS = {Freq.DAILY: "days", Freq.WEEKLY: "weeks", Freq.MONTHLY: "months", Freq.YEARLY: "years"}
_EXAMPLES = (
    "weekly on Mon, Wed until 2027-02-12\n\nor lines:\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE\nEXDATE;VALUE=DATE:20261223"
)


class RecurrenceBuilder(widgets.VBox):  # type: ignore[misc]
    """The switches; `lines` are what is sent. What nobody has set follows the day on which the event starts."""

    def __init__(self) -> None:
        self._given: tuple[Repeat | None, tzinfo | None, list[str]] = (None, None, [])  # lines as they came
        self.way = widgets.Dropdown(
            options=_WAYS, **labelled("Repeats", "How often the event takes place"), style=LABEL
        )
        self.interval = number_field(1, "every", "1: each of them; 2: every other")
        self.unit = widgets.HTML()
        self.weekdays, self.month, self.ends = WeekdaySwitches(), MonthChoice(), RepeatEnd()
        self.own = text_area("In words", "Plain words, or one line of RFC 5545 below the other", hint=_EXAMPLES, rows=5)
        self.how, self.text = Field(self.way, self.interval, self.unit), Field(self.own)
        self.field = Field()
        super().__init__([self.how, self.weekdays, self.month, self.ends, self.text, self.field])
        on_change(self._adapt, self.way)
        self._adapt()

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this whenever a switch stands elsewhere."""
        for part in (self.how, self.weekdays, self.month, self.ends, self.text):
            part.watch(changed)

    def follow(self, day: date) -> None:
        """The event starts on this day now."""
        self.weekdays.follow(day)
        self.month.follow(day)
        self.ends.follow(day)

    def lines(self, start: Start) -> list[str]:
        """The lines of an event that begins at `start`. Raises ValueError for words that nobody understands."""
        if self.way.value == NEVER:
            return []
        if self.way.value == OWN:
            return own_lines(self.own.value, start)
        repeat = self.repeat()
        return self._given[2] if self._given[:2] == (repeat, _zone(start)) else [repeat.line(start)]

    def said(self, lines: list[str], start: Start) -> str | list[str]:
        """These lines as a cell would say them: in plain words, where words mean them."""
        words = " ".join(str(self.own.value).split()) if self.way.value == OWN else self.repeat().words()
        try:
            means = recurrence_lines(words, start)
        except ValueError:
            means = []
        return words if means == lines else lines

    def repeat(self) -> Repeat:
        """What the switches say."""
        freq = self.way.value
        days: dict[str, Any] = self.month.value if freq == Freq.MONTHLY else {}
        if freq == Freq.WEEKLY:
            days = {"weekdays": self.weekdays.value}
        return Repeat(freq, self.interval.value, **days, **self.ends.value)

    def read(self, lines: Sequence[str], start: Start | None) -> None:
        """Set the switches to these lines; what they cannot say stands in the text, as without a start."""
        found = Repeat.read(lines[0], start) if start is not None and len(lines) == 1 else None
        if start is None or found is None:
            self.own.value = "\n".join(lines)
            self.way.value = OWN if lines else NEVER
            return
        self.way.value, self.interval.value = found.freq, found.interval
        if found.weekdays:
            self.weekdays.value = found.weekdays
        self.month.value = {"month_day": found.month_day, "nth": found.nth}
        self.ends.value = {"until": found.until, "count": found.count}
        self._given = (self.repeat(), _zone(start), list(lines))

    def tell(self, lines: Sequence[str]) -> None:
        """Show the lines that are sent."""
        self.field.show_hint("\n".join(lines))

    def _adapt(self) -> None:
        way = self.way.value
        self.unit.value = _UNITS.get(way, "")
        for part, shown in (
            (self.interval, way in _UNITS),
            (self.unit, way in _UNITS),
            (self.weekdays, way == Freq.WEEKLY),
            (self.month, way == Freq.MONTHLY),
            (self.ends, way in _UNITS),
            (self.text, way == OWN),
        ):
            set_visible(part, shown)


def _zone(start: Start) -> tzinfo | None:
    return start.tzinfo if isinstance(start, datetime) else None


def own_lines(text: str, start: Start) -> list[str]:
    """What a person wrote: lines as they are, words as the lines that they mean.

    Raises ValueError, with what can be written, for words that nobody understands.

    >>> own_lines("daily, 3 times", date(2026, 11, 2))
    ['RRULE:FREQ=DAILY;COUNT=3']
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("Say how it repeats, such as weekly on Mon, Wed until 2027-02-12, or give RRULE lines.")
    return recurrence_lines(" ".join(lines), start) if _are_words(text) else lines


def _are_words(text: str) -> bool:
    return ":" not in text
