"""The copies of an event in its guests' calendars, brought up to date when the organizer's has changed (E-19).

A guest of a series has it with the instances that differ. A guest of one instance alone has it as a single event.
"""

from __future__ import annotations

import json
from typing import Any

from ...core.errors.catalogue import refuse
from ...core.http.messages import JSONObject
from ..context.service_context import ServiceContext
from ..store.events import EventRow
from .calendars import primary_of
from .instances import exists_in_recurrence, find
from .resource import Found, stored

PRIVATE = ("colorId", "reminders", "transparency")
_PROPERTIES = "extendedProperties"
_ANSWER = ("responseStatus", "comment", "additionalGuests", "displayName")


def attendees_of(body: JSONObject) -> list[JSONObject]:
    """The attendees of an event."""
    found: Any = body.get("attendees")
    return found if isinstance(found, list) else []


def emails_of(body: JSONObject) -> set[str]:
    """Their addresses, in lower case."""
    return {str(one["email"]).lower() for one in attendees_of(body)}


def shared_part(body: JSONObject) -> JSONObject:
    """What of an event all copies have."""
    found = {name: value for name, value in body.items() if name not in (*PRIVATE, _PROPERTIES)}
    properties: Any = body.get(_PROPERTIES) or {}
    if properties.get("shared"):
        found[_PROPERTIES] = {"shared": properties["shared"]}
    return found


def private_part(body: JSONObject) -> JSONObject:
    """What of an event belongs to one copy."""
    found = {name: body[name] for name in PRIVATE if name in body}
    properties: Any = body.get(_PROPERTIES) or {}
    if properties.get("private"):
        found[_PROPERTIES] = {"private": properties["private"]}
    return found


def merge_parts(shared: JSONObject, private: JSONObject) -> JSONObject:
    """A copy made of its two parts."""
    properties: Any = {**_object(shared.get(_PROPERTIES)), **_object(private.get(_PROPERTIES))}
    return {**shared, **private, **({_PROPERTIES: properties} if properties else {})}


def _object(value: Any) -> JSONObject:
    return value if isinstance(value, dict) else {}


def answered(before: JSONObject, after: JSONObject, user: str) -> JSONObject | None:
    """The organizer's event with the answer that a guest's copy gives; None: the guest said nothing new."""
    own, said = _entry(before, user), _entry(after, user)
    if own is None or said is None or _picked(own) == _picked(said):
        return None
    return {**before, "attendees": [_said(one, said) if one is own else one for one in attendees_of(before)]}


def _entry(body: JSONObject, user: str) -> JSONObject | None:
    return next((one for one in attendees_of(body) if str(one.get("email")).lower() == user), None)


def _picked(one: JSONObject) -> JSONObject:
    return {name: one[name] for name in _ANSWER if one.get(name) is not None}


def _said(one: JSONObject, said: JSONObject) -> JSONObject:
    return {name: value for name, value in one.items() if name not in _ANSWER} | _picked(said)


def check_guest(before: JSONObject, after: JSONObject) -> None:
    """Refuse what a guest changes of others' business. Raises ApiError (403 forbiddenForNonOrganizer)."""
    if before.get("guestsCanModify") is True:
        return
    old, new = _compared(before), _compared(after)
    for name in sorted(set(old) | set(new)):
        if old.get(name) != new.get(name):
            raise refuse("notOrganizer", field=name)
    gone, come = emails_of(before) - emails_of(after), emails_of(after) - emails_of(before)
    if gone or (come and before.get("guestsCanInviteOthers") is False):
        raise refuse("notOrganizer", field="attendees")


_FOLLOWS = ("attendees", "sequence", "status", "originalStartTime", "creator", "organizer")


def _compared(body: JSONObject) -> JSONObject:
    return {name: value for name, value in shared_part(body).items() if name not in _FOLLOWS}


def sync_attendee_copies(context: ServiceContext, found: Found, before: JSONObject) -> None:
    """Bring the copies of the organizer's event, or of one instance, up to date; `before` is what it was."""
    row, body = found
    if not (attendees_of(body) or attendees_of(before)):
        return
    guests, copies = _guests(context, row, body), {one.calendar for one in copies_of(context, row)}
    for calendar in sorted(guests):
        if not _left(context, row, calendar, before):
            _copy(context, found, calendar)
    for calendar in sorted(copies - guests):
        _withdraw(context, row, calendar)
    if row.recurring and not row.cancelled:
        _spread_instances(context, found, before)


def copies_of(context: ServiceContext, row: EventRow) -> list[EventRow]:
    """The rows in guests' calendars that follow the organizer's event; another event may have its uid (E-11)."""
    rows = context.store.events.by_uid(row.uid)
    return [one for one in rows if one.origin == row.origin != one.calendar]


def drop_lost(context: ServiceContext, found: Found) -> None:
    """Forget the changed instances that a series no longer has."""
    row, home = found.row, primary_of(context, found.row.calendar)
    for one in context.store.events.changed_instances(row.calendar, row.id):
        if row.cancelled or not row.recurring or not exists_in_recurrence(home, found, one):
            _forget(context, one)


def _forget(context: ServiceContext, instance: EventRow) -> None:
    context.store.events.drop(instance.calendar, instance.id)
    copies = copies_of(context, instance) if instance.calendar == instance.origin else []
    for calendar in {one.calendar for one in copies if one.id == instance.id}:
        _withdraw(context, instance, calendar)


def _guests(context: ServiceContext, row: EventRow, body: JSONObject) -> set[str]:
    """The calendars of attendees who are users here; who has an own event of this id has no copy."""
    known = {email for email in emails_of(body) if context.store.users.root(email) and email != row.calendar}
    found = {email: context.store.events.get(email, row.id) for email in known}
    return {email for email, one in found.items() if one is None or one.origin == row.origin}


def _left(context: ServiceContext, row: EventRow, calendar: str, before: JSONObject) -> bool:
    """Whether a guest took the event, or its series, out of the own calendar, and has not been invited anew."""
    if before.get("status") == "cancelled" or calendar not in emails_of(before):
        return False
    copies = [context.store.events.get(calendar, name) for name in (row.id, row.series) if name]
    return any(one and one.cancelled and json.loads(one.body).get("status") == "cancelled" for one in copies)


def _has_series(context: ServiceContext, row: EventRow, calendar: str) -> bool:
    series = context.store.events.get(calendar, row.series) if row.series else None
    return series is not None and series.origin == row.origin and not series.cancelled


def _copy(context: ServiceContext, found: Found, calendar: str) -> None:
    row, body = found
    before = context.store.events.get(calendar, row.id)
    private = private_part(json.loads(before.body)) if before else {}
    series = row.series if _has_series(context, row, calendar) else None
    shared = shared_part(json.loads(row.body) if series == row.series else body)
    copy = row._replace(calendar=calendar, series=series, body=json.dumps(merge_parts(shared, private)))
    context.store.events.save(copy)
    drop_lost(context, stored(copy))


def _withdraw(context: ServiceContext, row: EventRow, calendar: str) -> None:
    """Whoever is no longer invited sees a cancelled event, or a series without this instance."""
    copy = context.store.events.get(calendar, row.id)
    if copy is None and _has_series(context, row, calendar):
        body = shared_part(json.loads(row.body))
        copy = row._replace(calendar=calendar, cancelled=0, body=json.dumps(body))
    if copy is not None and copy.origin == row.origin and not copy.cancelled:
        gone = copy._replace(cancelled=1, updated=row.updated)
        context.store.events.save(gone)
        drop_lost(context, stored(gone))


def _spread_instances(context: ServiceContext, series: Found, before: JSONObject) -> None:
    """Who comes to a series or leaves it does so in the instances that differ."""
    home = primary_of(context, series.row.calendar)
    for one in context.store.events.changed_instances(home.id, series.row.id):
        was = find(context, home, one.id) or stored(one)
        if "attendees" in (own := json.loads(one.body)):
            own["attendees"] = _followed(was.body, series.body, before)
            one = one._replace(body=json.dumps(own))
            context.store.events.save(one)
        sync_attendee_copies(context, Found(one, was.body | own), was.body)


def _followed(instance: JSONObject, series: JSONObject, before: JSONObject) -> list[JSONObject]:
    """The attendees of an instance after those of its series have changed."""
    gone, here = emails_of(before) - emails_of(series), emails_of(instance)
    come = emails_of(series) - emails_of(before) - here
    kept = [one for one in attendees_of(instance) if str(one["email"]).lower() not in gone]
    return kept + [one for one in attendees_of(series) if str(one["email"]).lower() in come]
