"""The time of an event: `{"date"}` for all day, `{"dateTime", "timeZone"}` for another, read and printed (E-02, E-03).

What is wrong with one is said by its sub-field, so that a form can say it in the right place.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from ..http.messages import JSON, JSONObject
from ..time_zones import zone
from .rrule import Start

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})?", re.ASCII)
_MINUTE = timedelta(minutes=1)
_YEARS = range(2, 9999)
"""What lies a day before or behind has to be a date, too."""
_ANY_OFFSET = timedelta(hours=16)
"""Further from UTC no zone ever was: answers are in the zone of a calendar, or in the one that is asked for."""


class TimeProblem(NamedTuple):
    """What is wrong with a time: the catalogue's key, the sub-field ("" for the whole), and what is expected."""

    key: str
    part: str
    message: str


class TimeError(ValueError):
    """A time that cannot be read. `wrong` says why."""

    def __init__(self, problem: TimeProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read_time(value: object) -> Start:
    """The date or the zoned date-time that a time object means. Raises TimeError for the first thing that is wrong.

    >>> read_time({"date": "2026-11-02"})
    datetime.date(2026, 11, 2)
    >>> read_time({"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"}).isoformat()
    '2026-11-02T10:00:00+01:00'
    """
    fields = _set_members(value)
    tz = _zone(fields.get("timeZone"))
    if "date" in fields:
        return read_date(fields["date"])
    moment = _with_zone(_date_time(fields["dateTime"]), tz)
    if not _has_a_year_everywhere(moment.astimezone(UTC)):
        raise _unreadable(fields["dateTime"], "dateTime")
    return moment


def _has_a_year_everywhere(instant: datetime) -> bool:
    return all((instant + shift).year in _YEARS for shift in (-_ANY_OFFSET, _ANY_OFFSET))


def _set_members(value: object) -> JSONObject:
    if not isinstance(value, dict):
        raise TimeError(TimeProblem("badTime", "", 'expected an object such as {"date": "2026-11-02"}.'))
    fields: JSONObject = {name: member for name, member in value.items() if member is not None}
    if "date" in fields and "dateTime" in fields:
        raise TimeError(TimeProblem("invalid", "", "expected either date or dateTime, not both."))
    if "date" not in fields and "dateTime" not in fields:
        raise TimeError(TimeProblem("required", "", "expected date (all day) or dateTime."))
    return fields


def _zone(name: JSON) -> tzinfo | None:
    if name is None:
        return None
    try:
        return zone(name if isinstance(name, str) else repr(name))
    except ValueError as error:
        raise TimeError(TimeProblem("invalid", "timeZone", f"{error}.")) from None


def read_date(text: JSON) -> date:
    """A date as yyyy-mm-dd. Raises TimeError."""
    try:
        if isinstance(text, str) and _DATE.fullmatch(text) and int(text[:4]) in _YEARS:
            return date.fromisoformat(text)
    except ValueError:
        pass  # the thirtieth of February
    raise _unreadable(text, "date")


def _date_time(text: JSON) -> datetime:
    """A date-time of RFC 3339 in whole seconds, the offset left out or not. Raises TimeError."""
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
    return TimeError(TimeProblem("badTime", part, f"{str(text)[:40]!r} is no {_EXPECTED[part]}{years}."))


def _with_zone(moment: datetime, tz: tzinfo | None) -> datetime:
    if moment.tzinfo is None and tz is None:
        message = "expected a time zone, such as Europe/Berlin: the dateTime has no offset."
        raise TimeError(TimeProblem("required", "timeZone", message))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=tz)
    return moment.astimezone(UTC).astimezone(tz or moment.tzinfo)  # a time that the clock skips, as it shows it


def instant(moment: Start, tz: tzinfo) -> datetime:
    """The instant in UTC that a time means. A date begins at midnight of this zone."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=tz)
    return moment.astimezone(UTC)


def print_time(moment: Start, tz: tzinfo, time_zone: str | None) -> JSONObject:
    """A time object, its date-time with the offset of the zone `tz`. `time_zone` is echoed.

    >>> print_time(date(2026, 11, 2), UTC, None)
    {'date': '2026-11-02'}
    """
    if isinstance(moment, datetime):
        time_object: JSONObject = {"dateTime": print_instant(moment, tz)}
    else:
        time_object = {"date": moment.isoformat()}
    return time_object | {"timeZone": time_zone} if time_zone else time_object


def print_instant(moment: datetime, tz: tzinfo) -> str:
    """RFC 3339 with the offset of a zone, in whole seconds."""
    text = in_minutes(moment.astimezone(tz)).isoformat(timespec="seconds")
    return text[:-6] + "Z" if text.endswith("+00:00") else text


def in_minutes(moment: datetime) -> datetime:
    """The same instant with an offset of whole minutes, as RFC 3339 has them. Once clocks went by the sun.

    >>> in_minutes(datetime(1880, 1, 1, tzinfo=zone("Europe/Berlin"))).isoformat()
    '1879-12-31T23:59:32+00:53'
    """
    offset = moment.utcoffset() or timedelta(0)
    return moment.astimezone(timezone(offset // _MINUTE * _MINUTE)) if offset % _MINUTE else moment
