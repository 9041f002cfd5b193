"""Converts event resources to records and DataFrames, with default values and with all times in one time zone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...core.errors.errors import ServiceFailed
from ...core.events.times import instant, read_time
from ...core.events.validation import with_defaults
from ...core.printable_text import printable
from ...core.resources.events import Event
from ...core.time_zones import UTC_NAME, zone
from ..frames.event_schemas import EVENT
from ..frames.frames import Record, Schema, frame

if TYPE_CHECKING:
    from pandas import DataFrame

_TIMES = ("start", "end", "originalStartTime")
_ZONES = {"time_zone": "start", "end_time_zone": "end", "original_start_time_zone": "originalStartTime"}
"""The time field whose time zone each time zone column shows."""
_PEOPLE = ("creator", "organizer")


def fields_mask(schema: Schema) -> str | None:
    """Return the `fields` mask of a list of events for the columns of a schema. None stands for all fields."""
    if schema is EVENT or not schema.columns:
        return None
    fields = dict.fromkeys("start" if key == "all_day" else _ZONES.get(key, key) for key in schema.keys)
    return f"nextPageToken,items({','.join(fields)})"


def event_frame(schema: Schema, events: Sequence[Event], time_zone: str | None = None) -> DataFrame:
    """Return the DataFrame of events, with times in `time_zone`. None stands for the events' common zone or UTC."""
    name = time_zone or common_zone(events)
    return in_zone(frame(schema, [event_record(event, name) for event in events]), name)


def in_zone(events: DataFrame, name: str) -> DataFrame:
    """Convert the time columns of an event DataFrame to the time zone `name` in place, and return the DataFrame."""
    for column in ("start", "end", "original_start_time"):
        if column in events:
            events[column] = events[column].dt.tz_convert(zone(name))
    return events


def common_zone(events: Iterable[Event]) -> str:
    """Return the name of the common time zone of all event starts, or "UTC" if they differ or it is not known here."""
    starts = [start for event in events if isinstance(start := event.get("start"), dict)]
    names = {str(start.get("timeZone") or UTC_NAME) for start in starts}
    with suppress(ValueError):
        return zone(*names).key if len(names) == 1 else UTC_NAME
    return UTC_NAME


def event_record(event: Event, time_zone: str) -> Record:
    """Convert an event to a record (dict) for a DataFrame row, with wire names as keys.

    Times are instants, people are e-mail addresses, and missing fields have their defaults. An all-day event starts at
    midnight in `time_zone`.
    """
    record: dict[str, Any] = with_defaults(event)
    times = {name: record[name] for name in _TIMES if record.get(name)}
    record["all_day"] = "date" in times.get("start", ())
    for column, name in _ZONES.items():
        record[column] = times.get(name, {}).get("timeZone")
    for name, value in times.items():
        try:
            record[name] = value["dateTime"] if "dateTime" in value else instant(read_time(value), zone(time_zone))
        except (ArithmeticError, ValueError) as error:
            problem = f"The service returned an event with a {name} that is not a time: {printable(str(error))}"
            raise ServiceFailed(problem, location=name, advice="Check base_url.") from None
    for name in _PEOPLE:
        if isinstance(record.get(name), Mapping):
            record[name] = record[name].get("email")
    return record
