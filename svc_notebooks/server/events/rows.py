"""What is stored of an event that changes: an instance of a series keeps only what differs from it."""

from __future__ import annotations

import json

from ...core.http.messages import JSONObject
from ..context.service_context import House
from ..store.events import EventRow
from .attendee_copies import drop_lost, spread
from .calendars import primary_of
from .operations import placed
from .resource import Found

_QUIET = {"reminders", "sequence"}


def touched(house: House, before: Found, kept: JSONObject) -> EventRow:
    """The row as it is now; a change of reminders alone is no update."""
    changed = {name for name in {*kept, *before.body} if kept.get(name) != before.body.get(name)}
    updated = before.row.updated if changed <= _QUIET else max(house.millis(), before.row.updated + 1)
    return placed(before.row._replace(updated=updated), kept, primary_of(house, before.row.calendar))


def store(house: House, found: Found) -> Found:
    """Save an event, of an instance what differs from its series; the event with its row as it is stored."""
    row, body = found
    if row.series is None:
        drop_lost(house, found)
    else:
        row = row._replace(body=json.dumps(_differing(house, row, body)))
    house.store.events.save(row)
    return Found(row, body)


def store_for_all(house: House, before: Found, kept: JSONObject) -> Found:
    """Save what has become of the organizer's event, there and in its copies."""
    found = store(house, Found(touched(house, before, kept), kept))
    spread(house, found, before.body)
    return found


def _differing(house: House, row: EventRow, body: JSONObject) -> JSONObject:
    """What of an instance is not as in its series; its times are always its own."""
    series = house.store.events.get(row.calendar, str(row.series))
    common = json.loads(series.body) if series else {}
    gone: JSONObject = {name: None for name in common if name not in body and name != "recurrence"}
    always = ("start", "end", "originalStartTime", "status")
    own = {name: value for name, value in body.items() if name in always or value != common.get(name)}
    return gone | own
