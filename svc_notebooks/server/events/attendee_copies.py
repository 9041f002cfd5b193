"""Updates the copies of an event in its guests' calendars when the organizer's event changes (E-19).

A guest of a series has it with the instances that differ. A guest of one instance alone has it as a single event.
"""

from __future__ import annotations

import json
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.http.messages import JSONObject
from ..context.service_context import ServiceContext
from ..tables.events import EventRow
from .calendars import primary_of
from .instances import exists_in_recurrence, find_event
from .resource import EventRecord, event_from_row

PRIVATE = ("colorId", "reminders", "transparency")
_PROPERTIES = "extendedProperties"
_RESPONSE_FIELDS = ("responseStatus", "comment", "additionalGuests", "displayName")


def attendees_of(body: JSONObject) -> list[JSONObject]:
    """The attendees of an event."""
    attendees: Any = body.get("attendees")
    return attendees if isinstance(attendees, list) else []


def emails_of(body: JSONObject) -> set[str]:
    """Their addresses, in lower case."""
    return {str(attendee["email"]).lower() for attendee in attendees_of(body)}


def shared_part(body: JSONObject) -> JSONObject:
    """What of an event all copies have."""
    fields = {name: value for name, value in body.items() if name not in (*PRIVATE, _PROPERTIES)}
    properties: Any = body.get(_PROPERTIES) or {}
    if properties.get("shared"):
        fields[_PROPERTIES] = {"shared": properties["shared"]}
    return fields


def private_part(body: JSONObject) -> JSONObject:
    """What of an event belongs to one copy."""
    fields = {name: body[name] for name in PRIVATE if name in body}
    properties: Any = body.get(_PROPERTIES) or {}
    if properties.get("private"):
        fields[_PROPERTIES] = {"private": properties["private"]}
    return fields


def merge_parts(shared: JSONObject, private: JSONObject) -> JSONObject:
    """A copy made of its two parts."""
    properties: Any = {**_object(shared.get(_PROPERTIES)), **_object(private.get(_PROPERTIES))}
    return {**shared, **private, **({_PROPERTIES: properties} if properties else {})}


def _object(value: Any) -> JSONObject:
    return value if isinstance(value, dict) else {}


def merge_response(before: JSONObject, after: JSONObject, user: str) -> JSONObject | None:
    """The organizer's event with the answer that a guest's copy gives; None: the guest said nothing new."""
    own_entry, copy_entry = _attendee_entry(before, user), _attendee_entry(after, user)
    if own_entry is None or copy_entry is None or _response_fields(own_entry) == _response_fields(copy_entry):
        return None
    return {
        **before,
        "attendees": [
            _with_response(attendee, copy_entry) if attendee is own_entry else attendee
            for attendee in attendees_of(before)
        ],
    }


def _attendee_entry(body: JSONObject, user: str) -> JSONObject | None:
    return next((attendee for attendee in attendees_of(body) if str(attendee.get("email")).lower() == user), None)


def _response_fields(attendee: JSONObject) -> JSONObject:
    return {name: attendee[name] for name in _RESPONSE_FIELDS if attendee.get(name) is not None}


def _with_response(attendee: JSONObject, copy_entry: JSONObject) -> JSONObject:
    return {name: value for name, value in attendee.items() if name not in _RESPONSE_FIELDS} | _response_fields(
        copy_entry
    )


def check_guest_change(before: JSONObject, after: JSONObject) -> None:
    """Refuse what a guest changes of others' business. Raises ApiError (403 forbiddenForNonOrganizer)."""
    if before.get("guestsCanModify") is True:
        return
    old_fields, new_fields = _comparable_fields(before), _comparable_fields(after)
    for name in sorted(set(old_fields) | set(new_fields)):
        if old_fields.get(name) != new_fields.get(name):
            raise refuse("notOrganizer", field=name)
    removed, added = emails_of(before) - emails_of(after), emails_of(after) - emails_of(before)
    if removed or (added and before.get("guestsCanInviteOthers") is False):
        raise refuse("notOrganizer", field="attendees")


_NOT_COMPARED = ("attendees", "sequence", "status", "originalStartTime", "creator", "organizer")


def _comparable_fields(body: JSONObject) -> JSONObject:
    return {name: value for name, value in shared_part(body).items() if name not in _NOT_COMPARED}


def sync_attendee_copies(context: ServiceContext, event: EventRecord, before: JSONObject) -> None:
    """Bring the copies of the organizer's event, or of one instance, up to date; `before` is what it was."""
    row, body = event
    if not (attendees_of(body) or attendees_of(before)):
        return
    guests, copies = _guest_calendars(context, row, body), {copy.calendar for copy in copies_of(context, row)}
    for calendar in sorted(guests):
        if not _has_left(context, row, calendar, before):
            _save_copy(context, event, calendar)
    for calendar in sorted(copies - guests):
        _withdraw(context, row, calendar)
    if row.recurring and not row.cancelled:
        _sync_instances(context, event, before)


def copies_of(context: ServiceContext, row: EventRow) -> list[EventRow]:
    """The rows in guests' calendars that follow the organizer's event; another event may have its uid (E-11)."""
    rows = context.store.events.by_uid(row.uid)
    return [copy for copy in rows if copy.origin == row.origin != copy.calendar]


def drop_missing_instances(context: ServiceContext, event: EventRecord) -> None:
    """Forget the changed instances that a series no longer has."""
    row, calendar = event.row, primary_of(context, event.row.calendar)
    for instance in context.store.events.changed_instances(row.calendar, row.id):
        if row.cancelled or not row.recurring or not exists_in_recurrence(calendar, event, instance):
            _drop_instance(context, instance)


def _drop_instance(context: ServiceContext, instance: EventRow) -> None:
    context.store.events.drop(instance.calendar, instance.id)
    copies = copies_of(context, instance) if instance.calendar == instance.origin else []
    for calendar in {copy.calendar for copy in copies if copy.id == instance.id}:
        _withdraw(context, instance, calendar)


def _guest_calendars(context: ServiceContext, row: EventRow, body: JSONObject) -> set[str]:
    """The calendars of attendees who are users here; who has an own event of this id has no copy."""
    known = {email for email in emails_of(body) if context.store.users.root(email) and email != row.calendar}
    own_events = {email: context.store.events.get(email, row.id) for email in known}
    return {email for email, event in own_events.items() if event is None or event.origin == row.origin}


def _has_left(context: ServiceContext, row: EventRow, calendar: str, before: JSONObject) -> bool:
    """Whether a guest took the event, or its series, out of the own calendar, and has not been invited anew."""
    if before.get("status") == "cancelled" or calendar not in emails_of(before):
        return False
    copies = [context.store.events.get(calendar, name) for name in (row.id, row.series) if name]
    return any(copy and copy.cancelled and json.loads(copy.body).get("status") == "cancelled" for copy in copies)


def _has_series(context: ServiceContext, row: EventRow, calendar: str) -> bool:
    series = context.store.events.get(calendar, row.series) if row.series else None
    return series is not None and series.origin == row.origin and not series.cancelled


def _save_copy(context: ServiceContext, event: EventRecord, calendar: str) -> None:
    row, body = event
    before = context.store.events.get(calendar, row.id)
    private = private_part(json.loads(before.body)) if before else {}
    series = row.series if _has_series(context, row, calendar) else None
    shared = shared_part(json.loads(row.body) if series == row.series else body)
    copy = row._replace(calendar=calendar, series=series, body=json.dumps(merge_parts(shared, private)))
    context.store.events.save(copy)
    drop_missing_instances(context, event_from_row(copy))


def _withdraw(context: ServiceContext, row: EventRow, calendar: str) -> None:
    """Whoever is no longer invited sees a cancelled event, or a series without this instance."""
    copy = context.store.events.get(calendar, row.id)
    if copy is None and _has_series(context, row, calendar):
        body = shared_part(json.loads(row.body))
        copy = row._replace(calendar=calendar, cancelled=0, body=json.dumps(body))
    if copy is not None and copy.origin == row.origin and not copy.cancelled:
        cancelled = copy._replace(cancelled=1, updated=row.updated)
        context.store.events.save(cancelled)
        drop_missing_instances(context, event_from_row(cancelled))


def _sync_instances(context: ServiceContext, series: EventRecord, before: JSONObject) -> None:
    """Who comes to a series or leaves it does so in the instances that differ."""
    calendar = primary_of(context, series.row.calendar)
    for instance in context.store.events.changed_instances(calendar.id, series.row.id):
        previous = find_event(context, calendar, instance.id) or event_from_row(instance)
        if "attendees" in (fields := json.loads(instance.body)):
            fields["attendees"] = _instance_attendees(previous.body, series.body, before)
            instance = instance._replace(body=json.dumps(fields))
            context.store.events.save(instance)
        sync_attendee_copies(context, EventRecord(instance, previous.body | fields), previous.body)


def _instance_attendees(instance: JSONObject, series: JSONObject, before: JSONObject) -> list[JSONObject]:
    """The attendees of an instance after those of its series have changed."""
    removed, present = emails_of(before) - emails_of(series), emails_of(instance)
    added = emails_of(series) - emails_of(before) - present
    kept = [attendee for attendee in attendees_of(instance) if str(attendee["email"]).lower() not in removed]
    return kept + [attendee for attendee in attendees_of(series) if str(attendee["email"]).lower() in added]
