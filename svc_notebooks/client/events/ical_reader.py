"""Reads the events of iCalendar files (RFC 5545), as bodies of requests with notes of what was changed.

ical_lines.py reads the components. This module converts each VEVENT of any program to the fields of an event that the
service accepts, with a note for each part that is changed or left out. It chooses the newest version of each event
(RFC 5546, 2.1.5), and gives the changed instances to their series.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from hashlib import sha256
from typing import NamedTuple

from ...core.events.event_times import Shift, instant, read_time
from ...core.events.fields import MAX_REMINDER_MINUTES, MAX_REMINDERS, is_address
from ...core.events.instances import Occurrence
from ...core.events.rrule import Start, print_moment
from ...core.events.series import Series
from ...core.events.validation import problems
from ...core.http.messages import JSON, JSONObject
from ...core.policy import Policy
from ...core.times import zone
from .ical import CLASSES, COLOR_NAMES, DEFAULT_ALARM, NO_ALARM, PAGE, RESPONSES
from .ical_lines import Component, Property, read_components
from .ical_times import (
    EventTimes,
    FileZones,
    event_times,
    read_duration,
    read_moment,
    reason,
    recurrence_lines,
    time_in_series,
    time_object,
)

_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)
_STATUSES = {name: name for name in ("confirmed", "tentative")}
_TRANSPARENCIES = {name: name for name in ("opaque", "transparent")}
_CLASSES = {name: name for name in CLASSES}
_COLOR_IDS = {name: color for color, names in COLOR_NAMES.items() for name in names}
_SINGLE = (
    "DTSTART", "DTEND", "DURATION", "SUMMARY", "DESCRIPTION", "LOCATION", "STATUS", "TRANSP", "CLASS", "ORGANIZER",
)  # fmt: skip
# The properties that have no equivalent in an event. A PRIORITY of 0 or 5, which Outlook writes, has no meaning.
_UNUSED = ("CATEGORIES", "COMMENT", "CONTACT", "GEO", "IMAGE", "PRIORITY", "RELATED-TO", "RESOURCES")
_MAX_TEXT = 100_000  # the length of a text that fits into a request of one megabyte
_MAX_INTEGER = 2**31 - 1


def event_fields(component: Component, zones: FileZones, shortest: timedelta, notes: list[str]) -> JSONObject:
    """Return the fields of an event, without its iCalUID. Raises ValueError if the event has no time.

    Args:
        component: The VEVENT.
        zones: The time zones of its calendar.
        shortest: The length of a timed event that has no length in the file.
        notes: The list to which a sentence is added for each part that was changed or left out.
    """
    times = event_times(component, zones, shortest, notes)
    repeated = [name for name, count in Counter(line.name for line in component.properties).items() if count > 1]
    notes += [f"{name} occurs more than once; the first is used" for name in repeated if name in _SINGLE]
    body: JSONObject = {"start": time_object(times.start), "end": time_object(times.end)}
    for name in ("SUMMARY", "DESCRIPTION", "LOCATION"):
        if text := component.text(name):
            body[name.lower()] = text[:_MAX_TEXT]
            notes += [f"{name} was cut to {_MAX_TEXT:,} characters"] if len(text) > _MAX_TEXT else []
    for name, values, field in (
        ("STATUS", _STATUSES, "status"),
        ("TRANSP", _TRANSPARENCIES, "transparency"),
        ("CLASS", _CLASSES, "visibility"),
        ("COLOR", _COLOR_IDS, "colorId"),
    ):
        text = component.value(name).lower()
        if value := values.get(text, "private" if text and name == "CLASS" else ""):  # RFC 5545, 3.8.1.3
            body[field] = value
        notes += [f"{name} {component.value(name)[:40]!r} is unknown"] if text and text not in values else []
    if unused := [name for name in _UNUSED if component.value(name) not in ("", "0", "5")]:
        notes.append(f"left out, because events have no such fields: {', '.join(unused)}")
    optional: dict[str, JSON] = {
        "sequence": sequence_of(component),
        "organizer": next((_person(person) for person in component.all("ORGANIZER")), {}),
        "attendees": [*_attendees(component, notes)],
        "reminders": _reminders(component, times, zones, notes),
        "recurrence": [*recurrence_lines(component, times, zones, notes)],
        "source": _source(component),
        "attachments": [*_attachments(component, notes)],
        "conferenceData": _conference(component, notes),
    }
    return _without_problems(body | {name: value for name, value in optional.items() if value}, notes)


def _without_problems(body: JSONObject, notes: list[str]) -> JSONObject:
    """Return the fields without the parts that the service refuses. Raises ValueError if it refuses the times."""
    wrong = problems(body, Policy())
    for location in sorted({_part_of(str(row.location)) for row in wrong}, reverse=True):
        message = next(row.message for row in wrong if _part_of(str(row.location)) == location)
        name, index = location
        if name in ("start", "end"):
            raise ValueError(message)
        values = body[name]
        if isinstance(values, list) and index >= 0:
            del values[index]
        if not values or index < 0:
            del body[name]
        notes.append(f"left out: {message[:200]}")
    return body


def _part_of(location: str) -> tuple[str, int]:
    """Return the field and the index in its list, or -1, of the location of a problem."""
    match = re.match(r"(\w+)(?:\[(\d+)\])?", location)
    return (match[1], int(match[2] or -1)) if match else ("start", -1)


def sequence_of(component: Component) -> int:
    """Return the SEQUENCE of an event, or 0 without a valid one."""
    match = re.match(r"\d{1,18}", component.value("SEQUENCE"), re.ASCII)
    return min(int(match[0]), _MAX_INTEGER) if match else 0


# -- people ----------------------------------------------------------------------------------------------------------


def _person(person: Property) -> JSONObject:
    """Return the e-mail address and the name of a person, or {} for an address that is not an e-mail address."""
    address = re.sub(r"^.*?mailto:", "", person.value.strip(), flags=re.IGNORECASE).strip(" <>'\"")
    if not is_address(address):
        address = person.parameters.get("EMAIL", "")
    if not is_address(address):
        return {}
    name = person.parameters.get("CN", "")
    return {"email": address, **({"displayName": name} if name else {})}


def _attendees(component: Component, notes: list[str]) -> Iterator[JSONObject]:
    for attendee in component.all("ATTENDEE"):
        guest, parameters = _person(attendee), attendee.parameters
        if not guest:
            name = (parameters.get("CN") or attendee.value)[:80]
            notes.append(f"the guest {name!r} was left out: not an e-mail address")
            continue
        guests = parameters.get("X-NUM-GUESTS", "0")
        flags: dict[str, JSON] = {
            "optional": parameters.get("ROLE", "").upper() == "OPT-PARTICIPANT",
            "resource": parameters.get("CUTYPE", "").upper() in ("RESOURCE", "ROOM"),
            "additionalGuests": int(guests) if re.fullmatch(r"\d{1,6}", guests, re.ASCII) else 0,
            "comment": parameters.get("X-RESPONSE-COMMENT", ""),
        }
        response = parameters.get("PARTSTAT", "").lower()
        status = response if response in RESPONSES else "needsAction"
        yield {**guest, "responseStatus": status, **{name: value for name, value in flags.items() if value}}


# -- reminders -------------------------------------------------------------------------------------------------------


def _reminders(component: Component, times: EventTimes, zones: FileZones, notes: list[str]) -> JSONObject:
    """Return the reminders for the alarms at or before the start. Other alarms have no equivalent."""
    minutes: dict[tuple[str, int], None] = {}
    listed = [*component.walk("VALARM")]
    no_alarms = [alarm for alarm in listed if alarm.value("ACTION").upper() == NO_ALARM]
    for alarm in listed:
        for trigger in [] if alarm.all(DEFAULT_ALARM) or alarm in no_alarms else alarm.all("TRIGGER")[:1]:
            before = _minutes_before(trigger, times, zones)
            if before is None:
                notes.append(f"the alarm {trigger.value.strip()[:40]!r} was left out: it is not at or before the start")
                continue
            if (most := MAX_REMINDER_MINUTES) < before:
                notes.append(f"the alarm {before} minutes before the start is {most} minutes before it now")
            method = "email" if alarm.value("ACTION").upper() == "EMAIL" else "popup"
            minutes[method, min(before, most)] = None
    nearest = sorted(minutes, key=lambda reminder: reminder[1])[:MAX_REMINDERS]
    if len(nearest) < len(minutes):
        notes.append(f"of {len(minutes)} alarms the {MAX_REMINDERS} nearest to the start were kept")
    kept = [reminder for reminder in minutes if reminder in nearest]
    overrides: list[JSON] = [{"method": method, "minutes": before} for method, before in kept]
    return {"useDefault": False, "overrides": overrides} if overrides or no_alarms else {}


def _minutes_before(trigger: Property, times: EventTimes, zones: FileZones) -> int | None:
    """Return how many minutes before the start an alarm is, or None if it is later or its time is not valid."""
    start = instant(times.start, zones.local)
    try:
        if re.match(r"\s*\d{8}", trigger.value):
            before = start - instant(zones.read(trigger, []), UTC)
        elif trigger.parameters.get("RELATED", "").upper() == "END":
            before = instant(times.start, UTC) - instant(times.end, UTC) - read_duration(trigger.value)
        else:
            before = -read_duration(trigger.value)
    except (OverflowError, ValueError):
        return None
    return before // _MINUTE if before >= timedelta() else None


# -- links -----------------------------------------------------------------------------------------------------------


def _source(component: Component) -> JSONObject:
    """Return the page of an event, unless it is that of a service of this family, from which the event was exported."""
    urls = (url.value.strip() for url in component.all("URL") if PAGE not in url.parameters)
    return next(({"url": url} for url in urls if url), {})


def _attachments(component: Component, notes: list[str]) -> Iterator[JSONObject]:
    for attachment in component.all("ATTACH"):
        parameters, name = attachment.parameters, attachment.parameters.get("FILENAME", "")
        if parameters.get("VALUE", "").upper() == "BINARY" or parameters.get("ENCODING"):
            notes.append(f"the attachment {name[:80]!r} was left out: its content is in the file")
            continue
        names = {"title": name, "mimeType": parameters.get("FMTTYPE")}
        yield {"fileUrl": attachment.value.strip(), **{name: text for name, text in names.items() if text}}


_ENTRY_POINTS = {"VIDEO": "video", "PHONE": "phone", "AUDIO": "sip"}


def _conference(component: Component, notes: list[str]) -> JSONObject:
    """Return the conference of an event (RFC 7986, 5.11)."""
    points: list[JSONObject] = []
    for conference in component.all("CONFERENCE"):
        uri, features = conference.value.strip(), conference.parameters.get("FEATURE", "").upper().split(",")
        kind = next((_ENTRY_POINTS[feature] for feature in features if feature in _ENTRY_POINTS), None)
        kind = kind or ("phone" if uri.startswith("tel:") else "video")
        if kind != "phone" and any(point["entryPointType"] == kind for point in points):
            notes.append(f"the conference {uri[:80]!r} was left out: an event has one {kind} conference")
            continue
        label = conference.parameters.get("LABEL")
        points.append({"entryPointType": kind, "uri": uri, **({"label": label} if label else {})})
    return {"conferenceSolution": {"name": "Conference"}, "entryPoints": [*points]} if points else {}


# -- gives the changed instances of a file to their series, and splits a series at a change of all later instances


_SECOND = timedelta(seconds=1)
# The fields of a series that a changed instance has only if the file repeats them.
_NOT_INHERITED = ("description", "location", "attendees", "colorId", "source")
# The fields of a time that a change removes, because an instance can have another type of time than its series.
_NO_TIME = {"date": None, "dateTime": None, "timeZone": None}


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


# The length of a timed event without a length.
SHORTEST = timedelta(minutes=1)


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
# The properties of a calendar in RFC 7986 (5.1, 5.7 and 5.9), and those that programs write instead.
_CALENDAR_PROPERTIES = {
    "name": ("NAME", "X-WR-CALNAME"),
    "color": ("COLOR", "X-APPLE-CALENDAR-COLOR"),
    "refresh_interval": ("REFRESH-INTERVAL", "X-PUBLISHED-TTL"),
}


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
