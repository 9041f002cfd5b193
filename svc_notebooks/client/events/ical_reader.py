"""Reads the events of iCalendar files (RFC 5545), as bodies of requests with notes of what was changed.

ical_lines.py reads the components, ical_fields.py converts an event. This module chooses the newest version of each
event (RFC 5546, 2.1.5), and gives the changed instances to their series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from hashlib import sha256

from ...core.events.rrule import Start, print_moment
from ...core.events.times import instant, read_time
from ...core.http.messages import JSONObject
from ...core.time_zones import zone
from .ical_fields import event_fields, sequence_of
from .ical_lines import Component, read_components
from .ical_recurrence_reader import time_in_series
from .ical_series import ImportedEvent as ImportedEvent, ImportedSeries
from .ical_times import FileZones, event_times, read_moment, reason, time_object

SHORTEST = timedelta(minutes=1)
"""The length of a timed event without a length."""


def parse_calendars(text: str) -> list[Component]:
    """Return the calendars of an unfolded iCalendar file. Raises ValueError for other content."""
    root = read_components(text)
    calendars = [*root.walk("VCALENDAR")]
    rest = root._replace(components=[component for component in root.components if component.name != "VCALENDAR"])
    calendars += [rest] if any(rest.walk("VEVENT")) else []
    if not calendars:
        raise ValueError("source is not an iCalendar file; it must begin with BEGIN:VCALENDAR")
    return calendars


_MAX_NAMES = 10
_CALENDAR_PROPERTIES = {
    "name": ("NAME", "X-WR-CALNAME"),
    "color": ("COLOR", "X-APPLE-CALENDAR-COLOR"),
    "refresh_interval": ("REFRESH-INTERVAL", "X-PUBLISHED-TTL"),
}
"""The properties of a calendar in RFC 7986 (5.1, 5.7 and 5.9), and those that programs write instead."""


def calendar_properties(calendars: Sequence[Component]) -> dict[str, str]:
    """Return the name, the colour and the refresh interval that the first of the calendars with one has."""
    properties = {
        key: next(filter(None, (calendar.text(name) for calendar in calendars for name in names)), "")
        for key, names in _CALENDAR_PROPERTIES.items()
    }
    return {key: text for key, text in properties.items() if text}


def imported_events(
    calendars: Sequence[Component], time_zone: str, shortest: timedelta = SHORTEST
) -> list[ImportedEvent]:
    """Return the events of parsed calendars, each with its changed instances.

    Times without a zone are in the zone X-WR-TIMEZONE of the file, or in `time_zone`. A timed event without a length
    lasts `shortest`.
    """
    events: dict[str, dict[str, list[_Version]]] = {}
    for calendar in calendars:
        zones = FileZones(calendar, zone(time_zone))
        method = calendar.value("METHOD").upper()
        for component in calendar.walk("VEVENT"):
            version = _Version(component, zones, shortest, method)
            events.setdefault(version.uid, {}).setdefault(component.value("RECURRENCE-ID"), []).append(version)
    return [event for uid, versions in events.items() for event in _events(uid, versions)]


@dataclass(frozen=True, slots=True)
class _Version:
    """A VEVENT of a file: an event, or a changed instance of a series."""

    component: Component
    zones: FileZones
    shortest: timedelta
    method: str

    @property
    def uid(self) -> str:
        uid = self.component.text("UID").strip()
        return uid or f"{sha256(repr(self.component).encode(errors='replace')).hexdigest()[:32]}@import"

    @property
    def number(self) -> tuple[int, str, bool]:
        """Return the SEQUENCE and the time of the version. Of equal ones, the cancellation counts."""
        return sequence_of(self.component), self.stamp, self.is_cancelled

    @property
    def stamp(self) -> str:
        for name in ("DTSTAMP", "LAST-MODIFIED"):
            try:
                return print_moment(instant(read_moment(self.component.value(name)), UTC))
            except ValueError:
                pass
        return ""

    @property
    def is_cancelled(self) -> bool:
        return self.method == "CANCEL" or self.component.value("STATUS").upper() == "CANCELLED"

    def fields(self, notes: list[str]) -> JSONObject:
        """Return the fields of the event. Raises ValueError."""
        return event_fields(self.component, self.zones, self.shortest, notes)

    def original(self, start: Start | None = None) -> Start | None:
        """Return the original start of a changed instance, in the type and the zone of the start of its series.

        Return None if it cannot be read, or is a time of the year 1 or 9999 that UTC does not have.
        """
        identifier = self.component.all("RECURRENCE-ID")[0]
        try:
            moment = time_in_series(identifier, start, self.zones, []) if start else self.zones.read(identifier, [])
            instant(moment, UTC)
        except (OverflowError, ValueError):
            return None
        return moment

    def original_text(self, start: Start | None = None) -> str:
        """Return the end of the id of a changed instance, or "" without an original start."""
        moment = self.original(start)
        return "" if moment is None else print_moment(moment)

    @property
    def is_of_all_later(self) -> bool:
        return self.component.all("RECURRENCE-ID")[0].parameters.get("RANGE", "").upper() == "THISANDFUTURE"

    def event(self, uid: str, notes: list[str]) -> ImportedEvent:
        """Return the event, also if it is cancelled or cannot be read."""
        summary = self.component.text("SUMMARY")
        body: JSONObject = {"iCalUID": uid, "summary": summary, "sequence": sequence_of(self.component)}
        method, problem = "CANCEL" if self.is_cancelled else self.method, None
        try:
            if method == "CANCEL":
                times = event_times(self.component, self.zones, self.shortest, [])
                body |= {"start": time_object(times.start), "end": time_object(times.end)}
            else:
                body |= self.fields(notes)
        except (OverflowError, ValueError) as error:
            problem = None if method == "CANCEL" else f"the event cannot be read: {reason(error)}"
        return ImportedEvent(body, [], notes, self.stamp, method, problem=problem)


def _events(uid: str, versions: dict[str, list[_Version]]) -> Iterator[ImportedEvent]:
    """Yield the event with a UID, and the instances that have no series or are not among its instances."""
    newest = {key: max(several, key=lambda version: version.number) for key, several in versions.items()}
    older = [version for key, several in versions.items() for version in several if version is not newest[key]]
    names = ", ".join(repr(version.component.text("SUMMARY")[:80]) for version in older[:_MAX_NAMES])
    notes = [f"older or equal versions in the file were left out: {names}"] if older else []
    master = newest.pop("", None)
    event = master.event(uid, notes) if master else None
    if event is None or event.problem or event.method == "CANCEL":
        if event is None:
            yield from (_instance(uid, version, notes) for version in newest.values())
            return
        yield event
        for version in newest.values():
            if event.problem or version.number[:2] >= event.version:
                yield _own_event(uid, version, "its series cannot be imported; it is an event of its own")
            else:
                event.notes.append(f"the older instance {version.component.value('RECURRENCE-ID')[:40]} is cancelled")
        return
    series = [ImportedSeries(event)]
    start = read_time(event.body["start"])
    originals = [(version.original(start), version) for version in newest.values()]
    unmatched = [version for original, version in originals if original is None]
    pairs = [(original, version) for original, version in originals if original is not None]
    for original, version in sorted(pairs, key=lambda pair: pair[0]):
        notes = []
        try:
            fields = None if version.is_cancelled else version.fields(notes)
        except (OverflowError, ValueError) as error:
            event.notes.append(f"instance {print_moment(original)} was left out: {reason(error)}")
            continue
        try:
            if version.is_of_all_later and series[-1].has(original):
                last = series[-1].split(original, fields, notes)
                series[-1:] = [last] if last.event is series[-1].event else [series[-1], last]
            elif not series[-1].change(original, fields, version.number[:2], notes):
                unmatched.append(version)
        except ValueError:  # too many instances before it
            unmatched.append(version)
    yield from (part.event for n, part in enumerate(series) if n == 0 or part.event.body.get("recurrence"))
    for version in unmatched:
        yield _own_event(uid, version, "the series has no instance at its RECURRENCE-ID; it is an event of its own")


def _own_event(uid: str, version: _Version, note: str) -> ImportedEvent:
    return _instance(uid, version, [note])._replace(instance_of=(uid, None))


def _instance(uid: str, version: _Version, notes: list[str]) -> ImportedEvent:
    """Return the event of a changed instance whose series is not in the file, or does not have the instance."""
    text = version.original_text()
    event = version.event(f"{uid}_{text or version.component.value('RECURRENCE-ID')[:40]}", notes)
    event.body.pop("recurrence", None)
    return event._replace(instance_of=(uid, version.original_text if text else None))
