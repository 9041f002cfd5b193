"""Converts local times and time zones of the form to arguments and to JSON, and back.

The text of a time zone is an IANA name, or an offset from UTC such as +01:00, which is sent in the date-time and not
as a time zone.
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
    """Return the fixed zone of an offset, or None for any other text.

    >>> read_offset("+05:30"), read_offset("Europe/Berlin")
    (datetime.timezone(datetime.timedelta(seconds=19800)), None)
    """
    match = _OFFSET.fullmatch(text)
    if match is None or int(match[2]) > 23:
        return None
    length = timedelta(hours=int(match[2]), minutes=int(match[3]))
    return timezone(-length if match[1] == "-" else length)


def in_zone(moment: date | datetime | None, text: str) -> datetime | None:
    """Return a local time with its zone, or None for a date, and if the zone does not exist."""
    if not isinstance(moment, datetime):
        return None
    try:
        aware = moment.replace(tzinfo=read_offset(text) or zone(text))
        aware.astimezone(UTC)
    except (ValueError, OverflowError):  # a zone or a year that is still being typed
        return None
    return aware


def moment_text(moment: date | datetime | None) -> str | None:
    """Return a date or a local time as text.

    >>> moment_text(datetime(2026, 11, 2, 10))
    '2026-11-02 10:00'
    """
    if not isinstance(moment, datetime):
        return str(moment) if moment else None
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


def argument_time(moment: date | datetime | None, text: str, time_zone: str | None) -> Any:
    """Return a time as an argument of `create_event` with this `time_zone`, either a text or a dict of the interface.

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
    """Return the time object of such an argument. A zone that does not exist is kept.

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
    """Return the date or the aware date-time of a time object, or None if it is not valid."""
    try:
        return read_time(value)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def read_wire_time(value: Any) -> tuple[date | datetime, str]:
    """Return the date or the local time of a time object, and the text of its zone. Raises ValueError, TypeError.

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
