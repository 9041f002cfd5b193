"""Writes the invitation messages of an event to the outbox (E-16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.clock import format_time, from_millis
from ...core.http.messages import JSONObject
from ..context.service_context import ServiceContext
from ..tables.events import InvitationRow
from .attendee_copies import attendees_of
from .resource import EventRecord

_SUBJECTS = {"request": "Invitation", "update": "Updated invitation", "cancel": "Cancelled event"}


def send_invitations(context: ServiceContext, notify: str, event: EventRecord) -> None:
    """A new event: all of its attendees are invited."""
    _send(context, notify, event, dict.fromkeys(_recipients(event.body), "request"))


def send_updates(context: ServiceContext, notify: str, event: EventRecord, before: JSONObject) -> None:
    """An event has changed: some are invited, some told, some no longer invited."""
    if event.row.cancelled:
        return send_cancellations(context, notify, event)
    now, then = _recipients(event.body), [] if before.get("status") == "cancelled" else _recipients(before)
    methods = {email: "update" if email in then else "request" for email in now}
    return _send(context, notify, event, methods | {email: "cancel" for email in then if email not in now})


def send_cancellations(context: ServiceContext, notify: str, event: EventRecord) -> None:
    """An event will not be: all of its attendees are told."""
    _send(context, notify, event, dict.fromkeys(_recipients(event.body), "cancel"))


def _recipients(body: JSONObject) -> list[str]:
    """Everybody but the organizer, and but rooms, in the order of the event."""
    organizer: Any = body.get("organizer") or {}
    own = str(organizer.get("email")).lower()
    people = [str(attendee["email"]) for attendee in attendees_of(body) if not attendee.get("resource")]
    return list(dict.fromkeys(email for email in people if email.lower() != own))


def _send(context: ServiceContext, notify: str, event: EventRecord, methods: Mapping[str, str]) -> None:
    for recipient, method in methods.items():
        outside = context.store.users.root(recipient.lower()) is None
        if notify == "all" or (notify == "externalOnly" and outside):
            subject = f"{_SUBJECTS[method]}: {event.body.get('summary') or '(no title)'}"
            context.store.events.invite(InvitationRow(context.millis(), event.row.id, recipient, method, subject))


def outbox(context: ServiceContext) -> list[dict[str, Any]]:
    """One row for each message, the oldest first."""
    rows = context.store.events.invitations(context.policy.outbox_length)
    return [
        {
            "time": format_time(from_millis(row.time)),
            "event_id": row.event,
            "to": row.recipient,
            "method": row.method,
            "subject": row.subject,
        }
        for row in rows
    ]
