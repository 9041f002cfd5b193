"""Reads and prints the times of events, `{"date"}` for all day or `{"dateTime", "timeZone"}` (E-02, E-03).

A problem names its sub-field, so that a form can show it there.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from ..http.messages import JSON
from ..resources.events import EventTime
from ..time_zones import zone
from .rrule import Start

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})?", re.ASCII)
_MINUTE = timedelta(minutes=1)
_YEARS = range(2, 9999)
"""The day before and the day after must be valid dates as well."""
_ANY_OFFSET = timedelta(hours=16)
"""More than the offset of any zone, because responses may be in another zone."""


class TimeProblem(NamedTuple):
    """A problem of a time, with the catalogue's key, the sub-field ("" for the whole) and a message."""

    key: str
    part: str
    message: str


class TimeError(ValueError):
    """The time is invalid. `problem` has the details."""

    def __init__(self, problem: TimeProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read_time(value: object) -> Start:
    """Return the date or the date-time with a zone of a time object. Raises TimeError for the first problem.

    >>> read_time({"date": "2026-11-02"})
    datetime.date(2026, 11, 2)
    >>> read_time({"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"}).isoformat()
    '2026-11-02T10:00:00+01:00'
    """
    if not isinstance(value, dict):
        raise TimeError(TimeProblem("badTime", "", 'expected an object such as {"date": "2026-11-02"}.'))
    day, time, name = value.get("date"), value.get("dateTime"), value.get("timeZone")
    if day is not None and time is not None:
        raise TimeError(TimeProblem("invalid", "", "expected either date or dateTime, not both."))
    if day is None and time is None:
        raise TimeError(TimeProblem("required", "", "expected date (all day) or dateTime."))
    try:
        tz = None if name is None else zone(name if isinstance(name, str) else repr(name))
    except ValueError as error:
        raise TimeError(TimeProblem("invalid", "timeZone", f"{error}.")) from None
    if day is not None:
        return read_date(day)
    moment = _date_time(time)
    if moment.tzinfo is None and tz is None:
        message = "expected a time zone, such as Europe/Berlin: the dateTime has no offset."
        raise TimeError(TimeProblem("required", "timeZone", message))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=tz)
    moment = moment.astimezone(UTC).astimezone(tz or moment.tzinfo)  # moves a time that the clock skips
    if any((moment.astimezone(UTC) + offset).year not in _YEARS for offset in (-_ANY_OFFSET, _ANY_OFFSET)):
        raise _unreadable(time, "dateTime")
    return moment


def read_date(text: JSON) -> date:
    """Parse a date as yyyy-mm-dd. Raises TimeError."""
    try:
        if isinstance(text, str) and _DATE.fullmatch(text) and int(text[:4]) in _YEARS:
            return date.fromisoformat(text)
    except ValueError:
        pass  # the thirtieth of February
    raise _unreadable(text, "date")


def _date_time(text: JSON) -> datetime:
    """Parse a date-time of RFC 3339 into whole seconds, with or without an offset. Raises TimeError."""
    match = _DATE_TIME.fullmatch(text) if isinstance(text, str) else None
    try:
        if match and int(match[1][:4]) in _YEARS:
            clock = match[2].removesuffix(":60") + ":59" if match[2].endswith(":60") else match[2]  # a leap second
            return datetime.fromisoformat(f"{match[1]}T{clock}{match[4] or ''}".upper())
    except ValueError:
        pass  # 25 o'clock
    raise _unreadable(text, "dateTime")


_EXPECTED = {
    "date": "date; expected yyyy-mm-dd, such as 2026-11-02",
    "dateTime": "date-time; expected RFC 3339, such as 2026-11-02T10:00:00+01:00",
}


def _unreadable(text: JSON, part: str) -> TimeError:
    years = (
        ", in a year from 0002 to 9998 in every zone"
        if str(text)[:4] in ("0000", "0001", "0002", "9998", "9999")
        else ""
    )
    return TimeError(TimeProblem("badTime", part, f"{str(text)[:40]!r} is not a {_EXPECTED[part]}{years}."))


def instant(moment: Start, tz: tzinfo) -> datetime:
    """Return a time in UTC. A date begins at midnight of this zone."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=tz)
    return moment.astimezone(UTC)


def print_time(moment: Start, tz: tzinfo, time_zone: str | None) -> EventTime:
    """Return a time object, whose date-time has the offset of the zone `tz`. `time_zone` is copied into it.

    >>> print_time(date(2026, 11, 2), UTC, None)
    {'date': '2026-11-02'}
    """
    time_object: EventTime = (
        {"dateTime": print_instant(moment, tz)} if isinstance(moment, datetime) else {"date": moment.isoformat()}
    )
    if time_zone:
        time_object["timeZone"] = time_zone
    return time_object


def print_instant(moment: datetime, tz: tzinfo) -> str:
    """Format a time by RFC 3339 with the offset of a zone, in whole seconds."""
    text = in_minutes(moment.astimezone(tz)).isoformat(timespec="seconds")
    return text[:-6] + "Z" if text.endswith("+00:00") else text


def in_minutes(moment: datetime) -> datetime:
    """Return the same time with an offset of whole minutes, as RFC 3339 requires. Local mean times had seconds.

    >>> in_minutes(datetime(1880, 1, 1, tzinfo=zone("Europe/Berlin"))).isoformat()
    '1879-12-31T23:59:32+00:53'
    """
    offset = moment.utcoffset() or timedelta(0)
    return moment.astimezone(timezone(offset // _MINUTE * _MINUTE)) if offset % _MINUTE else moment
