"""The recurrence of an event in words that every calendar program understands alike.

The service reads more than RFC 5545 promises: RDATE and EXDATE in any zone, UNTIL as a date beside a time of day, a
start that the rule does not have. Programs differ in these, so a file says them plainly: moments in the zone of the
start, UNTIL of the start's kind, and a start that no rule has as an RDATE of its own. Such a start counts as the
first of COUNT here, but not everywhere; there UNTIL says the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time
from itertools import chain
from typing import NamedTuple

from ...core.events.instances import occurrences
from ...core.events.rfc5545_times import print_moment, until_day
from ...core.events.rrule import RDate, Recurrence, Rule, Start, is_all_day
from ...core.events.rrule_expansion import rule_times
from ...core.events.times import read_time
from ...core.http.messages import JSONObject

_MAX_COUNT = 10_000
"""A COUNT beyond this stays one: what it ends with would take too long to find."""


class PropertyLine(NamedTuple):
    """One property: a rule as its text, or moments; an Extra where it has a length of its own."""

    name: str
    rule: str = ""
    moments: tuple[Start, ...] = ()
    periods: tuple[RDate, ...] = ()


def recurrence_properties(event: JSONObject) -> list[PropertyLine]:
    """The lines of an event's recurrence, in the order of RFC 5545.

    >>> event = {"start": {"dateTime": "2026-11-02T10:00:00", "timeZone": "Europe/Berlin"}}
    >>> event |= {"end": event["start"], "recurrence": ["RRULE:FREQ=DAILY;UNTIL=20261103"]}
    >>> recurrence_properties(event)[0].rule
    'FREQ=DAILY;UNTIL=20261103T225959Z'
    """
    lines = event.get("recurrence")
    if not isinstance(lines, list) or not lines:
        return []
    start, end = read_time(event.get("start")), read_time(event.get("end"))
    texts = [str(line) for line in lines]
    recurrence = Recurrence.parse(texts, start)
    return [*_rules(texts, recurrence, start, end), *_listed_moments(recurrence, start)]


def _rules(texts: list[str], recurrence: Recurrence, start: Start, end: Start) -> Iterator[PropertyLine]:
    rules, exrules = iter(recurrence.rules), iter(recurrence.exrules)
    for text in texts:
        name, _, parts = text.upper().partition(":")
        if name == "RRULE":
            yield PropertyLine(name, _rule_text(parts, _with_true_end(next(rules), start, end), start))
        elif name == "EXRULE":
            yield PropertyLine(name, _rule_text(parts, next(exrules), start))


def _rule_text(parts: str, rule: Rule, start: Start) -> str:
    """The text of a rule with the end that `rule` has."""
    kept = [part for part in parts.split(";") if not part.startswith(("COUNT=", "UNTIL="))]
    if rule.count is not None:
        kept.append(f"COUNT={rule.count}")
    if rule.until is not None:
        kept.append(f"UNTIL={_until(rule.until, start)}")
    return ";".join(kept)


def _until(until: Start, start: Start) -> str:
    if is_all_day(start):
        return print_moment(until.date() if isinstance(until, datetime) else until)
    return print_moment(until) if isinstance(until, datetime) else until_day(until, start)


def _with_true_end(rule: Rule, start: Start, end: Start) -> Rule:
    """The rule with UNTIL instead of a COUNT that counts a start which it does not have."""
    if rule.count is None or rule.count > _MAX_COUNT or _includes_start(rule, start):
        return rule
    *_, last = occurrences(Recurrence(rules=(rule,)), start, end)
    return replace(rule, count=None, until=last.start)


def _includes_start(rule: Rule, start: Start) -> bool:
    begin = start if isinstance(start, datetime) else datetime.combine(start, time(), UTC)
    return next(chain.from_iterable(rule_times(replace(rule, count=None), begin, None)), None) == begin


def _listed_moments(recurrence: Recurrence, start: Start) -> Iterator[PropertyLine]:
    moments = [_in_zone_of(start, moment.start) for moment in recurrence.rdates if not moment.duration]
    if not any(_includes_start(rule, start) for rule in recurrence.rules):
        moments.insert(0, start)
    if moments:
        yield PropertyLine("RDATE", moments=tuple(moments))
    if periods := tuple(rdate for rdate in recurrence.rdates if rdate.duration):
        yield PropertyLine("RDATE", periods=periods)
    if recurrence.exdates:
        yield PropertyLine("EXDATE", moments=tuple(_in_zone_of(start, moment) for moment in recurrence.exdates))


def _in_zone_of(start: Start, moment: Start) -> Start:
    """The moment in the zone of the start."""
    if isinstance(moment, datetime) and isinstance(start, datetime):
        return moment.astimezone(start.tzinfo)
    return moment
