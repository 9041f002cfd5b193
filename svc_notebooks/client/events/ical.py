"""Events as a file that calendar programs open: iCalendar, RFC 5545, written with the library icalendar.

The only module that imports icalendar. ical_entry.py and ical_properties.py write an event, ical_recurrence.py its
recurrence, vtimezone.py a time zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from ...core.http.messages import JSONObject
from .ical_entry import IcalEvent, ical_events
from .ical_properties import Property, Reminders
from .vtimezone import Observance, observances

try:
    import icalendar
except ImportError as error:
    raise ImportError("calendar files are written by icalendar: pip install 'svc-notebooks[calendar]'") from error

_PROGRAM = "-//svc-notebooks//calendar file//EN"
_DAY = timedelta(days=1)


def calendar_file(events: Iterable[JSONObject], *, name: str = "", reminders: Reminders = ()) -> bytes:
    """The content of an .ics file with these events.

    Args:
        events: As they are on the wire; changed and cancelled instances of a series among them.
        name: What programs call the calendar.
        reminders: The calendar's own, for events that say they use them.
    """
    entries = ical_events(list(events), reminders)
    calendar = icalendar.Calendar()
    _add_properties(calendar, [Property("PRODID", _PROGRAM), Property("VERSION", "2.0")])
    if name:
        _add_properties(calendar, [Property(key, icalendar.vText(name)) for key in ("NAME", "X-WR-CALNAME")])
    for part in [*_zones(entries), *map(_event, entries)]:
        calendar.add_component(part)
    return bytes(calendar.to_ical())


def _event(entry: IcalEvent) -> icalendar.Component:
    component = icalendar.Event()
    _add_properties(component, entry.properties)
    for alarm in entry.alarms:
        part = icalendar.Alarm()
        _add_properties(part, alarm)
        component.add_component(part)
    return component


def _add_properties(component: icalendar.Component, properties: Iterable[Property]) -> None:
    for line in properties:
        is_rule = line.name in ("RRULE", "EXRULE")
        value = icalendar.vRecur.from_ical(line.value) if is_rule else line.value
        component.add(line.name, value, dict(line.parameters))


def _zones(entries: Sequence[IcalEvent]) -> list[icalendar.Component]:
    """A VTIMEZONE for each zone that is used, from the first time in it to the last."""
    used: dict[ZoneInfo, list[datetime]] = {}
    for entry in entries:
        for moment in entry.moments:
            if isinstance(moment.tzinfo, ZoneInfo):
                used.setdefault(moment.tzinfo, []).append(moment)
    return [_zone(zone, used[zone]) for zone in sorted(used, key=lambda zone: zone.key)]


def _zone(zone: ZoneInfo, moments: Sequence[datetime]) -> icalendar.Component:
    component = icalendar.Timezone()
    component.add("TZID", zone.key)
    for observance in observances(zone, min(moments) - _DAY, max(moments) + _DAY):
        component.add_component(_observance(observance))
    return component


def _observance(observance: Observance) -> icalendar.Component:
    component = icalendar.TimezoneDaylight() if observance.clock.summer else icalendar.TimezoneStandard()
    component.add("DTSTART", observance.onsets[0])
    component.add("TZOFFSETFROM", observance.before)
    component.add("TZOFFSETTO", observance.clock.offset)
    component.add("TZNAME", observance.clock.name)
    if observance.rule:
        component.add("RRULE", icalendar.vRecur.from_ical(observance.rule))
    for onset in observance.onsets[1:]:
        component.add("RDATE", [onset])  # a line each: some programs read only the first of a list
    return component
