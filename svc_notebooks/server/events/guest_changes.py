"""What a guest does to the own copy: what is private stays there, an answer goes to the organizer, and to all."""

from __future__ import annotations

import json

from ...core.http.messages import JSON, JSONObject
from ..context.service_context import ServiceContext
from ..store.calendars import CalendarRow
from ..store.events import EventRow
from .attendee_copies import answered, attendees_of, check_guest, emails_of, merge_parts, private_part, shared_part
from .calendars import primary_of
from .instances import find
from .resource import Found
from .rows import store, store_for_all


def save(context: ServiceContext, calendar: CalendarRow, before: Found, after: JSONObject) -> Found:
    """Store what a guest has changed where it belongs. Raises ApiError (403) for what is none of a guest's business."""
    check_guest(before.body, after)
    theirs = _organizers(context, before.row)
    changed = _with_guest(theirs.body, before.body, after, calendar.owner) if theirs else None
    if theirs is not None and changed is not None:
        store_for_all(context, theirs, changed)
    mine = find(context, calendar, before.row.id) or before
    body = merge_parts(shared_part(mine.body), private_part(after))
    return store(context, Found(mine.row._replace(body=json.dumps(body)), body))


def decline(context: ServiceContext, calendar: CalendarRow, found: Found) -> None:
    """Tell the organizer's event that a guest, who took it out of the own calendar, does not come."""
    theirs = _organizers(context, found.row)
    if theirs is not None:
        attendees: JSON = [_declined(one, calendar.owner) for one in attendees_of(theirs.body)]
        store_for_all(context, theirs, theirs.body | {"attendees": attendees})


def _organizers(context: ServiceContext, copy: EventRow) -> Found | None:
    """The organizer's event, or instance, that a copy follows."""
    return find(context, primary_of(context, copy.origin), copy.id)


def _with_guest(theirs: JSONObject, before: JSONObject, after: JSONObject, user: str) -> JSONObject | None:
    """The organizer's event with what a guest may change of it; None: nothing."""
    if before.get("guestsCanModify") is True:
        return merge_parts(shared_part(after), private_part(theirs))
    told, known = answered(theirs, after, user), emails_of(theirs)
    new = [one for one in attendees_of(after) if str(one["email"]).lower() not in known]
    if told is None and not new:
        return None
    base = told or theirs
    return {**base, "attendees": [*attendees_of(base), *new]}


def _declined(attendee: JSONObject, user: str) -> JSONObject:
    return attendee | {"responseStatus": "declined"} if str(attendee["email"]).lower() == user else attendee
