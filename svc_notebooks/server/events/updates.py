"""Operations that change an event: patch, update, delete, move.

The organizer's event is changed in all its copies; what a guest may do is in guest_changes.py.
"""

from __future__ import annotations

import json
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.events.calendars import CalendarRole
from ...core.events.times import read_time
from ...core.http.messages import JSON, JSONObject, Response
from ..context.responses import empty_response
from ..context.service_context import RequestContext, ServiceContext
from ..tables.calendars import CalendarRow
from ..tables.events import EventRow
from . import guest_changes, invitations
from .attendee_copies import copies_of, sync_attendee_copies
from .body import merge_patch
from .calendars import calendar_of
from .operations import (
    complete_fields,
    creator_and_organizer,
    event_response,
    read_event_request,
    refuse_problems,
    requested_event,
    with_times,
)
from .query_parameters import options_of
from .resource import EventRecord, etag
from .rows import save_event, save_with_copies


def patch(context: ServiceContext, request: RequestContext) -> Response:
    """Some fields of an event; the others stay."""
    return _change(context, request, partial=True)


def update(context: ServiceContext, request: RequestContext) -> Response:
    """All fields of an event."""
    return _change(context, request, partial=False)


def _change(context: ServiceContext, request: RequestContext, *, partial: bool) -> Response:
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options = read_event_request(context, request, calendar)
    with context.store.transaction():
        before = requested_event(context, request, calendar)
        _check_precondition(request, before.row)
        if before.row.cancelled and body.get("status") not in _ACTIVE_STATUSES:
            raise refuse("deleted")
        fields = _requested_fields(before, body, partial=partial)
        refuse_problems(context, fields)
        stored_fields = complete_fields(context, request, fields, options, before.body)
        stored_fields |= {name: before.body[name] for name in _IMMUTABLE_FIELDS if name in before.body}
        event = _save(context, request, calendar, before, stored_fields, options.notify)
    return event_response(context, request, calendar, event)


def _requested_fields(before: EventRecord, body: JSONObject, *, partial: bool) -> JSONObject:
    """The event as the caller wants it; who is left out by `attendeesOmitted` stays."""
    fields = _patched(before.body, body) if partial else dict(body)
    fields = {name: value for name, value in fields.items() if name not in ("id", "iCalUID")}
    if before.row.series is not None:
        fields.pop("recurrence", None)
    attendees = fields.get("attendees")
    if isinstance(attendees, list):
        fields["attendees"] = _attendees(before.body, attendees, all_named=body.get("attendeesOmitted") is not True)
    return fields


def _patched(before: JSONObject, patch: JSONObject) -> JSONObject:
    """The event with a patch laid over it; a request for a conference is one value: its status belongs to its id."""
    fields: Any = merge_patch(before, patch)
    if before.get("recurrence") and isinstance(fields.get("end"), dict):  # may be from when its end needed no zone
        fields["end"] = {"timeZone": before["start"].get("timeZone"), **fields["end"]}  # type: ignore[union-attr]
    conference_data = patch.get("conferenceData")
    create_request = conference_data.get("createRequest") if isinstance(conference_data, dict) else None
    if isinstance(create_request, dict) and "requestId" in create_request:
        fields["conferenceData"]["createRequest"] = create_request
    return fields  # type: ignore[no-any-return]


def _attendees(before: JSONObject, attendees: list[Any], *, all_named: bool) -> list[Any]:
    """The attendees with what only their first adding says (E-08), and the answers that they gave before."""
    previous: Any = before.get("attendees") or []
    known = {str(attendee["email"]).lower(): attendee for attendee in previous}
    named = [
        _with_remembered_fields(attendee, known) if isinstance(attendee, dict) else attendee for attendee in attendees
    ]
    if all_named:
        return named
    new = {str(attendee.get("email")).lower(): attendee for attendee in named if isinstance(attendee, dict)}
    return [new.pop(email, attendee) for email, attendee in known.items()] + list(new.values())


def _with_remembered_fields(attendee: JSONObject, known: dict[str, JSONObject]) -> JSONObject:
    before = known.get(str(attendee.get("email")).lower())
    if before is None:
        return attendee
    fields = {name: value for name, value in attendee.items() if name != "resource"}
    remembered = ("resource",) if "responseStatus" in attendee else ("resource", "responseStatus")
    return fields | {name: before[name] for name in remembered if name in before}


def _check_precondition(request: RequestContext, row: EventRow) -> None:
    if_match = request.headers.get("If-Match")
    if if_match is not None and if_match.strip() not in ("*", etag(row)):
        raise refuse("conditionNotMet")


_ACTIVE_STATUSES = ("confirmed", "tentative")
_IMMUTABLE_FIELDS = ("creator", "organizer", "originalStartTime")
_SCHEDULING_FIELDS = ("start", "end", "location", "recurrence")


def _save(
    context: ServiceContext,
    request: RequestContext,
    calendar: CalendarRow,
    before: EventRecord,
    fields: JSONObject,
    notify: str,
) -> EventRecord:
    """Store a changed event where it belongs: a guest's answer with the organizer, all else in all copies."""
    moved = any(_comparable(name, fields) != _comparable(name, before.body) for name in _SCHEDULING_FIELDS)
    stored_sequence, sent = _int_or_zero(before.body.get("sequence")), _int_or_zero(fields.get("sequence"))
    fields["sequence"] = max(sent, stored_sequence + moved)
    if before.row.calendar != before.row.origin:
        return guest_changes.save(context, calendar, before, fields)
    event = save_with_copies(context, before, fields)
    invitations.send_updates(context, notify, event, before.body)
    return event


def _comparable(name: str, body: JSONObject) -> object:
    """A field by what it means: one instant can be written in many ways."""
    field: Any = body.get(name)
    return (read_time(field), field.get("timeZone")) if name in ("start", "end") else field


def _int_or_zero(value: Any) -> int:
    return value if isinstance(value, int) else 0


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Cancel an event, or one instance; the organizer's in all calendars, a guest's in their own (as a refusal)."""
    options = options_of(request.query)
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.WRITER)
        event = requested_event(context, request, calendar)
        _check_precondition(request, event.row)
        if event.row.cancelled:
            raise refuse("deleted")
        cancelled = _cancel(context, calendar, event)
        if event.row.calendar == event.row.origin:
            sync_attendee_copies(context, cancelled, event.body)
            invitations.send_cancellations(context, options.notify, event)
        else:
            guest_changes.decline(context, calendar, event)
    return empty_response(204)


def _cancel(context: ServiceContext, calendar: CalendarRow, event: EventRecord) -> EventRecord:
    body: JSONObject = {**event.body, "status": "cancelled"}
    row = with_times(event.row._replace(updated=max(context.millis(), event.row.updated + 1)), body, calendar)
    return save_event(context, EventRecord(row, body))


def move(context: ServiceContext, request: RequestContext) -> Response:
    """Give an event to another calendar, which is its organizer from then on."""
    options = options_of(request.query)
    destination = request.query.get("destination")
    if not destination:
        raise refuse("requiredParameter", name="destination")
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.WRITER)
        target = calendar_of(context, request, CalendarRole.WRITER, destination)
        event = requested_event(context, request, calendar)
        _check_movable(context, calendar, target, event)
        moved = _move(context, event, target, creator_and_organizer(request.caller.user, target)["organizer"])
        invitations.send_updates(context, options.notify, moved, event.body)
    return event_response(context, request, target, moved)


def _move(context: ServiceContext, event: EventRecord, target: CalendarRow, organizer: JSON) -> EventRecord:
    """The event in another calendar, with the instances that differ; guests get new copies."""
    differing = context.store.events.changed_instances(event.row.calendar, event.row.id)
    for stored_row in [event.row, *differing, *copies_of(context, event.row)]:
        context.store.events.drop(stored_row.calendar, stored_row.id)
    body = event.body | {"organizer": organizer}
    moved = EventRecord(_placed_in(target, event.row)._replace(updated=context.millis(), body=json.dumps(body)), body)
    for row in [moved.row, *(_placed_in(target, instance) for instance in differing)]:
        context.store.events.save(row)
    sync_attendee_copies(context, moved, event.body)
    return moved


def _placed_in(target: CalendarRow, row: EventRow) -> EventRow:
    return row._replace(calendar=target.id, origin=target.id)


def _check_movable(context: ServiceContext, calendar: CalendarRow, target: CalendarRow, event: EventRecord) -> None:
    if event.row.cancelled:
        raise refuse("deleted")
    if event.row.origin != calendar.id or event.row.series is not None:
        raise refuse("notOrganizer", field="destination")
    if target.id != calendar.id and context.store.events.get(target.id, event.row.id):
        raise refuse("duplicate")
