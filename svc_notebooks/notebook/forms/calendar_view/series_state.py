"""Reads the series of an instance, with its changed and cancelled instances, before several instances are changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ....core.events.field_table import EVENT_FIELDS
from ....core.events.instances import duration
from ....core.events.rfc5545_times import print_moment
from ....core.events.rrule import Start
from ....core.events.times import read_time
from .event_times import Times
from .series import Series
from .shown_event import ShownEvent

if TYPE_CHECKING:
    from ....client.session import Session
    from ....core.http.messages import JSONObject
    from ....core.resources.events import Event

_ARGUMENTS = ("summary", "location", "description")
_NOT_COPIED = {"id", "iCalUID", "sequence", "start", "end", "recurrence", "originalStartTime", *_ARGUMENTS}
_FIELDS = [field.path for field in EVENT_FIELDS if field.writable and "." not in field.path and "[]" not in field.path]
_DEFAULTS = {**{field.path: field.default for field in EVENT_FIELDS}, "reminders": {"useDefault": True}}
_ATTENDEE = {
    field.path.partition(".")[2]: field.default
    for field in EVENT_FIELDS
    if field.writable and field.path.startswith("attendees[].")
}


@dataclass(frozen=True, slots=True)
class SeriesState:
    """An instance, its series, and the instances of the series that were changed or cancelled individually."""

    calendar: str
    instance: Event
    master: Event
    exceptions: tuple[Event, ...]

    @classmethod
    def read(cls, session: Session, shown: ShownEvent) -> SeriesState:
        """Read the current state of the series of an instance from the service."""
        from ....client.events.events import get_event, list_events

        calendar = shown.calendar_id
        instance = get_event(session, calendar, shown.id)
        master = get_event(session, calendar, str(shown.series_id))
        query = {"iCalUID": master.get("iCalUID"), "showDeleted": "true"}
        same_uid = list_events(session, calendar, query)
        exceptions = [event for event in same_uid if event.get("recurringEventId") == master["id"]]
        return cls(calendar, instance, master, tuple(exceptions))

    @property
    def series(self) -> Series:
        times = Times.of(self.master)
        return Series(tuple(self.master.get("recurrence") or ()), times.start, times.end)

    @property
    def split(self) -> Start:
        """The original start of the instance."""
        return _original_start(self.instance)

    @property
    def is_first(self) -> bool:
        """True if the instance is the first one, so that all following instances are the whole series."""
        return bool(self.split <= self.series.start)

    @property
    def is_organizer(self) -> bool:
        return bool((self.master.get("organizer") or {}).get("self"))

    def cancelled(self, since: Start) -> list[Start]:
        """Return the original starts of the cancelled instances from `since` on."""
        return [_original_start(event) for event in self._from(since) if event.get("status") == "cancelled"]

    def edited(self, since: Start) -> list[Event]:
        """Return the individually changed instances from `since` on."""
        return [event for event in self._from(since) if event.get("status") != "cancelled"]

    def _from(self, since: Start) -> list[Event]:
        return [event for event in self.exceptions if _original_start(event) >= since]

    def own_fields(self, event: Event) -> JSONObject:
        """Return the fields of a changed instance that differ from its series. None stands for a removed field."""
        own, common = writable_fields(event), writable_fields(self.master)
        fields: JSONObject = {name: own.get(name) for name in {**common, **own} if own.get(name) != common.get(name)}
        times, length = Times.of(event), duration(self.series.start, self.series.end)
        if times.start != _original_start(event) or duration(times.start, times.end) != length:
            fields |= times.fields(event)
        return fields

    def instance_id(self, series_id: str, event: Event, shift: timedelta) -> str:
        """Return the id of the instance that an exception has in a series that is shifted by `shift`."""
        return f"{series_id}_{print_moment(self.series.shifted(_original_start(event), shift))}"

    def copy_arguments(self) -> dict[str, Any]:
        """Return the arguments of `create_event` for a series like this, without times and recurrence."""
        fields = own_values(self.master)
        named = {name: fields[name] for name in _ARGUMENTS if name in fields}
        rest = {name: value for name, value in fields.items() if name not in _ARGUMENTS}
        return {**named, **({"metadata": rest} if rest else {})}


def writable_fields(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an event that can be written to another event, without times and recurrence."""
    copied = {name: event[name] for name in _FIELDS if name in event and name not in _NOT_COPIED - {*_ARGUMENTS}}
    if "attendees" in copied:
        copied["attendees"] = [
            {name: guest[name] for name, default in _ATTENDEE.items() if guest.get(name, default) != default}
            for guest in copied["attendees"]
        ]
    return copied


def own_values(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the writable fields of an event without those that have their default, times and recurrence."""
    return {name: value for name, value in writable_fields(event).items() if value != _DEFAULTS.get(name)}


def times_and_recurrence(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields start, end and recurrence of an event."""
    return {name: fields[name] for name in ("start", "end", "recurrence") if name in fields}


def _original_start(event: Event) -> Start:
    return read_time(event.get("originalStartTime") or event["start"])
