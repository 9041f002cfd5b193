"""Prepares the fields of a checked event for storage."""

from __future__ import annotations

from typing import Any

from ...core.events.fields import EVENT_FIELDS
from ...core.events.validation import repair_reminders
from ...core.http.messages import JSON, JSONObject
from ...core.policy import Policy

_READ_ONLY = {field.path for field in EVENT_FIELDS if not field.writable}
_WRITABLE = {field.path for field in EVENT_FIELDS if field.writable and "." not in field.path} - {"id", "iCalUID"}


def writable_fields(body: JSONObject, policy: Policy) -> JSONObject:
    """The fields to keep; unknown ones, null and what the service sets itself are left out."""
    body = repair_reminders(body, policy)
    fields = {
        name: _without_null(value, name) for name, value in body.items() if name in _WRITABLE and value is not None
    }
    if fields.get("recurrence") == []:
        del fields["recurrence"]
    if "attendees" in fields:
        fields["attendees"] = _unique_attendees(fields["attendees"])
    return fields


def _without_null(value: JSON, path: str) -> JSON:
    if isinstance(value, dict):
        inner = {
            name: member for name, member in value.items() if member is not None and f"{path}.{name}" not in _READ_ONLY
        }
        return {name: _without_null(member, f"{path}.{name}") for name, member in inner.items()}
    if isinstance(value, list):
        return [_without_null(element, f"{path}[]") for element in value if element is not None]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _unique_attendees(attendees: Any) -> list[JSON]:
    """Who is named twice is one: what the later entry says is laid over the first."""
    by_email: dict[str, JSONObject] = {}
    for attendee in attendees:
        before = by_email.get(attendee["email"].lower(), {})
        by_email[attendee["email"].lower()] = {**before, **attendee, "email": before.get("email", attendee["email"])}
    return list(by_email.values())


def merge_patch(old: JSONObject, patch: JSONObject) -> JSONObject:
    """The old value with a patch laid over it: objects name by name, null takes away (RFC 7386).

    >>> merge_patch({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": 4}})
    {'b': {'c': 4, 'd': 3}}
    """
    fields = dict(old)
    for name, value in patch.items():
        before = fields.get(name)
        if value is None:
            fields.pop(name, None)
        elif isinstance(value, dict):
            fields[name] = merge_patch(before if isinstance(before, dict) else {}, value)
        else:
            fields[name] = value
    return fields
