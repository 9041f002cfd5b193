"""Stores changed events. The row of an instance contains only the fields that differ from its series."""

from __future__ import annotations

import json
from typing import Any

from ...core.resources.events import Event
from ..dispatch.service_context import ServiceContext
from .access import primary_of
from .attendee_copies import keep_instances, sync_attendee_copies
from .event_messages import record_times, series_of_calendar
from .event_resource import EventRecord
from .expansion import FIRST
from .instances import with_times
from .tables import CalendarRow, EventRow

_ROWS_PER_QUERY = 250
_NOT_UPDATING = {"reminders", "sequence"}
_ALWAYS_OWN = ("start", "end", "originalStartTime", "status")


def with_body(row: EventRow, body: Event, calendar: CalendarRow) -> EventRow:
    """Return a row with these event fields, and with the columns that are computed from the fields."""
    row = row._replace(
        recurring=int(bool(body.get("recurrence"))),
        cancelled=int(body.get("status") == "cancelled"),
        body=json.dumps(body),
    )
    return with_times(row, body, calendar)


def save_event(context: ServiceContext, event: EventRecord, before: Event) -> EventRecord:
    """Store an event, move its changed instances or delete them, and return the event with its row.

    `before` has the fields before the change.
    """
    row, body = event.row, event.body
    if row.series is None:
        keep_instances(context, event, before)
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
    event = save_event(context, EventRecord(row, fields), before.body)
    sync_attendee_copies(context, event, before.body)
    return event


def move_days(context: ServiceContext, calendar: CalendarRow) -> None:
    """Store the times of all-day events again after a change of the calendar's time zone, in which their days begin."""
    for row in context.store.events.by_age(calendar.id, FIRST, "", _ROWS_PER_QUERY):
        moved = with_times(row, json.loads(row.body), calendar)
        if moved != row:
            context.store.events.save(moved)
            if row.recurring:  # its instances may leave the time window of a list
                context.store.changes.add([series_of_calendar(calendar.id)], row.id, context.millis())
