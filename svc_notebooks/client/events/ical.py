"""Events as a file that calendar programs open: iCalendar, RFC 5545, written with the library icalendar.

The one file that knows the library. What is said of an event is calendar_entry.py and calendar_details.py, of its
recurrence written_recurrence.py, of a zone clock_changes.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from ...core.http.messages import JSONObject
from .ical_entry import IcalEvent, entries
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
    found = entries(list(events), reminders)
    whole = icalendar.Calendar()
    _fill(whole, [Property("PRODID", _PROGRAM), Property("VERSION", "2.0")])
    if name:
        _fill(whole, [Property(key, icalendar.vText(name)) for key in ("NAME", "X-WR-CALNAME")])
    for part in [*_zones(found), *map(_event, found)]:
        whole.add_component(part)
    return bytes(whole.to_ical())


def _event(entry: IcalEvent) -> icalendar.Component:
    found = icalendar.Event()
    _fill(found, entry.properties)
    for alarm in entry.alarms:
        part = icalendar.Alarm()
        _fill(part, alarm)
        found.add_component(part)
    return found


def _fill(component: icalendar.Component, properties: Iterable[Property]) -> None:
    for one in properties:
        is_rule = one.name in ("RRULE", "EXRULE")
        value = icalendar.vRecur.from_ical(one.value) if is_rule else one.value
        component.add(one.name, value, dict(one.parameters))


def _zones(found: Sequence[IcalEvent]) -> list[icalendar.Component]:
    """A VTIMEZONE for each zone that is used, from the first time in it to the last."""
    used: dict[ZoneInfo, list[datetime]] = {}
    for entry in found:
        for moment in entry.moments:
            if isinstance(moment.tzinfo, ZoneInfo):
                used.setdefault(moment.tzinfo, []).append(moment)
    return [_zone(zone, used[zone]) for zone in sorted(used, key=lambda zone: zone.key)]


def _zone(zone: ZoneInfo, moments: Sequence[datetime]) -> icalendar.Component:
    found = icalendar.Timezone()
    found.add("TZID", zone.key)
    for one in observances(zone, min(moments) - _DAY, max(moments) + _DAY):
        found.add_component(_observance(one))
    return found


def _observance(one: Observance) -> icalendar.Component:
    found = icalendar.TimezoneDaylight() if one.clock.summer else icalendar.TimezoneStandard()
    found.add("DTSTART", one.onsets[0])
    found.add("TZOFFSETFROM", one.before)
    found.add("TZOFFSETTO", one.clock.offset)
    found.add("TZNAME", one.clock.name)
    if one.rule:
        found.add("RRULE", icalendar.vRecur.from_ical(one.rule))
    for onset in one.onsets[1:]:
        found.add("RDATE", [onset])  # a line each: some programs read only the first of a list
    return found
