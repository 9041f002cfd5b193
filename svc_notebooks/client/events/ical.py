"""Writes iCalendar files (RFC 5545) with the library icalendar. ical_reader.py reads them.

ical_entry.py and ical_properties.py build the properties of an event, ical_recurrence.py the recurrence properties, and
vtimezone.py finds the clock changes of a time zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from ...core.resources.events import Event
from .ical_entry import ical_events
from .ical_properties import Property, Reminders, without_controls
from .vtimezone import observances

try:
    import icalendar
except ImportError as error:
    raise ImportError("calendar files need the package icalendar: pip install 'svc-notebooks[calendar]'") from error

_PROGRAM = "-//svc-notebooks//calendar file//EN"
_DAY = timedelta(days=1)


def calendar_file(events: Iterable[Event], *, name: str = "", reminders: Reminders = ()) -> bytes:
    """Return the content of an .ics file with these events.

    Args:
        events: Event resources, including the changed and cancelled instances of recurring events.
        name: The name of the calendar that other programs show. An empty name is left out.
        reminders: The default reminders of the calendar, for events that use the default reminders.
    """
    entries = ical_events(list(events), reminders)
    calendar = icalendar.Calendar()
    _add_properties(calendar, [Property("PRODID", _PROGRAM), Property("VERSION", "2.0")])
    if name:
        _add_properties(
            calendar, [Property(key, icalendar.vText(without_controls(name))) for key in ("NAME", "X-WR-CALNAME")]
        )
    # Each time zone needs a VTIMEZONE that covers the first to the last time in the zone.
    moments_by_zone: dict[ZoneInfo, list[datetime]] = {}
    for entry in entries:
        for moment in entry.moments:
            if isinstance(moment.tzinfo, ZoneInfo):
                moments_by_zone.setdefault(moment.tzinfo, []).append(moment)
    for zone in sorted(moments_by_zone, key=lambda zone: zone.key):
        calendar.add_component(_time_zone(zone, moments_by_zone[zone]))
    for entry in entries:
        event = icalendar.Event()
        _add_properties(event, entry.properties)
        for properties in entry.alarms:
            alarm = icalendar.Alarm()
            _add_properties(alarm, properties)
            event.add_component(alarm)
        calendar.add_component(event)
    return bytes(calendar.to_ical())


def _add_properties(component: icalendar.Component, properties: Iterable[Property]) -> None:
    for name, value, parameters in properties:
        is_rule = name in ("RRULE", "EXRULE")
        texts = {key: without_controls(text) for key, text in parameters.items()}
        text = without_controls(value) if type(value) is str else value
        component.add(name, icalendar.vRecur.from_ical(value) if is_rule else text, texts)


def _time_zone(zone: ZoneInfo, moments: Sequence[datetime]) -> icalendar.Component:
    component = icalendar.Timezone()
    component.add("TZID", zone.key)
    for observance in observances(zone, min(moments) - _DAY, max(moments) + _DAY):
        part = icalendar.TimezoneDaylight() if observance.clock.summer else icalendar.TimezoneStandard()
        part.add("DTSTART", observance.onsets[0])
        part.add("TZOFFSETFROM", observance.before)
        part.add("TZOFFSETTO", observance.clock.offset)
        part.add("TZNAME", observance.clock.name)
        if observance.rule:
            part.add("RRULE", icalendar.vRecur.from_ical(observance.rule))
        # One line each, because some programs read only the first date of a list. The first onset too, because ical.js
        # ignores DTSTART if there is an RDATE.
        for onset in observance.onsets if len(observance.onsets) > 1 else ():
            part.add("RDATE", [onset])
        component.add_component(part)
    return component
