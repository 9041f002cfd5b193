"""Stores changed events; an instance of a series keeps only the fields that differ from the series."""

from __future__ import annotations

import json

from ...core.http.messages import JSONObject
from ..context.service_context import ServiceContext
from ..tables.events import EventRow
from .attendee_copies import drop_missing_instances, sync_attendee_copies
from .calendars import primary_of
from .operations import with_times
from .resource import EventRecord

_NOT_UPDATING = {"reminders", "sequence"}


def updated_row(context: ServiceContext, before: EventRecord, fields: JSONObject) -> EventRow:
    """The row as it is now; a change of reminders alone is no update."""
    changed = {name for name in {*fields, *before.body} if fields.get(name) != before.body.get(name)}
    updated = before.row.updated if changed <= _NOT_UPDATING else max(context.millis(), before.row.updated + 1)
    return with_times(before.row._replace(updated=updated), fields, primary_of(context, before.row.calendar))


def save_event(context: ServiceContext, event: EventRecord) -> EventRecord:
    """Save an event, of an instance what differs from its series; the event with its row as it is stored."""
    row, body = event
    if row.series is None:
        drop_missing_instances(context, event)
    else:
        row = row._replace(body=json.dumps(_own_fields(context, row, body)))
    context.store.events.save(row)
    return EventRecord(row, body)


def save_with_copies(context: ServiceContext, before: EventRecord, fields: JSONObject) -> EventRecord:
    """Save what has become of the organizer's event, there and in its copies."""
    event = save_event(context, EventRecord(updated_row(context, before, fields), fields))
    sync_attendee_copies(context, event, before.body)
    return event


def _own_fields(context: ServiceContext, row: EventRow, body: JSONObject) -> JSONObject:
    """What of an instance is not as in its series; its times are always its own."""
    series = context.store.events.get(row.calendar, str(row.series))
    common = json.loads(series.body) if series else {}
    removed: JSONObject = {name: None for name in common if name not in body and name != "recurrence"}
    always = ("start", "end", "originalStartTime", "status")
    own = {name: value for name, value in body.items() if name in always or value != common.get(name)}
    return removed | own
