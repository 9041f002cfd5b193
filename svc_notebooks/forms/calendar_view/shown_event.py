"""An event in the calendar view: its times in the time zone of the view, its colour, and its row for the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from ...core.events.times import read_time
from ...core.resources.colors import EVENT_COLORS
from .period import day_text

if TYPE_CHECKING:
    from ...core.resources.calendars import CalendarListEntry
    from ...core.resources.events import Event

WRITABLE_ROLES = ("owner", "writer")
_DAY = timedelta(days=1)
_DAY_MINUTES = 24 * 60
_NO_COLOR = "#8c8c8c"


class Span(NamedTuple):
    """The days and the local times of an event. `last` is the last day, on which the event ends at `end`."""

    first: date
    begin: time
    last: date
    end: time
    all_day: bool

    @property
    def text(self) -> str:
        """The days and times as text, such as "Monday 2 November 2026, 10:00 to 11:30"."""
        days = day_text(self.first) if self.first == self.last else f"{day_text(self.first)} to {day_text(self.last)}"
        if self.all_day:
            return f"{days}, all day"
        begin, end = f"{self.begin:%H:%M}", f"{self.end:%H:%M}" if self.end != time.max else "24:00"
        if self.first == self.last:
            return f"{days}, {begin} to {end}"
        return f"{day_text(self.first)}, {begin} to {day_text(self.last)}, {end}"


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """An event or an instance of the list, with the entry of its calendar."""

    event: Event
    calendar: CalendarListEntry

    @property
    def id(self) -> str:
        return str(self.event["id"])

    @property
    def calendar_id(self) -> str:
        return calendar_id(self.calendar)

    @property
    def key(self) -> str:
        """The key of the event in the grid, because calendars can have events of the same id."""
        return f"{self.calendar_id}/{self.id}"

    @property
    def title(self) -> str:
        return event_name(self.event)

    @property
    def series_id(self) -> str | None:
        """The id of the recurring event of which this is an instance, or None."""
        return self.event.get("recurringEventId")

    @property
    def editable(self) -> bool:
        return self.calendar.get("accessRole") in WRITABLE_ROLES

    @property
    def color(self) -> str:
        color = EVENT_COLORS.get(str(self.event.get("colorId")))
        return color.background if color else str(self.calendar.get("backgroundColor") or _NO_COLOR)

    def span(self, tz: tzinfo) -> Span:
        """Return the days and times in a time zone. An end at midnight belongs to the day before."""
        return span_of(read_time(self.event["start"]), read_time(self.event["end"]), tz)

    def row(self, tz: tzinfo) -> dict[str, Any]:
        """Return the row for the grid, with days as ISO dates and times as minutes since midnight."""
        span = self.span(tz)
        begin, end = _minutes(span.begin), _minutes(span.end)
        days = (span.last - span.first).days
        return {
            "key": self.key,
            "title": self.title,
            "label": self._label(span),
            "first": span.first.isoformat(),
            "last": span.last.isoformat(),
            "begin": begin,
            "end": end,
            "allDay": span.all_day,
            "bar": span.all_day or days * _DAY_MINUTES + end - begin >= _DAY_MINUTES,
            "color": self.color,
            "editable": self.editable,
            "tentative": self.event.get("status") == "tentative",
        }

    def _label(self, span: Span) -> str:
        parts = [
            self.title,
            span.text,
            "repeats" if self.series_id else "",
            "tentative" if self.event.get("status") == "tentative" else "",
            f"calendar {calendar_name(self.calendar)}",
            "" if self.editable else "read-only",
        ]
        return ", ".join(filter(None, parts))


def event_name(event: Mapping[str, Any]) -> str:
    """Return the title of an event as text, also for an event without one."""
    return str(event.get("summary") or "").strip() or "(no title)"


def has_other_guests(event: Mapping[str, Any]) -> bool:
    """Return whether somebody else than the user of the calendar is a guest of an event."""
    return any(not guest.get("self") for guest in event.get("attendees") or ())


def writable_calendars(entries: Sequence[CalendarListEntry]) -> list[tuple[str, str]]:
    """Return the name and the id for calls of each calendar that the user can write to."""
    writable = [entry for entry in entries if entry.get("accessRole") in WRITABLE_ROLES]
    return [(calendar_name(entry), calendar_id(entry)) for entry in writable]


def calendar_id(entry: CalendarListEntry) -> str:
    """Return the calendar id for calls, which is "primary" for the primary calendar."""
    return "primary" if entry.get("primary") else str(entry["id"])


def calendar_name(entry: CalendarListEntry) -> str:
    return str(entry.get("summary") or entry["id"])


def span_of(start: date | datetime, end: date | datetime, tz: tzinfo) -> Span:
    """Return the days and the local times between two times in a time zone."""
    if not isinstance(start, datetime) or not isinstance(end, datetime):
        return Span(start, time(), max(start, end - _DAY), time.max, True)
    begin, finish = start.astimezone(tz), end.astimezone(tz)
    if finish.time() == time() and finish.date() > begin.date():
        return Span(begin.date(), begin.time(), finish.date() - _DAY, time.max, False)
    return Span(begin.date(), begin.time(), finish.date(), finish.time(), False)


def _minutes(clock: time) -> int:
    return _DAY_MINUTES if clock == time.max else clock.hour * 60 + clock.minute
