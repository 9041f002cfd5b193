"""Writes iCalendar files (RFC 5545). ical_reader.py reads them.

A VTIMEZONE component (RFC 5545, 3.6.5) has observances. An observance is a UTC offset with the local times (onsets) at
which the offset begins. Changes on the same weekday of the same month in every year become a rule, for series without
an end. Other changes, such as during Ramadan, are listed until some years after the last event.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import files
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from ...core.events.event_times import clock_time, instant, read_time
from ...core.events.instances import has_start, occurrences
from ...core.events.rrule import WEEKDAYS, Recurrence, Rule, Start, is_all_day, print_moment, until_day
from ...core.events.series import with_parts
from ...core.resources.calendars import EVENT_COLORS, nearest_color
from ...core.resources.events import Attendee, Event, Person
from ...core.times import clock_changes
from .ical_lines import Property, print_clock, print_offset, print_properties, print_utc, text_property, time_property

_RULE_YEARS = 12  # the number of consecutive years that prove a rule, such as the last Sunday of a month

# The search period after the last event, long enough to find rules for short calendars too.
_LOOK_AHEAD = timedelta(days=366 * (_RULE_YEARS + 1))

# The latest time to which the look-ahead period is added, to stay in the range of datetime.
_LATEST = datetime(9900, 1, 1, tzinfo=UTC)


class ZoneOffset(NamedTuple):
    """The UTC offset and abbreviation (such as CEST) of a zone at some time. `summer` is True in summer time."""

    offset: timedelta
    summer: bool
    name: str


@dataclass(frozen=True, slots=True)
class Observance:
    """A UTC offset of a zone, and the onsets at which the offset begins.

    `clock` is the offset after an onset, and `before` the UTC offset before. Onsets are local times with the offset
    `before`.
    """

    clock: ZoneOffset
    before: timedelta
    onsets: tuple[datetime, ...]
    # The RRULE that generates further onsets from the only onset, or None.
    rule: str | None = None


def observances(zone: ZoneInfo, first: datetime, last: datetime) -> list[Observance]:
    """Return the observances of a zone from `first` until some years after `last`. A rule may have no end.

    >>> day = datetime(2026, 11, 2, tzinfo=UTC)
    >>> berlin = observances(ZoneInfo("Europe/Berlin"), day, day)
    >>> [(one.clock.name, str(one.onsets[0]), one.rule) for one in berlin][2]
    ('CEST', '2027-03-28 02:00:00', 'FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU')
    """
    first, end = first.astimezone(UTC), min(last.astimezone(UTC), _LATEST) + _LOOK_AHEAD
    begin = _offset_at(zone, first)
    observed = [Observance(begin, begin.offset, (_wall_time(first, begin.offset),))]
    changes = sorted(_changes(zone, first, end), key=attrgetter("clock", "before"))
    for (clock, before), group in groupby(changes, attrgetter("clock", "before")):
        observed += _as_observances(clock, before, [change.onsets[0] for change in group], end.year)
    return observed


def _changes(zone: ZoneInfo, first: datetime, last: datetime) -> Iterator[Observance]:
    """Yield an observance for each clock change of a zone after `first`, to the end of the year of `last`."""
    for day in (day for year in range(first.year, last.year + 1) for day in clock_changes(zone, year)):
        begin, end = (datetime.fromordinal(at).replace(tzinfo=zone).astimezone(UTC) for at in (day, day + 1))
        begin -= _SECOND  # a clock may change at midnight
        seconds = bisect_left(range((end - begin) // _SECOND), True, key=partial(_has_changed, zone, begin))
        at, before = begin + seconds * _SECOND, _offset_at(zone, begin).offset
        if at > first:
            yield Observance(_offset_at(zone, at), before, (_wall_time(at, before),))


def _has_changed(zone: ZoneInfo, begin: datetime, seconds: int) -> bool:
    return _offset_at(zone, begin).offset != _offset_at(zone, begin + seconds * _SECOND).offset


def _offset_at(zone: ZoneInfo, instant: datetime) -> ZoneOffset:
    shown = instant.astimezone(zone)
    return ZoneOffset(
        shown.utcoffset() or timedelta(), (shown.dst() or timedelta()) > timedelta(), shown.tzname() or ""
    )


def _wall_time(instant: datetime, offset: timedelta) -> datetime:
    return (instant + offset).replace(tzinfo=None)


def _as_observances(
    clock: ZoneOffset, before: timedelta, onsets: list[datetime], last_year: int
) -> Iterator[Observance]:
    """Yield the observances for the onsets of one UTC offset, with a rule for the last onsets if possible."""
    candidates = [(day, _same_onsets(onsets, day)) for day in _weekday_positions(onsets[-1])]
    day, ruled = max(candidates, key=lambda candidate: len(candidate[1]))
    if len(ruled) < _RULE_YEARS or onsets[-1].year < last_year - 1:
        yield Observance(clock, before, tuple(onsets))
        return
    if listed := onsets[: -len(ruled)]:
        yield Observance(clock, before, tuple(listed))
    yield Observance(clock, before, ruled[-1:], f"FREQ=YEARLY;BYMONTH={ruled[0].month};BYDAY={day}")


def _weekday_positions(onset: datetime) -> list[str]:
    """Return a day's positions in its month as BYDAY values, such as 2SU (second Sunday) and -1SU (last Sunday)."""
    weekday = WEEKDAYS[onset.weekday()]
    last = [f"-1{weekday}"] if (onset + timedelta(days=7)).month != onset.month else []
    return [*last, f"{(onset.day - 1) // 7 + 1}{weekday}"]


def _same_onsets(onsets: Sequence[datetime], position: str) -> tuple[datetime, ...]:
    """Return the onsets of consecutive years, latest first, with the last onset's month, position and time of day."""
    last = onsets[-1]
    alike = []
    for ago, onset in enumerate(reversed(onsets)):
        same_day = onset.month == last.month and position in _weekday_positions(onset)
        if not same_day or onset.time() != last.time() or onset.year != last.year - ago:
            break
        alike.append(onset)
    return tuple(alike)


_NONE, _SECOND = timedelta(), timedelta(seconds=1)

# The largest COUNT that UNTIL replaces. The search for the last instance of a larger COUNT takes too long.
_MAX_COUNT = 10_000


def recurrence_properties(event: Event) -> list[Property]:
    """Return the recurrence properties of an event, such as RRULE and EXDATE, or [] if the event does not recur.

    >>> event = {"start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"}}
    >>> event |= {"end": event["start"], "recurrence": ["RRULE:FREQ=DAILY;UNTIL=20261103"]}
    >>> recurrence_properties(event)[0].value
    'FREQ=DAILY;UNTIL=20261103T225959Z'
    """
    lines = event.get("recurrence")
    if not isinstance(lines, list) or not lines:
        return []
    start, end = read_time(event.get("start")), read_time(event.get("end"))
    texts = [str(line) for line in lines]
    recurrence = Recurrence.parse(texts, start)
    return [*_rules(texts, recurrence, start, end), *_dates(recurrence, start)]


def _rules(texts: list[str], recurrence: Recurrence, start: Start, end: Start) -> Iterator[Property]:
    rules, exrules = iter(recurrence.rules), iter(recurrence.exrules)
    for text in texts:
        name = text.upper().partition(":")[0]
        if name == "RRULE":
            yield Property(name, _rule_text(text, _with_true_end(next(rules), start, end), start))
        elif name == "EXRULE":
            exrule = next(exrules)
            excluded = _excluded(exrule, recurrence, start, end)
            if excluded is None:
                yield Property(name, _rule_text(text, exrule, start))
            elif excluded:
                yield time_property("EXDATE", *excluded)


def _excluded(exrule: Rule, recurrence: Recurrence, start: Start, end: Start) -> list[Start] | None:
    """Return the instances that an EXRULE excludes, which every program reads as EXDATEs, while few know EXRULE.

    Return None if the rule has no end, or if the instances until its end are too many.
    """
    if exrule.count is None and exrule.until is None:
        return None
    excludes = [*islice(occurrences(Recurrence(rules=(exrule,)), start, end), _MAX_COUNT)]
    before = instant(excludes[-1].start, UTC) + _SECOND
    every = replace(recurrence, exrules=(), exdates=())
    instances = [*islice(occurrences(every, start, end, before=before), _MAX_COUNT)]
    if max(len(excludes), len(instances)) == _MAX_COUNT:
        return None
    kept = {instance.start for instance in occurrences(replace(every, exrules=(exrule,)), start, end, before=before)}
    return [instance.start for instance in instances if instance.start not in kept]


def _rule_text(line: str, rule: Rule, start: Start) -> str:
    """Return the value of a rule line, with COUNT and UNTIL replaced by the values of `rule`."""
    parts: dict[str, str | None] = {"COUNT": None, "UNTIL": None}
    line = with_parts(line, parts)  # in the order in which they are written
    if rule.count is not None:
        parts["COUNT"] = str(rule.count)
    if rule.until is not None:
        is_time = isinstance(rule.until, datetime) and not is_all_day(start)
        parts["UNTIL"] = print_moment(rule.until) if is_time else until_day(clock_time(rule.until).date(), start)
    return with_parts(line, parts).partition(":")[2]


def _with_true_end(rule: Rule, start: Start, end: Start) -> Rule:
    """Return the rule with UNTIL for COUNT if the rule does not generate the start, else unchanged."""
    if rule.count is None or rule.count > _MAX_COUNT or has_start(rule, start):
        return rule
    *_, last = occurrences(Recurrence(rules=(rule,)), start, end)
    return replace(rule, count=None, until=last.start)


def _dates(recurrence: Recurrence, start: Start) -> Iterator[Property]:
    dates = [in_zone_of(start, rdate.start) for rdate in recurrence.rdates if not rdate.duration]
    if not any(has_start(rule, start) for rule in recurrence.rules):
        dates.insert(0, start)
    if dates:
        yield time_property("RDATE", *dates)
    if periods := [rdate for rdate in recurrence.rdates if rdate.duration]:
        texts = [f"{print_moment(period.start)}/PT{(period.duration or _NONE) // _SECOND}S" for period in periods]
        yield Property("RDATE", ",".join(texts), {"VALUE": "PERIOD"})
    if recurrence.exdates:
        yield time_property("EXDATE", *(in_zone_of(start, moment) for moment in recurrence.exdates))


def in_zone_of(start: Start, moment: Start) -> Start:
    """Convert a time to the time zone of the start. Dates, and times for a start without time, are unchanged."""
    if isinstance(moment, datetime) and isinstance(start, datetime):
        return moment.astimezone(start.tzinfo)
    return moment


# -- builds the properties of an event in an .ics file, except identifiers and times (RFC 5545, 3.8; RFC 7986)


# Reminder dicts with method and minutes, as in an event's `reminders.overrides`.
Reminders: TypeAlias = Sequence[Mapping[str, Any]]


# The CSS names that are nearest to the colour of each `colorId`. The first is written (RFC 7986, 5.9).
COLOR_NAMES: Mapping[str, Sequence[str]] = {
    color: names.split()
    for color, names in json.loads((files(__package__) / "color_names.json").read_text("utf-8")).items()
}

CLASSES = ("public", "private", "confidential")


def details(event: Event) -> Iterator[Property]:
    """Yield the properties for an event's texts, status, visibility, people and links."""
    texts = _texts({name.upper(): event.get(name) for name in ("summary", "description", "location")})
    yield from (text_property(name, text) for name, text in texts.items())
    if color := COLOR_NAMES.get(str(event.get("colorId"))):
        yield Property("COLOR", color[0])
    yield Property("STATUS", str(event.get("status") or "confirmed").upper())
    yield Property("TRANSP", str(event.get("transparency") or "opaque").upper())
    if event.get("visibility") in CLASSES:
        yield Property("CLASS", str(event["visibility"]).upper())
    yield from _people(event)
    yield from _links(event)


RESPONSES = ("accepted", "declined", "tentative")


def _people(event: Event) -> Iterator[Property]:
    guests = _objects(event.get("attendees"))  # an event without attendees has no organizer (RFC 5545, 3.8.4.3)
    organizer = event.get("organizer")
    if guests and isinstance(organizer, dict) and organizer.get("email"):
        yield Property("ORGANIZER", _mail_address(organizer), _common_name(organizer))
    for guest in guests:
        if guest.get("email"):
            yield Property("ATTENDEE", _mail_address(guest), _guest_parameters(guest))


def _guest_parameters(guest: Attendee) -> dict[str, str]:
    response = guest.get("responseStatus")
    parameters = {
        "CUTYPE": "RESOURCE" if guest.get("resource") else "INDIVIDUAL",
        "ROLE": "OPT-PARTICIPANT" if guest.get("optional") else "REQ-PARTICIPANT",
        "PARTSTAT": str(response).upper() if response in RESPONSES else "NEEDS-ACTION",
    }
    more = {"X-NUM-GUESTS": guest.get("additionalGuests"), "X-RESPONSE-COMMENT": guest.get("comment")}
    return parameters | _common_name(guest) | _texts(more)


def _common_name(person: Attendee | Person) -> dict[str, str]:
    return _texts({"CN": person.get("displayName")})


def _mail_address(person: Attendee | Person) -> str:
    return _link(f"mailto:{person['email']}")


def _link(url: object) -> str:
    """Return a URL without control characters, because a line break would end the property."""
    return re.sub(r"[\x00-\x1f\x7f]", "", str(url))


def _objects(value: object) -> list[Any]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


# -- links -----------------------------------------------------------------------------------------------------------


# The parameter of a URL that is the page of the exported event, which an imported event does not have.
PAGE = "X-EVENT-PAGE"

_FEATURES = {"video": "VIDEO", "phone": "PHONE", "sip": "AUDIO"}


def _links(event: Event) -> Iterator[Property]:
    """Yield the properties for an event's source (or page) URL, conference (RFC 7986, 5.11) and attachments."""
    source = event.get("source")
    url = source.get("url") if isinstance(source, dict) else None
    if url or event.get("htmlLink"):
        yield Property("URL", _link(url or event["htmlLink"]), {} if url else {PAGE: "TRUE"})
    conference = event.get("conferenceData")
    for entry in _objects(conference.get("entryPoints")) if isinstance(conference, dict) else []:
        if entry.get("uri"):
            feature = _FEATURES.get(str(entry.get("entryPointType")))
            parameters = _texts({"VALUE": "URI", "FEATURE": feature, "LABEL": entry.get("label")})
            yield Property("CONFERENCE", _link(entry["uri"]), parameters)
    for attachment in _objects(event.get("attachments")):
        if attachment.get("fileUrl"):
            parameters = _texts({"FMTTYPE": attachment.get("mimeType"), "FILENAME": attachment.get("title")})
            yield Property("ATTACH", _link(attachment["fileUrl"]), parameters)


def _texts(parameters: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in parameters.items() if value}


# -- reminders -------------------------------------------------------------------------------------------------------


# The property of an alarm that is a default reminder of the calendar, which an imported event has of its calendar.
DEFAULT_ALARM = "X-DEFAULT-ALARM"

# The ACTION of an alarm with which Apple's programs say that an event has no reminders, not those of its calendar.
NO_ALARM = "NONE"


def alarms(event: Event, default: Reminders) -> Iterator[tuple[Property, ...]]:
    """Yield a tuple of alarm properties per reminder. `default` applies to events without reminders of their own."""
    settings = event.get("reminders") or {"useDefault": True}
    is_default = bool(settings.get("useDefault"))
    reminders = default if is_default else _objects(settings.get("overrides"))
    if not is_default and not reminders:
        yield (Property("ACTION", NO_ALARM), Property("TRIGGER", "19760401T005545Z", {"VALUE": "DATE-TIME"}))
    for reminder in reminders:
        alarm = _alarm(event, str(reminder.get("method")), int(str(reminder.get("minutes"))))
        yield (*alarm, *([Property(DEFAULT_ALARM, "TRUE")] if is_default else []))


def _alarm(event: Event, method: str, minutes: int) -> Iterator[Property]:
    """Yield the properties of an alarm, an e-mail to the event copy's owner if the method is "email", else a popup."""
    summary = event.get("summary") or "Reminder"
    people = [*_objects(event.get("attendees")), *_objects([event.get("organizer"), event.get("creator")])]
    owner = next((person for person in people if person.get("self") and person.get("email")), None)
    trigger = Property("TRIGGER", f"-PT{minutes}M")
    if method == "email" and owner:
        yield from (Property("ACTION", "EMAIL"), trigger, Property("ATTENDEE", _mail_address(owner)))
        yield text_property("DESCRIPTION", event.get("description") or summary)
        yield text_property("SUMMARY", summary)
    else:
        yield from (Property("ACTION", "DISPLAY"), trigger, text_property("DESCRIPTION", summary))


# -- builds the properties of each event in a calendar file, in the order of RFC 5545 (3.6.1)


# The period after a series' last known time with listed clock changes, for zones whose changes follow no rule.
_ZONE_HORIZON = timedelta(days=3653)

_LAST_YEAR = 9900  # the year from which no horizon is added, to stay in the range of datetime


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
    names += [Property("COLOR", COLOR_NAMES[nearest_color(color, EVENT_COLORS)][0])] if color else []
    # Each time zone needs a VTIMEZONE that covers the first to the last time in the zone.
    moments_by_zone: dict[ZoneInfo, list[datetime]] = {}
    entries: list[str] = []
    listed = list(events)
    series = {event.get("id"): event for event in listed if event.get("recurrence")}
    left_out: dict[Any, list[Event]] = defaultdict(list)  # the cancelled instances of each series, as its EXDATEs
    for event in listed:
        if event.get("status") == "cancelled" and event.get("recurringEventId"):
            left_out[event["recurringEventId"]].append(event)
    for event in (event for event in listed if event.get("status") != "cancelled"):
        times = _times(event, series.get(event.get("recurringEventId"), event), left_out.get(event.get("id"), ()))
        lines = [*_identity(event), *times, *details(event)]
        moments = [moment for line in lines for moment in line.moments if isinstance(moment, datetime)]
        if moments and any(line.name == "RRULE" for line in lines) and max(moments).year < _LAST_YEAR:
            moments.append(max(moments) + _ZONE_HORIZON)
        for moment in moments:  # times outside of UTC
            if isinstance(moment.tzinfo, ZoneInfo):
                moments_by_zone.setdefault(moment.tzinfo, []).append(moment)
        parts = [_component("VALARM", print_properties(alarm)) for alarm in alarms(event, reminders)]
        entries.append(_component("VEVENT", print_properties(lines), *parts))
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
