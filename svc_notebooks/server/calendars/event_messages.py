"""The messages that a change of an event or a calendar sends, to channels and as e-mails to guests (E-16).

The e-mails go to an outbox, which stands for a mail server.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...core.events.calendars import CalendarRole
from ...core.http.messages import Response, segment
from ...core.notifications.deliveries import EXISTS, NOT_EXISTS
from ...core.resources.events import Event
from ...core.times import format_millis
from ..dispatch.service_context import RequestContext, ServiceContext
from ..notifications.channels import open_channel
from .access import calendar_of, role_of
from .event_resource import EventRecord
from .tables import CalendarRow, EventRow, InvitationRow


def watch_events(context: ServiceContext, request: RequestContext) -> Response:
    """Open and return a channel that watches the events of a calendar. Raises ApiError (404) for a hidden calendar."""
    calendar = calendar_of(context, request, CalendarRole.READER)
    path = context.names.calendar_path("calendars", segment(calendar.id), "events")
    return open_channel(context, request, events_of(calendar.id), path)


def watch_calendar_list(context: ServiceContext, request: RequestContext) -> Response:
    """Open and return a channel that watches the caller's calendar list."""
    path = context.names.calendar_path("users", "me", "calendarList")
    return open_channel(context, request, list_of(request.caller.user), path)


def events_of(calendar: str) -> str:
    """Return the name of a calendar's events, which is stored as the watched resource of notification channels."""
    return f"events of {calendar}"


def list_of(user: str) -> str:
    """Return the name of a user's calendar list, which is stored as the watched resource of notification channels."""
    return f"calendar list of {user}"


def series_of_calendar(calendar: str) -> str:
    """Return the name of the log of the recurring events of a calendar whose instances changed their times."""
    return f"series of {calendar}"


def access_of(calendar: str) -> str:
    """Return the name of the log of a calendar's access rules."""
    return f"access of {calendar}"


def settings_of(user: str) -> str:
    """Return the name of the log of a user's calendar settings."""
    return f"settings of {user}"


def record_removal(context: ServiceContext, row: EventRow) -> None:
    """Log that a calendar no longer has the row of an event."""
    logs = [events_of(row.calendar), *([series_of_calendar(row.calendar)] if row.recurring else [])]
    context.store.changes.add(logs, row.id, context.millis())


def record_times(context: ServiceContext, before: EventRow | None, after: EventRow) -> None:
    """Log that the instances of a recurring event changed, if its times or its recurrence did."""
    if before and (before.recurring or after.recurring):
        old, new = json.loads(before.body), json.loads(after.body)
        if any(old.get(name) != new.get(name) for name in ("start", "end", "recurrence")):
            context.store.changes.add([series_of_calendar(after.calendar)], after.id, context.millis())


def record_clearing(context: ServiceContext, calendar: str) -> None:
    """Log that all events of a calendar were removed, which the empty id stands for, and queue messages."""
    context.store.changes.add([events_of(calendar)], "", context.millis())
    record_event_change(context, calendar)


@contextmanager
def changing_events(context: ServiceContext, *calendars: str) -> Iterator[None]:
    """Commit the changes of a `with` block, with one message for each calendar whose events change.

    `calendars` are the ids of calendars whose events change even if no event is stored.
    """
    with context.store.transaction():
        before = context.store.events.last_number()
        yield
        if context.store.channels.any():
            for calendar in sorted({*calendars, *context.store.events.changed_calendars(before)}):
                record_event_change(context, calendar)


def record_event_change(context: ServiceContext, calendar: str) -> None:
    """Queue a message to each channel on the events of a calendar.

    A channel whose user can no longer read the calendar, or whose calendar is deleted, gets its last message.
    """
    row, now = context.store.calendars.get(calendar), context.millis()
    for channel in context.store.channels.watchers(events_of(calendar), now):
        role = role_of(context, channel.user, row) if row else None
        if role is None or role < CalendarRole.READER:
            context.store.channels.end(channel.seq, NOT_EXISTS, step=1, now=now)
        else:
            context.store.channels.enqueue_for_channel(channel.seq, EXISTS, step=1, now=now)


def record_access(context: ServiceContext, calendar: CalendarRow, scope: str) -> None:
    """Log and queue messages after the access rule of a scope changed, which may concern many users' lists."""
    context.store.changes.add([access_of(calendar.id)], scope, context.millis())
    named = scope.startswith("user:")
    record_list_change(context, [scope.removeprefix("user:")] if named else users_of(context, calendar), calendar.id)
    now = context.millis()
    for channel in context.store.channels.watchers(events_of(calendar.id), now):
        if (role_of(context, channel.user, calendar) or CalendarRole.FREE_BUSY_READER) < CalendarRole.READER:
            context.store.channels.end(channel.seq, NOT_EXISTS, step=1, now=now)


def record_list_change(context: ServiceContext, users: Iterable[str], calendar: str) -> None:
    """Log a change of a calendar in the lists of these users, and queue messages to the channels on the lists."""
    for user in users:
        context.store.changes.add([list_of(user)], calendar, context.millis())
        context.store.channels.enqueue_message(list_of(user), EXISTS, "", step=1, now=context.millis())


def record_calendar_change(context: ServiceContext, row: CalendarRow) -> None:
    """Queue messages to the channels on the lists that have a calendar, because the calendar has changed."""
    record_list_change(context, users_of(context, row), row.id)


def users_of(context: ServiceContext, row: CalendarRow) -> list[str]:
    """Return the users whose calendar lists can have a calendar, in alphabetical order."""
    grants = context.store.calendars.grants(row.id)
    named = {grant.scope.removeprefix("user:") for grant in grants if grant.scope.startswith("user:")}
    return sorted({row.owner, *named, *context.store.calendars.entry_users(row.id)})


_SUBJECTS = {"request": "Invitation", "update": "Updated invitation", "cancel": "Cancelled event"}


def send_emails(context: ServiceContext, notify: str, event: EventRecord, before: Event) -> None:
    """Send invitations to new attendees, cancellations to removed attendees and updates to the other attendees.

    `notify` is "all", "externalOnly" or "none", and `before` has the fields before the change, {} for a new event. If
    the event is now cancelled, all attendees get a cancellation.
    """
    if notify == "none":
        return
    now, then = _recipients(event.body), {} if before.get("status") == "cancelled" else _recipients(before)
    if before and event.row.cancelled:
        methods = dict.fromkeys(now, "cancel")
    else:
        methods = {email: "update" if email in then else "request" for email in now}
        methods |= {email: "cancel" for email in then if email not in now}
    for recipient, method in methods.items():
        if notify == "all" or (notify == "externalOnly" and context.store.users.root(recipient.lower()) is None):
            subject = f"{_SUBJECTS[method]}: {event.body.get('summary') or '(no title)'}"
            context.store.events.invite(InvitationRow(context.millis(), event.row.id, recipient, method, subject))


def _recipients(body: Event) -> dict[str, None]:
    organizer = str((body.get("organizer") or {}).get("email")).lower()
    people = [attendee["email"] for attendee in body.get("attendees") or [] if not attendee.get("resource")]
    return dict.fromkeys(email for email in people if email.lower() != organizer)


def outbox(context: ServiceContext, last: int | None = None) -> list[dict[str, str]]:
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
