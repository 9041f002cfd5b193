"""The frames of the calendar: their columns come from the table of the event's fields."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.events.fields import EVENT_FIELDS
from .schemas import TIME, Column, Dtype, Schema, schema, snake

_DTYPES: dict[str, Dtype] = {
    "string": "str",
    "enum": "str",
    "id": "str",
    "person": "str",
    "boolean": "boolean",
    "integer": "Int64",
    "time": TIME,
}
_FIRST = (
    "id",
    "summary",
    "start",
    "end",
    "all_day",
    "time_zone",
    "end_time_zone",
    "status",
    "location",
    "recurrence",
    "attendees",
    "htmlLink",
)
_COMPUTED: dict[str, Dtype] = {
    "all_day": "boolean",
    "time_zone": "str",
    "end_time_zone": "str",
    "original_start_time_zone": "str",
    "created": TIME,
    "updated": TIME,
}
_TYPES = {field.path: field.type for field in EVENT_FIELDS if "." not in field.path and "[]" not in field.path}


def _column(key: str) -> Column:
    return Column(snake(key), _COMPUTED.get(key) or _DTYPES.get(_TYPES[key], "object"), key)


EVENTS = Schema(tuple(_column(key) for key in _FIRST))
"""What is shown of an event in a list. Times are instants, in the frame's zone."""


def _other_keys() -> Iterator[str]:
    """The other fields of the table, in its order; the zone of the original start stands behind it."""
    for key in _TYPES:
        if key not in _FIRST:
            yield key
        if key == "originalStartTime":
            yield "original_start_time_zone"


EVENT = Schema(EVENTS.columns + tuple(_column(key) for key in _other_keys()))
"""All that the service tells of an event: one column for each field of the table, defaults filled in."""

INSTANCES = EVENT.pick(
    (
        "id",
        "summary",
        "start",
        "end",
        "status",
        "originalStartTime",
        "original_start_time_zone",
        "recurringEventId",
    )
)

CREATED = schema(
    """
    row       any
    id        text
    summary   text
    start     time
    end       time
    htmlLink  text
    error     text
    field     text
    """
)

PREVIEW = schema(
    """
    n           count
    start       time
    end         time
    weekday     text
    utc_offset  text
    recurrence  text
    """
)

CALENDARS = schema(
    """
    id           text
    summary      text
    timeZone     text
    accessRole   text
    primary      flag
    description  text
    """
)

COLORS = schema(
    """
    id          text
    name        text
    background  text
    foreground  text
    """
)

OUTBOX = schema(
    """
    time      time
    event_id  text
    to        text
    method    text
    subject   text
    """
)

CALENDAR_FILE = schema(
    """
    path              text
    calendar          text
    events            count
    changedInstances  count
    size              count
    outcome           text
    """
)
