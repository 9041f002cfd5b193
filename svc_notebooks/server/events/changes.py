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
from ..context.responses import empty
from ..context.service_context import RequestContext, ServiceContext
from ..store.calendars import CalendarRow
from ..store.events import EventRow
from . import guest_changes, invitations
from .attendee_copies import copies_of, sync_attendee_copies
from .body import merged
from .calendars import calendar_of
from .operations import checked, completed, found_event, made_by, refuse_problems, shown, with_times
from .options import options_of
from .resource import Found, etag
from .rows import store, store_for_all


def patch(context: ServiceContext, request: RequestContext) -> Response:
    """Some fields of an event; the others stay."""
    return _change(context, request, keep=True)


def update(context: ServiceContext, request: RequestContext) -> Response:
    """All fields of an event."""
    return _change(context, request, keep=False)


def _change(context: ServiceContext, request: RequestContext, *, keep: bool) -> Response:
    calendar = calendar_of(context, request, CalendarRole.WRITER)
    body, options = checked(context, request, calendar)
    with context.store.transaction():
        before = found_event(context, request, calendar)
        _check_match(request, before.row)
        if before.row.cancelled and body.get("status") not in _REVIVED:
            raise refuse("deleted")
        wanted = _wanted(before, body, keep=keep)
        refuse_problems(context, wanted)
        kept = completed(context, request, wanted, options, before.body)
        kept |= {name: before.body[name] for name in _FIXED if name in before.body}
        found = _saved(context, request, calendar, before, kept, options.notify)
    return shown(context, request, calendar, found)


def _wanted(before: Found, body: JSONObject, *, keep: bool) -> JSONObject:
    """The event as the caller wants it; who is left out by `attendeesOmitted` stays."""
    wanted = _merged(before.body, body) if keep else dict(body)
    wanted = {name: value for name, value in wanted.items() if name not in ("id", "iCalUID")}
    if before.row.series is not None:
        wanted.pop("recurrence", None)
    attendees = wanted.get("attendees")
    if isinstance(attendees, list):
        wanted["attendees"] = _attendees(before.body, attendees, all_named=body.get("attendeesOmitted") is not True)
    return wanted


def _merged(before: JSONObject, patch: JSONObject) -> JSONObject:
    """The event with a patch laid over it; a request for a conference is one value: its status belongs to its id."""
    wanted: Any = merged(before, patch)
    if before.get("recurrence") and isinstance(wanted.get("end"), dict):  # may be from when its end needed no zone
        wanted["end"] = {"timeZone": before["start"].get("timeZone"), **wanted["end"]}  # type: ignore[union-attr]
    data = patch.get("conferenceData")
    request = data.get("createRequest") if isinstance(data, dict) else None
    if isinstance(request, dict) and "requestId" in request:
        wanted["conferenceData"]["createRequest"] = request
    return wanted  # type: ignore[no-any-return]


def _attendees(before: JSONObject, attendees: list[Any], *, all_named: bool) -> list[Any]:
    """The attendees with what only their first adding says (E-08), and the answers that they gave before."""
    given: Any = before.get("attendees") or []
    known = {str(one["email"]).lower(): one for one in given}
    named = [_still(one, known) if isinstance(one, dict) else one for one in attendees]
    if all_named:
        return named
    new = {str(one.get("email")).lower(): one for one in named if isinstance(one, dict)}
    return [new.pop(email, one) for email, one in known.items()] + list(new.values())


def _still(one: JSONObject, known: dict[str, JSONObject]) -> JSONObject:
    before = known.get(str(one.get("email")).lower())
    if before is None:
        return one
    found = {name: value for name, value in one.items() if name != "resource"}
    remembered = ("resource",) if "responseStatus" in one else ("resource", "responseStatus")
    return found | {name: before[name] for name in remembered if name in before}


def _check_match(request: RequestContext, row: EventRow) -> None:
    wanted = request.headers.get("If-Match")
    if wanted is not None and wanted.strip() not in ("*", etag(row)):
        raise refuse("conditionNotMet")


_REVIVED = ("confirmed", "tentative")
_FIXED = ("creator", "organizer", "originalStartTime")
_MOVES = ("start", "end", "location", "recurrence")


def _saved(
    context: ServiceContext,
    request: RequestContext,
    calendar: CalendarRow,
    before: Found,
    kept: JSONObject,
    notify: str,
) -> Found:
    """Store a changed event where it belongs: a guest's answer with the organizer, all else in all copies."""
    moved = any(_meant(name, kept) != _meant(name, before.body) for name in _MOVES)
    stored_sequence, sent = _whole(before.body.get("sequence")), _whole(kept.get("sequence"))
    kept["sequence"] = max(sent, stored_sequence + moved)
    if before.row.calendar != before.row.origin:
        return guest_changes.save(context, calendar, before, kept)
    found = store_for_all(context, before, kept)
    invitations.tell(context, notify, found, before.body)
    return found


def _meant(name: str, body: JSONObject) -> object:
    """A field by what it means: one instant can be written in many ways."""
    value: Any = body.get(name)
    return (read_time(value), value.get("timeZone")) if name in ("start", "end") else value


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def delete(context: ServiceContext, request: RequestContext) -> Response:
    """Cancel an event, or one instance; the organizer's in all calendars, a guest's in their own (as a refusal)."""
    options = options_of(request.query)
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.WRITER)
        found = found_event(context, request, calendar)
        _check_match(request, found.row)
        if found.row.cancelled:
            raise refuse("deleted")
        gone = _cancelled(context, calendar, found)
        if found.row.calendar == found.row.origin:
            sync_attendee_copies(context, gone, found.body)
            invitations.cancel(context, options.notify, found)
        else:
            guest_changes.decline(context, calendar, found)
    return empty(204)


def _cancelled(context: ServiceContext, calendar: CalendarRow, found: Found) -> Found:
    body: JSONObject = {**found.body, "status": "cancelled"}
    row = with_times(found.row._replace(updated=max(context.millis(), found.row.updated + 1)), body, calendar)
    return store(context, Found(row, body))


def move(context: ServiceContext, request: RequestContext) -> Response:
    """Give an event to another calendar, which is its organizer from then on."""
    options = options_of(request.query)
    destination = request.query.get("destination")
    if not destination:
        raise refuse("requiredParameter", name="destination")
    with context.store.transaction():
        calendar = calendar_of(context, request, CalendarRole.WRITER)
        target = calendar_of(context, request, CalendarRole.WRITER, destination)
        found = found_event(context, request, calendar)
        _check_movable(context, calendar, target, found)
        moved = _moved(context, found, target, made_by(request.caller.user, target)["organizer"])
        invitations.tell(context, options.notify, moved, found.body)
    return shown(context, request, target, moved)


def _moved(context: ServiceContext, found: Found, target: CalendarRow, organizer: JSON) -> Found:
    """The event in another calendar, with the instances that differ; guests get new copies."""
    differing = context.store.events.changed_instances(found.row.calendar, found.row.id)
    for one in [found.row, *differing, *copies_of(context, found.row)]:
        context.store.events.drop(one.calendar, one.id)
    body = found.body | {"organizer": organizer}
    moved = Found(_placed_in(target, found.row)._replace(updated=context.millis(), body=json.dumps(body)), body)
    for row in [moved.row, *(_placed_in(target, one) for one in differing)]:
        context.store.events.save(row)
    sync_attendee_copies(context, moved, found.body)
    return moved


def _placed_in(target: CalendarRow, row: EventRow) -> EventRow:
    return row._replace(calendar=target.id, origin=target.id)


def _check_movable(context: ServiceContext, calendar: CalendarRow, target: CalendarRow, found: Found) -> None:
    if found.row.cancelled:
        raise refuse("deleted")
    if found.row.origin != calendar.id or found.row.series is not None:
        raise refuse("notOrganizer", field="destination")
    if target.id != calendar.id and context.store.events.get(target.id, found.row.id):
        raise refuse("duplicate")
