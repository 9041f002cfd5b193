"""Reads, checks and writes one event time, which has `date` (all day) or `dateTime` and `timeZone` (E-02b, E-03)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from ..http.messages import JSON
from ..resources.events import EventTime
from ..times import parse_time, zone
from .fields import wrong_type
from .rrule import Start

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})?", re.ASCII)
_OFFSET = re.compile(r".*(?:[Zz]|[+-]\d{2}:\d{2})")
_MINUTE = timedelta(minutes=1)
_YEARS = range(2, 9999)  # the valid years, in which the days before and after each date are valid dates as well
# A duration longer than any UTC offset, because a response may use another zone than the request.
_ANY_OFFSET = timedelta(hours=16)


class TimeError(ValueError):
    """An event time is invalid. `problem` has the catalogue key, sub-field and message."""

    def __init__(self, key: str, part: str, message: str) -> None:
        super().__init__(message)
        self.problem = key, part, message


def read_time(value: object) -> Start:
    """Parse an event time object into a date or a date-time with a zone. Raises TimeError for the first problem.

    >>> read_time({"date": "2026-11-02"})
    datetime.date(2026, 11, 2)
    >>> read_time({"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"}).isoformat()
    '2026-11-02T10:00:00+01:00'
    """
    if not isinstance(value, dict):
        raise TimeError("badTime", "", wrong_type(value, 'an object such as {"date": "2026-11-02"}'))
    parts = value.get("date"), value.get("dateTime"), value.get("timeZone")
    try:
        return _read_parts(*parts)
    except TypeError:  # a list or an object in place of a text, which cannot be cached
        return _read_parts.__wrapped__(*parts)


@lru_cache(maxsize=1024)  # a request reads the times of its event several times
def _read_parts(day: JSON, time: JSON, name: JSON) -> Start:
    if day is not None and time is not None:
        raise TimeError("invalid", "", "expected either date or dateTime, not both.")
    if day is None and time is None:
        raise TimeError("required", "", "expected date (all day) or dateTime.")
    try:
        tz = None if name is None else zone(name if isinstance(name, str) else repr(name))
    except ValueError as error:
        raise TimeError("invalid", "timeZone", f"{error}.") from None
    if day is not None:
        return read_date(day)
    moment = _date_time(time)
    if moment.tzinfo is None and tz is None:
        message = "expected a time zone, such as Europe/Berlin: the dateTime has no offset."
        raise TimeError("required", "timeZone", message)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=tz)
    moment = moment.astimezone(UTC).astimezone(tz or moment.tzinfo)  # moves a time that the clock skips
    near_limits = not 3 <= moment.year <= 9997
    if near_limits and any(
        (moment.astimezone(UTC) + offset).year not in _YEARS for offset in (-_ANY_OFFSET, _ANY_OFFSET)
    ):
        raise _unreadable(time, "dateTime")
    return moment


def read_date(text: JSON) -> date:
    """Parse a yyyy-mm-dd date. Raises TimeError if the text is invalid."""
    try:
        if isinstance(text, str) and _DATE.fullmatch(text) and int(text[:4]) in _YEARS:
            return date.fromisoformat(text)
    except ValueError:
        pass  # for example, 30 February
    raise _unreadable(text, "date")


def _date_time(text: JSON) -> datetime:
    """Parse an RFC 3339 date-time without fractions of a second, offset optional. Raises TimeError if invalid."""
    match = _DATE_TIME.fullmatch(text) if isinstance(text, str) else None
    try:
        if match and int(match[1][:4]) in _YEARS:
            clock = match[2].removesuffix(":60") + ":59" if match[2].endswith(":60") else match[2]  # a leap second
            return datetime.fromisoformat(f"{match[1]}T{clock}{match[4] or ''}".upper())
    except ValueError:
        pass  # for example, hour 25
    raise _unreadable(text, "dateTime")


_EXPECTED = {
    "date": "date; expected yyyy-mm-dd, such as 2026-11-02",
    "dateTime": "date-time; expected RFC 3339, such as 2026-11-02T10:00:00+01:00",
}


def _unreadable(text: JSON, part: str) -> TimeError:
    is_near_limits = str(text)[:4] in ("0000", "0001", "0002", "9998", "9999")
    years = ", in a year from 0002 to 9998 in every zone" if is_near_limits else ""
    return TimeError("badTime", part, f"{str(text)[:40]!r} is not a {_EXPECTED[part]}{years}.")


def instant(moment: Start, tz: tzinfo) -> datetime:
    """Convert an event time to UTC. A date becomes midnight in the time zone `tz`."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=tz)
    return moment.astimezone(UTC)


def read_utc(text: object) -> datetime | None:
    """Parse RFC 3339 text with an offset, and return the time in UTC, or None for any other value."""
    try:
        if isinstance(text, str) and _OFFSET.fullmatch(text):
            return parse_time(text).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    return None


def clock_time(moment: Start) -> datetime:
    """Return the local time of an event time without its zone. A date becomes midnight.

    >>> clock_time(date(2026, 11, 2))
    datetime.datetime(2026, 11, 2, 0, 0)
    """
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=None)
    return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001  a clock time


@dataclass(frozen=True, slots=True)
class Shift:
    """A move of a series whose instance at `before` then begins at `after`, by the clock times of both.

    `before` and `after` may have different zones, and one of them may be a date, as the start of an all-day event.
    """

    before: Start
    after: Start

    @property
    def moves(self) -> bool:
        """False if the instances stay as they are."""
        before, after = ((clock_time(bound), getattr(bound, "tzinfo", bound)) for bound in (self.before, self.after))
        return before != after

    @property
    def days(self) -> int:
        """The number of days by which the days of the series move."""
        return self.after.toordinal() - self.before.toordinal()

    def move(self, moment: Start) -> Start:
        """Return a time of the series after the move. A time that the clock skips is moved out of the gap."""
        if isinstance(moment, datetime) and isinstance(self.before, datetime):
            moment = moment.astimezone(self.before.tzinfo)
        clock = clock_time(moment) + (clock_time(self.after) - clock_time(self.before))
        if not isinstance(self.after, datetime):
            return clock.date()
        return clock.replace(tzinfo=self.after.tzinfo).astimezone(UTC).astimezone(self.after.tzinfo)


def print_time(moment: Start, tz: tzinfo, time_zone: str | None) -> EventTime:
    """Create an event time object. A date-time gets the UTC offset of `tz`. `time_zone` is added unless None.

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
    """Format a date-time as RFC 3339 text in whole seconds, with the offset of the zone `tz`."""
    text = in_minutes(moment.astimezone(tz)).isoformat(timespec="seconds")
    return text[:-6] + "Z" if text.endswith("+00:00") else text


def in_minutes(moment: datetime) -> datetime:
    """Return the same time with a UTC offset in whole minutes (RFC 3339). Historical offsets have seconds.

    >>> in_minutes(datetime(1880, 1, 1, tzinfo=zone("Europe/Berlin"))).isoformat()
    '1879-12-31T23:59:32+00:53'
    """
    offset = moment.utcoffset() or timedelta(0)
    return moment.astimezone(timezone(offset // _MINUTE * _MINUTE)) if offset % _MINUTE else moment
