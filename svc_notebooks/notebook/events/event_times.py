"""The start and the end of an event, and their conversion to fields and to arguments of calls (E-20).

A date stands for a whole day. A value without a time zone is in the time zone of another argument, such as `time_zone`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, TypeAlias
from zoneinfo import ZoneInfo

from ...core.durations import parse_duration
from ...core.errors.caller_warning import warn_caller
from ...core.events.instances import duration
from ...core.events.rrule import Start
from ...core.events.times import TimeError, in_minutes, print_time, read_time
from ...core.http.messages import JSONObject
from ...core.time_arguments import python_time
from ...core.time_zones import zone

if TYPE_CHECKING:
    from ...core.resources.events import Event


When: TypeAlias = date | datetime | str | Mapping[str, str]
End: TypeAlias = When | timedelta | time
"""A time, the length of the event, or a time of day on the day of the start."""
Zone: TypeAlias = str | tzinfo


_WITHOUT_SUMMER_TIME = {"EST": "America/New_York", "MST": "America/Denver"}


def zone_name(argument: str, value: object) -> str | None:
    """Return the IANA name of a time zone (name or ZoneInfo), or None for None. Raises TypeError or ValueError."""
    if value is None:
        return None
    name = value if isinstance(value, str) else _zone_key(value)
    if name is None:
        raise TypeError(f"{argument} must be a name such as 'Europe/Berlin' or a ZoneInfo, not {type(value).__name__}")
    if name in _WITHOUT_SUMMER_TIME:
        warn_caller(f"{argument} {name!r} has no summer time; {_WITHOUT_SUMMER_TIME[name]!r} has it")
    try:
        return zone(name).key
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


def _zone_key(value: Any) -> str | None:
    """Return the IANA name of a tzinfo. Return None if the tzinfo has no name, such as a fixed offset.

    A tzinfo without a name that is UTC in winter and in summer is UTC, as that of dateutil.
    """
    name = getattr(value, "key", None) or getattr(value, "zone", None)
    if isinstance(name, str) or not isinstance(value, tzinfo):
        return name if isinstance(name, str) else None
    is_utc = all(datetime(2026, month, 1, tzinfo=value).utcoffset() == timedelta(0) for month in (1, 7))
    return "UTC" if is_utc else None


def time_object(argument: str, value: object, time_zone: str | None, *, must_exist: bool = False) -> JSONObject:
    """Convert a date, datetime, Timestamp or ISO 8601 str to a time object of the interface. A dict is copied.

    Raises TypeError or ValueError, with the argument's name in the message, if the value is not a time or has no time
    zone, and with `must_exist` if the clock of its time zone skips it.

    >>> time_object("start", "2026-11-02 10:00", "Europe/Berlin")
    {'dateTime': '2026-11-02T10:00:00', 'timeZone': 'Europe/Berlin'}
    >>> time_object("start", date(2026, 11, 2), None)
    {'date': '2026-11-02'}
    """
    if isinstance(value, dict):
        return dict(value)
    moment = python_time(argument, value)
    if must_exist:
        check_exists(argument, moment, time_zone)
    if not isinstance(moment, datetime):
        day: JSONObject = {"date": moment.isoformat()}
        return day | {"timeZone": time_zone} if time_zone else day
    name = time_zone or (_zone_key(moment.tzinfo) if moment.tzinfo else None)
    if name is None and moment.tzinfo is None:
        raise ValueError(f"{argument} is {value!r} without a time zone; give time_zone='Europe/Berlin' or an offset")
    # Drop the nanoseconds of a Timestamp. RFC 3339 has no seconds in offsets.
    plain = datetime.combine(moment.date(), moment.timetz(), moment.tzinfo).replace(fold=moment.fold)
    timed: JSONObject = {"dateTime": (in_minutes(plain) if plain.tzinfo else plain).isoformat()}
    return timed | {"timeZone": name} if name else timed


def in_its_zone(moment: Start, time_zone: str | None) -> Start:
    """Convert a datetime to `time_zone`, if given. A date is returned unchanged.

    A datetime without a zone gets the zone and keeps its clock time.
    """
    if not isinstance(moment, datetime):
        return moment
    tz: tzinfo | None = zone(time_zone) if time_zone else moment.tzinfo
    return moment.replace(tzinfo=tz) if moment.tzinfo is None else moment.astimezone(tz or ZoneInfo("UTC"))


_MINUTE = timedelta(minutes=1)


def offset_text(moment: datetime) -> str:
    """Return the UTC offset of an aware datetime as text, such as "+2" or "+5:30". Minutes are omitted if they are 0.

    >>> from datetime import timezone
    >>> offset_text(datetime(2026, 11, 2, tzinfo=timezone(timedelta(hours=5, minutes=30))))
    '+5:30'
    """
    minutes = round((moment.utcoffset() or timedelta()) / _MINUTE)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours}{f':{rest:02}' if rest else ''}"


# -- converts a duration, a Period and a time of day to the end of an event


DAY = timedelta(days=1)
_FEW_SECONDS = 300
"""The number of seconds below which a duration without a unit is probably in minutes."""
_TIME_OF_DAY = re.compile(r"\d{1,2}(:\d{2}){0,2}", re.ASCII)


def needs_start(arguments: Mapping[str, Any]) -> bool:
    """Return whether the end in these arguments of `create_event` is relative to the start.

    >>> needs_start({"end": "11:00"}), needs_start({"duration": "1h"}), needs_start({"end": "2026-11-02 11:00"})
    (True, True, False)
    """
    end = arguments.get("end")
    return arguments.get("duration") is not None or _is_length(end) or _time_of_day(end) is not None


def without_periods(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with a date or a time for each Period. A Period as start also determines a missing end."""
    times = dict(arguments)
    if type(start := times.get("start")).__name__ == "Period":
        times["start"] = _period_start(start)
        if times.get("end") is None and times.get("duration") is None:
            times["end"] = start
    end: Any = times.get("end")
    if type(end).__name__ == "Period":
        times["end"] = _period_start(end + 1)
    return times


def absolute_times(arguments: Mapping[str, Any], time_zone: str | None, end_time_zone: str | None) -> dict[str, Any]:
    """Return arguments of `create_event` with a date, a time or a dict as start and end, and no `duration`.

    A Period as start is the first time of the period, and as end the time at which the period ends. A start that is a
    Period also determines a missing end. Raises TypeError or ValueError, with the argument's name in the message.

    >>> absolute_times({"start": "2026-11-02", "duration": "2 days"}, None, None)
    {'start': '2026-11-02', 'end': datetime.date(2026, 11, 4)}
    """
    times = without_periods(arguments)
    end, length = times.get("end"), times.pop("duration", None)
    if length is not None and end is not None:
        raise ValueError("duration and end are both given; leave out one of them")
    if isinstance(length, int | float) and 0 < length < _FEW_SECONDS:
        warn_caller(f"duration {length} is in seconds; write '{length} min' for minutes, or '{length}s'")
    if length is not None:
        times["end"] = _end_after("duration", length, times.get("start"), time_zone)
    elif _is_length(end):
        times["end"] = _end_after("end", end, times.get("start"), time_zone)
    elif (clock := _time_of_day(end)) is not None:
        times["end"] = _end_on_same_day(clock, times.get("start"), time_zone, end_time_zone)
    return times


def _is_length(value: Any) -> bool:
    return isinstance(value, timedelta) or type(value).__name__ == "timedelta64"


def _period_start(period: Any) -> Start:
    """Return the first time of a pandas Period, which is a date if the period has a length of one day or more."""
    first: datetime = period.start_time.to_pydatetime()
    is_in_days = first.time() == time() and (period + 1).start_time - period.start_time >= DAY
    return first.date() if is_in_days else first


def _time_of_day(value: Any) -> time | None:
    """Return a time of day from a `datetime.time` or a text such as "11:00", or None for another value."""
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not _TIME_OF_DAY.fullmatch(value.strip()):
        return None
    try:
        return time.fromisoformat(value.strip().zfill(2 + 3 * value.count(":")))
    except ValueError:
        raise ValueError(f"end is {value!r}, which is not a time of day such as 11:00") from None


def _end_after(argument: str, length: Any, start: Any, time_zone: str | None) -> Start:
    span, begin = parse_duration(length, argument), _begin(argument, start, time_zone)
    if not isinstance(begin, datetime) and span % DAY:
        raise ValueError(f"{argument} must be whole days for an all-day event, not {span}")
    try:
        if not isinstance(begin, datetime) or begin.tzinfo is None:
            return begin + span
        return (begin.astimezone(UTC) + span).astimezone(begin.tzinfo)  # despite clock changes
    except OverflowError:
        raise ValueError(f"{argument} is {span}, which ends after the year 9999") from None


def _end_on_same_day(clock: time, start: Any, time_zone: str | None, end_time_zone: str | None) -> datetime:
    """Return a time of day on the day of the start, in the time zone of the end. Raises ValueError."""
    begin = _begin("end", start, time_zone)
    if not isinstance(begin, datetime):
        raise ValueError(f"end is the time {clock:%H:%M}, but start is a date; give a time in start, or a date in end")
    if begin.tzinfo is not None and end_time_zone:
        begin = begin.astimezone(zone(end_time_zone))
    end = datetime.combine(begin, clock, clock.tzinfo or begin.tzinfo)
    if end < begin:
        raise ValueError(f"end is {clock:%H:%M}, which is before the start on the same day; give the date in end too")
    return end


def _begin(argument: str, start: Any, time_zone: str | None) -> Start:
    if start is None:
        raise ValueError(f"{argument} is relative to the start; give start")
    if not isinstance(start, dict):
        return in_its_zone(python_time("start", start), time_zone)
    try:
        return read_time(start)
    except TimeError as error:
        raise ValueError(f"start: {error}") from None


# -- reads times without a time zone in the time zones of a stored event, and finds times that the clock skips


ZONE_OF = {"start": "time_zone", "end": "end_time_zone"}
"""The argument with the time zone of each time."""


def local_times(changes: Mapping[str, Any]) -> list[str]:
    """Return which of the arguments start and end are times without a time zone. Raises TypeError or ValueError.

    >>> local_times({"start": "2026-11-02 10:00", "end": "2026-11-02T11:00+01:00"})
    ['start']
    """
    return [name for name, moment in _times_alone(changes).items() if moment.tzinfo is None]


def _times_alone(changes: Mapping[str, Any]) -> dict[str, datetime]:
    """Return the start and the end of the arguments that are times, unless an argument names their time zone."""
    if changes.get("time_zone") is not None:
        return {}
    alone = {name: changes.get(name) for name, zone in ZONE_OF.items() if changes.get(zone) is None}
    absolute = {
        name: python_time(name, value)
        for name, value in alone.items()
        if not (value is None or isinstance(value, dict) or needs_start({name: value}))
    }
    return {name: moment for name, moment in absolute.items() if isinstance(moment, datetime)}


def event_zones(event: Event, changes: Mapping[str, Any]) -> dict[str, str]:
    """Return the time zones of a stored event as arguments of `update_event`, for times without that argument.

    A time with a zone or an offset, as in the frame of `events()`, does not change the zone of the event either, so
    that a series keeps its clock times. Raises ValueError for a time without a zone and an event without one.
    """
    zones: dict[str, str] = {}
    for name, moment in _times_alone(changes).items():
        time = event["end"] if name == "end" and event["end"].get("timeZone") else event["start"]
        if (key := time.get("timeZone")) is None:
            if moment.tzinfo is not None:
                continue
            raise ValueError(f"{name} has no time zone, and neither has the event; give time_zone='Europe/Berlin'")
        zones[ZONE_OF[name]] = key
    if needs_start(changes) and all(changes.get(name) is None for name in ZONE_OF.values()):
        start_zone, end_zone = (event[name].get("timeZone") for name in ("start", "end"))
        if end_zone and end_zone != start_zone:
            zones["end_time_zone"] = end_zone
    return zones


def check_exists(argument: str, moment: date, time_zone: str | None) -> None:
    """Raise ValueError if a time of day does not exist on its day, because the clock of the time zone skips it.

    >>> check_exists("start", datetime(2026, 3, 29, 2, 30), "Europe/Berlin")
    Traceback (most recent call last):
        ...
    ValueError: start: 02:30 does not exist on 29 March 2026 in Europe/Berlin: the clock skips it; 03:30 exists
    """
    if not isinstance(moment, datetime) or not (moment.tzinfo or time_zone):
        return
    tz = moment.tzinfo or zone(str(time_zone))
    shown = moment.replace(tzinfo=tz).astimezone(UTC).astimezone(tz)
    if shown.replace(tzinfo=None, fold=0) != moment.replace(tzinfo=None, fold=0):
        when = f"{moment:%H:%M} does not exist on {moment.day} {moment:%B %Y} in {tz}"
        raise ValueError(f"{argument}: {when}: the clock skips it; {shown:%H:%M} exists")


@dataclass(frozen=True, slots=True)
class Times:
    """The start and the exclusive end of an event, both dates or both datetimes in their own time zones."""

    start: Start
    end: Start

    @classmethod
    def of(cls, event: Event) -> Times:
        return cls(read_time(event["start"]), read_time(event["end"]))

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
        start, end = (
            print_time(moment, getattr(moment, "tzinfo", None) or UTC, old.get("timeZone")) for moment, old in times
        )
        return {"start": start, "end": end}

    def arguments(self, event: Event) -> dict[str, Any]:
        """Return the arguments of `create_event` and `update_event`, in the time zones of the event.

        The times of an all-day event that becomes a timed one have their own time zone.
        """
        names = [event["start"].get("timeZone"), event["end"].get("timeZone")]
        if isinstance(self.start, datetime) and "date" in event["start"]:
            names = [str(self.start.tzinfo)] * 2
        named: dict[str, Any] = {
            "start": _argument(self.start, names[0]),
            "end": _argument(self.end, names[1] or names[0]),
        }
        if names[0] and isinstance(self.start, datetime):
            named["time_zone"] = names[0]
        if names[1] and names[1] != names[0] and isinstance(self.end, datetime):
            named["end_time_zone"] = names[1]
        return named


def _argument(moment: Start, time_zone: str | None) -> str:
    """Return a time as text, with its UTC offset if the clock time is ambiguous or the event has no time zone."""
    if not isinstance(moment, datetime):
        return str(moment)
    if time_zone is not None:
        moment = moment.astimezone(zone(time_zone))
        if moment.replace(fold=not moment.fold).utcoffset() == moment.utcoffset():
            moment = moment.replace(tzinfo=None)
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")
