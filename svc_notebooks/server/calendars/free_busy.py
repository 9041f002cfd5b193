"""Checks a free/busy query, and answers when the owners of calendars are busy, without other fields of their events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from ...core.errors.catalogue import ApiError, Row, refuse, row
from ...core.events.calendars import CalendarRole, busy_periods
from ...core.events.fields import print_instant, read_utc
from ...core.events.rrule import WorkBudget, WorkExceeded
from ...core.field_mask import shape_of
from ...core.http.messages import JSON, JSONObject, Response
from ...core.resources.calendars import BusyCalendar, Event, FreeBusy
from ...core.thread_permit import in_slices
from ...core.times import from_millis, to_millis, zone
from ..dispatch.requests_and_responses import parse_fields_param, read_json, resource_response
from ..dispatch.service_context import RequestContext, ServiceContext
from .access import calendar_of
from .expansion import expand_calendar
from .list_criteria import ListCriteria

_SHAPE = shape_of(FreeBusy)
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


def query(context: ServiceContext, request: RequestContext) -> Response:
    """Return the busy periods of calendars. A calendar that the caller cannot see has an error instead."""
    parse_fields_param(request.query, {}, _SHAPE)
    query = check_query(read_json(request.body, context.policy.max_metadata_size))
    work = WorkBudget(context.policy.expansion_steps)
    try:
        calendars = {
            name: _answer(context, request, query, name, work) if position < query.most else _error("tooManyCalendars")
            for position, name in enumerate(query.calendars)
        }
    except WorkExceeded:
        raise refuse("timeRangeTooLong") from None
    value: FreeBusy = {
        "kind": context.names.calendar_kind("freeBusy"),
        "timeMin": print_instant(query.begin, query.zone),
        "timeMax": print_instant(query.end, query.zone),
        "groups": {},
        "calendars": calendars,
    }
    return resource_response(request, value, _SHAPE)


def _error(reason: str) -> BusyCalendar:
    return {"errors": [{"domain": "calendar", "reason": reason}], "busy": []}


def _answer(
    context: ServiceContext, request: RequestContext, query: FreeBusyQuery, name: str, work: WorkBudget
) -> BusyCalendar:
    try:
        calendar = calendar_of(context, request, CalendarRole.FREE_BUSY_READER, name)
    except ApiError as error:
        return _error(error.rows[0].reason)
    criteria = ListCriteria(query.begin, query.end, None, True, False, "startTime", None, ())
    busy: list[tuple[int, int]] = []
    for _, (event, times) in in_slices(expand_calendar(context, calendar, criteria, None, work).entries):
        work.spend()
        if occupies(event.body, calendar.owner):
            busy.append((times.start, times.end) if times else (event.row.start, event.row.end or event.row.start))
    return {
        "busy": [
            {"start": print_instant(from_millis(start), query.zone), "end": print_instant(from_millis(end), query.zone)}
            for start, end in busy_periods(busy, to_millis(query.begin), to_millis(query.end))
        ]
    }


def occupies(event: Event, owner: str) -> bool:
    """Return True if an event makes the owner of its calendar busy.

    Cancelled events, transparent events and events that the owner has declined do not.
    """
    if event.get("status") == "cancelled" or event.get("transparency") == "transparent":
        return False
    attendees = event.get("attendees") or []
    return not any(guest["email"].lower() == owner and guest.get("responseStatus") == "declined" for guest in attendees)
