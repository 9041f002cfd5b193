"""Converts Python dates and times to the time objects of the interface (E-20).

A date stands for a whole day. A value without a time zone is in the time zone of another argument, such as `time_zone`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from ..core.errors.caller_warning import warn_caller
from ..core.events.rrule import Start
from ..core.events.times import in_minutes
from ..core.http.messages import JSONObject
from ..core.time_arguments import python_time
from ..core.time_zones import zone

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


def time_object(argument: str, value: object, time_zone: str | None) -> JSONObject:
    """Convert a date, datetime, Timestamp or ISO 8601 str to a time object of the interface. A dict is copied.

    Raises TypeError or ValueError, with the argument's name in the message, if the value is not a time or has no time
    zone.

    >>> time_object("start", "2026-11-02 10:00", "Europe/Berlin")
    {'dateTime': '2026-11-02T10:00:00', 'timeZone': 'Europe/Berlin'}
    >>> time_object("start", date(2026, 11, 2), None)
    {'date': '2026-11-02'}
    """
    if isinstance(value, dict):
        return dict(value)
    moment = python_time(argument, value)
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
