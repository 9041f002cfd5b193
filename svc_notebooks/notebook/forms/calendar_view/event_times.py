"""Computes the times of an event that a person moves or lengthens, and converts them to arguments of calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from ....core.events.instances import duration
from ....core.events.rrule import Start
from ....core.events.times import print_time, read_time
from ....core.time_zones import zone
from .shown_event import Span, span_of

if TYPE_CHECKING:
    from ....core.resources.events import Event


@dataclass(frozen=True, slots=True)
class Move:
    """A change of the times of an event, in the clock time of the view.

    `days` and `minutes` move the start. `length` is added to the length of the event, in days for an all-day event and
    otherwise in minutes.
    """

    days: int = 0
    minutes: int = 0
    length: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """The start and the exclusive end of an event, both dates or both datetimes in their own time zones."""

    start: Start
    end: Start

    @classmethod
    def of(cls, event: Event) -> Times:
        return cls(read_time(event["start"]), read_time(event["end"]))

    def moved(self, move: Move, view_zone: tzinfo) -> Times:
        """Return the times after a move in the clock of `view_zone`. Raises ValueError if no length remains."""
        start, end = self.start, self.end
        if not isinstance(start, datetime) or not isinstance(end, datetime):
            days = timedelta(days=move.days)
            moved = Times(start + days, end + days + timedelta(days=move.length))
        else:
            clock = start.astimezone(view_zone).replace(tzinfo=None)
            clock += timedelta(days=move.days, minutes=move.minutes)
            begin = clock.replace(tzinfo=view_zone).astimezone(UTC)
            finish = begin + duration(start, end) + timedelta(minutes=move.length)
            moved = Times(begin.astimezone(start.tzinfo), finish.astimezone(end.tzinfo))
        if duration(moved.start, moved.end) <= timedelta():
            raise ValueError("An event must end after its start.")
        return moved

    def shift_to(self, other: Times) -> timedelta:
        """Return by how much the clock time of the start differs in other times of the same event."""
        return _clock(other.start) - _clock(self.start)

    def shifted(self, shift: timedelta, longer: timedelta) -> Times:
        """Return the times with the start at another clock time in its own zone, and a length that is `longer`."""
        start, end = self.start, self.end
        if not isinstance(start, datetime) or not isinstance(end, datetime):
            return Times(start + shift, end + shift + longer)
        begin = (start.replace(tzinfo=None) + shift).replace(tzinfo=start.tzinfo).astimezone(UTC)
        finish = begin + duration(start, end) + longer
        return Times(begin.astimezone(start.tzinfo), finish.astimezone(end.tzinfo))

    def fields(self, event: Event) -> dict[str, Any]:
        """Return the fields start and end, in the time zones of the event."""
        times = ((self.start, event["start"]), (self.end, event["end"]))
        start, end = (print_time(moment, _zone(moment), old.get("timeZone")) for moment, old in times)
        return {"start": start, "end": end}

    def arguments(self, event: Event) -> dict[str, Any]:
        """Return the arguments of `create_event` and `update_event`, in the time zones of the event."""
        names = [event["start"].get("timeZone"), event["end"].get("timeZone")]
        named: dict[str, Any] = {
            "start": _argument(self.start, names[0]),
            "end": _argument(self.end, names[1] or names[0]),
        }
        if names[0] and isinstance(self.start, datetime):
            named["time_zone"] = names[0]
        if names[1] and names[1] != names[0] and isinstance(self.end, datetime):
            named["end_time_zone"] = names[1]
        return named


def _zone(moment: Start) -> tzinfo:
    return (moment.tzinfo if isinstance(moment, datetime) else None) or UTC


def _clock(moment: Start) -> datetime:
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=None)
    return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001  only for differences


def _argument(moment: Start, time_zone: str | None) -> str:
    """Return a time as text, with its UTC offset if the clock time is ambiguous or the event has no time zone."""
    if not isinstance(moment, datetime):
        return str(moment)
    if time_zone is not None:
        moment = moment.astimezone(zone(time_zone))
        if moment.replace(fold=not moment.fold).utcoffset() == moment.utcoffset():
            moment = moment.replace(tzinfo=None)
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


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
