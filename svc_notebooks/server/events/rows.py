"""Stores changed events. The row of an instance contains only the fields that differ from its series."""

from __future__ import annotations

import json
from typing import Any

from ...core.clock import to_millis
from ...core.events.times import instant
from ...core.events.validation import end_of, recurrence_of, start_of
from ...core.resources.events import Event
from ...core.time_zones import zone
from ..context.service_context import ServiceContext
from ..tables.calendars import CalendarRow
from ..tables.events import EventRow
from .attendee_copies import drop_missing_instances, sync_attendee_copies
from .calendars import primary_of
from .event_messages import record_times
from .resource import EventRecord

_NOT_UPDATING = {"reminders", "sequence"}
_ALWAYS_OWN = ("start", "end", "originalStartTime", "status")


def with_body(row: EventRow, body: Event, calendar: CalendarRow) -> EventRow:
    """Return a row with these event fields, and with the start, end and status columns computed from the fields."""
    tz, recurring = zone(calendar.zone), bool(body.get("recurrence"))
    # RDATE may add a date before the start of the event.
    starts = [start_of(body), *(extra.start for extra in recurrence_of(body).rdates)]
    return row._replace(
        recurring=int(recurring),
        cancelled=int(body.get("status") == "cancelled"),
        start=min(to_millis(instant(start, tz)) for start in starts),
        end=None if recurring else to_millis(instant(end_of(body), tz)),
        body=json.dumps(body),
    )


def save_event(context: ServiceContext, event: EventRecord) -> EventRecord:
    """Store an event, delete changed instances outside its recurrence, and return the event with its row."""
    row, body = event.row, event.body
    if row.series is None:
        drop_missing_instances(context, event)
        record_times(context, context.store.events.get(row.calendar, row.id), row)
    else:
        series = context.store.events.get(row.calendar, row.series)
        common: dict[str, Any] = json.loads(series.body) if series else {}
        own = {name: value for name, value in body.items() if name in _ALWAYS_OWN or value != common.get(name)}
        removed = {name: None for name in common if name not in body and name != "recurrence"}
        row = row._replace(body=json.dumps(removed | own))
    context.store.events.save(row)
    return EventRecord(row, body)


def save_with_copies(context: ServiceContext, before: EventRecord, fields: Event) -> EventRecord:
    """Store the new fields of an organizer's event, update the guests' copies and return the event.

    A change of the reminders alone does not change the time of the last update.
    """
    old: Any = before.body
    new: Any = fields
    changed = {name for name in {*new, *old} if new.get(name) != old.get(name)}
    updated = before.row.updated
    if not changed <= _NOT_UPDATING:
        updated = max(context.millis(), updated + 1)
    row = with_body(before.row._replace(updated=updated), fields, primary_of(context, before.row.calendar))
    event = save_event(context, EventRecord(row, fields))
    sync_attendee_copies(context, event, before.body)
    return event
