"""Converts the recurrence properties of a VEVENT to recurrence lines that fit the start of the event.

Values of another type than the start, or without a zone, are read as most calendar programs do: a day in the series
of timed events is the event of this day, and a midnight in a series of days is the day.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ...core.events.instances import has_start
from ...core.events.rrule import Start, print_moment, read_line
from .ical_lines import Component, Property
from .ical_times import EventTimes, FileZones, read_duration, read_moment, reason


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
                        value = value.partition("/")[0]
                        moments[
                            print_moment(time_in_series(dates._replace(value=value), times.start, zones, notes))
                        ] = None
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
