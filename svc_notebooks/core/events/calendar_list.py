"""Checks the fields of a calendar list entry, which are one user's own settings of a calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors.catalogue import ApiError, Row, lone_surrogates, row
from ..http.messages import JSON, JSONObject
from ..resources.colors import CALENDAR_COLORS
from .field_table import MAX_REMINDER_MINUTES, MAX_REMINDERS, METHODS

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


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "summaryOverride": (
        lambda value: isinstance(value, str) and len(value) <= _MAX_TITLE,
        f"text of at most {_MAX_TITLE} characters",
    ),
    "colorId": (lambda value: isinstance(value, str) and value in CALENDAR_COLORS, "the id of a calendar colour"),
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
"""The fields that a client can set, with their checks and the descriptions of valid values."""

_COLORS = ("backgroundColor", "foregroundColor")


def check_entry(body: JSONObject, *, rgb: bool) -> JSONObject:
    """Return the fields of a calendar list entry that a client can set. Raises ApiError (400) with all problems.

    If `rgb` is true, the entry has its own background and foreground, and `colorId` is the nearest calendar colour.
    Otherwise these two fields are ignored. The value None clears a field.

    >>> check_entry({"colorId": "3", "accessRole": "owner"}, rgb=False)
    {'colorId': '3', 'backgroundColor': None, 'foregroundColor': None}
    """
    problems: list[Row] = lone_surrogates(body)
    for field, (is_valid, expected) in _CHECKS.items():
        value = body.get(field)
        if value is not None and not is_valid(value):
            problems.append(row("invalid", field=field, message=f"expected {expected}."))
    fields = {field: body[field] for field in _CHECKS if field in body}
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
        fields["colorId"] = _nearest(str(fields["backgroundColor"]))
    elif "colorId" in fields:
        fields |= dict.fromkeys(_COLORS)
    return fields


def _nearest(color: str) -> str:
    """Return the id of the calendar colour whose background is nearest to a colour."""
    color_channels = _channels(color)
    return min(
        CALENDAR_COLORS,
        key=lambda name: sum(
            (own - other) ** 2
            for own, other in zip(color_channels, _channels(CALENDAR_COLORS[name].background), strict=True)
        ),
    )


def _channels(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))
