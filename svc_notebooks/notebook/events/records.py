"""Converts events of the service to records and frames: defaults filled in, times in one zone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.events.times import instant, read_time
from ...core.events.validation import with_defaults
from ...core.http.messages import JSONObject
from ...core.time_zones import UTC_NAME, zone
from ..frames.frames import Schema, frame

if TYPE_CHECKING:
    from pandas import DataFrame

_TIMES = ("start", "end", "originalStartTime")
_ZONES = {"time_zone": "start", "end_time_zone": "end", "original_start_time_zone": "originalStartTime"}
"""Columns with the zone of a time, by the field that has the time."""
_PEOPLE = ("creator", "organizer")


def event_frame(schema: Schema, events: Sequence[JSONObject], time_zone: str | None = None) -> DataFrame:
    """Events as a frame, in this zone, or in the one that all of them have, or else in UTC."""
    name = time_zone or common_zone(events)
    return in_zone(frame(schema, [event_record(event, name) for event in events]), name)


def in_zone(events: DataFrame, name: str) -> DataFrame:
    """The frame with the times of its events as the clocks of a zone show them."""
    for column in ("start", "end", "original_start_time"):
        if column in events:
            events[column] = events[column].dt.tz_convert(zone(name))
    return events


def common_zone(events: Iterable[JSONObject]) -> str:
    """The zone of events that all have the same; UTC if there is none."""
    starts = [start for event in events if isinstance(start := event.get("start"), dict)]
    names = {str(start.get("timeZone") or UTC_NAME) for start in starts}
    return names.pop() if len(names) == 1 else UTC_NAME


def event_record(event: JSONObject, time_zone: str) -> dict[str, Any]:
    """An event as a record: its fields by their wire names, times as instants."""
    record: dict[str, Any] = with_defaults(event)
    times: dict[str, Any] = {name: event[name] for name in _TIMES if event.get(name)}
    record |= {"all_day": "date" in times.get("start", ())}
    record |= {column: times.get(name, {}).get("timeZone") for column, name in _ZONES.items()}
    record |= {name: _instant(value, time_zone) for name, value in times.items()}
    return record | {name: _email(record[name]) for name in _PEOPLE if name in record}


def _instant(value: Any, time_zone: str) -> Any:
    """An all-day event begins at midnight of the frame's zone."""
    if "dateTime" in value:
        return value["dateTime"]
    return instant(read_time(value), zone(time_zone))


def _email(person: Any) -> Any:
    return person.get("email") if isinstance(person, Mapping) else person
