"""Builds the query parameters of event requests from the arguments of the functions (B1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from ..arguments import choice, flag, whole

_SEND = ("all", "externalOnly", "none", "true", "false")


def _read_send(argument: str, value: object) -> object:
    return choice(argument, value, _SEND)


def _read_count(argument: str, value: object) -> object:
    return whole(argument, value, 1)


def _read_version(argument: str, value: object) -> object:
    return whole(argument, value, 0, 1)


def _read_flag(argument: str, value: object) -> object:
    return "true" if flag(argument, value) else "false"


_PARAMETERS: Mapping[str, tuple[str, Callable[[str, object], object]]] = {
    "send_updates": ("sendUpdates", _read_send),
    "max_attendees": ("maxAttendees", _read_count),
    "conference_data_version": ("conferenceDataVersion", _read_version),
    "supports_attachments": ("supportsAttachments", _read_flag),
    "send_notifications": ("sendNotifications", _read_flag),
}
QUERY_ARGUMENTS = (*_PARAMETERS, "calendar")
"""Arguments that are no fields of the event: the query parameters, and the calendar of the path."""


def query_of(arguments: Mapping[str, Any]) -> dict[str, object]:
    """The query parameters among the arguments, as given. Raises TypeError, ValueError."""
    checked_calendar(arguments.get("calendar", "primary"))
    values = {name: arguments[name] for name in _PARAMETERS if arguments.get(name) is not None}
    return {_PARAMETERS[name][0]: _PARAMETERS[name][1](name, value) for name, value in values.items()}


def with_required(query: Mapping[str, object], body: Mapping[str, Any]) -> dict[str, object]:
    """The query with the parameters without which the service ignores fields of the body; what was given stays."""
    required: dict[str, object] = {}
    if "conferenceData" in body:
        required["conferenceDataVersion"] = 1
    if "attachments" in body:
        required["supportsAttachments"] = "true"
    return {**required, **query}


def checked_calendar(calendar: object) -> str:
    """The calendar's id, if it can be one."""
    if not isinstance(calendar, str) or not calendar:
        raise TypeError(f"calendar must be the id of one, such as 'primary', not {calendar!r}")
    return calendar


def warn_deprecated(arguments: Mapping[str, Any] | list[str]) -> None:
    """Show a warning for `send_notifications`, at the line that called the public function.

    FutureWarning is the category for people who use a program. Python hides DeprecationWarning outside of `__main__`,
    so a course's own module that calls the function would show nothing.
    """
    named = "send_notifications" in arguments
    if named and not (isinstance(arguments, Mapping) and arguments["send_notifications"] is None):
        message = "send_notifications is deprecated: use send_updates='all' for True and send_updates='none' for False"
        warnings.warn(message, FutureWarning, stacklevel=3)
