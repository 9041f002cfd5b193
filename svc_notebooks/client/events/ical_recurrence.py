"""Builds recurrence properties that all calendar programs interpret in the same way.

The service accepts more than RFC 5545 guarantees, which calendar programs interpret differently. The file therefore has
RDATE and EXDATE in the start's zone, an UNTIL of the start's type, and an RDATE for a start that no rule generates. For
such a start, UNTIL replaces COUNT, because some programs do not count the start. EXDATEs replace an EXRULE that ends,
because RFC 5545 has no EXRULE and most programs ignore it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from ...core.events.instances import has_start, occurrences
from ...core.events.rrule import Recurrence, Rule, Start, is_all_day, print_moment, until_day
from ...core.events.series import with_parts
from ...core.events.times import clock_time, instant, read_time
from ...core.resources.events import Event
from .ical_lines import Property, time_property

_NONE, _SECOND = timedelta(), timedelta(seconds=1)

_MAX_COUNT = 10_000
"""The largest COUNT that UNTIL replaces. The search for the last instance of a larger COUNT takes too long."""


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
