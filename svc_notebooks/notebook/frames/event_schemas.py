"""The columns and dtypes of the DataFrames about events and calendars, computed from the field table `EVENT_FIELDS`."""

from __future__ import annotations

from ...core.events.value_checks import EVENT_FIELDS
from .frames import TIME, Column, Dtype, Schema, schema, snake

_DTYPES: dict[str, Dtype] = {
    "string": "str",
    "enum": "str",
    "id": "str",
    "person": "str",
    "boolean": "boolean",
    "integer": "Int64",
    "time": TIME,
}
_COMPUTED: dict[str, Dtype] = {
    "all_day": "boolean",
    "time_zone": "str",
    "end_time_zone": "str",
    "original_start_time_zone": "str",
    "created": TIME,
    "updated": TIME,
}
_TYPES = {field.path: field.type for field in EVENT_FIELDS if "." not in field.path and "[]" not in field.path}


def _columns(*keys: str) -> tuple[Column, ...]:
    return tuple(Column(snake(key), _COMPUTED.get(key) or _DTYPES.get(_TYPES[key], "object"), key) for key in keys)


EVENTS = Schema(
    _columns("summary", "start", "end", "location", "attendees", "recurrence", "time_zone", "end_time_zone")
    + _columns("htmlLink", "id", "all_day", "status")
)
"""The default columns of `events()`. Times are instants in the time zone of the DataFrame.

A terminal of 80 columns shows the first columns and the last ones, which are therefore narrow.
"""

_OTHERS = [key for key in _TYPES if key not in EVENTS.keys]
_OTHERS.insert(_OTHERS.index("originalStartTime") + 1, "original_start_time_zone")
EVENT = Schema(EVENTS.columns[:-2] + _columns(*_OTHERS) + EVENTS.columns[-2:])
"""All columns of an event, with a column for each top-level field of `EVENT_FIELDS`."""

INSTANCES = Schema(
    _columns("summary", "start", "end", "location", "attendees", "originalStartTime", "original_start_time_zone")
    + _columns("htmlLink", "id", "recurringEventId", "all_day", "status")
)

CREATED = schema("row any, summary text, start time, end time, id text, htmlLink text, error text, field text")

PREVIEW = schema("n count, start time, end time, weekday text, utc_offset text, recurrence text")

FREE_BUSY = schema("calendar text, outcome text, error text, attempts count, seconds seconds, busy any")

FREE_TIMES = schema("start time, end time")

CALENDAR_PERMISSIONS = schema("emailAddress text, role text, calendar text, id text, domain text, type text")

CALENDARS = schema("summary text, accessRole text, timeZone text, id text, description text, primary flag")

COLORS = schema("id text, name text, background text, foreground text")

OUTBOX = schema("to text, time time, event_id text, method text, subject text")

IMPORTED = schema(
    "summary text, start time, end time, time_zone text, iCalUID text, id text, htmlLink text, notes text, "
    "changedInstances count, outcome text"
)

CALENDAR_FILE = schema("path text, calendar text, events count, changedInstances count, size count, outcome text")
