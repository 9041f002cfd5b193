"""Converts arguments of the public event functions to query parameters of requests (B1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...client.events.events import list_calendars
from ...core.errors.caller_warning import warn_caller
from ..arguments import choice, flag, one_row_id, row_ids, whole

if TYPE_CHECKING:
    from ...client.session import Session

_SEND = ("all", "externalOnly", "none", "true", "false")


def _flag_text(argument: str, value: object) -> str:
    return "true" if flag(argument, value) else "false"


_PARAMETERS: Mapping[str, tuple[str, Callable[[str, object], object]]] = {
    "send_updates": ("sendUpdates", lambda argument, value: choice(argument, value, _SEND)),
    "max_attendees": ("maxAttendees", lambda argument, value: whole(argument, value, 1)),
    "conference_data_version": ("conferenceDataVersion", lambda argument, value: whole(argument, value, 0, 1)),
    "supports_attachments": ("supportsAttachments", _flag_text),
    "send_notifications": ("sendNotifications", _flag_text),
}
QUERY_ARGUMENTS = (*_PARAMETERS, "calendar")
"""The arguments that are not sent as event fields, but as query parameters or as the calendar id in the path."""


def query_of(arguments: Mapping[str, Any]) -> dict[str, object]:
    """Return the arguments that belong in the query as a dict by wire name. Raises TypeError or ValueError."""
    query: dict[str, object] = {}
    for name, (parameter, read) in _PARAMETERS.items():
        if (value := arguments.get(name)) is not None:
            query[parameter] = read(name, value)
    return query


def add_required(query: Mapping[str, object], body: Mapping[str, Any]) -> dict[str, object]:
    """Add the parameters to `query` without which the service ignores the body's conference data and attachments."""
    required: dict[str, object] = {}
    if "conferenceData" in body:
        required["conferenceDataVersion"] = 1
    if "attachments" in body:
        required["supportsAttachments"] = "true"
    return {**required, **query}


def calendar_ids(session: Session, calendar: object) -> list[str]:
    """Return the ids of a calendar argument: ids, names, rows, DataFrames or a list of these.

    A text without "@" may be the name of a calendar in the caller's list. Raises ValueError if several have this name.
    """
    return [_id_of(session, text) for text in row_ids(calendar, "calendar")]


def calendar_id(session: Session, calendar: object) -> str:
    """Return the id of a calendar argument that has one calendar. Raises TypeError, or ValueError for several."""
    return _id_of(session, one_row_id(calendar, "calendar"))


def _id_of(session: Session, text: str) -> str:
    """Return the id of the calendar with a name, or the text, which may be an id, if no calendar has the name."""
    if text == "primary" or "@" in text:
        return text
    entries = list(list_calendars(session))
    ids = [entry["id"] for entry in entries if text in (entry.get("summaryOverride"), entry.get("summary"))]
    if len(ids) > 1 and not any(entry["id"] == text for entry in entries):
        raise ValueError(f"calendar is {text!r}, the name of {len(ids)} calendars; give an id: {', '.join(ids)}")
    return ids[0] if len(ids) == 1 else text


def warn_deprecated(arguments: Mapping[str, Any] | list[str]) -> None:
    """Issue a FutureWarning at the caller of the public function if `send_notifications` is given.

    Python hides DeprecationWarning outside `__main__`, so a call in a course's own module would show no warning.
    """
    named = "send_notifications" in arguments
    if named and not (isinstance(arguments, Mapping) and arguments["send_notifications"] is None):
        message = "send_notifications is deprecated: use send_updates='all' for True and send_updates='none' for False"
        warn_caller(message, FutureWarning)
