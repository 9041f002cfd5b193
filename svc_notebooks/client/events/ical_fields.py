"""Converts a VEVENT of any program to the fields of an event that the service accepts.

Each function reads some properties, and adds a note for each part that it changes or leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, timedelta

from ...core.events.field_table import MAX_REMINDER_MINUTES, MAX_REMINDERS
from ...core.events.times import instant
from ...core.events.validation import problems
from ...core.events.value_checks import is_address
from ...core.http.messages import JSON, JSONObject
from ...core.policy import Policy
from .ical import CLASSES, COLOR_NAMES, DEFAULT_ALARM, NO_ALARM, PAGE, RESPONSES
from .ical_lines import Component, Property
from .ical_times import EventTimes, FileZones, event_times, read_duration, recurrence_lines, time_object

_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)
_STATUSES = {name: name for name in ("confirmed", "tentative")}
_TRANSPARENCIES = {name: name for name in ("opaque", "transparent")}
_CLASSES = {name: name for name in CLASSES}
_COLOR_IDS = {name: color for color, names in COLOR_NAMES.items() for name in names}
_SINGLE = (
    "DTSTART", "DTEND", "DURATION", "SUMMARY", "DESCRIPTION", "LOCATION", "STATUS", "TRANSP", "CLASS", "ORGANIZER",
)  # fmt: skip
_UNUSED = ("CATEGORIES", "COMMENT", "CONTACT", "GEO", "IMAGE", "PRIORITY", "RELATED-TO", "RESOURCES")
"""The properties that have no equivalent in an event. A PRIORITY of 0 or 5, which Outlook writes, has no meaning."""
_MAX_TEXT = 100_000
"""The length of a text that fits into a request of one megabyte."""
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
            notes.append(
                f"the guest {(parameters.get('CN') or attendee.value)[:80]!r} was left out: not an e-mail address"
            )
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
            if before > MAX_REMINDER_MINUTES:
                notes.append(
                    f"the alarm {before} minutes before the start is {MAX_REMINDER_MINUTES} minutes before it now"
                )
            method = "email" if alarm.value("ACTION").upper() == "EMAIL" else "popup"
            minutes[method, min(before, MAX_REMINDER_MINUTES)] = None
    nearest = sorted(minutes, key=lambda reminder: reminder[1])[:MAX_REMINDERS]
    if len(nearest) < len(minutes):
        notes.append(f"of {len(minutes)} alarms the {MAX_REMINDERS} nearest to the start were kept")
    overrides: list[JSON] = [
        {"method": method, "minutes": before} for method, before in minutes if (method, before) in nearest
    ]
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
    return next(
        (
            {"url": url.value.strip()}
            for url in component.all("URL")
            if PAGE not in url.parameters and url.value.strip()
        ),
        {},
    )


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
        features = conference.parameters.get("FEATURE", "").upper().split(",")
        kind = next((_ENTRY_POINTS[feature] for feature in features if feature in _ENTRY_POINTS), None)
        kind = kind or ("phone" if conference.value.strip().startswith("tel:") else "video")
        if kind != "phone" and any(point["entryPointType"] == kind for point in points):
            notes.append(
                f"the conference {conference.value.strip()[:80]!r} was left out: an event has one {kind} conference"
            )
            continue
        label = conference.parameters.get("LABEL")
        points.append({"entryPointType": kind, "uri": conference.value.strip(), **({"label": label} if label else {})})
    return {"conferenceSolution": {"name": "Conference"}, "entryPoints": [*points]} if points else {}
