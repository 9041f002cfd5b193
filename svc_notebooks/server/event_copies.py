"""An event is in the calendars of its attendees too: copies that follow the organizer's, and what a guest may change.

Each copy has what is private to its calendar: private properties, reminders, colour and transparency (E-19). All the
rest is the organizer's, but for a guest's own answer.
"""

from __future__ import annotations

import json
from typing import Any

from ..core.catalogue import refuse
from ..core.wire import JSONObject
from .event_resource import Found
from .house import House
from .store.events import EventRow

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


def together(shared: JSONObject, private: JSONObject) -> JSONObject:
    """A copy made of its two parts."""
    properties: Any = {**_object(shared.get(_PROPERTIES)), **_object(private.get(_PROPERTIES))}
    return {**shared, **private, **({_PROPERTIES: properties} if properties else {})}


def _object(value: Any) -> JSONObject:
    return value if isinstance(value, dict) else {}


def spread(house: House, found: Found, before: JSONObject) -> None:
    """Bring the copies of the organizer's event up to date; `before` is what it was."""
    row, body = found
    if row.series is None and not (attendees_of(body) or attendees_of(before)):
        return
    copies = {one.calendar for one in copies_of(house, row)}
    guests = copies if row.series else _guests(house, row, body)
    for calendar in sorted(guests):
        if not _left(house, row, calendar, before):
            _copy(house, row, calendar)
    for calendar in sorted(copies - guests):
        _withdraw(house, row, calendar)


def copies_of(house: House, row: EventRow) -> list[EventRow]:
    """The rows in guests' calendars that follow the organizer's event; another event may have its uid (E-11)."""
    rows = house.store.events.by_uid(row.uid)
    return [one for one in rows if one.origin == row.origin != one.calendar]


def _guests(house: House, row: EventRow, body: JSONObject) -> set[str]:
    """The calendars of attendees who are users here; who has an own event of this id has no copy."""
    known = {email for email in emails_of(body) if house.store.people.root(email) and email != row.calendar}
    found = {email: house.store.events.get(email, row.id) for email in known}
    return {email for email, one in found.items() if one is None or one.origin == row.origin}


def _left(house: House, row: EventRow, calendar: str, before: JSONObject) -> bool:
    """Whether a guest took the event out of the own calendar, and has not been invited anew."""
    copy = house.store.events.get(calendar, row.id)
    if copy is None or not copy.cancelled or before.get("status") == "cancelled" or calendar not in emails_of(before):
        return False
    return bool(json.loads(copy.body).get("status") == "cancelled")


def _copy(house: House, row: EventRow, calendar: str) -> None:
    before = house.store.events.get(calendar, row.id)
    private = private_part(json.loads(before.body)) if before else {}
    body = json.dumps(together(shared_part(json.loads(row.body)), private))
    house.store.events.save(row._replace(calendar=calendar, body=body))


def _withdraw(house: House, row: EventRow, calendar: str) -> None:
    """Whoever is no longer invited sees a cancelled event."""
    copy = house.store.events.get(calendar, row.id)
    if copy is not None and not copy.cancelled:
        house.store.events.save(copy._replace(cancelled=1, updated=row.updated))


def organizer_row(house: House, copy: EventRow) -> EventRow | None:
    """The organizer's event that a copy follows."""
    return house.store.events.get(copy.origin, copy.id)


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
