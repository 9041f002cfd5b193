"""Builds the event resource of a response: the stored fields and the computed ones (E-18)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, NamedTuple

from ...core.clock import format_time, from_millis
from ...core.events.fields import FIELD_ORDER
from ...core.events.times import print_time, read_time
from ...core.events.validation import reminders_of
from ...core.http.messages import JSON, JSONObject
from ..context.service_context import ServiceContext
from ..tables.calendars import CalendarRow
from ..tables.events import EventRow


class EventRecord(NamedTuple):
    """An event with its fields, an instance with those of its series filled in."""

    row: EventRow
    body: JSONObject


def event_from_row(row: EventRow) -> EventRecord:
    """A single or recurring event."""
    return EventRecord(row, json.loads(row.body))


@dataclass(frozen=True, slots=True)
class EventView:
    """To whom an event is shown: `origin` leads back to the service, times have the offset of `zone`."""

    context: ServiceContext
    calendar: CalendarRow
    user: str
    origin: str
    zone: tzinfo
    max_attendees: int | None = None
    writes: bool = True

    def show(self, event: EventRecord) -> JSONObject:
        """The event."""
        row, body = event.row, event.body if self.writes else visible_to_readers(event.body)
        computed = {name: compute(self, row, body) for name, compute in _COMPUTED_FIELDS.items()}
        fields = {**body, **computed}
        return {name: fields[name] for name in FIELD_ORDER if fields.get(name) is not None}


_VISIBLE_WHEN_PRIVATE = ("start", "end", "originalStartTime", "recurrence", "status", "transparency", "visibility")


def visible_to_readers(body: JSONObject) -> JSONObject:
    """What those see who only read a calendar: of a private event the time alone."""
    if body.get("visibility") not in ("private", "confidential"):
        return body
    return {name: value for name, value in body.items() if name in _VISIBLE_WHEN_PRIVATE}


def etag(row: EventRow) -> str:
    """What If-Match compares; it changes with every change."""
    return f'"{row.updated * 2}000"'


def html_link(view: EventView, row: EventRow) -> str:
    """Where a browser shows the event."""
    eid = urlsafe_b64encode(f"{row.id} {row.calendar}".encode()).decode().rstrip("=")
    return f"{view.origin}/{view.context.names.calendar}/event?eid={eid}"


def participant_resource(view: EventView, participant: Any) -> JSON:
    """A creator or organizer; `self` where it is this calendar's owner."""
    if not isinstance(participant, dict):
        return None
    own = {"self": True} if participant.get("email") in (view.calendar.id, view.calendar.owner) else {}
    return {**participant, **own}


def _time(name: str) -> Callable[[EventView, EventRow, JSONObject], JSON]:
    def field(view: EventView, row: EventRow, body: JSONObject) -> JSON:
        value: Any = body.get(name)
        if not isinstance(value, dict):
            return None
        return print_time(read_time(value), view.zone, value.get("timeZone"))

    return field


def _status(view: EventView, row: EventRow, body: JSONObject) -> JSON:
    return "cancelled" if row.cancelled else body.get("status") or "confirmed"


def _attendees(view: EventView, row: EventRow, body: JSONObject) -> JSON:
    """Everybody, or the participant alone: where there are too many (E-15), or guests may not see each other."""
    attendees = _visible_attendees(view, body)
    if view.max_attendees is not None and len(attendees) > view.max_attendees:
        attendees = [attendee for attendee in attendees if attendee.get("self")]
    return list(attendees) if "attendees" in body else None


def _visible_attendees(view: EventView, body: JSONObject) -> list[JSONObject]:
    attendees = [_attendee(view, body, attendee) for attendee in _list_or_empty(body.get("attendees"))]
    organizer: Any = body.get("organizer") or {}
    if body.get("guestsCanSeeOtherGuests") is not False or organizer.get("email") == view.calendar.id:
        return attendees
    return [attendee for attendee in attendees if attendee.get("self") or attendee.get("organizer")]


def _attendee(view: EventView, body: JSONObject, attendee: JSONObject) -> JSONObject:
    organizer: Any = body.get("organizer") or {}
    email = str(attendee.get("email")).lower()
    fields = dict(attendee)
    if email == str(organizer.get("email")).lower():
        fields["organizer"] = True
    if email == view.calendar.owner and (view.calendar.primary or fields.get("organizer")):
        fields["self"] = True
    fields.setdefault("responseStatus", "accepted" if fields.get("organizer") else "needsAction")
    return fields


def _attendees_omitted(view: EventView, row: EventRow, body: JSONObject) -> JSON:
    attendees = _attendees(view, row, body)
    return True if isinstance(attendees, list) and len(attendees) < len(_list_or_empty(body.get("attendees"))) else None


def _list_or_empty(value: Any) -> list[JSONObject]:
    return value if isinstance(value, list) else []


_COMPUTED_FIELDS: Mapping[str, Callable[[EventView, EventRow, JSONObject], JSON]] = {
    "kind": lambda view, row, body: view.context.names.kind("event"),
    "etag": lambda view, row, body: etag(row),
    "id": lambda view, row, body: row.id,
    "status": _status,
    "htmlLink": lambda view, row, body: html_link(view, row),
    "created": lambda view, row, body: format_time(from_millis(row.created // 1000 * 1000)),
    "updated": lambda view, row, body: format_time(from_millis(row.updated)),
    "creator": lambda view, row, body: participant_resource(view, body.get("creator")),
    "organizer": lambda view, row, body: participant_resource(view, body.get("organizer")),
    "start": _time("start"),
    "end": _time("end"),
    "originalStartTime": _time("originalStartTime"),
    "recurringEventId": lambda view, row, body: row.series,
    "iCalUID": lambda view, row, body: row.uid,
    "sequence": lambda view, row, body: body.get("sequence", 0),
    "attendees": _attendees,
    "attendeesOmitted": _attendees_omitted,
    "reminders": lambda view, row, body: reminders_of(body.get("reminders")),
    "eventType": lambda view, row, body: body.get("eventType", "default"),
}
"""The fields that the service makes, or says in its own way."""
