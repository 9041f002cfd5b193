"""Writes iCalendar files (RFC 5545). ical_reader.py reads them.

ical_entry.py and ical_properties.py build the properties of an event, ical_recurrence.py the recurrence properties, and
vtimezone.py finds the clock changes of a time zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from ...core.resources.events import Event
from .ical_entry import ical_events
from .ical_lines import Property, print_clock, print_offset, print_properties, text_property
from .ical_properties import Reminders, color_name
from .vtimezone import observances

_PROGRAM = "-//svc-notebooks//calendar file//EN"
_DAY = timedelta(days=1)


def calendar_file(events: Iterable[Event], *, name: str = "", color: str = "", reminders: Reminders = ()) -> bytes:
    """Return the content of an .ics file with these events.

    Args:
        events: Event resources, including the changed and cancelled instances of recurring events.
        name: The name of the calendar that other programs show. An empty name is left out.
        color: The colour of the calendar as a hex code. An empty colour is left out.
        reminders: The default reminders of the calendar, for events that use the default reminders.
    """
    names = [text_property(key, name) for key in ("NAME", "X-WR-CALNAME") if name]
    names += [Property("COLOR", color_name(color))] if color else []
    # Each time zone needs a VTIMEZONE that covers the first to the last time in the zone.
    moments_by_zone: dict[ZoneInfo, list[datetime]] = {}
    entries: list[str] = []
    for entry in ical_events(list(events), reminders):
        for moment in entry.moments:
            if isinstance(moment.tzinfo, ZoneInfo):
                moments_by_zone.setdefault(moment.tzinfo, []).append(moment)
        alarms = [_component("VALARM", print_properties(alarm)) for alarm in entry.alarms]
        entries.append(_component("VEVENT", print_properties(entry.properties), *alarms))
    properties = print_properties([Property("PRODID", _PROGRAM), Property("VERSION", "2.0"), *names])
    zones = [_time_zone(zone, moments_by_zone[zone]) for zone in sorted(moments_by_zone, key=lambda zone: zone.key)]
    return _component("VCALENDAR", properties, *zones, *entries).encode()


def _component(name: str, *parts: str) -> str:
    return f"BEGIN:{name}\r\n{''.join(parts)}END:{name}\r\n"


def _time_zone(zone: ZoneInfo, moments: Sequence[datetime]) -> str:
    parts = [print_properties([Property("TZID", zone.key)])]
    for observance in observances(zone, min(moments) - _DAY, max(moments) + _DAY):
        onsets = [print_clock(onset) for onset in observance.onsets]
        properties = [
            Property("DTSTART", onsets[0]),
            Property("TZOFFSETFROM", print_offset(observance.before)),
            Property("TZOFFSETTO", print_offset(observance.clock.offset)),
            text_property("TZNAME", observance.clock.name),
        ]
        if observance.rule:
            properties.append(Property("RRULE", observance.rule))
        # One line each, because some programs read only the first date of a list. The first onset too, because ical.js
        # ignores DTSTART if there is an RDATE.
        properties += [Property("RDATE", onset) for onset in onsets if len(onsets) > 1]
        parts.append(_component("DAYLIGHT" if observance.clock.summer else "STANDARD", print_properties(properties)))
    return _component("VTIMEZONE", *parts)
