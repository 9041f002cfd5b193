"""Converts local times and time zones of the form to arguments and to JSON, and back.

In the form, a time zone is an IANA name or a UTC offset such as +01:00. An offset is sent as a part of the date-time.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

from .....core.events.rrule import Start
from .....core.events.times import read_time
from .....core.time_zones import zone

if TYPE_CHECKING:
    from .....core.http.messages import JSON, JSONObject

_OFFSET = re.compile(r"([+-])(\d{2}):([0-5]\d)", re.ASCII)


def read_offset(text: str) -> tzinfo | None:
    """Convert a UTC offset such as +05:30 to a time zone. Return None for any other text.

    >>> read_offset("+05:30"), read_offset("Europe/Berlin")
    (datetime.timezone(datetime.timedelta(seconds=19800)), None)
    """
    match = _OFFSET.fullmatch(text)
    if match is None or int(match[2]) > 23:
        return None
    length = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return timezone(-length if match[1] == "-" else length)


def in_zone(moment: date | datetime | None, text: str) -> datetime | None:
    """Add a time zone to a local time. Return None for a date, for None and for an unknown zone."""
    if not isinstance(moment, datetime):
        return None
    try:
        aware = moment.replace(tzinfo=read_offset(text) or zone(text))
        aware.astimezone(UTC)
    except (ValueError, OverflowError):  # the person has not finished typing a zone or a year
        return None
    return aware


def moment_text(moment: date | datetime | None) -> str | None:
    """Return a date or a local time as text. Return None for None.

    >>> moment_text(datetime(2026, 11, 2, 10))
    '2026-11-02 10:00'
    """
    if not isinstance(moment, datetime):
        return str(moment) if moment else None
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


def argument_time(moment: date | datetime | None, text: str, time_zone: str | None) -> Any:
    """Convert a date or a local time in the zone `text` to an argument of `create_event`, such as `start`.

    `time_zone` is another argument of the same call. Returns a str if `create_event` then uses the right zone,
    otherwise a dict (a time object of the interface). Returns None for None.

    >>> argument_time(datetime(2026, 11, 2, 10), "Europe/Berlin", "Europe/Berlin")
    '2026-11-02 10:00'
    >>> argument_time(datetime(2026, 11, 2, 10), "+01:00", None)
    '2026-11-02 10:00+01:00'
    >>> argument_time(datetime(2026, 11, 2, 10), "Asia/Tokyo", "Europe/Berlin")
    {'dateTime': '2026-11-02T10:00:00', 'timeZone': 'Asia/Tokyo'}
    """
    moment_as_text = moment_text(moment)
    if moment is None or moment_as_text is None or text == (time_zone or ""):
        return moment_as_text
    if not isinstance(moment, datetime):
        return {"date": moment_as_text, **({"timeZone": text} if text else {})}
    if offset := read_offset(text):
        as_text = time_zone is None and offset.utcoffset(
            None
        )  # create_event sends a time in UTC with UTC as its time zone
        return moment_as_text + text if as_text else {"dateTime": moment.isoformat() + text}
    return {"dateTime": moment.isoformat(), "timeZone": text} if text else moment_as_text


def wire_time(argument: Any, time_zone: str | None) -> JSON:
    """Convert an argument such as `start` to a time object of the interface. An unknown time zone is kept.

    >>> wire_time("2026-11-02 16:00", "Mars/Olympus")
    {'dateTime': '2026-11-02T16:00:00', 'timeZone': 'Mars/Olympus'}
    """
    if not isinstance(argument, str):
        return argument  # type: ignore[no-any-return]
    body: JSONObject = (
        {"dateTime": datetime.fromisoformat(argument).isoformat()} if " " in argument else {"date": argument}
    )
    return {**body, "timeZone": time_zone} if time_zone else body


def wire_moment(value: Any) -> Start | None:
    """Convert a time object to a date or an aware datetime. Return None if the time object is invalid."""
    try:
        return read_time(value)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def read_wire_time(value: Any) -> tuple[date | datetime, str]:
    """Convert a time object to a date or a local time, and the text of its time zone.

    Raises ValueError or TypeError for an invalid time object.

    >>> read_wire_time({"dateTime": "2026-11-02T10:00:00+01:00"})
    (datetime.datetime(2026, 11, 2, 10, 0), '+01:00')
    """
    moment = read_time(value)
    name = value.get("timeZone")
    if not isinstance(moment, datetime):
        return moment, name or ""
    if name:
        return moment.astimezone(zone(name)).replace(tzinfo=None), name
    return moment.replace(tzinfo=None), moment.isoformat(timespec="seconds")[19:]
