"""Writes the invitation e-mails of an event to the outbox, which stands for a mail server (E-16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from ...core.clock import format_millis
from ...core.resources.events import Event
from ..dispatch.service_context import ServiceContext
from .event_resource import EventRecord
from .tables import InvitationRow


class InvitationMessage(TypedDict):
    """An e-mail about an event, as a row of the outbox."""

    time: str
    event_id: str
    to: str
    method: str
    subject: str


_SUBJECTS = {"request": "Invitation", "update": "Updated invitation", "cancel": "Cancelled event"}


def send_invitations(context: ServiceContext, notify: str, event: EventRecord) -> None:
    """Send an invitation to the attendees of a new event. `notify` is "all", "externalOnly" or "none"."""
    _send(context, notify, event, dict.fromkeys(_recipients(event.body), "request"))


def send_updates(context: ServiceContext, notify: str, event: EventRecord, before: Event) -> None:
    """Send invitations to new attendees, cancellations to removed attendees and updates to the other attendees.

    If the event is now cancelled, all attendees get a cancellation.
    """
    if event.row.cancelled:
        return send_cancellations(context, notify, event)
    now, then = _recipients(event.body), {} if before.get("status") == "cancelled" else _recipients(before)
    methods = {email: "update" if email in then else "request" for email in now}
    return _send(context, notify, event, methods | {email: "cancel" for email in then if email not in now})


def send_cancellations(context: ServiceContext, notify: str, event: EventRecord) -> None:
    """Send a cancellation to the attendees of a cancelled event."""
    _send(context, notify, event, dict.fromkeys(_recipients(event.body), "cancel"))


def _recipients(body: Event) -> dict[str, None]:
    organizer = str((body.get("organizer") or {}).get("email")).lower()
    people = [attendee["email"] for attendee in body.get("attendees") or [] if not attendee.get("resource")]
    return dict.fromkeys(email for email in people if email.lower() != organizer)


def _send(context: ServiceContext, notify: str, event: EventRecord, methods: Mapping[str, str]) -> None:
    for recipient, method in methods.items():
        if notify == "all" or (notify == "externalOnly" and context.store.users.root(recipient.lower()) is None):
            subject = f"{_SUBJECTS[method]}: {event.body.get('summary') or '(no title)'}"
            context.store.events.invite(InvitationRow(context.millis(), event.row.id, recipient, method, subject))


def outbox(context: ServiceContext, last: int | None = None) -> list[InvitationMessage]:
    """Return one row for each e-mail in the outbox, oldest first. With `last`, return only so many of the latest."""
    rows = context.store.events.invitations(last or context.policy.outbox_length)
    return [
        {
            "time": format_millis(row.time),
            "event_id": row.event,
            "to": row.recipient,
            "method": row.method,
            "subject": row.subject,
        }
        for row in rows
    ]
