"""Builds the properties of each event in a calendar file, in the order of RFC 5545 (3.6.1).

A changed instance becomes an event with the UID of the series and a RECURRENCE-ID, a cancelled instance an EXDATE of
the series.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ...core.events.rrule import Start
from ...core.events.times import read_time
from ...core.resources.events import Event
from .ical_lines import Property, print_utc, text_property, time_property
from .ical_properties import Reminders, alarms, details
from .ical_recurrence import in_zone_of, recurrence_properties


@dataclass(frozen=True, slots=True)
class IcalEvent:
    """The properties of an event in the file, and a tuple of properties for each alarm."""

    properties: tuple[Property, ...]
    alarms: tuple[tuple[Property, ...], ...]

    @property
    def moments(self) -> list[datetime]:
        """The event's times outside of UTC, and for a series the end of the period with listed clock changes."""
        listed = [moment for line in self.properties for moment in line.moments]
        moments = [moment for moment in listed if isinstance(moment, datetime)]
        endless = any(line.name == "RRULE" for line in self.properties)
        if moments and endless and max(moments).year < _LAST_YEAR:
            moments.append(max(moments) + _ZONE_HORIZON)
        return moments


_ZONE_HORIZON = timedelta(days=3653)
"""The period after a series' last known time with listed clock changes, for zones whose changes follow no rule."""

_LAST_YEAR = 9900
"""The year from which no horizon is added, to stay in the range of datetime."""


def ical_events(events: Sequence[Event], reminders: Reminders = ()) -> Iterator[IcalEvent]:
    """Convert event resources to .ics events, with an EXDATE in the series for each cancelled instance.

    `reminders` are the default reminders.
    """
    series = {event.get("id"): event for event in events if event.get("recurrence")}
    left_out: dict[Any, list[Event]] = defaultdict(list)
    for event in events:
        if event.get("status") == "cancelled" and event.get("recurringEventId"):
            left_out[event["recurringEventId"]].append(event)
    for event in events:
        if event.get("status") != "cancelled":
            times = _times(event, series.get(event.get("recurringEventId"), event), left_out.get(event.get("id"), ()))
            yield IcalEvent((*_identity(event), *times, *details(event)), tuple(alarms(event, reminders)))


# -- identity and times ----------------------------------------------------------------------------------------------


def _identity(event: Event) -> Iterator[Property]:
    yield text_property("UID", event.get("iCalUID") or event["id"])
    # In a file that is not a message DTSTAMP is the time of the last change (RFC 5545, 3.8.7.2).
    created, updated = (print_utc(event.get(name)) for name in ("created", "updated"))
    yield Property("DTSTAMP", updated or created or "19700101T000000Z")
    yield from (Property(name, text) for name, text in (("CREATED", created), ("LAST-MODIFIED", updated)) if text)
    yield Property("SEQUENCE", str(event.get("sequence") or 0))


def _times(event: Event, series: Event, left_out: Sequence[Event]) -> Iterator[Property]:
    yield time_property("DTSTART", read_time(event.get("start")))
    yield time_property("DTEND", read_time(event.get("end")))
    yield from recurrence_properties(event)
    if left_out:
        yield time_property("EXDATE", *(_original_start(instance, series) for instance in left_out))
    if event.get("recurringEventId") and event.get("originalStartTime"):
        yield time_property("RECURRENCE-ID", _original_start(event, series))


def _original_start(event: Event, series: Event) -> Start:
    return in_zone_of(read_time(series.get("start")), read_time(event.get("originalStartTime")))
