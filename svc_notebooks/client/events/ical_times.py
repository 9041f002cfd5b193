"""Reads dates and times of iCalendar files in IANA time zones, also in zones that the file itself defines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import cached_property
from itertools import chain
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ...core.events.event_times import clock_time, in_minutes, instant
from ...core.events.instances import has_start, occurrences
from ...core.events.rrule import Recurrence, Start, WorkBudget, WorkExceeded, print_moment, read_line
from ...core.http.messages import JSONObject
from ...core.time_arguments import parse_duration
from ...core.times import nearest_zone, zone, zone_names, zone_of_name
from .ical_lines import Component, Property, print_offset, read_text

_MOMENT = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
_OFFSET = re.compile(r"([+-]?)(\d{2}):?(\d{2})(\d{2})?", re.ASCII)
_DAY = timedelta(days=1)
_YEARS_AHEAD = 31  # the years after the last event in which a zone is compared with those of the IANA database


def read_moment(value: str) -> Start:
    """Return the date, or the time without a zone or in UTC, at the beginning of a value. Raises ValueError.

    >>> read_moment("20270104T100000Z"), read_moment("2027-01-04")
    (datetime.datetime(2027, 1, 4, 10, 0, tzinfo=datetime.timezone.utc), datetime.date(2027, 1, 4))
    """
    match = _MOMENT.match(value.strip())
    try:
        if match and match[4] is None:
            return date(*map(int, match.groups()[:3]))
        if match and match[4] <= "24" and match[5] <= "59":
            year, month, day, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:6])
            clock = timedelta(hours=hours, minutes=minutes, seconds=min(seconds, 59))  # without a leap second
            moment = datetime(year, month, day) + clock  # noqa: DTZ001  the zone comes from elsewhere
            offset = read_offset(match[7].upper().replace("Z", "+0000")) if match[7] else None
            return moment if offset is None else (moment - offset).replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        pass  # for example, month 13
    raise ValueError(f"{value.strip()[:40]!r} is not a date such as 20270212, or a time such as 20270212T090000Z")


def read_offset(value: str) -> timedelta:
    """Return a UTC offset such as +0100. Raises ValueError for another value."""
    match = _OFFSET.match(value.strip())
    if not match or int(match[2]) > 23:
        raise ValueError(f"{value[:20]!r} is not a UTC offset such as +0100")
    hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    return timedelta(hours=hours, minutes=minutes, seconds=seconds) * (-1 if match[1] == "-" else 1)


class FileZones:
    """The time zones of a calendar, which are `local` for times without a zone, and those that the file defines."""

    def __init__(self, calendar: Component, local: ZoneInfo) -> None:
        name = zone_of_name(calendar.value("X-WR-TIMEZONE"))
        self.local = zone(name) if name else local
        self._calendar, self._searches = calendar, 0
        self._zones: dict[tuple[str, int], tuple[ZoneInfo, _DefinedZone | None, str]] = {}

    def read(self, line: Property, notes: list[str], own: tzinfo | None = None) -> Start:
        """Return the date, or the time with an IANA zone or in UTC, of a property. Raises ValueError.

        A time without a zone is in `own`, the zone of the event.
        """
        return self.with_zone(read_moment(line.value), line, notes, own)

    def with_zone(self, moment: Start, line: Property, notes: list[str], own: tzinfo | None = None) -> Start:
        """Return a date, or a time with the zone that a property names."""
        if not isinstance(moment, datetime) or moment.tzinfo is not None:
            return moment
        name = line.parameters.get("TZID", "").strip()
        if not name:
            return moment.replace(tzinfo=own or self.local)
        if (name, moment.year) not in self._zones:
            self._zones[name, moment.year] = self._find(name, moment.year)
        tz, defined, note = self._zones[name, moment.year]
        notes += [note] if note and note not in notes else []
        by_file = moment.replace(tzinfo=defined)
        if defined is None or by_file.utcoffset() == moment.replace(tzinfo=tz).utcoffset():
            return moment.replace(tzinfo=tz)
        return by_file.astimezone(UTC).astimezone(tz)

    def _find(self, name: str, year: int) -> tuple[ZoneInfo, _DefinedZone | None, str]:
        """Return the IANA zone for a TZID, the definition of the file if its offsets are others, and a note.

        A name of the IANA database is this zone. Another name, such as that of a Windows zone, is the zone which other
        programs mean, unless the file defines it with other offsets in winter or summer.
        """
        if name in zone_names():
            return zone(name), None, ""
        known, defined = zone_of_name(name), self._defined.get(name)
        if defined is None:
            tz = zone(known) if known else self.local
            is_guess = known is None or known.startswith("Etc/GMT")
            return tz, None, f"the time zone {name[:80]!r} is unknown; the times are in {tz.key}" if is_guess else ""
        self._searches += 1
        if self._searches > _MAX_SEARCHES:
            return self.local, defined, f"the file uses more than {_MAX_SEARCHES} time zones of its own"
        nearest, is_equal = nearest_zone(defined, year, known)
        if is_equal:
            return zone(nearest), None, ""
        offsets = "/".join(dict.fromkeys(print_offset(defined.offset(year, month)) for month in (1, 7)))
        note = f"the time zone {name[:80]!r} (UTC{offsets}) is not in the IANA database; the nearest is {nearest}"
        return zone(nearest), defined, note

    @cached_property
    def _defined(self) -> dict[str, _DefinedZone]:
        texts = [line.value.strip()[:4] for event in self._calendar.walk("VEVENT") for line in event.all("DTSTART")]
        years = [int(text) for text in texts if re.fullmatch(r"[1-9]\d{3}", text, re.ASCII)] or [date.min.year + 1]
        first = datetime(max(min(years) - 1, 2), 1, 1, tzinfo=UTC)
        last = datetime(min(max(years) + _YEARS_AHEAD, 9990), 1, 1, tzinfo=UTC)
        zones = [(definition.value("TZID"), definition.components) for definition in self._calendar.walk("VTIMEZONE")]
        work = WorkBudget(_MAX_CHANGES)
        defined = {read_text(name): _DefinedZone(_changes(parts, first, last, work)) for name, parts in zones if name}
        return {name: defined_zone for name, defined_zone in defined.items() if defined_zone.is_valid}


class _DefinedZone(tzinfo):
    """A time zone with the clock changes of a VTIMEZONE, as pairs of a local time and the UTC offset after it."""

    def __init__(self, changes: Iterator[tuple[datetime, timedelta, timedelta]]) -> None:
        ordered = sorted(changes)
        self._onsets = [onset for onset, _, _ in ordered]
        self._offsets = [offset for _, offset, _ in ordered[:1]] + [offset for _, _, offset in ordered]

    @property
    def is_valid(self) -> bool:
        """Whether the definition has a UTC offset."""
        return bool(self._onsets)

    def offset(self, year: int, month: int) -> timedelta:
        """Return the UTC offset at the beginning of a month."""
        return self._offsets[bisect_right(self._onsets, datetime(year, month, 1))]  # noqa: DTZ001  a local time

    def utcoffset(self, moment: datetime | None, /) -> timedelta:
        """Return the UTC offset at a local time."""
        return self._offsets[bisect_right(self._onsets, moment.replace(tzinfo=None))] if moment else timedelta()

    def dst(self, moment: datetime | None, /) -> None:
        """Return None, because the difference to the winter time is not known."""

    def tzname(self, moment: datetime | None, /) -> str:
        """Return a name for all times."""
        return "VTIMEZONE"


# The number of clock changes of all time zones that are read. A zone with the changes of 400 years has 800.
_MAX_CHANGES = 100_000

_STEPS_PER_OBSERVANCE = 10
_MAX_SEARCHES = 50  # the number of times that the IANA zone with the offsets of a VTIMEZONE in a year is searched for


def _changes(
    observances: list[Component], first: datetime, last: datetime, work: WorkBudget
) -> Iterator[tuple[datetime, timedelta, timedelta]]:
    """Yield the clock changes of a VTIMEZONE with the UTC offsets before and after them, without invalid ones.

    Ends when the budget for all time zones is spent.
    """
    try:
        for observance in observances:
            work.spend(_STEPS_PER_OBSERVANCE)
            for change in _onsets(observance, first, last, work):
                work.spend()
                yield change
    except WorkExceeded:
        return


def _onsets(
    observance: Component, first: datetime, last: datetime, work: WorkBudget
) -> Iterator[tuple[datetime, timedelta, timedelta]]:
    try:
        before, after = (read_offset(observance.value(name)) for name in ("TZOFFSETFROM", "TZOFFSETTO"))
        start = read_moment(observance.value("DTSTART"))
        if not isinstance(start, datetime):
            return
        start = start.replace(tzinfo=timezone(before))
        lines = [f"RRULE:{line.value.strip()}" for line in observance.all("RRULE")]
        dates = [date for line in observance.all("RDATE") for date in line.value.split(",")]
        more = [moment for moment in map(read_moment, dates) if isinstance(moment, datetime)]
        recurrence = Recurrence.parse(lines, start)
    except ValueError:
        return  # the other observances are enough for most times
    ruled = occurrences(recurrence, start, start, after=first, before=last, work=work)
    for moment in chain((start, *more), (onset.start for onset in ruled)):
        yield clock_time(moment), before, after


# -- times -----------------------------------------------------------------------------------------------------------


class EventTimes(NamedTuple):
    """The start and the exclusive end of an event, as dates or as times with a zone."""

    start: Start
    end: Start


def event_times(component: Component, zones: FileZones, shortest: timedelta, notes: list[str]) -> EventTimes:
    """Return the start and the end of an event. Raises ValueError if it has no start."""
    start_property = next(iter(component.all("DTSTART")), None)
    if start_property is None:
        raise ValueError("DTSTART is missing")
    start = zones.read(start_property, notes)
    try:
        end = _end(component, start, zones, notes)
    except (OverflowError, ValueError) as error:
        notes.append(f"the end was left out: {reason(error)}")
        end = start
    if isinstance(start, datetime):
        if instant(end, UTC) > instant(start, UTC):
            return EventTimes(start, end)
        fault = "has no length" if end == start else "ends before its start"
        notes.append(f"the event {fault}; it lasts {shortest} now")
        return EventTimes(start, _after(start, shortest))
    if end < start:
        notes.append("the event ends before its start; it lasts one day now")
    return EventTimes(start, max(end, start + _DAY))  # RFC 5545, 3.6.1


def _end(component: Component, start: Start, zones: FileZones, notes: list[str]) -> Start:
    own = start.tzinfo if isinstance(start, datetime) else None
    for line in component.all("DTEND"):
        end = zones.read(line, notes, own)
        if isinstance(start, datetime) == isinstance(end, datetime):
            return end
        notes.append("DTEND was converted to the type of DTSTART")
        if not isinstance(end, datetime):
            return datetime.combine(end, datetime.min.time(), own)
        return end.date() + (_DAY if end.time() > datetime.min.time() else timedelta())
    for line in component.all("DURATION"):
        length = read_duration(line.value)
        if length % _DAY and own is None:
            notes.append("DURATION of an event without times was rounded up to days")
        return _after(start, length)
    return start


def read_duration(value: str) -> timedelta:
    """Return a DURATION value (RFC 5545, 3.3.6), which may be negative. Raises ValueError for another value."""
    text = value.strip().upper()
    try:
        length = parse_duration(text.lstrip("+-"))
    except ValueError:
        raise ValueError(f"{value.strip()[:40]!r} is not a duration such as PT1H30M") from None
    return -length if text.startswith("-") else length


def reason(error: Exception) -> str:
    """Return why a value cannot be used, for a note."""
    return str(error) if isinstance(error, ValueError) else "its time is not in the years 1 to 9999"


def _after(start: Start, length: timedelta) -> Start:
    if isinstance(start, datetime):
        return (start.astimezone(UTC) + length).astimezone(start.tzinfo)
    return start + -(-length // _DAY) * _DAY  # a part of a day is a day


def time_object(moment: Start) -> JSONObject:
    """Return the time object of an event for a date, or for a time with an IANA zone or in UTC."""
    if not isinstance(moment, datetime):
        return {"date": moment.isoformat()}
    clock = in_minutes(moment).isoformat(timespec="seconds")
    return {"dateTime": clock, "timeZone": getattr(moment.tzinfo, "key", "UTC")}


# -- converts the recurrence properties of a VEVENT to recurrence lines that fit the start of the event


def recurrence_lines(component: Component, times: EventTimes, zones: FileZones, notes: list[str]) -> Iterator[str]:
    """Yield the recurrence lines of an event, without what cannot be read."""
    for name in ("RRULE", "EXRULE"):
        for rule in component.all(name):
            if line := _rule_line(rule, times.start, notes):
                yield line
    periods: dict[str, None] = {}
    for name in ("RDATE", "EXDATE"):
        moments: dict[str, None] = {}
        for dates in component.all(name):
            for value in filter(None, map(str.strip, dates.value.partition("\\")[0].split(","))):
                try:
                    if "/" in value and "T" in value.upper() and isinstance(times.start, datetime) and name == "RDATE":
                        periods[_period(value, dates, times.start, zones, notes)] = None
                    else:
                        day = dates._replace(value=value.partition("/")[0])
                        moments[print_moment(time_in_series(day, times.start, zones, notes))] = None
                except (OverflowError, ValueError) as error:
                    notes.append(f"{name} was left out: {reason(error)}")
        if name == "RDATE":  # the start is always an instance
            moments.pop(print_moment(times.start), None)
        if moments:
            yield f"{name}{'' if isinstance(times.start, datetime) else ';VALUE=DATE'}:{','.join(moments)}"
    if periods:
        yield f"RDATE;VALUE=PERIOD:{','.join(periods)}"


def time_in_series(dates: Property, start: Start, zones: FileZones, notes: list[str]) -> Start:
    """Return the time of an EXDATE, RDATE or RECURRENCE-ID as a value of the type and in the zone of a start."""
    if isinstance(start, datetime):
        moment = zones.read(dates, notes, start.tzinfo)
        if isinstance(moment, datetime):
            return moment
        return datetime.combine(moment, start.time(), start.tzinfo)
    moment = zones.read(dates, notes)
    if not isinstance(moment, datetime):
        return moment
    # Some programs write the day as midnight in the zone of the calendar, converted to UTC.
    is_day = moment.time() == datetime.min.time()
    return moment.date() if is_day else moment.astimezone(zones.local).date()


def _period(value: str, dates: Property, start: datetime, zones: FileZones, notes: list[str]) -> str:
    first, _, second = value.partition("/")
    begin = zones.with_zone(read_moment(first), dates, notes, start.tzinfo)
    if not isinstance(begin, datetime):
        raise ValueError(f"{value[:40]!r} is not a period such as 20270212T090000Z/PT1H")
    if second[:1].upper() in ("P", "+", "-"):
        end: Start = begin.astimezone(UTC) + read_duration(second)
    else:
        end = zones.with_zone(read_moment(second), dates, notes, start.tzinfo)
    return f"{print_moment(begin)}/{print_moment(end)}"


def _rule_line(rule: Property, start: Start, notes: list[str]) -> str | None:
    """Return the line of a rule without the parts that are not valid, or None without a valid frequency."""
    texts = filter(None, "".join(rule.value.partition("\\")[0].split()).upper().split(";"))
    parts = {name: value for name, _, value in (text.partition("=") for text in texts)}
    line = f"{rule.name}:FREQ={parts.pop('FREQ', '')}"
    if problem := _problem(line, start):
        notes.append(f"{rule.name} was left out: {problem}")
        return None
    for name in sorted(parts, key="BYSETPOS".__eq__):  # which is valid only beside another part
        longer = f"{line};{name}={_until(parts[name], start) if name == 'UNTIL' else parts[name]}"
        if problem := _problem(longer, start):
            notes.append(f"{name} of {rule.name} was left out: {problem}")
        else:
            line = longer
    if "COUNT=" in line and not has_start(read_line(line, start)[1][0], start):
        notes.append(f"the start is not an instance of {rule.name}; it counts as the first of COUNT={parts['COUNT']}")
    return line


def _problem(line: str, start: Start) -> str:
    try:
        read_line(line, start)
    except ValueError as error:
        return str(error)[:200]
    return ""


def _until(value: str, start: Start) -> str:
    """Return an UNTIL with the type of the start, in UTC. A value that cannot be read is returned unchanged."""
    try:
        until = read_moment(value)
        if not isinstance(start, datetime):
            return print_moment(until.date() if isinstance(until, datetime) else until)
        is_local = isinstance(until, datetime) and until.tzinfo is None
        return print_moment(until.replace(tzinfo=start.tzinfo) if is_local else until)  # type: ignore[call-arg]
    except (OverflowError, ValueError):
        return value
