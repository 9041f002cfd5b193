"""What a calendar file says of each event, as names and plain values in the order of RFC 5545 (3.6.1).

Changed instances of a series stand beside it under its UID, with RECURRENCE-ID; cancelled ones are left out of it by
EXDATE. Deleted events are not said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from ...core.events.rrule import Start
from ...core.events.times import instant, read_time
from ...core.http.messages import JSONObject
from .ical_properties import Property, Reminders, alarms, details
from .ical_recurrence import PropertyLine, recurrence_properties


@dataclass(frozen=True, slots=True)
class IcalEvent:
    """One event of the file."""

    properties: tuple[Property, ...]
    alarms: tuple[tuple[Property, ...], ...]

    @property
    def moments(self) -> list[datetime]:
        """Every time that is said in some zone, and the last that a reader may ask about."""
        moments = [moment for line in self.properties for moment in _moments(line.value)]
        endless = any(line.name == "RRULE" for line in self.properties)
        return (
            [*moments, max(moments) + _ZONE_HORIZON]
            if moments and endless and max(moments).year < _LAST_YEAR
            else moments
        )


_ZONE_HORIZON = timedelta(days=3653)
"""How far the clock changes of a zone are listed for a series, where there is no rule for them."""

_LAST_YEAR = 9900
"""Whoever looks ahead before this year stays within those that there are."""


def _moments(value: Any) -> list[datetime]:
    if isinstance(value, list | tuple):
        return [moment for entry in value for moment in _moments(entry)]
    return [value] if isinstance(value, datetime) and value.tzinfo is not UTC else []


def ical_events(events: Sequence[JSONObject], reminders: Reminders = ()) -> list[IcalEvent]:
    """The events that a file shows."""
    series = {event.get("id"): event for event in events if event.get("recurrence")}
    left_out: dict[Any, list[JSONObject]] = defaultdict(list)
    for event in events:
        if event.get("status") == "cancelled" and event.get("recurringEventId"):
            left_out[event["recurringEventId"]].append(event)
    shown = [event for event in events if event.get("status") != "cancelled"]
    return [
        IcalEvent(
            tuple(_properties(event, series.get(event.get("recurringEventId"), event), left_out[event.get("id")])),
            tuple(alarms(event, reminders)),
        )
        for event in shown
    ]


def _properties(event: JSONObject, series: JSONObject, left_out: Sequence[JSONObject]) -> Iterator[Property]:
    yield from _identity(event)
    yield from _times(event, read_time(series.get("start")), left_out)
    yield from details(event)


# -- which event, and when -------------------------------------------------------------------------------------------


def _identity(event: JSONObject) -> Iterator[Property]:
    """DTSTAMP is the last change: in a file that is nobody's message it says nothing else (3.8.7.2)."""
    yield Property("UID", event.get("iCalUID") or event["id"])
    changed = event.get("updated") or event.get("created") or "1970-01-01T00:00:00Z"
    for name, value in (
        ("DTSTAMP", changed),
        ("CREATED", event.get("created")),
        ("LAST-MODIFIED", event.get("updated")),
    ):
        if value:
            yield Property(name, datetime.fromisoformat(str(value)))
    yield Property("SEQUENCE", event.get("sequence") or 0)


def _times(event: JSONObject, of_series: Start, left_out: Sequence[JSONObject]) -> Iterator[Property]:
    yield Property("DTSTART", _in_named_zone(read_time(event.get("start"))))
    yield Property("DTEND", _in_named_zone(read_time(event.get("end"))))
    yield from map(_recurrence_property, recurrence_properties(event))
    if left_out:
        yield Property("EXDATE", [_original_start(instance, of_series) for instance in left_out])
    if event.get("recurringEventId") and event.get("originalStartTime"):
        yield Property("RECURRENCE-ID", _original_start(event, of_series))


def _recurrence_property(line: PropertyLine) -> Property:
    if line.rule:
        return Property(line.name, line.rule)
    if line.periods:  # in UTC: the library leaves out the zone of a period
        periods = [(instant(moment.start, UTC), moment.duration) for moment in line.periods]
        return Property(line.name, periods, {"VALUE": "PERIOD"})
    return Property(line.name, [_in_named_zone(moment) for moment in line.moments])


def _original_start(event: JSONObject, of_series: Start) -> Start:
    """Which instance this is: its first start, in the zone of its series."""
    moment = read_time(event.get("originalStartTime"))
    if isinstance(moment, datetime) and isinstance(of_series, datetime):
        moment = moment.astimezone(of_series.tzinfo)
    return _in_named_zone(moment)


def _in_named_zone(moment: Start) -> Start:
    """In a zone that has a name, or in UTC."""
    if not isinstance(moment, datetime):
        return moment
    named = isinstance(moment.tzinfo, ZoneInfo) and moment.tzinfo.key != "UTC"
    return moment if named else moment.astimezone(UTC)
