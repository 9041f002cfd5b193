"""Reads the events of iCalendar files (RFC 5545) with the library icalendar, as bodies of requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from ...core.events.rfc5545_times import Start, print_moment
from ...core.events.times import in_minutes
from ...core.http.messages import JSON, JSONObject
from ...core.time_zones import equivalent_zone, has_offsets_of, zone, zone_names, zone_of_windows

try:
    import icalendar
except ImportError as error:
    raise ImportError("calendar files need the package icalendar: pip install 'svc-notebooks[calendar]'") from error

_VTIMEZONE = re.compile(rb"^BEGIN:VTIMEZONE\b.*?^END:VTIMEZONE\b", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_ZONE_PROPERTIES = rb"BEGIN|END|TZID|DTSTART|RRULE|RDATE|EXRULE|EXDATE|TZOFFSETFROM|TZOFFSETTO|TZNAME"
_OTHER_PROPERTY = re.compile(  # with its folded lines; the library refuses a whole file because of one of them
    rb"^(?!\s|(?:" + _ZONE_PROPERTIES + rb")[:;]).*\n(?:[ \t].*\n)*", re.MULTILINE | re.IGNORECASE
)
_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)


class ImportedEvent(NamedTuple):
    """An event of a file. `changes` has the original start of each changed instance and its fields, None if cancelled.

    If the event cannot be read, `problem` says why.
    """

    body: JSONObject
    changes: list[tuple[str, JSONObject | None]]
    problem: str | None = None


def parse_calendars(content: str | bytes) -> list[Any]:
    """Return the calendars of an iCalendar file, for `imported_events`. Raises ValueError for other content."""
    content = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    try:
        readable = _VTIMEZONE.sub(lambda zone: _OTHER_PROPERTY.sub(b"", zone[0]), content)
        calendars: list[Any] = icalendar.Calendar.from_ical(readable, multiple=True)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"source is not an iCalendar file that can be read: {error}") from None
    if not calendars or any(calendar.name != "VCALENDAR" for calendar in calendars):
        raise ValueError("source is not an iCalendar file; it must begin with BEGIN:VCALENDAR")
    return calendars


def imported_events(calendars: list[Any], time_zone: str) -> list[ImportedEvent]:
    """Return the events of parsed calendars, each with its changed instances.

    Times without a zone are in the zone X-WR-TIMEZONE of the file, or in `time_zone`.
    """
    return [event for calendar in calendars for event in _events_of(calendar, time_zone)]


def _events_of(calendar: Any, time_zone: str) -> Iterator[ImportedEvent]:
    name = str(calendar.get("X-WR-TIMEZONE", ""))
    name = zone_of_windows(name) or name
    zones = _Zones(calendar, zone(name if name in zone_names() else time_zone))
    series: dict[str, list[Any]] = {}
    for component in calendar.walk("VEVENT"):
        series.setdefault(_uid(component), []).append(component)
    for uid, components in series.items():
        masters = [component for component in components if "RECURRENCE-ID" not in component]
        others = [component for component in components if "RECURRENCE-ID" in component]
        if masters:  # of several revisions the first, as in most programs
            yield _event(uid, masters[0], others, zones)
        else:
            yield from (_event(_uid_of_instance(uid, component), component, [], zones) for component in others)


def _uid(component: Any) -> str:
    return str(component.get("UID", "")) or f"{sha256(component.to_ical()).hexdigest()[:32]}@import"


def _uid_of_instance(uid: str, component: Any) -> str:
    """Return the iCalUID of a changed instance whose series is not in the file."""
    return f"{uid}_{_text_of(component['RECURRENCE-ID'])}"


def _event(uid: str, component: Any, instances: list[Any], zones: _Zones) -> ImportedEvent:
    body: JSONObject = {"iCalUID": uid, "summary": str(component.get("SUMMARY", ""))}
    try:
        body |= {**_fields(component, zones), **_recurrence(component, zones)}
        return ImportedEvent(body, [_change(instance, component, zones) for instance in instances])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        errors = [f"{name}: {message}" for part in (component, *instances) for name, message in part.errors]
        return ImportedEvent(body, [], f"the event cannot be read: {'; '.join(errors) or error}")


def _change(instance: Any, series: Any, zones: _Zones) -> tuple[str, JSONObject | None]:
    """Return the original start, as in the ids of instances, and the fields of a changed instance."""
    if instance["RECURRENCE-ID"].params.get("RANGE"):
        raise ValueError("RECURRENCE-ID with RANGE=THISANDFUTURE is not supported")
    original = zones.read(instance, "RECURRENCE-ID")
    if isinstance(original, datetime) and not isinstance(series["DTSTART"].dt, datetime):
        original = original.date()
    moment = print_moment(original)
    return moment, None if str(instance.get("STATUS", "")).upper() == "CANCELLED" else _fields(instance, zones)


# -- times -----------------------------------------------------------------------------------------------------------


class _Zones:
    """The time zones of a calendar, which are `local` for times without a zone, and those that the file defines."""

    def __init__(self, calendar: Any, local: tzinfo) -> None:
        self._local = local
        self._components = {str(component.get("TZID")): component for component in calendar.walk("VTIMEZONE")}
        self._defined: dict[str, tzinfo] = {}

    def read(self, component: Any, name: str) -> Start:
        """Return the date or the time of a property. Raises ValueError if a component has it twice."""
        value = component[name]
        if isinstance(value, list):
            raise ValueError(f"{name} occurs {len(value)} times")
        return self.apply(value.dt, value.params)

    def apply(self, moment: Start, parameters: Mapping[str, Any]) -> Start:
        """Return a date, or a time with its zone. Raises ValueError for a TZID that is not defined.

        The name of a Windows zone is the zone of the CLDR, unless the file defines it with other offsets in the year.
        The library keeps the zones of other files by name, so its zones are used only if they are IANA zones.
        """
        if not isinstance(moment, datetime):
            return moment
        name = str(parameters.get("TZID", ""))
        if windows := zone_of_windows(name):
            tz = zone(windows)
            is_other = name in self._components and not has_offsets_of(tz, self._definition(name), moment.year)
            return moment.replace(tzinfo=self._definition(name) if is_other else tz)
        if hasattr(moment.tzinfo, "key"):
            return moment
        if not name:
            return moment.replace(tzinfo=moment.tzinfo or self._local)
        if name not in self._components:
            raise ValueError(f"the time zone {name} is not in the IANA database, and the file does not define it")
        return moment.replace(tzinfo=self._definition(name))

    def _definition(self, name: str) -> tzinfo:
        if name not in self._defined:
            self._defined[name] = self._components[name].to_tz(lookup_tzid=False)
        return self._defined[name]


def _times(component: Any, zones: _Zones) -> JSONObject:
    if "DTSTART" not in component:
        raise ValueError("DTSTART is missing")
    start = zones.read(component, "DTSTART")
    if "DTEND" in component:
        end = zones.read(component, "DTEND")
    elif "DURATION" in component:
        end = _after(start, component["DURATION"].dt)
    else:  # RFC 5545, 3.6.1: a date lasts a day, and an event with a time ends at once
        end = start if isinstance(start, datetime) else start + _DAY
    return {"start": _time_object(start), "end": _time_object(end)}


def _after(start: Start, length: timedelta) -> Start:
    return (start.astimezone(UTC) + length).astimezone(start.tzinfo) if isinstance(start, datetime) else start + length


def _time_object(moment: Start) -> JSONObject:
    if not isinstance(moment, datetime):
        return {"date": moment.isoformat()}
    name = _zone_name(moment)
    time: JSONObject = {"dateTime": in_minutes(moment).isoformat(timespec="seconds")}
    return time | {"timeZone": name} if name else time


def _zone_name(moment: datetime) -> str | None:
    """Return the IANA name of the zone of a time. For a zone that the file defines, it is one with the same offsets."""
    name = getattr(moment.tzinfo, "key", None) or str(moment.tzinfo)
    if name in zone_names() or moment.tzinfo is None:
        return name
    return equivalent_zone(moment.tzinfo, moment.year)


def _recurrence(component: Any, zones: _Zones) -> JSONObject:
    start = zones.read(component, "DTSTART")
    lines = [f"{name}:{_rule(rule, start)}" for name in ("RRULE", "EXRULE") for rule in _values(component, name)]
    for name in ("RDATE", "EXDATE"):
        for dates in _values(component, name):
            lines += [_date_line(name, entry.dt, partial(zones.apply, parameters=dates.params)) for entry in dates.dts]
    if lines and isinstance(start, datetime) and _zone_name(start) is None:
        name = component["DTSTART"].params.get("TZID", start.tzinfo)
        raise ValueError(f"DTSTART: no zone of the IANA database has the offsets of {name}, and the event is recurring")
    return {"recurrence": [*lines]} if lines else {}


def _values(component: Any, name: str) -> list[Any]:
    values = component.get(name, [])
    return values if isinstance(values, list) else [values]


def _rule(rule: Any, start: Start) -> str:
    """Return the text of a rule, with an UNTIL that has the type of the start and is in UTC."""
    for key in [key for key in rule if key.upper() == "UNTIL"]:
        until: Any = rule[key][0] if isinstance(rule[key], list) else rule[key]
        if not isinstance(start, datetime):
            until = until.date() if isinstance(until, datetime) else until
        elif isinstance(until, datetime):
            until = until.astimezone(UTC) if until.tzinfo else until.replace(tzinfo=start.tzinfo).astimezone(UTC)
        rule = icalendar.vRecur({**rule, key: [until]})
    return _text_of(rule)


def _text_of(value: Any) -> str:
    return str(value.to_ical(), "ascii")


def _date_line(name: str, moment: Any, in_zone: Callable[[Start], Start]) -> str:
    if isinstance(moment, tuple):  # a period
        begin, end = (in_zone(part) if isinstance(part, date) else part for part in moment)
        length = end if isinstance(end, timedelta) else end - begin
        return f"{name};VALUE=PERIOD:{print_moment(begin)}/{_text_of(icalendar.vDuration(length))}"
    moment = in_zone(moment)
    return f"{name}{'' if isinstance(moment, datetime) else ';VALUE=DATE'}:{print_moment(moment)}"


# -- other fields ----------------------------------------------------------------------------------------------------

_CLASSES = {"PUBLIC": "public", "PRIVATE": "private", "CONFIDENTIAL": "confidential"}
_RESPONSES = {"ACCEPTED": "accepted", "DECLINED": "declined", "TENTATIVE": "tentative"}


def _fields(component: Any, zones: _Zones) -> JSONObject:
    body: JSONObject = _times(component, zones)
    for name in ("SUMMARY", "DESCRIPTION", "LOCATION"):
        if component.get(name):
            body[name.lower()] = str(component[name])
    status, transparency = (str(component.get(name, "")).lower() for name in ("STATUS", "TRANSP"))
    if status in ("confirmed", "tentative", "cancelled"):
        body["status"] = status
    if transparency in ("opaque", "transparent"):
        body["transparency"] = transparency
    if visibility := _CLASSES.get(str(component.get("CLASS", "")).upper()):
        body["visibility"] = visibility
    if "SEQUENCE" in component:
        body["sequence"] = int(component["SEQUENCE"])
    if "ORGANIZER" in component and (organizer := _person(component["ORGANIZER"])):
        body["organizer"] = organizer
    if attendees := [guest for guest in map(_attendee, _values(component, "ATTENDEE")) if guest]:
        body["attendees"] = [*attendees]
    if reminders := [*_reminders(component)]:
        body["reminders"] = {"useDefault": False, "overrides": reminders}
    return body


def _person(address: Any) -> JSONObject:
    """Return the e-mail address and the name of a person, or {} for an address that is not an e-mail address."""
    scheme, _, email = str(address).rpartition(":")
    if scheme.lower() not in ("", "mailto") or "@" not in email:
        return {}
    name = str(address.params.get("CN", ""))
    return {"email": email, **({"displayName": name} if name else {})}


def _attendee(address: Any) -> JSONObject:
    guest, parameters = _person(address), address.params
    if not guest:
        return {}
    response = _RESPONSES.get(str(parameters.get("PARTSTAT", "")).upper(), "needsAction")
    flags: dict[str, JSON] = {
        "optional": str(parameters.get("ROLE", "")).upper() == "OPT-PARTICIPANT",
        "resource": str(parameters.get("CUTYPE", "")).upper() in ("RESOURCE", "ROOM"),
    }
    return {**guest, "responseStatus": response, **{name: value for name, value in flags.items() if value}}


def _reminders(component: Any) -> Iterator[JSON]:
    """Yield the reminders for alarms at or before the start. Other alarms have no equivalent."""
    for alarm in component.walk("VALARM"):
        trigger = alarm["TRIGGER"].dt if "TRIGGER" in alarm else None
        is_at_end = trigger is not None and str(alarm["TRIGGER"].params.get("RELATED", "")).upper() == "END"
        if isinstance(trigger, timedelta) and trigger <= timedelta(0) and not is_at_end:
            method = "email" if str(alarm.get("ACTION", "")).upper() == "EMAIL" else "popup"
            yield {"method": method, "minutes": -trigger // _MINUTE}
