"""Access roles of calendars, checks of request bodies for calendars and access rules, and busy and free periods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any, get_args

from ..errors.catalogue import ApiError, Row, lone_surrogates, refuse, row
from ..field_mask import FAMILY_CALENDAR, FAMILY_SETTING, apply, parse, shape_of, with_family_fields
from ..http.messages import JSON, JSONObject
from ..resources import calendars
from ..times import zone
from .fields import MAX_REMINDER_MINUTES, MAX_REMINDERS, METHODS, is_address


def busy_periods(times: Iterable[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    """Return the periods that the times cover between `begin` and `end`, in order. Periods that touch are merged.

    >>> busy_periods([(9, 11), (1, 3), (3, 4), (2, 3), (12, 13)], 2, 10)
    [(2, 4), (9, 10)]
    """
    periods: list[tuple[int, int]] = []
    for first, last in sorted((max(first, begin), min(last, end)) for first, last in times):
        if periods and first <= periods[-1][1]:
            periods[-1] = (periods[-1][0], max(periods[-1][1], last))
        elif first < last:
            periods.append((first, last))
    return periods


def free_slots(busy: Iterable[tuple[int, int]], opening: tuple[int, int], length: int) -> Iterator[tuple[int, int]]:
    """Yield the slots of a length in an opening that no busy time overlaps. The first begins with each free period.

    >>> list(free_slots([(9, 10), (14, 15)], (8, 18), 2))
    [(10, 12), (12, 14), (15, 17)]
    """
    begin, end = opening
    for busy_begin, busy_end in (*busy_periods(busy, begin, end), (end, end)):
        while begin + length <= busy_begin:
            yield begin, begin + length
            begin += length
        begin = busy_end


CALENDAR_SHAPE = with_family_fields(shape_of(calendars.Calendar), FAMILY_CALENDAR)
LIST_SHAPE = with_family_fields(shape_of(calendars.CalendarListEntry), FAMILY_CALENDAR)
RULE_SHAPE = shape_of(calendars.AclRule)
SETTING_SHAPE = with_family_fields(shape_of(calendars.Setting), FAMILY_SETTING)


ACCESS_ROLES: tuple[calendars.AccessRole, ...] = get_args(calendars.AccessRole)


class CalendarRole(IntEnum):
    """The access role of a user for a calendar, in ascending order. Each role includes the rights of lower roles."""

    FREE_BUSY_READER = 1
    READER = 2
    WRITER = 3
    OWNER = 4

    @property
    def wire_name(self) -> calendars.AccessRole:
        """The name of the role in the interface, such as "freeBusyReader"."""
        return ACCESS_ROLES[self - 1]


ROLES: Mapping[str, CalendarRole] = {role.wire_name: role for role in CalendarRole}
_DOMAIN = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_TEXTS = {"summary": 254, "description": 8192, "location": 1024}


def check_calendar(body: JSONObject, *, creating: bool) -> JSONObject:
    """Return the fields of a calendar body that a client can set. Raises ApiError with all problems of the body."""
    wrong = [*lone_surrogates(body), *_absent(body)]
    if creating and not body.get("summary"):
        wrong.append(row("required", field="summary"))
    for field, maximum in _TEXTS.items():
        value = body.get(field)
        if value is not None and not (isinstance(value, str) and len(value) <= maximum):
            wrong.append(row("invalid", field=field, message=f"expected text of at most {maximum} characters."))
    if not _is_conference(body.get("conferenceProperties")):
        message = 'expected an object such as {"allowedConferenceSolutionTypes": ["hangoutsMeet"]}.'
        wrong.append(row("invalid", field="conferenceProperties", message=message))
    try:
        if (name := body.get("timeZone")) is not None:
            zone(name if isinstance(name, str) else repr(name))
    except ValueError as error:
        wrong.append(row("invalid", field="timeZone", message=f"{error}."))
    if wrong:
        raise ApiError(wrong)
    return {field: body[field] for field in (*_TEXTS, "timeZone", "conferenceProperties") if field in body}


def _absent(body: JSONObject) -> list[Row]:
    return [row("fieldAbsent", field=field) for field in FAMILY_CALENDAR if body.get(field) is not None]


def _is_conference(value: Any) -> bool:
    types = value.get("allowedConferenceSolutionTypes") if isinstance(value, dict) else None
    return value is None or (isinstance(types, list) and all(isinstance(name, str) for name in types))


def check_role(role: JSON, *, name: str = "minAccessRole") -> CalendarRole:
    """Convert a role name to a CalendarRole. Raises ApiError for the field `name` if the role does not exist."""
    if not isinstance(role, str) or role not in ROLES:
        raise refuse("invalidValue", name=name, message=f"expected one of {', '.join(ROLES)}.")
    return ROLES[role]


def check_rule(body: JSONObject) -> tuple[str, CalendarRole]:
    """Return the scope (such as "user:ada@svc.example") and role of an access rule body. Raises ApiError if invalid."""
    scope = body.get("scope")
    scope_type = scope.get("type") if isinstance(scope, dict) else None
    value = scope.get("value") if isinstance(scope, dict) else None
    if scope_type not in ("default", "user", "domain", "group"):
        raise refuse("invalid", field="scope.type", message="expected default, user, group or domain.")
    if scope_type == "default":
        return "default", check_role(body.get("role"), name="role")
    if value is None:
        raise refuse("required", field="scope.value")
    right = _DOMAIN.fullmatch(str(value)) if scope_type == "domain" else is_address(value)
    if not isinstance(value, str) or not right:
        expected = "a domain, such as example.com." if scope_type == "domain" else "an e-mail address."
        raise refuse("invalid", field="scope.value", message=f"expected {expected}")
    return f"{scope_type}:{value.lower()}", check_role(body.get("role"), name="role")


_MAX_TITLE = 254
_HEX_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
_NOTIFICATIONS = ("eventCreation", "eventChange", "eventCancellation", "eventResponse", "agenda")


def _is_reminder(value: Any) -> bool:
    minutes = value.get("minutes") if isinstance(value, dict) else None
    return type(minutes) is int and 0 <= minutes <= MAX_REMINDER_MINUTES and value.get("method") in METHODS


def _are_reminders(value: JSON) -> bool:
    return isinstance(value, list) and len(value) <= MAX_REMINDERS and all(map(_is_reminder, value))


def _is_notification(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in _NOTIFICATIONS and value.get("method") == "email"


def _are_notification_settings(value: Any) -> bool:
    notifications = value.get("notifications", []) if isinstance(value, dict) else None
    return isinstance(notifications, list) and all(map(_is_notification, notifications))


# The fields that a client can set, with their checks and the descriptions of valid values.
_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "summaryOverride": (
        lambda value: isinstance(value, str) and len(value) <= _MAX_TITLE,
        f"text of at most {_MAX_TITLE} characters",
    ),
    "colorId": (
        lambda value: isinstance(value, str) and value in calendars.CALENDAR_COLORS,
        "the id of a calendar colour",
    ),
    "hidden": (lambda value: isinstance(value, bool), "true or false"),
    "selected": (lambda value: isinstance(value, bool), "true or false"),
    "defaultReminders": (
        _are_reminders,
        f"at most {MAX_REMINDERS} reminders with a method ({' or '.join(METHODS)}) and minutes up to"
        f" {MAX_REMINDER_MINUTES}",
    ),
    "notificationSettings": (
        _are_notification_settings,
        f"notifications with the method email and a type of {', '.join(_NOTIFICATIONS)}",
    ),
}

_STORED = parse(
    "summaryOverride,colorId,hidden,selected,defaultReminders(method,minutes),"
    "notificationSettings/notifications(method,type)"
)
_COLORS = ("backgroundColor", "foregroundColor")


def check_entry(body: JSONObject, *, rgb: bool) -> JSONObject:
    """Return the fields of a calendar list entry that a client can set. Raises ApiError (400) with all problems.

    If `rgb` is true, the entry has its own background and foreground, and `colorId` is the nearest calendar colour.
    Otherwise these two fields are ignored. The value None clears a field.

    >>> check_entry({"colorId": "3", "accessRole": "owner"}, rgb=False)
    {'colorId': '3', 'backgroundColor': None, 'foregroundColor': None}
    """
    problems: list[Row] = [*lone_surrogates(body), *_absent(body)]
    for field, (is_valid, expected) in _CHECKS.items():
        value = body.get(field)
        if value is not None and not is_valid(value):
            problems.append(row("invalid", field=field, message=f"expected {expected}."))
    fields: JSONObject = {field: apply(_STORED[field], body[field]) for field in _CHECKS if field in body}
    if rgb:
        for field in _COLORS:
            color = body.get(field)
            if not (isinstance(color, str) and _HEX_COLOR.fullmatch(color)):
                message = "expected a colour such as #0088aa, because colorRgbFormat is true."
                problems.append(row("invalid", field=field, message=message))
            fields[field] = color
    if problems:
        raise ApiError(problems)
    if rgb:
        fields["colorId"] = calendars.nearest_color(str(fields["backgroundColor"]), calendars.CALENDAR_COLORS)
    elif "colorId" in fields:
        fields |= dict.fromkeys(_COLORS)
    return fields
