"""An event as it is answered: its own fields in the family's order, and what the service adds (E-18)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, NamedTuple

from ...core.clock import format_time, from_millis
from ...core.events.fields import ORDER
from ...core.events.times import print_time, read_time
from ...core.events.validation import reminders_of
from ...core.http.messages import JSON, JSONObject
from ..context.service_context import ServiceContext
from ..store.calendars import CalendarRow
from ..store.events import EventRow


class Found(NamedTuple):
    """An event with its fields, an instance with those of its series filled in."""

    row: EventRow
    body: JSONObject


def stored(row: EventRow) -> Found:
    """A single or recurring event."""
    return Found(row, json.loads(row.body))


@dataclass(frozen=True, slots=True)
class View:
    """To whom an event is shown: `origin` leads back to the service, times have the offset of `zone`."""

    context: ServiceContext
    calendar: CalendarRow
    user: str
    origin: str
    zone: tzinfo
    most_attendees: int | None = None
    writes: bool = True

    def show(self, found: Found) -> JSONObject:
        """The event."""
        row, body = found.row, found.body if self.writes else shown_to_strangers(found.body)
        made = {name: make(self, row, body) for name, make in _MADE.items()}
        every = {**body, **made}
        return {name: every[name] for name in ORDER if every.get(name) is not None}


_TIME_ALONE = ("start", "end", "originalStartTime", "recurrence", "status", "transparency", "visibility")


def shown_to_strangers(body: JSONObject) -> JSONObject:
    """What those see who only read a calendar: of a private event the time alone."""
    if body.get("visibility") not in ("private", "confidential"):
        return body
    return {name: value for name, value in body.items() if name in _TIME_ALONE}


def etag(row: EventRow) -> str:
    """What If-Match compares; it changes with every change."""
    return f'"{row.updated * 2}000"'


def html_link(view: View, row: EventRow) -> str:
    """Where a browser shows the event."""
    eid = urlsafe_b64encode(f"{row.id} {row.calendar}".encode()).decode().rstrip("=")
    return f"{view.origin}/{view.context.names.calendar}/event?eid={eid}"


def person(view: View, who: Any) -> JSON:
    """A creator or organizer; `self` where it is this calendar's owner."""
    if not isinstance(who, dict):
        return None
    own = {"self": True} if who.get("email") in (view.calendar.id, view.calendar.owner) else {}
    return {**who, **own}


def _time(name: str) -> Callable[[View, EventRow, JSONObject], JSON]:
    def found(view: View, row: EventRow, body: JSONObject) -> JSON:
        value: Any = body.get(name)
        if not isinstance(value, dict):
            return None
        return print_time(read_time(value), view.zone, value.get("timeZone"))

    return found


def _status(view: View, row: EventRow, body: JSONObject) -> JSON:
    return "cancelled" if row.cancelled else body.get("status") or "confirmed"


def _attendees(view: View, row: EventRow, body: JSONObject) -> JSON:
    """Everybody, or the participant alone: where there are too many (E-15), or guests may not see each other."""
    shown = _shown(view, body)
    if view.most_attendees is not None and len(shown) > view.most_attendees:
        shown = [one for one in shown if one.get("self")]
    return list(shown) if "attendees" in body else None


def _shown(view: View, body: JSONObject) -> list[JSONObject]:
    everybody = [_attendee(view, body, one) for one in _list(body.get("attendees"))]
    organizer: Any = body.get("organizer") or {}
    if body.get("guestsCanSeeOtherGuests") is not False or organizer.get("email") == view.calendar.id:
        return everybody
    return [one for one in everybody if one.get("self") or one.get("organizer")]


def _attendee(view: View, body: JSONObject, given: JSONObject) -> JSONObject:
    organizer: Any = body.get("organizer") or {}
    email = str(given.get("email")).lower()
    found = dict(given)
    if email == str(organizer.get("email")).lower():
        found["organizer"] = True
    if email == view.calendar.owner and (view.calendar.primary or found.get("organizer")):
        found["self"] = True
    found.setdefault("responseStatus", "accepted" if found.get("organizer") else "needsAction")
    return found


def _omitted(view: View, row: EventRow, body: JSONObject) -> JSON:
    shown = _attendees(view, row, body)
    return True if isinstance(shown, list) and len(shown) < len(_list(body.get("attendees"))) else None


def _list(value: Any) -> list[JSONObject]:
    return value if isinstance(value, list) else []


_MADE: Mapping[str, Callable[[View, EventRow, JSONObject], JSON]] = {
    "kind": lambda view, row, body: view.context.names.kind("event"),
    "etag": lambda view, row, body: etag(row),
    "id": lambda view, row, body: row.id,
    "status": _status,
    "htmlLink": lambda view, row, body: html_link(view, row),
    "created": lambda view, row, body: format_time(from_millis(row.created // 1000 * 1000)),
    "updated": lambda view, row, body: format_time(from_millis(row.updated)),
    "creator": lambda view, row, body: person(view, body.get("creator")),
    "organizer": lambda view, row, body: person(view, body.get("organizer")),
    "start": _time("start"),
    "end": _time("end"),
    "originalStartTime": _time("originalStartTime"),
    "recurringEventId": lambda view, row, body: row.series,
    "iCalUID": lambda view, row, body: row.uid,
    "sequence": lambda view, row, body: body.get("sequence", 0),
    "attendees": _attendees,
    "attendeesOmitted": _omitted,
    "reminders": lambda view, row, body: reminders_of(body.get("reminders")),
    "eventType": lambda view, row, body: body.get("eventType", "default"),
}
"""The fields that the service makes, or says in its own way."""
