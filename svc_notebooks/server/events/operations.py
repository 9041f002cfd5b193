"""Operations insert, import and get on events (B1), and helpers that all event operations share."""

from __future__ import annotations

import json
from typing import Any

from ...core.api.operations import EVENT_ID
from ...core.clock import to_millis
from ...core.errors.catalogue import ApiError, refuse
from ...core.events.calendars import CalendarRole
from ...core.events.field_checks import is_address
from ...core.events.fields import EVENT_SHAPE
from ...core.events.rrule import Start
from ...core.events.times import instant
from ...core.events.validation import end_of, problems, recurrence_of, start_of
from ...core.http.messages import JSONObject, Response
from ...core.time_zones import zone
from ..context.external_origin import external_origin
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import parse_fields_param, read_json
from ..files.resource import display_name
from ..tables.calendars import CalendarRow
from ..tables.events import EventRow
from . import invitations
from .attendee_copies import sync_attendee_copies
from .body import writable_fields
from .calendars import calendar_of, resource_response, role_of
from .conference import (
    complete_attachments,
    complete_conference,
    create_conference,
    is_conference_pending,
    meeting_link,
)
from .instances import find_event
from .query_parameters import Options, max_attendees, options_of
from .resource import EventRecord, EventView, event_from_row


def view_of(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow, *, zone_name: str | None = None
) -> EventView:
    """To whom this call's answer is shown. Raises ApiError."""
    name = request.query.get("timeZone") if zone_name is None else zone_name
    try:
        tz = zone(name or calendar.zone)
    except ValueError as error:
        raise refuse("invalidParameter", name="timeZone", message=f"{error}.") from None
    origin = external_origin(request.http_request, context)
    writes = (role_of(context, request.caller.user, calendar) or CalendarRole.READER) > CalendarRole.READER
    return EventView(context, calendar, request.caller.user, origin, tz, max_attendees(request.query), writes)


def requested_event(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> EventRecord:
    """The event in the path. Raises ApiError (404)."""
    event_id = request.path_params[EVENT_ID]
    event = find_event(context, calendar, event_id)
    if event is None:
        raise refuse("eventNotFound", eventId=event_id[:200])
    return event


def event_response(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow, event: EventRecord
) -> Response:
    """The answer that has this event."""
    return resource_response(request, view_of(context, request, calendar).show(event), EVENT_SHAPE)


def read_event_request(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow
) -> tuple[JSONObject, Options]:
    """The body and the options of a call that writes, and whether its answer can be given. Raises ApiError."""
    options = options_of(request.query)
    parse_fields_param(request.query, {}, EVENT_SHAPE)
    view_of(context, request, calendar)
    return drop_ignored(read_json(request.body, context.policy.max_metadata_size), options), options


def drop_ignored(body: JSONObject, options: Options) -> JSONObject:
    """The body without what its options let the service pass over, right or wrong (E-09, E-17)."""
    supported = {"attachments": options.attachments, "conferenceData": options.conference}
    return {name: value for name, value in body.items() if supported.get(name, True)}


def refuse_problems(context: ServiceContext, body: JSONObject) -> None:
    if wrong := problems(body, context.policy):
        raise ApiError(wrong)


def complete_fields(
    context: ServiceContext, request: RequestContext, body: JSONObject, options: Options, before: JSONObject
) -> JSONObject:
    """The fields to keep, with attachments and conference as the options have them (E-09, E-17)."""
    fields = writable_fields(body, context.policy)
    if request.caller.service_account and fields.get("attendees"):
        raise refuse("serviceAccountInvites")
    for name, supported in (("attachments", options.attachments), ("conferenceData", options.conference)):
        if not supported:
            fields.pop(name, None)
            fields |= {name: before[name]} if name in before else {}
    if options.attachments and "attachments" in fields:
        fields["attachments"] = complete_attachments(context, request, fields["attachments"], before.get("attachments"))
    if options.conference and "conferenceData" in fields:
        fields["conferenceData"] = complete_conference(context, fields["conferenceData"], before.get("conferenceData"))
    if (link := meeting_link(context, fields)) is not None:
        fields["hangoutLink"] = link
    return fields


# -- new events ------------------------------------------------------------------------------------------------------


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """A new event."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options = read_event_request(context, request, calendar)
    if body.get("id") is not None and body.get("iCalUID") is not None:
        raise refuse("invalid", field="iCalUID", message="expected either id or iCalUID, not both.")
    refuse_problems(context, body)
    with context.store.transaction():
        _check_new(context, calendar, body)
        fields = complete_fields(context, request, body, options, {}) | creator_and_organizer(
            request.caller.user, calendar
        )
        event = _new_event(context, calendar, body, fields)
        context.store.events.save(event.row)
        sync_attendee_copies(context, event, {})
        invitations.send_invitations(context, options.notify, event)
    return event_response(context, request, calendar, event)


def _check_new(context: ServiceContext, calendar: CalendarRow, body: JSONObject) -> None:
    if body.get("id") is not None and context.store.events.get(calendar.id, str(body["id"])):
        raise refuse("duplicate")


def creator_and_organizer(user: str, calendar: CalendarRow) -> JSONObject:
    """The caller is the creator. The organizer is the calendar in which the event is created."""
    named: JSONObject = {} if calendar.primary else {"displayName": title_of(calendar)}
    return {"creator": {"email": user}, "organizer": {"email": calendar.id, **named}}


def title_of(calendar: CalendarRow) -> str:
    """What a calendar is called."""
    return str(json.loads(calendar.body).get("summary") or display_name(calendar.owner))


def _new_event(context: ServiceContext, calendar: CalendarRow, body: JSONObject, fields: JSONObject) -> EventRecord:
    now, event_id = context.millis(), str(body.get("id") or context.ids.event())
    uid = str(body.get("iCalUID") or f"{event_id}@{context.policy.domain}")
    position = context.store.events.last(calendar.id) + 1
    row = EventRow(calendar.id, event_id, uid, calendar.id, None, 0, 0, 0, None, now, now, position, "")
    return EventRecord(with_times(row, fields, calendar), fields)


def with_times(row: EventRow, body: JSONObject, calendar: CalendarRow) -> EventRow:
    """The row with what it says of time, and its body."""
    tz, recurring = zone(calendar.zone), bool(body.get("recurrence"))
    return row._replace(
        recurring=int(recurring),
        cancelled=int(body.get("status") == "cancelled"),
        start=min(to_millis(instant(start, tz)) for start in _starts(body)),
        end=None if recurring else to_millis(instant(end_of(body), tz)),
        body=json.dumps(body),
    )


def _starts(body: JSONObject) -> list[Start]:
    """When an event begins, and the dates that a recurrence adds: they may lie before."""
    return [start_of(body), *(extra.start for extra in recurrence_of(body).rdates)]


def import_event(context: ServiceContext, request: RequestContext) -> Response:
    """A private copy of an event from elsewhere; one with the same iCalUID is replaced. Nobody is told."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options = read_event_request(context, request, calendar)
    if not body.get("iCalUID"):
        raise refuse("required", field="iCalUID")
    refuse_problems(context, body)
    with context.store.transaction():
        rows = [row for row in context.store.events.by_uid(str(body["iCalUID"])) if row.calendar == calendar.id]
        before = event_from_row(rows[0]) if rows else None
        fields = complete_fields(context, request, body, options, before.body if before else {})
        fields |= creator_and_organizer(request.caller.user, calendar) | _imported_organizer(body)
        event = _new_event(context, calendar, body | ({"id": before.row.id} if before else {}), fields)
        if before is None:
            _check_new(context, calendar, body)
        context.store.events.save(
            event.row._replace(created=before.row.created, place=before.row.place) if before else event.row
        )
    return event_response(context, request, calendar, event)


def _imported_organizer(body: JSONObject) -> JSONObject:
    organizer: Any = body.get("organizer")
    if not isinstance(organizer, dict) or not is_address(organizer.get("email")):
        return {}
    named = {"displayName": organizer["displayName"]} if isinstance(organizer.get("displayName"), str) else {}
    return {"organizer": {"email": organizer["email"], **named}}


# -- one event -------------------------------------------------------------------------------------------------------


def get(context: ServiceContext, request: RequestContext) -> Response:
    """An event; a conference that was pending is there the next time that somebody looks."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    view = view_of(context, request, calendar)
    event = requested_event(context, request, calendar)
    value = view.show(event)
    if is_conference_pending(event.body) and event.row.series is None:
        _create_pending_conference(context, event)
    return resource_response(request, value, EVENT_SHAPE)


def _create_pending_conference(context: ServiceContext, event: EventRecord) -> None:
    """Make the conference that was asked for, one for the organizer and all guests."""
    with context.store.transaction():
        organizer_event = event_from_row(context.store.events.get(event.row.origin, event.row.id) or event.row)
        if not is_conference_pending(organizer_event.body):
            return
        conference = create_conference(context, organizer_event.body["conferenceData"])
        body = organizer_event.body | {"conferenceData": conference}
        body["hangoutLink"] = meeting_link(context, body)
        updated = EventRecord(organizer_event.row._replace(body=json.dumps(body)), body)
        context.store.events.save(updated.row)
        sync_attendee_copies(context, updated, organizer_event.body)
