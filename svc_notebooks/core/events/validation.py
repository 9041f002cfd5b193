"""Checks of events, and default values of absent fields.

`problems` checks the times (first the end), each field in the order of its TypedDict, then rules for several values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from functools import cache
from typing import Any, get_args, get_origin, is_typeddict

from ..errors.catalogue import Row, lone_surrogates, row
from ..http.messages import JSON, JSONObject
from ..policy import Policy
from ..resources.events import NO_REQUEST_ID, Event
from ..resources.field import Field, hints, split
from . import event_times, fields
from .rrule import Recurrence as Lines, RecurrenceError, Start, is_all_day

_REQUEST = "conferenceData.createRequest"


def conference_problems(data: Any, policy: Policy) -> list[Row]:
    """Return an error row for each problem of conference data whose field types were already checked."""
    if data.get("createRequest") and not has_conference(data):
        request = data["createRequest"]
        if request.get("requestId") == "":
            return [row("required", decided_by=NO_REQUEST_ID, field=f"{_REQUEST}.requestId")]
        if (request.get("conferenceSolutionKey") or {}).get("type") not in (None, *policy.conference_types):
            message = f"Invalid conference type value. Expected one of {', '.join(policy.conference_types)}."
            return fields.invalid(f"{_REQUEST}.conferenceSolutionKey.type", message, "conference_types")
        return []
    if not (data.get("conferenceSolution") and data.get("entryPoints")):
        message = "expected createRequest, or conferenceSolution with at least one entry point."
        return fields.invalid("conferenceData", message, "Conference data beyond createRequest")
    types = [point.get("entryPointType") for point in data["entryPoints"]]
    if repeated := [entry_type for entry_type in ("video", "sip", "more") if types.count(entry_type) > 1]:
        return fields.invalid("conferenceData.entryPoints", f"expected at most one {repeated[0]} entry point.")
    if types == ["more"]:
        problem = "an entry point of type more needs an entry point of another type."
        return fields.invalid("conferenceData.entryPoints", problem)
    return []


def has_conference(data: Any) -> bool:
    """Return whether conference data contains an existing conference, so that no conference is created.

    >>> request = {"requestId": "r1", "status": {"statusCode": "success"}}
    >>> has_conference({"createRequest": request})
    False
    >>> has_conference({"createRequest": request, "conferenceSolution": {"name": "Meet"}, "entryPoints": [{}]})
    True
    """
    return request_status(data) == "success" and bool(data.get("conferenceSolution") and data.get("entryPoints"))


def request_status(data: Any) -> JSON:
    """Return the status of a conference request, such as "success", or None for a new or missing request."""
    request = data.get("createRequest")
    status = request.get("status") if isinstance(request, dict) else None
    return status.get("statusCode") if isinstance(status, dict) else None


DEFAULTS: dict[str, JSON] = {
    event_field.path: event_field.default
    for event_field in fields.EVENT_FIELDS
    if event_field.default is not None and "." not in event_field.path
}
ATTENDEE_DEFAULTS: dict[str, JSON] = {
    event_field.path.partition(".")[2]: event_field.default
    for event_field in fields.EVENT_FIELDS
    if event_field.default is not None and event_field.path.startswith("attendees[].")
}


def problems(event: JSONObject, policy: Policy) -> list[Row]:
    """Return an error row for each problem that prevents the creation of an event. `location` is the invalid field's
    path.

    >>> event = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}, "colorId": "12"}
    >>> [(error.reason, error.location) for error in problems(event, Policy())]
    [('invalid', 'colorId')]
    """
    if wrong_texts := lone_surrogates(event):
        return wrong_texts
    event = repair_reminders(event, policy)
    rows = [*_times(event, policy), *_members(Event, event, "", policy.event_limits)]
    wrong = {str(error.location).partition(".")[0].partition("[")[0] for error in rows}
    for name, rule in _RULES:
        if name not in wrong and event.get(name) is not None:
            rows += rule(event, policy)
    return rows


def with_defaults(event: Mapping[str, Any]) -> JSONObject:
    """Return a copy of the event in which absent fields have their default values (E-06).

    >>> with_defaults({})["guestsCanInviteOthers"], with_defaults({})["reminders"]
    (True, {'useDefault': True})
    """
    if None in event.values():
        event = {name: member for name, member in event.items() if member is not None}
    completed = {**DEFAULTS, **event}
    attendees = completed.get("attendees")
    if isinstance(attendees, list):
        completed["attendees"] = [
            {**ATTENDEE_DEFAULTS, **guest} if isinstance(guest, dict) else guest for guest in attendees
        ]
    completed["reminders"] = reminders_of(completed.get("reminders"))
    return completed


def reminders_of(reminders: object) -> JSON:
    """Return reminders with `useDefault`, which defaults to true, or to false if there are overrides."""
    if not isinstance(reminders, dict):
        return {"useDefault": True}
    return {
        "useDefault": not reminders.get("overrides"),
        **{name: member for name, member in reminders.items() if member not in (None, [])},
    }


def repair_reminders(event: JSONObject, policy: Policy) -> JSONObject:
    """Return the event with corrected reminder overrides, or unchanged if `policy.reminders` is "reject"."""
    reminders: Any = event.get("reminders")
    overrides = reminders.get("overrides") if isinstance(reminders, dict) else None
    if policy.reminders == "reject" or not isinstance(overrides, list):
        return event
    kept: dict[tuple[str, int], JSON] = {}
    for override in overrides:
        minutes = override.get("minutes") if isinstance(override, dict) else None
        if type(minutes) is int and override.get("method") in fields.METHODS:
            minutes = min(max(minutes, 0), fields.MAX_REMINDER_MINUTES)
            kept[str(override["method"]), minutes] = {**override, "minutes": minutes}
    return {**event, "reminders": {**reminders, "overrides": list(kept.values())}}


# -- field by field --------------------------------------------------------------------------------------------------


# The most attendees of an event without `event_limits`. Each of them is work for every change of the event.
_MAX_ATTENDEES = 2000


@cache
def _checked_members(resource: Any, limits: str) -> list[tuple[str, Field, Any]]:
    """Return the name, the field and the type, of a list that of its entries, of the members that are checked here."""
    members = []
    for name, annotation in hints(resource).items():
        value, field = split(annotation)
        if field.writable and field.type not in ("date", "dateTime", "timeZone"):
            if limits == "none":
                field = replace(field, max_length=_MAX_ATTENDEES if name == "attendees" else None)
            members.append((name, field, get_args(value)[0] if get_origin(value) is list else value))
    return members


def _members(resource: Any, value: JSONObject, path: str, limits: str) -> Iterator[Row]:
    for name, field, entry in _checked_members(resource, limits):
        member_path, member = f"{path}.{name}" if path else name, value.get(name)
        if member is None:
            if path and field.required:
                yield row("required", decided_by=field.decided_by, field=member_path)
        elif wrong := fields.check(field, member, member_path):
            yield from wrong
        elif isinstance(member, dict) and is_typeddict(entry):
            yield from _members(entry, member, member_path, limits)
        elif isinstance(member, list):
            for index, element in enumerate(member):
                element_path = f"{member_path}[{index}]"
                if entry is str:
                    yield from fields.check(_TEXT, element, element_path)
                elif is_typeddict(entry) and isinstance(element, dict):
                    yield from _members(entry, element, element_path, limits)
                elif is_typeddict(entry):
                    yield from fields.invalid(element_path, fields.wrong_type(element, "an object"))


_TEXT = Field("string")


# -- times -----------------------------------------------------------------------------------------------------------


def _times(event: Mapping[str, Any], policy: Policy) -> list[Row]:
    """Return error rows for the end, the start, their order (E-02 to E-05) and the original start (E-23)."""
    rows: list[Row] = []
    times: dict[str, Start] = {}
    for name in ("end", "start", "originalStartTime"):
        if name == "originalStartTime" and event.get(name) is None:
            continue
        try:
            times[name] = event_times.read_time(event.get(name) or {})
        except event_times.TimeError as error:
            key, part, message = error.problem
            if key == "required":
                key, message = "missingTime", message if name not in _NAMES else f"Missing {name} time: {message}"
            rows.append(row(key, field=f"{name}.{part}" if part else name, message=message))
    if policy.missing_start == "live" and "end" in times and not event.get("start"):
        return [row("mixedTimes", decided_by="missing_start", field="start")]
    if rows:
        return rows
    start, end = times["start"], times["end"]
    if is_all_day(start) != is_all_day(end):
        rows.append(row("mixedTimes", field="end"))
    elif event_times.instant(end, UTC) <= event_times.instant(start, UTC):
        rows.append(row("timeRangeEmpty"))
    if event.get("recurrence") and not is_all_day(start):  # an all-day event is in the zone of the calendar (E-04)
        message = "Missing time zone definition for {} time: a recurring event needs a time zone."
        rows += [
            row("missingTime", field=f"{name}.timeZone", message=message.format(name))
            for name in _NAMES
            if not event[name].get("timeZone")
        ]
    return rows


_NAMES = ("start", "end")


def start_of(event: Event) -> Start:
    """Return the start of a checked event as a date or a date-time."""
    return event_times.read_time(event["start"])


def end_of(event: Event) -> Start:
    """Return the exclusive end of a checked event as a date or a date-time."""
    return event_times.read_time(event["end"])


def recurrence_of(event: Event) -> Lines:
    """Return the parsed recurrence of a checked event, which is empty for a single event."""
    return Lines.parse(event.get("recurrence") or [], start_of(event))


_MAX_RULES = 100  # the RRULEs and EXRULEs of an event. Each of them is work for each list of instances.


# -- rules that join fields ------------------------------------------------------------------------------------------


def _recurrence(event: Mapping[str, Any], policy: Policy) -> list[Row]:
    """Return an error row for each invalid recurrence line (E-12)."""
    lines = event["recurrence"]
    try:
        start = event_times.read_time(event.get("start"))
    except event_times.TimeError:
        return []  # reported already, and the lines depend on the start
    rows: list[Row] = []
    rules = 0
    for index, line in enumerate(lines):
        try:
            parsed = Lines.parse([line], start)
            rules += len(parsed.rules) + len(parsed.exrules)
        except RecurrenceError as error:
            rows += fields.invalid(f"recurrence[{index}]", f"Invalid recurrence rule. {error.message}.")
        if rules > _MAX_RULES:
            return [*rows, *fields.invalid(f"recurrence[{index}]", f"An event can have at most {_MAX_RULES} rules.")]
    return rows


def _reminders(event: Mapping[str, Any], policy: Policy) -> list[Row]:
    reminders = event["reminders"]
    overrides = reminders.get("overrides") or []
    if reminders.get("useDefault") is True and overrides:
        return [row("defaultAndOverrides")]
    if len(overrides) > fields.MAX_REMINDERS:
        return [row("tooManyReminders", most=fields.MAX_REMINDERS, count=len(overrides))]
    return []


_MAX_PROPERTIES, _MAX_BYTES, _MAX_KEY, _MAX_VALUE = 300, 32 * 1024, 44, 1024


def _properties(event: Mapping[str, Any], policy: Policy) -> list[Row]:
    if policy.event_limits == "none":
        return []
    properties = event["extendedProperties"]
    pairs = [
        (f"{section}.{key}", key, text or "")
        for section in ("private", "shared")
        for key, text in (properties.get(section) or {}).items()
    ]
    size = sum(len(key.encode()) + len(text.encode()) for _, key, text in pairs)
    if len(pairs) > _MAX_PROPERTIES or size > _MAX_BYTES:
        most = f"{_MAX_PROPERTIES} properties and {_MAX_BYTES} bytes"
        return fields.too_long(
            "extendedProperties", f"expected at most {most}, not {len(pairs)} properties and {size} bytes."
        )
    rows: list[Row] = []
    for path, key, value in pairs:
        field_path = f"extendedProperties.{path[:60]}"
        if len(key) > _MAX_KEY:
            rows += fields.too_long(field_path, f"expected a key of at most {_MAX_KEY} characters, not {len(key)}.")
        elif len(value) > _MAX_VALUE:
            rows += fields.too_long(
                field_path, f"expected a value of at most {_MAX_VALUE} characters, not {len(value)}."
            )
    return rows


# The checks of rules that involve several values, by the field that contains the values.
_RULES: tuple[tuple[str, Callable[[Mapping[str, Any], Policy], list[Row]]], ...] = (
    ("conferenceData", lambda event, policy: conference_problems(event["conferenceData"], policy)),
    ("extendedProperties", _properties),
    ("recurrence", _recurrence),
    ("reminders", _reminders),
)
