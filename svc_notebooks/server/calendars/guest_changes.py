"""Stores a guest's changes. Private fields go to the guest's copy, and responses to the organizer's event."""

from __future__ import annotations

import json
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.events.validation import with_defaults
from ...core.resources.events import Attendee, Event
from ..dispatch.service_context import ServiceContext
from .access import primary_of
from .attendee_copies import common_part, emails_of, merge_parts, private_part
from .event_resource import EventRecord, omit, pick
from .event_rows import save_event, save_with_copies
from .instances import find_event
from .tables import CalendarRow, EventRow

_RESPONSE_FIELDS = ("responseStatus", "comment", "additionalGuests", "displayName")
ORGANIZER_FIELDS = (
    "anyoneCanAddSelf",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
    "visibility",
)
"""The fields that restrict guests or readers. Guests cannot change them, even if they may modify the event."""
_NOT_COMPARED = ("attendees", "sequence", "status", "originalStartTime", "creator", "organizer")


def save(context: ServiceContext, calendar: CalendarRow, before: EventRecord, after: Event) -> EventRecord:
    """Store a guest's changes to an event and return the guest's copy. Raises ApiError (403) if not permitted."""
    after = {**pick(before.body, ORGANIZER_FIELDS), **after}
    _check_permission(before.body, after)
    organizer_event = _organizer_event(context, before.row)
    if organizer_event is not None:
        stored = organizer_event.body
        if before.body.get("guestsCanModify") is True:
            save_with_copies(context, organizer_event, merge_parts(common_part(after), private_part(stored)))
        elif (attendees := _merge_attendees(stored, after, calendar.owner)) is not None:
            save_with_copies(context, organizer_event, {**stored, "attendees": attendees})
    own_copy = find_event(context, calendar, before.row.id) or before
    body = merge_parts(common_part(own_copy.body), private_part(after))
    return save_event(context, EventRecord(own_copy.row._replace(body=json.dumps(body)), body), own_copy.body)


def decline(context: ServiceContext, calendar: CalendarRow, event: EventRecord) -> None:
    """Set the guest's response in the organizer's event to "declined", because the guest has deleted their copy."""
    organizer_event = _organizer_event(context, event.row)
    if organizer_event is not None:
        attendees: list[Attendee] = [
            {**attendee, "responseStatus": "declined"} if attendee["email"].lower() == calendar.owner else attendee
            for attendee in organizer_event.body.get("attendees") or []
        ]
        save_with_copies(context, organizer_event, {**organizer_event.body, "attendees": attendees})


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


def _merge_attendees(organizer_body: Event, after: Event, user: str) -> list[Attendee] | None:
    """Return the organizer's attendees with the guest's response and additions, or None if nothing changes."""
    attendees = list(organizer_body.get("attendees") or [])
    invited = {attendee["email"].lower(): index for index, attendee in enumerate(attendees)}
    new = [attendee for attendee in after.get("attendees") or [] if attendee["email"].lower() not in invited]
    own_entry = next((each for each in after.get("attendees") or [] if each["email"].lower() == user), None)
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
