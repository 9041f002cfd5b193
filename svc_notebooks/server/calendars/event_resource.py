"""Builds the Event resource of a response (E-18), from the stored event and the caller's view of the calendar."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache
from typing import Any, cast

from ...core.events.event_times import print_instant, print_time, read_time
from ...core.events.fields import FIELD_ORDER
from ...core.events.validation import reminders_of
from ...core.resources.events import Attendee, Event
from ...core.times import format_millis, from_millis
from ..dispatch.service_context import ServiceContext
from .tables import CalendarRow, EventRow


class EventRecord:
    """A stored event with its row and its fields. The fields of an instance include the fields of its series.

    Without a `body`, the event has the fields of its row. They are parsed only if they are needed.
    """

    __slots__ = ("_body", "has_fields_of_row", "row")

    def __init__(self, row: EventRow, body: Event | None = None) -> None:
        self.row = row
        self.has_fields_of_row = body is None
        self._body = body

    @property
    def body(self) -> Event:
        """The fields of the event."""
        if self._body is None:
            self._body = json.loads(self.row.body)
        return self._body


def removed_event(calendar: str, event_id: str) -> EventRecord:
    """Return the event that stands for one which a list had earlier, and no longer has."""
    return EventRecord(EventRow(calendar, event_id, "", calendar, None, 0, 1, 0, 0, 0, 0, 0, "{}"))


def pick(event: Event, names: Iterable[str]) -> Event:
    """Return a copy of an event with only the fields in `names`. Fields that the event does not have are left out."""
    fields: Any = event
    return cast(Event, {name: fields[name] for name in names if name in fields})


def omit(event: Event, *names: str) -> Event:
    """Return a copy of an event without the fields in `names`."""
    return pick(event, [name for name in event if name not in names])


@dataclass(frozen=True, slots=True)
class EventView:
    """The context in which a caller sees the events of a calendar.

    `base_url` is the beginning of links. Times are shown in the time zone `zone`. `writes` is False for a
    caller who may only read the calendar.
    """

    context: ServiceContext
    calendar: CalendarRow
    user: str
    base_url: str
    zone: tzinfo
    max_attendees: int | None = None
    writes: bool = True

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The values that determine the resource of an event, beside the event itself and the service."""
        return self.calendar, self.user, self.base_url, self.zone, self.max_attendees, self.writes

    def link(self, event_id: str) -> str:
        """Return the address of the page of an event."""
        eid = urlsafe_b64encode(f"{event_id} {self.calendar.id}".encode()).decode().rstrip("=")
        return f"{self.base_url}/{self.context.names.calendar}/event?eid={eid}"

    def visible_fields(self, event: EventRecord) -> Event:
        """Return the stored fields that the caller may see, without guests that the organizer hides from guests."""
        body = event.body if self.writes else visible_to_readers(event.body)
        if body.get("attendees") and hides_guests(body, self.calendar.id):
            shown = {self.calendar.owner, str((body.get("organizer") or {}).get("email")).lower()}
            body = {**body, "attendees": [entry for entry in body["attendees"] if entry["email"].lower() in shown]}
        return body

    def resource(self, event: EventRecord) -> Event:
        """Build the Event resource of an event, including the fields that the service computes.

        An event that a list no longer has, which `removed_event` returns, has only an id and a status.
        """
        if not event.row.uid:
            return {"kind": self.context.names.calendar_kind("event"), "id": event.row.id, "status": "cancelled"}
        row, body = event.row, self.visible_fields(event)
        resource: dict[str, object] = {
            **body,
            "kind": self.context.names.calendar_kind("event"),
            "etag": etag(row),
            "id": row.id,
            "status": "cancelled" if row.cancelled else body.get("status") or "confirmed",
            "htmlLink": self.link(row.id),
            "created": format_millis(row.created // 1000 * 1000),
            "updated": format_millis(row.updated),
            "recurringEventId": row.series,
            "iCalUID": row.uid,
            "sequence": body.get("sequence", 0),
            "reminders": reminders_of(body.get("reminders")),
            "eventType": body.get("eventType", "default"),
        }
        for name in ("creator", "organizer"):
            person: Any = body.get(name)
            if person and person.get("email") in (self.calendar.id, self.calendar.owner):
                resource[name] = {**person, "self": True}
        for name in ("start", "end", "originalStartTime"):
            time: Any = body.get(name)
            if time:
                resource[name] = print_time(read_time(time), self.zone, time.get("timeZone"))
        if "attendees" in body:
            stored = body["attendees"] or []  # None if an instance has no attendees but its series has
            attendees = resource["attendees"] = self._attendees(body, stored)
            if len(attendees) < len(event.body.get("attendees") or []):
                resource["attendeesOmitted"] = True
        return cast(Event, {name: resource[name] for name in FIELD_ORDER if resource.get(name) is not None})

    def _attendees(self, body: Event, stored: list[Attendee]) -> list[Attendee]:
        """Return the attendees that the caller may see, with the fields that the service computes.

        More than `max_attendees` attendees are reduced to the caller (E-15).
        """
        organizer = (body.get("organizer") or {}).get("email")
        attendees: list[Attendee] = []
        for entry in stored:
            attendee = entry.copy()
            email = entry["email"].lower()
            if email == str(organizer).lower():
                attendee["organizer"] = True
            if email == self.calendar.owner and (self.calendar.primary or attendee.get("organizer")):
                attendee["self"] = True
            attendee.setdefault("responseStatus", "accepted" if attendee.get("organizer") else "needsAction")
            attendees.append(attendee)
        if self.max_attendees is not None and len(attendees) > self.max_attendees:
            attendees = [attendee for attendee in attendees if attendee.get("self")]
        return attendees


@lru_cache(maxsize=8192)
def time_text(millis: int, tz: tzinfo) -> str:
    """Return a time in Unix milliseconds as the text of a `dateTime` in a time zone."""
    return print_instant(from_millis(millis), tz)


_VISIBLE_WHEN_PRIVATE = ("start", "end", "originalStartTime", "recurrence", "status", "transparency", "visibility")


def visible_to_readers(body: Event) -> Event:
    """Return the fields that readers of a calendar may see. For a private event, return only its times and status."""
    return pick(body, _VISIBLE_WHEN_PRIVATE) if body.get("visibility") in ("private", "confidential") else body


def hides_guests(body: Event, calendar_id: str) -> bool:
    """Return True if the organizer of an event hides the other guests from the guest who has it in this calendar."""
    return body.get("guestsCanSeeOtherGuests") is False and (body.get("organizer") or {}).get("email") != calendar_id


def etag(row: EventRow) -> str:
    """Return the etag of an event for If-Match. Every change of the event also changes the etag."""
    return f'"{row.updated * 2}000"'
