"""Computes the times of an event that a person moves or lengthens, or draws in the grid."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from ...core.events.instances import duration
from ...notebook.events.event_times import Times
from .shown_event import Span, span_of


@dataclass(frozen=True, slots=True)
class Move:
    """A change of the times of an event, in the clock time of the view.

    `days` and `minutes` move the start. `length` is added to the length of the event, in days for an all-day event and
    otherwise in minutes. `all_day` makes a timed event an all-day event, or an all-day event one of an hour; it is None
    if the event remains what it is.
    """

    days: int = 0
    minutes: int = 0
    length: int = 0
    all_day: bool | None = None


def moved_times(times: Times, move: Move, view_zone: tzinfo) -> Times:
    """Return the times after a move in the clock of `view_zone`. Raises ValueError if no length remains."""
    start, end = times.start, times.end
    if move.all_day and isinstance(start, datetime):
        span = span_of(start, end, view_zone)
        start, end = span.first, span.last + timedelta(days=1)
    elif move.all_day is False and not isinstance(start, datetime):
        start = datetime.combine(start, time(), view_zone)
        end = start + timedelta(hours=1)
    if isinstance(start, datetime):
        shift, longer = timedelta(days=move.days, minutes=move.minutes), timedelta(minutes=move.length)
        moved = Times(start.astimezone(view_zone), end).shifted(shift, longer)
        moved = Times(moved.start.astimezone(start.tzinfo), moved.end)  # type: ignore[union-attr]
    else:
        moved = Times(start, end).shifted(timedelta(days=move.days), timedelta(days=move.length))
    if duration(moved.start, moved.end) <= timedelta():
        raise ValueError("An event must end after its start.")
    return moved


@dataclass(frozen=True, slots=True)
class NewTimes:
    """The days of a new event, with the minutes of its start and its end in their days, or None for an all-day event.

    >>> NewTimes(date(2026, 11, 2), date(2026, 11, 2), 600, 660).arguments("Europe/Berlin")
    {'start': '2026-11-02 10:00', 'end': '2026-11-02 11:00', 'time_zone': 'Europe/Berlin'}
    """

    first: date
    last: date
    begin: int | None = None
    end: int | None = None

    @property
    def text(self) -> str:
        """The times as text, such as "Monday 2 November 2026, 10:00 to 11:00"."""
        if self.begin is None or self.end is None:
            return Span(self.first, time(), self.last, time.max, True).text
        begin, end = _at(self.first, self.begin), _at(self.last, self.end)
        return span_of(begin.replace(tzinfo=UTC), end.replace(tzinfo=UTC), UTC).text

    def arguments(self, time_zone: str) -> dict[str, str]:
        """Return the arguments of `create_event` for the times."""
        if self.begin is None or self.end is None:
            return {"start": str(self.first), "end": str(self.last + timedelta(days=1))}
        start, end = _at(self.first, self.begin), _at(self.last, self.end)
        return {"start": f"{start:%Y-%m-%d %H:%M}", "end": f"{end:%Y-%m-%d %H:%M}", "time_zone": time_zone}

    def fields(self, time_zone: str) -> dict[str, dict[str, str]]:
        """Return the event fields for the times."""
        arguments = self.arguments(time_zone)
        if "time_zone" not in arguments:
            return {name: {"date": text} for name, text in arguments.items()}
        times = {name: f"{arguments[name].replace(' ', 'T')}:00" for name in ("start", "end")}
        return {name: {"dateTime": text, "timeZone": time_zone} for name, text in times.items()}


def _at(day: date, minutes: int) -> datetime:
    return datetime(day.year, day.month, day.day) + timedelta(minutes=minutes)  # noqa: DTZ001  a clock time
