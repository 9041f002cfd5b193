"""Answers when the owners of calendars are busy, without any other fields of their events."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.clock import from_millis, to_millis
from ...core.errors.catalogue import ApiError, refuse
from ...core.events.calendars import CalendarRole
from ...core.events.free_busy import FreeBusyQuery, busy_periods, check_query, occupies
from ...core.events.rrule import WorkBudget, WorkExceeded
from ...core.events.times import print_instant
from ...core.field_mask import shape_of
from ...core.http.messages import Response
from ...core.resources.calendars import BusyCalendar, FreeBusy
from ...core.thread_permit import in_slices
from ..dispatch.requests_and_responses import parse_fields_param, read_json, resource_response
from ..dispatch.service_context import RequestContext, ServiceContext
from .access import calendar_of
from .expansion import expand_calendar
from .list_criteria import ListCriteria
from .tables import CalendarRow

_SHAPE = shape_of(FreeBusy)


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
    times = _busy_times(context, calendar, query, work)
    periods = busy_periods(times, to_millis(query.begin), to_millis(query.end))
    return {
        "busy": [
            {"start": print_instant(from_millis(start), query.zone), "end": print_instant(from_millis(end), query.zone)}
            for start, end in periods
        ]
    }


def _busy_times(
    context: ServiceContext, calendar: CalendarRow, query: FreeBusyQuery, work: WorkBudget
) -> Iterator[tuple[int, int]]:
    """Yield start and end of each event and instance that occupies the owner. Raises WorkExceeded."""
    criteria = ListCriteria(query.begin, query.end, None, True, False, "startTime", None, ())
    for _, (event, times) in in_slices(expand_calendar(context, calendar, criteria, None, work).entries):
        work.spend()
        if occupies(event.body, calendar.owner):
            yield (times.start, times.end) if times else (event.row.start, event.row.end or event.row.start)
