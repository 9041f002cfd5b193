"""Reads the series of an instance, with its changed and cancelled instances, before several instances change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ...client.events.events import get_event, list_events, patch_event
from ...client.session import Session
from ...core.errors.caller_warning import warn_caller
from ...core.errors.errors import NotFound, SvcError
from ...core.events.instances import duration
from ...core.events.rrule import Start, print_moment
from ...core.events.series import Series
from ...core.events.times import Shift, clock_time, read_time
from ...core.events.value_checks import EVENT_FIELDS
from ...core.http.messages import JSONObject
from ...core.resources.events import Event
from .body import add_required
from .event_times import Times

_NOT_COPIED = {"id", "iCalUID", "sequence", "start", "end", "recurrence", "originalStartTime"}
_NO_TIME = {"date": None, "dateTime": None, "timeZone": None}
"""The fields of a time that a change removes, because an instance can have another type of time than its series."""
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
    def read(cls, session: Session, calendar: str, event_id: str) -> SeriesState:
        """Read the series of an instance from the service. Raises ValueError for an event that does not recur.

        The id of the series stands for its first instance.
        """

        instance = get_event(session, calendar, event_id)
        if not instance.get("recurringEventId") and not instance.get("recurrence"):
            raise ValueError(f"event {event_id!r} is not an instance of a recurring event")
        master = get_event(session, calendar, instance.get("recurringEventId") or event_id)
        return cls(calendar, instance, master, tuple(exceptions(session, calendar, master)))

    @property
    def series(self) -> Series:
        return Series.of(self.master)

    @property
    def restored(self) -> list[str]:
        """The lines of the whole series, with an EXDATE for each cancelled instance that a split removes."""
        return self.series.without(self.series.lines, self.cancelled)

    @property
    def rest(self) -> Event:
        """The fields of a series of its own from the instance on."""
        times = Times.of(self.master)
        first = times.shifted(clock_time(self.split) - clock_time(times.start), timedelta())
        lines = self.series.since(self.split)
        rest: Any = {**own_values(self.master), **first.fields(self.master), "recurrence": lines}
        return rest  # type: ignore[no-any-return]

    @property
    def split(self) -> Start:
        """The original start of the instance."""
        return _original_start(self.instance)

    @property
    def is_first(self) -> bool:
        """True if the instance is the first one, so that all following instances are the whole series."""
        return bool(self.split <= self.series.start)

    def series_etag(self, if_match: str | None) -> str | None:
        """Return the etag of the series for a current etag of the instance, and any other etag unchanged."""
        return str(self.master["etag"]) if if_match in (None, "*", self.instance["etag"]) else if_match

    @property
    def is_organizer(self) -> bool:
        return bool((self.master.get("organizer") or {}).get("self"))

    @property
    def cancelled(self) -> list[Start]:
        """The original starts of the cancelled instances from the instance on."""
        return [_original_start(event) for event in self._following if event.get("status") == "cancelled"]

    @property
    def edited(self) -> list[Event]:
        """The individually changed instances from the instance on."""
        return [event for event in self._following if event.get("status") != "cancelled"]

    @property
    def _following(self) -> list[Event]:
        return [event for event in self.exceptions if _original_start(event) >= self.split]

    def own_fields(self, event: Event) -> JSONObject:
        """Return the fields of a changed instance that differ from its series. None stands for a removed field."""
        own, common = writable_fields(event), writable_fields(self.master)
        fields: JSONObject = {name: own.get(name) for name in {**common, **own} if own.get(name) != common.get(name)}
        times, length = Times.of(event), duration(self.series.start, self.series.end)
        if times.start != _original_start(event) or duration(times.start, times.end) != length:
            fields |= {name: {**_NO_TIME, **time} for name, time in times.fields(event).items()}
        return fields


def exceptions(session: Session, calendar: str, master: Event) -> list[Event]:
    """Return the instances of a series that were changed or cancelled individually."""

    same_uid = list_events(session, calendar, {"iCalUID": master.get("iCalUID"), "showDeleted": "true"})
    return [event for event in same_uid if event.get("recurringEventId") == master["id"]]


def writable_fields(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an event that can be written to another event, without times and recurrence."""
    copied = {name: event[name] for name in _FIELDS if name in event and name not in _NOT_COPIED}
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
    """Return the fields start, end and recurrence of an event. A single all-day event has no time zone."""
    times = {name: fields[name] for name in ("start", "end", "recurrence") if name in fields}
    if times.get("recurrence") or "date" not in times["start"]:
        return times
    return {name: {"date": times[name]["date"]} for name in ("start", "end")}


def _original_start(event: Event) -> Start:
    return read_time(event.get("originalStartTime") or event["start"])


def keep_changes(
    session: Session, state: SeriesState, series_id: str, shift: Shift, replaced: Sequence[str] = ()
) -> None:
    """Repeat the individual changes of the instance and of following ones in a series that is moved by `shift`.

    The fields `replaced` of the instance itself are not repeated. Shows a warning for changes that cannot be repeated.
    """

    lost = []
    for event in state.edited:
        without = replaced if event["id"] == state.instance["id"] else ()
        fields = {name: value for name, value in state.own_fields(event).items() if name not in without}
        instance_id = f"{series_id}_{print_moment(shift.move(_original_start(event)))}"
        try:
            if fields:
                patch_event(session, state.calendar, instance_id, fields, query=add_required({}, fields))
        except NotFound:
            lost.append(str(event["id"]))
        except SvcError as error:
            warn_caller(f"the new series does not have the individual changes of {event['id']}: {error}")
    if lost:
        warn_caller(f"the new series has no instances for the individual changes of {', '.join(lost)}")
