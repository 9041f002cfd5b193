"""Operations on events: insert, import and get (B1), and what all of them begin and end with."""

from __future__ import annotations

import json
from typing import Any

from ...core.api.operations import EVENT_ID
from ...core.clock import to_millis
from ...core.errors.catalogue import ApiError, refuse
from ...core.events.calendars import CalendarRole
from ...core.events.fields import EVENT_SHAPE
from ...core.events.rrule import Start
from ...core.events.times import instant
from ...core.events.types import is_address
from ...core.events.validation import end_of, problems, recurrence_of, start_of
from ...core.http.messages import JSONObject, Response
from ...core.time_zones import zone
from ..context.external_origin import external_origin
from ..context.service_context import RequestContext, ServiceContext
from ..files.operations import parse_fields_param, read_json
from ..files.resource import display_name
from ..store.calendars import CalendarRow
from ..store.events import EventRow
from . import conference as event_parts, invitations
from .attendee_copies import sync_attendee_copies
from .body import writable_fields
from .calendars import answer, calendar_of, role_of
from .instances import find
from .options import Options, most_attendees, options_of
from .resource import Found, View, stored


def view_of(
    context: ServiceContext, request: RequestContext, calendar: CalendarRow, *, zone_name: str | None = None
) -> View:
    """To whom this call's answer is shown. Raises ApiError."""
    name = request.query.get("timeZone") if zone_name is None else zone_name
    try:
        tz = zone(name or calendar.zone)
    except ValueError as error:
        raise refuse("invalidParameter", name="timeZone", message=f"{error}.") from None
    origin = external_origin(request.http_request, context)
    writes = (role_of(context, request.caller.user, calendar) or CalendarRole.READER) > CalendarRole.READER
    return View(context, calendar, request.caller.user, origin, tz, most_attendees(request.query), writes)


def found_event(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> Found:
    """The event in the path. Raises ApiError (404)."""
    wanted = request.path_params[EVENT_ID]
    found = find(context, calendar, wanted)
    if found is None:
        raise refuse("eventNotFound", eventId=wanted[:200])
    return found


def shown(context: ServiceContext, request: RequestContext, calendar: CalendarRow, found: Found) -> Response:
    """The answer that has this event."""
    return answer(request, view_of(context, request, calendar).show(found), EVENT_SHAPE)


def checked(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> tuple[JSONObject, Options]:
    """The body and the options of a call that writes, and whether its answer can be given. Raises ApiError."""
    options = options_of(request.query)
    parse_fields_param(request.query, {}, EVENT_SHAPE)
    view_of(context, request, calendar)
    return drop_ignored(read_json(request.body, context.policy.max_metadata_size), options), options


def drop_ignored(body: JSONObject, options: Options) -> JSONObject:
    """The body without what its options let the service pass over, right or wrong (E-09, E-17)."""
    wanted = {"attachments": options.attachments, "conferenceData": options.conference}
    return {name: value for name, value in body.items() if wanted.get(name, True)}


def refuse_problems(context: ServiceContext, body: JSONObject) -> None:
    if wrong := problems(body, context.policy):
        raise ApiError(wrong)


def completed(
    context: ServiceContext, request: RequestContext, body: JSONObject, options: Options, before: JSONObject
) -> JSONObject:
    """The fields to keep, with attachments and conference as the options have them (E-09, E-17)."""
    kept = writable_fields(body, context.policy)
    if request.caller.service_account and kept.get("attendees"):
        raise refuse("serviceAccountInvites")
    for name, wanted in (("attachments", options.attachments), ("conferenceData", options.conference)):
        if not wanted:
            kept.pop(name, None)
            kept |= {name: before[name]} if name in before else {}
    if options.attachments and "attachments" in kept:
        kept["attachments"] = event_parts.attachments(context, request, kept["attachments"], before.get("attachments"))
    if options.conference and "conferenceData" in kept:
        kept["conferenceData"] = event_parts.conference(context, kept["conferenceData"], before.get("conferenceData"))
    if (link := event_parts.meeting_link(context, kept)) is not None:
        kept["hangoutLink"] = link
    return kept


# -- new events ------------------------------------------------------------------------------------------------------


def insert(context: ServiceContext, request: RequestContext) -> Response:
    """A new event."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options = checked(context, request, calendar)
    if body.get("id") is not None and body.get("iCalUID") is not None:
        raise refuse("invalid", field="iCalUID", message="expected either id or iCalUID, not both.")
    refuse_problems(context, body)
    with context.store.transaction():
        _check_new(context, calendar, body)
        kept = completed(context, request, body, options, {}) | made_by(request.caller.user, calendar)
        found = _new(context, calendar, body, kept)
        context.store.events.save(found.row)
        sync_attendee_copies(context, found, {})
        invitations.invite(context, options.notify, found)
    return shown(context, request, calendar, found)


def _check_new(context: ServiceContext, calendar: CalendarRow, body: JSONObject) -> None:
    if body.get("id") is not None and context.store.events.get(calendar.id, str(body["id"])):
        raise refuse("duplicate")


def made_by(user: str, calendar: CalendarRow) -> JSONObject:
    """The caller is the creator. The organizer is the calendar in which the event is created."""
    named: JSONObject = {} if calendar.primary else {"displayName": title_of(calendar)}
    return {"creator": {"email": user}, "organizer": {"email": calendar.id, **named}}


def title_of(calendar: CalendarRow) -> str:
    """What a calendar is called."""
    return str(json.loads(calendar.body).get("summary") or display_name(calendar.owner))


def _new(context: ServiceContext, calendar: CalendarRow, body: JSONObject, kept: JSONObject) -> Found:
    now, key = context.millis(), str(body.get("id") or context.ids.event())
    uid = str(body.get("iCalUID") or f"{key}@{context.policy.domain}")
    place = context.store.events.last(calendar.id) + 1
    row = EventRow(calendar.id, key, uid, calendar.id, None, 0, 0, 0, None, now, now, place, "")
    return Found(with_times(row, kept, calendar), kept)


def with_times(row: EventRow, body: JSONObject, calendar: CalendarRow) -> EventRow:
    """The row with what it says of time, and its body."""
    tz, recurring = zone(calendar.zone), bool(body.get("recurrence"))
    return row._replace(
        recurring=int(recurring),
        cancelled=int(body.get("status") == "cancelled"),
        start=min(to_millis(instant(one, tz)) for one in _starts(body)),
        end=None if recurring else to_millis(instant(end_of(body), tz)),
        body=json.dumps(body),
    )


def _starts(body: JSONObject) -> list[Start]:
    """When an event begins, and the dates that a recurrence adds: they may lie before."""
    return [start_of(body), *(one.start for one in recurrence_of(body).extras)]


def import_event(context: ServiceContext, request: RequestContext) -> Response:
    """A private copy of an event from elsewhere; one with the same iCalUID is replaced. Nobody is told."""
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options = checked(context, request, calendar)
    if not body.get("iCalUID"):
        raise refuse("required", field="iCalUID")
    refuse_problems(context, body)
    with context.store.transaction():
        rows = [row for row in context.store.events.by_uid(str(body["iCalUID"])) if row.calendar == calendar.id]
        before = stored(rows[0]) if rows else None
        kept = completed(context, request, body, options, before.body if before else {})
        kept |= made_by(request.caller.user, calendar) | _imported_organizer(body)
        found = _new(context, calendar, body | ({"id": before.row.id} if before else {}), kept)
        if before is None:
            _check_new(context, calendar, body)
        context.store.events.save(
            found.row._replace(created=before.row.created, place=before.row.place) if before else found.row
        )
    return shown(context, request, calendar, found)


def _imported_organizer(body: JSONObject) -> JSONObject:
    given: Any = body.get("organizer")
    if not isinstance(given, dict) or not is_address(given.get("email")):
        return {}
    named = {"displayName": given["displayName"]} if isinstance(given.get("displayName"), str) else {}
    return {"organizer": {"email": given["email"], **named}}


# -- one event -------------------------------------------------------------------------------------------------------


def get(context: ServiceContext, request: RequestContext) -> Response:
    """An event; a conference that was pending is there the next time that somebody looks."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    view = view_of(context, request, calendar)
    found = found_event(context, request, calendar)
    value = view.show(found)
    if event_parts.is_pending(found.body) and found.row.series is None:
        _settle(context, found)
    return answer(request, value, EVENT_SHAPE)


def _settle(context: ServiceContext, found: Found) -> None:
    """Make the conference that was asked for, one for the organizer and all guests."""
    with context.store.transaction():
        organizers = stored(context.store.events.get(found.row.origin, found.row.id) or found.row)
        if not event_parts.is_pending(organizers.body):
            return
        conference = event_parts.made(context, organizers.body["conferenceData"])
        body = organizers.body | {"conferenceData": conference}
        body["hangoutLink"] = event_parts.meeting_link(context, body)
        settled = Found(organizers.row._replace(body=json.dumps(body)), body)
        context.store.events.save(settled.row)
        sync_attendee_copies(context, settled, organizers.body)
