"""An event is in the calendars of its attendees too: what all copies have, what each one has, what a guest may change.

Each copy has what is private to its calendar: private properties, reminders, colour and transparency (E-19). All the
rest is the organizer's, but for a guest's own answer.
"""

from __future__ import annotations

from typing import Any

from ..core.catalogue import refuse
from ..core.wire import JSONObject

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
