"""Handlers that create, change, delete and move events, and the changes of guests."""

from __future__ import annotations

import json
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.events.calendars import CalendarRole
from ...core.events.event_times import read_time
from ...core.events.fields import EVENT_SHAPE, is_address
from ...core.events.validation import with_defaults
from ...core.http.messages import JSONObject, Response, merge_patch
from ...core.resources.events import Attendee, Event, Person
from ...core.times import zone
from ..dispatch.requests_and_responses import (
    check_conditions,
    empty_response,
    lists_etag,
    parse_fields_param,
    resource_response,
)
from ..dispatch.service_context import RequestContext, ServiceContext
from . import event_requests
from .access import calendar_of, primary_of, title_of
from .attendee_copies import (
    common_part,
    copies_of,
    emails_of,
    merge_parts,
    private_part,
    save_event,
    save_with_copies,
    sync_attendee_copies,
    with_body,
    with_times,
)
from .event_messages import changing_events, record_removal, send_emails
from .event_resource import EventRecord, EventView, etag, hides_guests, omit, pick
from .instances import event_in_path, find_event
from .quick_words import quick_event
from .tables import CalendarRow, EventRow

_ACTIVE_STATUSES = ("confirmed", "tentative")


# -- new events ------------------------------------------------------------------------------------------------------


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """Create an event, copy it to the guests' calendars, send invitations and return the event."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    return add_event(context, request, calendar, *event_requests.read_event_request(context, request, calendar))


def add_event(
    context: ServiceContext,
    request: RequestContext,
    calendar: CalendarRow,
    body: JSONObject,
    options: event_requests.Options,
    view: EventView,
) -> Response:
    """Create an event with the fields in `body`, copy it to the guests' calendars and send invitations."""
    if body.get("id") is not None and body.get("iCalUID") is not None:
        raise refuse("invalid", field="iCalUID", message="expected either id or iCalUID, not both.")
    event_requests.check_event(context, body)
    with changing_events(context):
        _check_id_is_free(context, calendar, body)
        fields = event_requests.complete_fields(context, request, body, options, {})
        event = _new_event(context, calendar, body, {**fields, **_creator_and_organizer(request, calendar)})
        context.store.events.save(event.row)
        sync_attendee_copies(context, event, {})
        send_emails(context, options.notify, event, {})
    return resource_response(request, view.resource(event), EVENT_SHAPE)


def import_event(context: ServiceContext, request: RequestContext) -> Response:
    """Import an event as a private copy, which replaces an event with the same iCalUID. No e-mails are sent."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options, view = event_requests.read_event_request(context, request, calendar)
    if not body.get("iCalUID"):
        raise refuse("required", field="iCalUID")
    event_requests.check_event(context, body)
    with changing_events(context):
        same_uid = context.store.events.by_uid(str(body["iCalUID"]))
        rows = [row for row in same_uid if row.calendar == calendar.id and row.series is None]
        before = EventRecord(rows[0]) if rows else None
        fields = event_requests.complete_fields(context, request, body, options, before.body if before else {})
        fields = {**fields, **_creator_and_organizer(request, calendar)}
        organizer: Any = body.get("organizer")
        if isinstance(organizer, dict) and is_address(organizer.get("email")):
            person: Person = {"email": organizer["email"]}
            if isinstance(organizer.get("displayName"), str):
                person["displayName"] = organizer["displayName"]
            fields["organizer"] = person
        event = _new_event(context, calendar, body | ({"id": before.row.id} if before else {}), fields)
        if before and before.row.calendar != before.row.origin:  # the copy of a guest stays one
            event = save_guest_changes(context, calendar, before, fields)
        elif before is None:
            _check_id_is_free(context, calendar, body)
            context.store.events.save(event.row)
        else:
            row = event.row._replace(created=before.row.created, place=before.row.place)
            save_event(context, EventRecord(row, event.body), before.body)
    return resource_response(request, view.resource(event), EVENT_SHAPE)


def _check_id_is_free(context: ServiceContext, calendar: CalendarRow, body: JSONObject) -> None:
    if body.get("id") is not None and context.store.events.get(calendar.id, str(body["id"])):
        raise refuse("duplicate")


def _creator_and_organizer(request: RequestContext, calendar: CalendarRow) -> Event:
    organizer: Person = {"email": calendar.id}
    if not calendar.primary:
        organizer["displayName"] = title_of(calendar)
    return {"creator": {"email": request.caller.user}, "organizer": organizer}


def _new_event(context: ServiceContext, calendar: CalendarRow, body: JSONObject, fields: Event) -> EventRecord:
    now, event_id = context.millis(), str(body.get("id") or context.ids.event())
    uid = str(body.get("iCalUID") or f"{event_id}@{context.policy.domain}")
    position = context.store.events.last(calendar.id) + 1
    row = EventRow(calendar.id, event_id, uid, calendar.id, None, 0, 0, 0, None, now, now, position, "")
    return EventRecord(with_body(row, fields, calendar), fields)


# -- one event -------------------------------------------------------------------------------------------------------


def get(context: ServiceContext, request: RequestContext) -> Response:
    """Return the event whose id is in the path, and then create the conference if it is pending.

    Return 304 if the event has an etag in the header If-None-Match.
    """
    calendar = calendar_of(context, request, CalendarRole.READER)
    view = event_requests.view_of(context, request, calendar)
    event = event_in_path(context, request, calendar)
    check_conditions(request.headers, etag(event.row), changes=False)
    if lists_etag(request.headers, "If-None-Match", etag(event.row)):
        return empty_response(304, [("ETag", etag(event.row))])
    resource = view.resource(event)
    if event_requests.is_conference_pending(event.body) and event.row.series is None:
        with changing_events(context):  # the organizer and all guests get the same conference
            organizer_event = EventRecord(context.store.events.get(event.row.origin, event.row.id) or event.row)
            if event_requests.is_conference_pending(organizer_event.body):
                conference = event_requests.create_conference(context, organizer_event.body["conferenceData"])
                body: Event = {**organizer_event.body, "conferenceData": conference}
                if (link := event_requests.meeting_link(context, body)) is not None:
                    body["hangoutLink"] = link
                updated = EventRecord(organizer_event.row._replace(body=json.dumps(body)), body)
                context.store.events.save(updated.row)
                sync_attendee_copies(context, updated, organizer_event.body)
    return resource_response(request, resource, EVENT_SHAPE)


def change(context: ServiceContext, request: RequestContext) -> Response:
    """Change the given fields of an event (PATCH), or replace all fields (PUT), and return the event."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options, view = event_requests.read_event_request(context, request, calendar)
    with changing_events(context):
        before = event_in_path(context, request, calendar)
        check_conditions(request.headers, etag(before.row))
        if before.row.cancelled and body.get("status") not in _ACTIVE_STATUSES:
            raise refuse("deleted")
        requested = _apply_request(before, body, partial=request.method == "PATCH")
        event_requests.check_event(context, requested)
        fields = event_requests.complete_fields(context, request, requested, options, before.body)
        fields = {**fields, **pick(before.body, ("creator", "organizer", "originalStartTime"))}
        moved = _schedule(before.body) != _schedule(fields)
        fields["sequence"] = max(fields.get("sequence") or 0, (before.body.get("sequence") or 0) + moved)
        if before.row.calendar != before.row.origin:
            event = save_guest_changes(context, calendar, before, fields)
        elif (before.body.get("organizer") or {}).get("email", calendar.id) != calendar.id:  # imported, so private
            event = save_event(context, EventRecord(with_body(before.row, fields, calendar), fields), before.body)
        else:
            event = save_with_copies(context, before, fields)
            send_emails(context, options.notify, event, before.body)
    return resource_response(request, view.resource(event), EVENT_SHAPE)


def _schedule(body: Event) -> tuple[object, ...]:
    """Return the values whose change increases `sequence`. Two texts for the same time are equal."""
    times = [(read_time(time), time.get("timeZone")) for time in (body["start"], body["end"])]
    return *times, body.get("location"), body.get("recurrence")


def _apply_request(before: EventRecord, body: JSONObject, *, partial: bool) -> JSONObject:
    """Return the fields that an event would have after a request. The fields are not checked yet."""
    fields: Any = merge_patch(before.body, body) if partial else dict(body)
    if partial:
        if before.body.get("recurrence") and isinstance(fields.get("end"), dict):
            # The stored end may have no time zone, because an event needs none until it recurs.
            fields["end"] = {"timeZone": before.body["start"].get("timeZone"), **fields["end"]}
        # A request for a conference is replaced as a whole, because its status belongs to its id.
        conference_data = body.get("conferenceData")
        create_request = conference_data.get("createRequest") if isinstance(conference_data, dict) else None
        if isinstance(create_request, dict) and "requestId" in create_request:
            fields["conferenceData"]["createRequest"] = create_request
    for name in ("id", "iCalUID", *(["recurrence"] if before.row.series is not None else [])):
        fields.pop(name, None)
    if isinstance(fields.get("attendees"), list):
        all_named = body.get("attendeesOmitted") is not True and not hides_guests(before.body, before.row.calendar)
        fields["attendees"] = _merge_attendees(before.body, fields["attendees"], all_named=all_named)
    return fields  # type: ignore[no-any-return]


def _merge_attendees(before: Event, attendees: list[Any], *, all_named: bool) -> list[Any]:
    """Return the attendees of an event after a request (E-08).

    Attendees keep their stored `resource`, and their stored response if the request has none. If `all_named` is False,
    attendees who are not in the request also stay.
    """
    known: dict[str, Any] = {attendee["email"].lower(): attendee for attendee in before.get("attendees") or []}
    named = []
    for attendee in attendees:
        earlier = known.get(str(attendee.get("email")).lower()) if isinstance(attendee, dict) else None
        if earlier is not None:
            kept = ("resource",) if "responseStatus" in attendee else ("resource", "responseStatus")
            attendee = {name: value for name, value in attendee.items() if name != "resource"}
            attendee |= {name: earlier[name] for name in kept if name in earlier}
        named.append(attendee)
    if all_named:
        return named
    new = {str(attendee.get("email")).lower(): attendee for attendee in named if isinstance(attendee, dict)}
    return [new.pop(email, attendee) for email, attendee in known.items()] + list(new.values())


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Cancel an event in all calendars and send cancellations. A guest only deletes their copy and declines."""
    options = event_requests.read_options(request.query)
    with changing_events(context):
        calendar = calendar_of(context, request, CalendarRole.WRITER)
        event = event_in_path(context, request, calendar)
        check_conditions(request.headers, etag(event.row))
        if event.row.cancelled:
            raise refuse("deleted")
        body: Event = {**event.body, "status": "cancelled"}
        updated = max(context.millis(), event.row.updated + 1)
        row = with_body(event.row._replace(updated=updated), body, calendar)
        cancelled = save_event(context, EventRecord(row, body), event.body)
        if event.row.calendar == event.row.origin:
            sync_attendee_copies(context, cancelled, event.body)
            send_emails(context, options.notify, cancelled, event.body)
        else:
            # The organizer's event records that the guest, who has deleted their copy, declines.
            organizer_event = _organizer_event(context, event.row)
            if organizer_event is not None:
                attendees: list[Attendee] = [
                    {**guest, "responseStatus": "declined"} if guest["email"].lower() == calendar.owner else guest
                    for guest in organizer_event.body.get("attendees") or []
                ]
                save_with_copies(context, organizer_event, {**organizer_event.body, "attendees": attendees})
    return empty_response(204)


def move(context: ServiceContext, request: RequestContext) -> Response:
    """Move an event to another calendar, the new organizer. Raises ApiError for a guest's copy or an instance."""
    options = event_requests.read_options(request.query)
    destination = request.query.get("destination")
    if not destination:
        raise refuse("requiredParameter", name="destination")
    events = context.store.events
    with changing_events(context, calendar_of(context, request, CalendarRole.WRITER).id):
        calendar = calendar_of(context, request, CalendarRole.WRITER)
        target = calendar_of(context, request, CalendarRole.WRITER, destination)
        event = event_in_path(context, request, calendar)
        if event.row.cancelled:
            raise refuse("deleted")
        if event.row.origin != calendar.id or event.row.series is not None:
            raise refuse("notOrganizer", field="destination")
        if target.id != calendar.id and events.get(target.id, event.row.id):
            raise refuse("duplicate")
        changed_instances = events.changed_instances(event.row.calendar, event.row.id)
        for stored_row in [event.row, *changed_instances, *copies_of(context, event.row)]:
            events.drop(stored_row.calendar, stored_row.id)
            record_removal(context, stored_row)
        body: Event = {**event.body, "organizer": _creator_and_organizer(request, target)["organizer"]}
        row = event.row._replace(calendar=target.id, origin=target.id, updated=context.millis(), body=json.dumps(body))
        row = with_times(row, body, target)
        events.save(row)
        for instance in changed_instances:
            moved_row = instance._replace(calendar=target.id, origin=target.id)
            events.save(with_times(moved_row, json.loads(instance.body), target))
        moved = EventRecord(row, body)
        sync_attendee_copies(context, moved, event.body)
        send_emails(context, options.notify, moved, event.body)
    return resource_response(request, event_requests.view_of(context, request, target).resource(moved), EVENT_SHAPE)


def quick_add(context: ServiceContext, request: RequestContext) -> Response:
    """Create the event that the parameter `text` describes, in the time zone of the calendar, and return the event."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    options = event_requests.read_options(request.query)
    parse_fields_param(request.query, {}, EVENT_SHAPE)
    view = event_requests.view_of(context, request, calendar)
    text = request.query.get("text")
    if not text:
        raise refuse("requiredParameter", name="text")
    try:
        body = quick_event(text, context.clock.now().astimezone(zone(calendar.zone)))
    except (ValueError, OverflowError) as error:
        raise refuse("invalidParameter", name="text", message=f"{error}.") from None
    return add_event(context, request, calendar, body, options, view)


_RESPONSE_FIELDS = ("responseStatus", "comment", "additionalGuests", "displayName")

# The fields that restrict guests or readers. Guests cannot change them, even if they may modify the event.
ORGANIZER_FIELDS = (
    "anyoneCanAddSelf",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
    "visibility",
)

_NOT_COMPARED = ("attendees", "sequence", "status", "originalStartTime", "creator", "organizer")


def save_guest_changes(
    context: ServiceContext, calendar: CalendarRow, before: EventRecord, after: Event
) -> EventRecord:
    """Store a guest's changes to an event and return the guest's copy. Raises ApiError (403) if not permitted."""
    after = {**pick(before.body, ORGANIZER_FIELDS), **after}
    _check_permission(before.body, after)
    organizer_event = _organizer_event(context, before.row)
    if organizer_event is not None:
        stored = organizer_event.body
        if before.body.get("guestsCanModify") is True:
            save_with_copies(context, organizer_event, merge_parts(common_part(after), private_part(stored)))
        elif (attendees := _merge_responses(stored, after, calendar.owner)) is not None:
            save_with_copies(context, organizer_event, {**stored, "attendees": attendees})
    own_copy = find_event(context, calendar, before.row.id) or before
    body = merge_parts(common_part(own_copy.body), private_part(after))
    return save_event(context, EventRecord(own_copy.row._replace(body=json.dumps(body)), body), own_copy.body)


def _organizer_event(context: ServiceContext, copy: EventRow) -> EventRecord | None:
    return find_event(context, primary_of(context, copy.origin), copy.id)


def _check_permission(before: Event, after: Event) -> None:
    """Raise ApiError (403 forbiddenForNonOrganizer) if a guest may not make the changes from `before` to `after`."""
    old: Any = omit(common_part(before), *_NOT_COMPARED)
    new: Any = omit(common_part(after), *_NOT_COMPARED)
    may_modify = before.get("guestsCanModify") is True
    if may_modify:
        old, new = with_defaults(pick(old, ORGANIZER_FIELDS)), with_defaults(pick(new, ORGANIZER_FIELDS))
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            raise refuse("notOrganizer", field=name)
    if may_modify:
        return
    removed, added = emails_of(before) - emails_of(after), emails_of(after) - emails_of(before)
    if removed or (added and before.get("guestsCanInviteOthers") is False):
        raise refuse("notOrganizer", field="attendees")


def _merge_responses(organizer_body: Event, after: Event, user: str) -> list[Attendee] | None:
    """Return the organizer's attendees with the guest's response and additions, or None if nothing changes."""
    attendees = list(organizer_body.get("attendees") or [])
    invited = {attendee["email"].lower(): index for index, attendee in enumerate(attendees)}
    new = [attendee for attendee in after.get("attendees") or [] if attendee["email"].lower() not in invited]
    own_entry = next((guest for guest in after.get("attendees") or [] if guest["email"].lower() == user), None)
    changed = False
    if own_entry is not None and user in invited:
        stored_entry: Any = attendees[invited[user]]
        old, response = _response_fields(stored_entry), _response_fields(own_entry)
        if changed := response != old:
            others = {name: value for name, value in stored_entry.items() if name not in _RESPONSE_FIELDS}
            attendees[invited[user]] = others | response
    return [*attendees, *new] if changed or new else None


def _response_fields(attendee: Any) -> Any:
    return {name: attendee[name] for name in _RESPONSE_FIELDS if attendee.get(name) is not None}
