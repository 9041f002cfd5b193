"""Reads and checks the query parameters of event requests (B1)."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.errors.catalogue import refuse
from ...core.http.messages import Query
from ..files.operations import bool_param, int_param

_SEND_UPDATES = {"all": "all", "externalOnly": "externalOnly", "none": "none", "true": "all", "false": "none"}
_MAX_ATTENDEES = 10**9 - 1


@dataclass(frozen=True, slots=True)
class Options:
    """What a call asks for beside its body; `notify` is all, externalOnly or none."""

    conference: bool
    attachments: bool
    max_attendees: int | None
    notify: str


def options_of(query: Query) -> Options:
    """The options of a call. Raises ApiError (400)."""
    return Options(
        conference=_version(query) == 1,
        attachments=bool_param(query, "supportsAttachments", default=False),
        max_attendees=max_attendees(query),
        notify=_notify(query),
    )


def max_attendees(query: Query) -> int | None:
    """How many attendees an answer may have; None: all. Raises ApiError (400)."""
    return int_param(query, "maxAttendees", 1, _MAX_ATTENDEES) if "maxAttendees" in query else None


def _version(query: Query) -> int:
    text = query.get("conferenceDataVersion", "0")
    if text not in ("0", "1"):
        raise refuse("invalidParameter", name="conferenceDataVersion", message="expected 0 or 1.")
    return int(text)


def _notify(query: Query) -> str:
    """Who is told; the deprecated sendNotifications counts where sendUpdates says nothing (E-16)."""
    send_notifications = bool_param(query, "sendNotifications", default=False)
    text = query.get("sendUpdates")
    if text is None:
        return "all" if send_notifications else "none"
    if text not in _SEND_UPDATES:
        raise refuse("invalidParameter", name="sendUpdates", message=f"expected one of {', '.join(_SEND_UPDATES)}.")
    return _SEND_UPDATES[text]
