"""Builds the body of an event from the arguments of `create_event`, with the service's own checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from ...core.errors.catalogue import Row
from ...core.events.colors import EVENT_COLORS
from ...core.events.fields import EVENT_FIELDS
from ...core.events.recurrence_words import recurrence_lines
from ...core.events.times import TimeError, read_time
from ...core.events.validation import problems
from ...core.http.messages import JSON, JSONObject
from ...core.policy import Policy
from ..arguments import is_frame
from ..frames.schemas import camel
from ..times import time_object, zone_name

LENIENT = Policy()
"""Limits of its own are for the service to say."""


_FIELD_OF = {"timeMax": "end"}
"""Where the service locates a problem in other words than those of the fields."""


class EventError(ValueError):
    """An event that the service would refuse: `problems` has the field and what is wrong with it, for each problem."""

    def __init__(self, wrong: list[Row]) -> None:
        self.problems = [(_FIELD_OF.get(str(row.location), str(row.location)), row.message) for row in wrong]
        super().__init__("; ".join(row.message for row in wrong) + " Nothing was sent.")


def event_body(*, request_id: str = "conference", **arguments: Any) -> JSONObject:
    """The event that `create_event` sends for these arguments; `request_id` names a new conference.

    Raises TypeError and ValueError (EventError with every problem) that name the argument or the field.

    >>> event_body(summary="Tea", start="2026-11-02", end="2026-11-03", color="Banana")
    {'summary': 'Tea', 'start': {'date': '2026-11-02'}, 'end': {'date': '2026-11-03'}, 'colorId': '5'}
    """
    body = partial_body(request_id=request_id, **arguments)
    rows = [row for row in problems(body, LENIENT) if not str(row.location).startswith("conferenceData")]
    if rows:
        raise EventError(rows)
    return body


def partial_body(*, request_id: str = "conference", **arguments: Any) -> JSONObject:
    """Likewise for those fields alone that the arguments name, unchecked: what a change sends."""
    values = {name: value for name, value in arguments.items() if value is not None}
    metadata = values.pop("metadata", {})
    zone = zone_name("time_zone", values.pop("time_zone", None))
    end_zone = zone_name("end_time_zone", values.pop("end_time_zone", None)) or zone
    body: JSONObject = {}
    for argument, value in values.items():
        body |= _field(argument, value, end_zone if argument == "end" else zone, request_id)
    body |= _properties(values)
    if not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a dict of fields as on the wire, not {type(metadata).__name__}")
    body |= metadata
    return _with_lines(body)


def _field(argument: str, value: Any, time_zone: str | None, request_id: str) -> JSONObject:
    if argument in _TIMES:
        return {camel(argument): time_object(argument, value, time_zone)}
    if argument == "conference":
        return _conference(value, request_id)
    if argument in ("private", "shared"):
        return {}  # `_properties`
    field, read = READERS.get(argument, (camel(argument), _unchanged))
    return {field: read(argument, value)}


def _properties(values: Mapping[str, Any]) -> JSONObject:
    """Private and shared properties are one field."""
    properties = {name: _pairs(name, values[name]) for name in ("private", "shared") if name in values}
    return {"extendedProperties": properties} if properties else {}


def _pairs(argument: str, value: Any) -> JSON:
    if not isinstance(value, Mapping):
        raise TypeError(f"{argument} must be a dict of texts, not {type(value).__name__}")
    return {str(key): text for key, text in value.items()}


_TIMES = ("start", "end", "original_start_time")


def _with_lines(body: JSONObject) -> JSONObject:
    """The recurrence as lines, which depend on the start."""
    recurrence: Any = body.get("recurrence")
    if not recurrence or not isinstance(recurrence, str | list):
        return body  # what is neither is refused with its field
    try:
        start = read_time(body.get("start"))
    except TimeError:
        return {**body, "recurrence": [recurrence] if isinstance(recurrence, str) else recurrence}
    return {**body, "recurrence": list(_lines(recurrence, start))}


def _lines(recurrence: Any, start: Any) -> list[str]:
    if isinstance(recurrence, str):
        return recurrence_lines(recurrence, start)
    return [str(line) for line in recurrence]


# -- the arguments that are not the field as it is -------------------------------------------------------------------


def _unchanged(argument: str, value: Any) -> JSON:
    return value  # type: ignore[no-any-return]


def _recurrence(argument: str, value: Any) -> JSON:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return list(value)
    raise TypeError(f"recurrence must be words, a line or a list of lines, not {type(value).__name__}")


def _attendees(argument: str, value: Any) -> JSON:
    rows: Any = value.to_dict("records") if is_frame(value) else [value] if isinstance(value, str) else value
    if not isinstance(rows, list | tuple):
        raise TypeError(f"attendees must be addresses, dicts or a DataFrame, not {type(value).__name__}")
    return [_attendee(row) for row in rows]


def _attendee(attendee: Any) -> JSON:
    if isinstance(attendee, str):
        return {"email": attendee.strip()}
    if not isinstance(attendee, Mapping):
        raise TypeError(f"attendees has {attendee!r}; give an e-mail address or a dict with one")
    return {camel(str(name)): value for name, value in attendee.items() if not is_missing(value)}


def is_missing(value: Any) -> bool:
    """None, or what pandas has instead: NaN, NaT, NA."""
    return value is None or value is _na() or (isinstance(value, float | date) and value != value)


def _na() -> object:
    import sys

    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas else None


def _object(argument: str, value: Any) -> JSONObject:
    """A dict of fields; names in snake_case are taken, too."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{argument} must be a dict of its fields, not {type(value).__name__}")
    return {camel(str(name)): field for name, field in value.items()}


def _reminders(argument: str, value: Any) -> JSON:
    if isinstance(value, Mapping):
        return _object(argument, value)
    if not isinstance(value, list | tuple):
        raise TypeError("reminders must be a list such as [10, ('email', 60)]; [] for none")
    if not value:
        return {"useDefault": False}
    return {"useDefault": False, "overrides": [_reminder(reminder) for reminder in value]}


def _reminder(reminder: Any) -> JSON:
    if isinstance(reminder, Mapping):
        return dict(reminder)
    method, minutes = reminder if isinstance(reminder, tuple | list) and len(reminder) == 2 else ("popup", reminder)
    return {"method": method, "minutes": minutes}


def _color(argument: str, value: Any) -> JSON:
    names = {color.name.lower(): key for key, color in EVENT_COLORS.items()}
    color_id = names.get(str(value).strip().lower(), str(value))
    if color_id not in EVENT_COLORS:
        known = ", ".join(f"{key} {color.name}" for key, color in EVENT_COLORS.items())
        raise ValueError(f"color is {value!r}; it must be one of {known}")
    return color_id


def _attachments(argument: str, value: Any) -> JSON:
    rows = [value] if isinstance(value, str | Mapping) else list(value)
    return [{"fileUrl": row} if isinstance(row, str) else _attachment(argument, row) for row in rows]


_ATTACHMENT = tuple(field.path.partition(".")[2] for field in EVENT_FIELDS if field.path.startswith("attachments[]."))


def _attachment(argument: str, value: Any) -> JSONObject:
    fields = _object(argument, value)
    if unknown := [name for name in fields if name not in _ATTACHMENT]:
        known = ", ".join(_ATTACHMENT)
        raise ValueError(f"{argument} has a dict with {unknown[0]!r}; give a URL, a file's row or a dict of {known}")
    return fields


def _source(argument: str, value: Any) -> JSON:
    return {"url": value} if isinstance(value, str) else _object(argument, value)


def _conference(value: Any, request_id: str) -> JSONObject:
    if value is False:
        return {}
    if isinstance(value, Mapping):
        return {"conferenceData": dict(value)}
    request: JSONObject = {"requestId": request_id}
    if isinstance(value, str):
        request["conferenceSolutionKey"] = {"type": value}
    return {"conferenceData": {"createRequest": request}}


READERS: Mapping[str, tuple[str, Callable[[str, Any], JSON]]] = {
    "recurrence": ("recurrence", _recurrence),
    "attendees": ("attendees", _attendees),
    "reminders": ("reminders", _reminders),
    "color": ("colorId", _color),
    "attachments": ("attachments", _attachments),
    "source": ("source", _source),
    "gadget": ("gadget", _object),
    "event_id": ("id", _unchanged),
}
"""Arguments that are said in another way than the field that they fill."""
