"""Checks a free/busy query, and merges the times of events to busy periods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from ..errors.catalogue import ApiError, Row, refuse, row
from ..http.messages import JSON, JSONObject
from ..resources.events import Event
from ..time_zones import zone
from .times import read_utc

MAX_CALENDARS = 50
_MAX_GROUP_MEMBERS = 100
_MAX_ITEMS = 1000


@dataclass(frozen=True, slots=True)
class FreeBusyQuery:
    """A valid free/busy query. Times are in UTC, and `zone` is the time zone of the times in the response.

    `calendars` are the ids in the order of the query, and `most` is the largest number of them that may be answered.
    """

    begin: datetime
    end: datetime
    zone: tzinfo
    calendars: tuple[str, ...]
    most: int


def check_query(body: JSONObject) -> FreeBusyQuery:
    """Return the query from a request body. Raises ApiError (400) with all problems of the body.

    >>> window = {"timeMin": "2026-11-02T00:00:00Z", "timeMax": "2026-11-03T00:00:00Z"}
    >>> check_query({**window, "items": [{"id": "primary"}]}).calendars
    ('primary',)
    """
    problems: list[Row] = []
    begin, end = (_instant(body, name, problems) for name in ("timeMin", "timeMax"))
    most = _count(body, "calendarExpansionMax", MAX_CALENDARS, problems)
    _count(body, "groupExpansionMax", _MAX_GROUP_MEMBERS, problems)
    name, tz = body.get("timeZone"), UTC
    try:
        tz = UTC if name is None else zone(name if isinstance(name, str) else repr(name))  # type: ignore[assignment]
    except ValueError as error:
        problems.append(row("invalid", field="timeZone", message=f"{error}."))
    calendars = _calendars(body.get("items"), problems)
    if problems or begin is None or end is None:
        raise ApiError(problems)
    if end <= begin:
        raise refuse("timeRangeEmpty")
    return FreeBusyQuery(begin, end, tz, calendars, most)


def _instant(body: JSONObject, name: str, problems: list[Row]) -> datetime | None:
    moment = read_utc(body.get(name))
    if body.get(name) is None:
        problems.append(row("required", field=name))
    elif moment is None:
        message = "expected RFC 3339 with an offset, such as 2026-11-02T00:00:00Z."
        problems.append(row("invalid", field=name, message=message))
    return moment


def _count(body: JSONObject, name: str, most: int, problems: list[Row]) -> int:
    value = body.get(name)
    if value is None:
        return most
    if type(value) is int and 1 <= value <= most:
        return value
    problems.append(row("invalid", field=name, message=f"expected a number from 1 to {most}."))
    return most


def _calendars(items: JSON, problems: list[Row]) -> tuple[str, ...]:
    if not isinstance(items, list | None):
        problems.append(row("invalid", field="items", message='expected a list such as [{"id": "primary"}].'))
        return ()
    if items and len(items) > _MAX_ITEMS:
        problems.append(row("invalid", field="items", message=f"expected at most {_MAX_ITEMS} calendars."))
        return ()
    names: list[str] = []
    for index, item in enumerate(items or []):
        name = item.get("id") if isinstance(item, dict) else None
        if isinstance(name, str) and name:
            names.append(name)
        else:
            problems.append(row("invalid", field=f"items[{index}].id", message="expected the id of a calendar."))
    return tuple(dict.fromkeys(names))


def occupies(event: Event, owner: str) -> bool:
    """Return True if an event makes the owner of its calendar busy.

    Cancelled events, transparent events and events that the owner has declined do not.
    """
    if event.get("status") == "cancelled" or event.get("transparency") == "transparent":
        return False
    attendees = event.get("attendees") or []
    return not any(guest["email"].lower() == owner and guest.get("responseStatus") == "declined" for guest in attendees)


def busy_periods(times: Iterable[tuple[int, int]], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the periods that the times cover between `begin` and `end`, in order. Periods that touch are merged.

    >>> list(busy_periods([(9, 11), (1, 3), (3, 4), (2, 3), (12, 13)], 2, 10))
    [(2, 4), (9, 10)]
    """
    start = stop = None
    for first, last in sorted((max(first, begin), min(last, end)) for first, last in times):
        if last <= first:
            continue
        if start is None or stop is None:
            start, stop = first, last
        elif first <= stop:
            stop = max(stop, last)
        else:
            yield start, stop
            start, stop = first, last
    if start is not None and stop is not None:
        yield start, stop


def free_slots(busy: Iterable[tuple[int, int]], opening: tuple[int, int], length: int) -> Iterator[tuple[int, int]]:
    """Yield the slots of a length in an opening that no busy time overlaps. The first begins with each free period.

    >>> list(free_slots([(9, 10), (14, 15)], (8, 18), 2))
    [(10, 12), (12, 14), (15, 17)]
    """
    begin, end = opening
    for busy_begin, busy_end in (*busy_periods(busy, begin, end), (end, end)):
        while begin + length <= busy_begin:
            yield begin, begin + length
            begin += length
        begin = busy_end
