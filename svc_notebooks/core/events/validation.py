"""Events: everything that is wrong with one, with paths and reasons, and the defaults of what is not said.

`problems` is what the service refuses by and what the form shows beside its fields; it is empty exactly for the
events that can be created. First the times (the end before the start, as the family does), then field by field down
the table of event_fields.py, then the rules that join fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ..errors.catalogue import Row, row
from ..http.messages import JSON, JSONObject
from ..policy import Policy
from ..text import lone_surrogates
from .conference import conference_problems
from .fields import EVENT_FIELDS, METHODS, MOST_MINUTES, MOST_REMINDERS, EventField
from .rrule import Recurrence as Lines, RecurrenceError, Start, is_all_day
from .times import TimeError, instant, read_time
from .types import check, invalid, too_long

DEFAULTS: dict[str, JSON] = {
    one.path: one.default  # type: ignore[misc]
    for one in EVENT_FIELDS
    if one.default is not None and "." not in one.path
}
ATTENDEE_DEFAULTS: dict[str, JSON] = {
    one.path.partition(".")[2]: one.default  # type: ignore[misc]
    for one in EVENT_FIELDS
    if one.default is not None and one.path.startswith("attendees[].")
}


def problems(event: JSONObject, policy: Policy) -> list[Row]:
    """Everything that keeps an event from being created; `location` of each is the path of its field.

    >>> event = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}, "colorId": "12"}
    >>> [(one.reason, one.location) for one in problems(event, Policy())]
    [('invalid', 'colorId')]
    """
    if wrong_texts := lone_surrogates(event):
        return wrong_texts
    event = lenient(event, policy)
    found = [*_times(event, policy), *_fields(_TREES[policy.event_limits], event, "")]
    wrong = {str(one.location).partition(".")[0].partition("[")[0] for one in found}
    for name, rule in _RULES:
        if name not in wrong and event.get(name) is not None:
            found += rule(event, policy)
    return found


def with_defaults(event: JSONObject) -> JSONObject:
    """The event as the service behaves: defaults stand where nothing was said (E-06).

    >>> with_defaults({})["guestsCanInviteOthers"], with_defaults({})["reminders"]
    (True, {'useDefault': True})
    """
    found = {**DEFAULTS, **{name: one for name, one in event.items() if one is not None}}
    attendees = found.get("attendees")
    if isinstance(attendees, list):
        found["attendees"] = [{**ATTENDEE_DEFAULTS, **one} if isinstance(one, dict) else one for one in attendees]
    found["reminders"] = reminders_of(found.get("reminders"))
    return found


def reminders_of(given: JSON) -> JSON:
    """Reminders with `useDefault` said: the calendar's, unless there are others."""
    if not isinstance(given, dict):
        return {"useDefault": True}
    return {
        "useDefault": not given.get("overrides"),
        **{name: one for name, one in given.items() if one not in (None, [])},
    }


def lenient(event: JSONObject, policy: Policy) -> JSONObject:
    """The event with its reminders mended, where the policy mends instead of refusing."""
    given = event.get("reminders")
    if policy.reminders == "reject" or not isinstance(given, dict) or not isinstance(given.get("overrides"), list):
        return event
    kept: dict[tuple[str, int], JSON] = {}
    for one in given["overrides"]:  # type: ignore[union-attr]
        if isinstance(one, dict) and one.get("method") in METHODS and type(one.get("minutes")) is int:
            minutes = min(max(one["minutes"], 0), MOST_MINUTES)  # type: ignore[type-var]
            kept[str(one["method"]), minutes] = {**one, "minutes": minutes}  # type: ignore[index]
    return {**event, "reminders": {**given, "overrides": list(kept.values())}}


# -- field by field --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Node:
    """A field, those below it, and what an entry of it is where it is a list."""

    of: EventField | None = None
    below: dict[str, _Node] = field(default_factory=dict)
    entry: _Node | None = None


def _tree(*, limits: bool) -> _Node:
    root = _Node()
    for one in EVENT_FIELDS:
        if one.writable and one.type not in ("date", "dateTime", "timeZone"):
            _place(root, one if limits else replace(one, limit=None))
    return root


def _place(root: _Node, one: EventField) -> None:
    node = root
    for name in one.path.split("."):
        node = node.below.setdefault(name.removesuffix("[]"), _Node())
        if name.endswith("[]"):
            node.entry = node = node.entry or _Node()
    node.of = one


_TREES = {"none": _tree(limits=False), "family": _tree(limits=True)}
"""The fields to check, by `event_limits`."""


def _fields(node: _Node, value: JSONObject, path: str) -> Iterator[Row]:
    """What is wrong with the fields of an object, in the table's order."""
    for name, below in node.below.items():
        here, one = f"{path}.{name}" if path else name, value.get(name)
        if one is not None:
            yield from _value(below, one, here)
        elif path and below.of is not None and below.of.required:
            yield row("required", by=below.of.decided_by, field=here)


def _value(node: _Node, value: JSON, path: str) -> Iterator[Row]:
    wrong = check(node.of, value, path) if node.of is not None else []
    if wrong:
        yield from wrong
    elif isinstance(value, dict) and node.below:
        yield from _fields(node, value, path)
    elif isinstance(value, list) and node.entry is not None:
        for index, one in enumerate(value):
            yield from _entry(node.entry, one, f"{path}[{index}]")


def _entry(node: _Node, value: JSON, path: str) -> Iterator[Row]:
    if node.below and not isinstance(value, dict):
        yield from invalid(path, "expected an object.")
    else:
        yield from _value(node, value, path)


# -- times -----------------------------------------------------------------------------------------------------------

_TIME = {"start": "Missing start time", "end": "Missing end time"}


def _times(event: JSONObject, policy: Policy) -> list[Row]:
    """The end, the start, and how they go together (E-02 to E-05); then the original start (E-23)."""
    found, read = [], {}
    for name in ("end", "start", "originalStartTime"):
        if event.get(name) is None and name not in _TIME:
            continue
        try:
            read[name] = read_time(event.get(name) or {})
        except TimeError as error:
            found.append(_wrong_time(name, error))
    if policy.missing_start == "live" and "end" in read and not event.get("start"):
        return [row("mixedTimes", by="missing_start", field="start")]
    if not found:
        found = _order(read["start"], read["end"]) + _recurring_zones(event, read["start"])
    return found


def _wrong_time(name: str, error: TimeError) -> Row:
    wrong = error.wrong
    path = f"{name}.{wrong.part}" if wrong.part else name
    if wrong.key == "required":
        missing = f"{_TIME[name]}: " if name in _TIME else ""
        return row("missingTime", field=path, message=missing + wrong.message)
    return row(wrong.key, field=path, message=wrong.message)


def _order(start: Start, end: Start) -> list[Row]:
    if is_all_day(start) != is_all_day(end):
        return [row("mixedTimes", field="end")]
    if instant(end, UTC) <= instant(start, UTC):
        return [row("timeRangeEmpty")]
    return []


def _recurring_zones(event: Mapping[str, Any], start: Start) -> list[Row]:
    """A recurring event with times names the zone of both; a missing zone of days is the calendar's (E-04)."""
    if not event.get("recurrence") or is_all_day(start):
        return []
    return [
        row("missingTime", field=f"{name}.timeZone", message=f"{_NO_ZONE[name]}: {_RECURS}")
        for name in _NO_ZONE
        if not event[name].get("timeZone")
    ]


_NO_ZONE = {name: f"Missing time zone definition for {name} time" for name in ("start", "end")}
_RECURS = "a recurring event needs the zone that it recurs in."


def start_of(event: JSONObject) -> Start:
    """When a checked event begins."""
    return read_time(event["start"])


def end_of(event: JSONObject) -> Start:
    """When a checked event ends."""
    return read_time(event["end"])


def recurrence_of(event: JSONObject) -> Lines:
    """The recurrence of a checked event."""
    lines: Any = event.get("recurrence") or []
    return Lines.parse(lines, start_of(event))


# -- rules that join fields ------------------------------------------------------------------------------------------


def _recurrence(event: JSONObject, policy: Policy) -> list[Row]:
    """Every line that is wrong, each by its own number (E-12)."""
    lines: Any = event["recurrence"]
    try:
        start = read_time(event.get("start"))
    except TimeError:
        return []  # said already; what the lines must look like follows from the start
    if isinstance(start, datetime) and start.tzinfo is None:
        return []
    return [one for index, line in enumerate(lines) for one in _line(index, line, start)]


def _line(index: int, line: str, start: Start) -> list[Row]:
    try:
        Lines.parse([line], start)
    except RecurrenceError as error:
        return invalid(f"recurrence[{index}]", f"Invalid recurrence rule. {error.message}.")
    return []


def _reminders(event: JSONObject, policy: Policy) -> list[Row]:
    reminders: Any = event["reminders"]
    overrides = reminders.get("overrides") or []
    if reminders.get("useDefault") is True and overrides:
        return [row("defaultAndOverrides")]
    if len(overrides) > MOST_REMINDERS:
        return [row("tooManyReminders", most=MOST_REMINDERS, count=len(overrides))]
    return []


_MOST_PROPERTIES, _MOST_BYTES, _LONGEST_KEY, _LONGEST_VALUE = 300, 32 * 1024, 44, 1024


def _properties(event: JSONObject, policy: Policy) -> list[Row]:
    """The family's limits of extended properties; without the switch there are none."""
    if policy.event_limits == "none":
        return []
    given: Any = event["extendedProperties"]
    pairs = [(f"{kind}.{key}", key, one or "") for kind in _KINDS for key, one in (given.get(kind) or {}).items()]
    size = sum(len(key.encode()) + len(one.encode()) for _, key, one in pairs)
    if len(pairs) > _MOST_PROPERTIES or size > _MOST_BYTES:
        most = f"{_MOST_PROPERTIES} properties of {_MOST_BYTES} bytes"
        return too_long("extendedProperties", f"expected at most {most}, not {len(pairs)} of {size}.")
    return [
        one for path, key, value in pairs for one in _too_long_property(f"extendedProperties.{path[:60]}", key, value)
    ]


_KINDS = ("private", "shared")


def _too_long_property(path: str, key: str, value: str) -> list[Row]:
    if len(key) > _LONGEST_KEY:
        return too_long(path, f"expected a key of at most {_LONGEST_KEY} characters, not {len(key)}.")
    if len(value) > _LONGEST_VALUE:
        return too_long(path, f"expected a value of at most {_LONGEST_VALUE} characters, not {len(value)}.")
    return []


def _conference(event: JSONObject, policy: Policy) -> list[Row]:
    return conference_problems(event["conferenceData"], policy)


_RULES: tuple[tuple[str, Callable[[JSONObject, Policy], list[Row]]], ...] = (
    ("conferenceData", _conference),
    ("extendedProperties", _properties),
    ("recurrence", _recurrence),
    ("reminders", _reminders),
)
"""The rules that look at more than one value, by the field whose values they join."""
