"""Stores a guest's changes: private fields in the guest's copy, the response in the organizer's event."""

from __future__ import annotations

import json

from ...core.http.messages import JSON, JSONObject
from ..context.service_context import ServiceContext
from ..tables.calendars import CalendarRow
from ..tables.events import EventRow
from .attendee_copies import (
    attendees_of,
    check_guest_change,
    emails_of,
    merge_parts,
    merge_response,
    private_part,
    shared_part,
)
from .calendars import primary_of
from .instances import find_event
from .resource import EventRecord
from .rows import save_event, save_with_copies


def save(context: ServiceContext, calendar: CalendarRow, before: EventRecord, after: JSONObject) -> EventRecord:
    """Store what a guest has changed where it belongs. Raises ApiError (403) for what is none of a guest's business."""
    check_guest_change(before.body, after)
    organizer_event = _organizer_event(context, before.row)
    changed = _with_guest_changes(organizer_event.body, before.body, after, calendar.owner) if organizer_event else None
    if organizer_event is not None and changed is not None:
        save_with_copies(context, organizer_event, changed)
    own_copy = find_event(context, calendar, before.row.id) or before
    body = merge_parts(shared_part(own_copy.body), private_part(after))
    return save_event(context, EventRecord(own_copy.row._replace(body=json.dumps(body)), body))


def decline(context: ServiceContext, calendar: CalendarRow, event: EventRecord) -> None:
    """Tell the organizer's event that a guest, who took it out of the own calendar, does not come."""
    organizer_event = _organizer_event(context, event.row)
    if organizer_event is not None:
        attendees: JSON = [_declined(attendee, calendar.owner) for attendee in attendees_of(organizer_event.body)]
        save_with_copies(context, organizer_event, organizer_event.body | {"attendees": attendees})


def _organizer_event(context: ServiceContext, copy: EventRow) -> EventRecord | None:
    """The organizer's event, or instance, that a copy follows."""
    return find_event(context, primary_of(context, copy.origin), copy.id)


def _with_guest_changes(
    organizer_body: JSONObject, before: JSONObject, after: JSONObject, user: str
) -> JSONObject | None:
    """The organizer's event with what a guest may change of it; None: nothing."""
    if before.get("guestsCanModify") is True:
        return merge_parts(shared_part(after), private_part(organizer_body))
    with_response, known = merge_response(organizer_body, after, user), emails_of(organizer_body)
    new = [attendee for attendee in attendees_of(after) if str(attendee["email"]).lower() not in known]
    if with_response is None and not new:
        return None
    base = with_response or organizer_body
    return {**base, "attendees": [*attendees_of(base), *new]}


def _declined(attendee: JSONObject, user: str) -> JSONObject:
    return attendee | {"responseStatus": "declined"} if str(attendee["email"]).lower() == user else attendee
