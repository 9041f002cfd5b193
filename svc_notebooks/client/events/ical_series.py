"""Gives the changed instances of a file to their series, and splits a series at a change of all later instances."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from hashlib import sha256
from typing import NamedTuple

from ...core.events.instances import Occurrence
from ...core.events.rrule import Start, print_moment
from ...core.events.series import Series
from ...core.events.times import Shift, instant, read_time
from ...core.http.messages import JSONObject
from ...core.time_zones import zone
from .ical_lines import Component, Property
from .ical_recurrence_reader import time_in_series
from .ical_times import FileZones, time_object

_SECOND = timedelta(seconds=1)
_NOT_INHERITED = ("description", "location", "attendees", "colorId", "source")
"""The fields of a series that a changed instance has only if the file repeats them."""
_NO_TIME = {"date": None, "dateTime": None, "timeZone": None}
"""The fields of a time that a change removes, because an instance can have another type of time than its series."""


class InstanceChange(NamedTuple):
    """A changed instance: its original start, its fields, None if cancelled, and its version."""

    original: str
    fields: JSONObject | None
    version: tuple[int, str]


class ImportedEvent(NamedTuple):
    """An event of a file.

    `notes` says what was changed or left out. `stamp` is the time of the version in UTC, or "". `method` is the METHOD
    of the calendar, which is CANCEL for an event that is cancelled. For an instance without a series in the file,
    `instance_of` has the UID and a function that returns the end of its id for the start of the series, None if the
    series in the file does not have the instance. `problem` says why the event cannot be read.
    """

    body: JSONObject
    changes: list[InstanceChange]
    notes: list[str]
    stamp: str = ""
    method: str = ""
    instance_of: tuple[str, Callable[[Start], str] | None] | None = None
    problem: str | None = None

    @property
    def version(self) -> tuple[int, str]:
        """The SEQUENCE and the time of the version (RFC 5546, 2.1.5)."""
        return int(str(self.body.get("sequence") or 0)), self.stamp

    @property
    def digest(self) -> str:
        """Return a text that is the same for equal events with equal changes."""
        cancels = self.method == "CANCEL"
        parts = [self.body, [change[:2] for change in self.changes], *([cancels] if cancels else [])]
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ImportedSeries:
    """An event and the instances that change it. `shift` moves RECURRENCE-IDs of the file to the instances."""

    event: ImportedEvent
    shift: Shift | None = None

    def change(
        self, original: Start, fields: JSONObject | None, version: tuple[int, str], notes: Sequence[str]
    ) -> bool:
        """Add a changed or cancelled instance. Return False if the series has no instance with this original start."""
        body, place, series = self.event.body, self._place(original), self._series
        if not series.lines and place == series.start and fields is not None:  # a second version of a single event
            body |= {**fields, "iCalUID": body["iCalUID"]}
        elif not self.has(original):
            return False
        else:
            if fields is not None:
                missing: JSONObject = {name: None for name in _NOT_INHERITED if name in body and name not in fields}
                times: JSONObject = {name: {**_NO_TIME, **fields[name]} for name in ("start", "end")}  # type: ignore[dict-item]
                fields = {name: value for name, value in fields.items() if name != "recurrence"} | missing | times
            self.event.changes.append(InstanceChange(print_moment(place), fields, version))
            notes = ["it was cancelled"] if fields is None else notes
        self.event.notes.extend(f"instance {print_moment(place)}: {note}" for note in notes)
        return True

    @property
    def _series(self) -> Series:
        return Series.of(self.event.body)  # type: ignore[arg-type]

    def _place(self, original: Start) -> Start:
        return self.shift.move(original) if self.shift else original

    def has(self, original: Start) -> bool:
        """Return whether the series has an instance for a RECURRENCE-ID."""
        return self._instance(self._place(original)) is not None

    def original_text(self, text: str, zone_name: str) -> str:
        """Return the end of the id of the instance with this RECURRENCE-ID, or "" if the series does not have it."""
        zones = FileZones(Component("", [], []), zone(zone_name))
        try:
            original = time_in_series(Property("", text), self._series.start, zones, [])
        except (OverflowError, ValueError):
            return ""
        return print_moment(original) if self.has(original) else ""

    def _instance(self, start: Start) -> Occurrence | None:
        series, after = self._series, instant(start, UTC)
        window = series.instances(after, after + _SECOND) if series.lines else ()
        return next((instance for instance in window if instance.start == start), None)

    def instance_fields(self, original: Start) -> JSONObject | None:
        """Return the fields that an instance has of its series, or None if the series has no instance at this start."""
        if (instance := self._instance(original)) is None:
            return None
        fields = {name: value for name, value in self.event.body.items() if name not in ("iCalUID", "recurrence")}
        times = {"start": time_object(instance.start), "end": time_object(instance.end)}
        return fields | {name: {**_NO_TIME, **time} for name, time in times.items()}

    def split(self, original: Start, fields: JSONObject | None, notes: Sequence[str]) -> ImportedSeries:
        """End the series before an instance, and return the series of the later instances with changed fields.

        Without fields, the later instances are cancelled. Raises ValueError if there are too many earlier instances.
        """
        body, place = self.event.body, self._place(original)
        rest: JSONObject = {**body, **(fields or {}), "iCalUID": f"{body['iCalUID']}_R{print_moment(place)}"}
        start = read_time(rest["start"]) if fields else place
        rest["recurrence"] = [*self._series.since(place, start, exact=False)] if fields else []
        shift = Shift(original, start)
        if place == self._series.start and fields:  # the change of all instances
            body |= {**rest, "iCalUID": body["iCalUID"]}
            self.event.notes.extend(notes)
            return ImportedSeries(self.event, shift)
        body["recurrence"] = [*self._series.until(place)]
        end_of_series = "are an event of their own" if fields else "were cancelled"
        self.event.notes.append(f"the instances from {print_moment(place)} on {end_of_series}")
        return ImportedSeries(self.event._replace(body=rest, changes=[], notes=[*notes]), shift)
