"""The days of a rule, which series with equal rules share, for series with one simple rule and few exceptions.

Most series have one rule of days, weeks, months or years and one time of day. Their instances are the days of the rule,
each at that time. This module finds them with integers only, and computes the days of each rule and year once.
`starts_in_millis` returns None for all other series, which `instances.py` expands.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from ..clock import from_millis as from_millis, to_millis
from ..time_zones import clock_changes
from ..work_budget import WorkBudget
from .instances import LAST_END, end_of_rule
from .rrule import Freq, Recurrence, Rule, Start
from .rrule_days import CALENDAR, END, LAST_YEAR, days_of
from .rrule_expansion import with_start_parts

_DAY = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_MILLISECOND = timedelta(milliseconds=1)
_LAST_END = to_millis(LAST_END)
_PIECE = 64
_MAX_INTERVAL = 60
_MAX_YEARS_KEPT = 16


class RuleDays:
    """The days of a rule without its end, by year, for all starts with the same position in the rule's interval."""

    def __init__(self, rule: Rule, phase: int) -> None:
        self._rule, self._phase = rule, phase
        self._filter = days_of(rule)
        self._years: dict[int, list[int]] = {}
        self.empty_years = 400 * rule.interval if self._filter.has_any else 0
        """The number of years without a day after which there are no more days, because the calendar repeats."""

    def of_year(self, year: int) -> list[int]:
        """Return the ordinals of the rule's days in a year, in order."""
        days = self._years.get(year)
        if days is None:
            if len(self._years) >= _MAX_YEARS_KEPT:
                self._years.clear()
            days = self._years[year] = self._days(year)
        return days

    def _days(self, year: int) -> list[int]:
        begin, offsets = self._filter.of_year(year)
        rule, (number, _) = self._rule, CALENDAR[self._rule.freq]
        days = [begin + offset for offset in offsets]
        if rule.interval == 1:
            return days
        if rule.freq is Freq.YEARLY and year % rule.interval != self._phase:
            return []
        moments = ((day, datetime.fromordinal(day)) for day in days)
        return [day for day, moment in moments if number(moment, rule.week_start) % rule.interval == self._phase]


@lru_cache(maxsize=2048)
def _days_of_rule(rule: Rule, phase: int) -> RuleDays:
    return RuleDays(rule, phase)


@lru_cache(maxsize=2048)
def _without_end(rule: Rule) -> Rule:
    return replace(rule, count=None, until=None)


def _shared_days(rule: Rule, start: datetime) -> RuleDays:
    number = CALENDAR[rule.freq][0](start, rule.week_start)
    return _days_of_rule(with_start_parts(_without_end(rule), start), number % rule.interval)


def starts_in_millis(
    recurrence: Recurrence,
    start: Start,
    length: timedelta,
    *,
    after: datetime | None = None,
    before: datetime | None = None,
    work: WorkBudget | None = None,
) -> Iterator[int] | None:
    """Return the starts, in Unix milliseconds, of the instances that overlap the window [after, before).

    The result is None for a series that is not simple. `length` is the duration of each instance. `start` is in the
    time zone of the series. Iteration raises WorkExceeded if it takes more steps, which are years, than `work` allows.

    >>> lines = ["RRULE:FREQ=WEEKLY;COUNT=2"]
    >>> start = datetime(2026, 11, 2, tzinfo=UTC)
    >>> starts = starts_in_millis(Recurrence.parse(lines, start), start, timedelta(hours=1))
    >>> [str(from_millis(moment).date()) for moment in starts or ()]
    ['2026-11-02', '2026-11-09']
    """
    if not isinstance(start, datetime) or not _is_simple(recurrence):
        return None
    rule, tz = recurrence.rules[0], start.tzinfo or UTC
    start = start.astimezone(UTC).astimezone(tz)
    days = _shared_days(rule, start)
    last_day = END if rule.count is None else _last_day(days, start.toordinal(), rule.count)
    if last_day is None:
        return None
    begin = to_millis(start)
    low = begin if after is None else max(begin, to_millis(after - length) + 1)
    high = max(begin + 1, _LAST_END - length // _MILLISECOND)
    high = high if before is None else min(high, to_millis(before))
    end = high if rule.until is None else min(high, _end_in_millis(rule, tz))
    first_day = max(start.toordinal() + 1, low // _DAY + _EPOCH - 2)
    moments = _starts(days, start, first_day, min(last_day, end // _DAY + _EPOCH + 2), work or WorkBudget())
    left_out = {to_millis(moment) for moment in recurrence.exdates if isinstance(moment, datetime)}
    return _select(moments, begin, low, high, end, left_out)


def _is_simple(recurrence: Recurrence) -> bool:
    if len(recurrence.rules) != 1 or recurrence.exrules or recurrence.rdates:
        return False
    rule = recurrence.rules[0]
    parts = rule.by_hour or rule.by_minute or rule.by_second or rule.by_position
    return rule.freq <= Freq.DAILY and not parts and rule.interval <= _MAX_INTERVAL


def _last_day(days: RuleDays, start: int, count: int) -> int | None:
    """Return the last day of a rule with a COUNT, which includes the start. Return None if the rule lasts long."""
    left, first = count - 1, date.fromordinal(start).year
    if not left:
        return start
    for year in range(first, min(first + _MAX_YEARS_KEPT, LAST_YEAR + 1)):
        matching = days.of_year(year)
        skipped = bisect_right(matching, start) if year == first else 0
        if len(matching) - skipped >= left:
            return matching[skipped + left - 1]
        left -= len(matching) - skipped
    return None


@lru_cache(maxsize=2048)
def _end_in_millis(rule: Rule, tz: tzinfo) -> int:
    """Return the first millisecond that UNTIL excludes."""
    end = end_of_rule(rule, tz)
    return _LAST_END if end is None else to_millis(end - timedelta.resolution) + 1


def _select(moments: Iterator[int], begin: int, low: int, high: int, end: int, left_out: set[int]) -> Iterator[int]:
    """Yield the start of the series and the later starts in the window, each once."""
    if low <= begin < high and begin not in left_out:
        yield begin
    last = begin
    for moment in moments:
        if moment >= end:
            return
        if moment > last:
            last = moment
            if moment >= low and moment not in left_out:
                yield moment


def _starts(days: RuleDays, start: datetime, first: int, last: int, work: WorkBudget) -> Iterator[int]:
    """Yield the instants of the days from `first` to `last` at the time of day of the start, computed in pieces."""
    last = min(last, END - 1)
    empty, at = 0, start.timetz()
    for year in range(date.fromordinal(first).year, date.fromordinal(last).year + 1) if first <= last else ():
        work.spend()
        matching = days.of_year(year)
        empty = 0 if matching else empty + 1
        if empty > days.empty_years:
            return
        stop = bisect_right(matching, last)
        for index in range(bisect_left(matching, first), stop, _PIECE):
            yield from _instants(matching[index : min(index + _PIECE, stop)], year, at)


def _instants(days: list[int], year: int, at: time) -> list[int]:
    """Return the instants of days of one year. A skipped time of day has the offset before the gap (3.3.5)."""
    instants: list[int] = []
    done = 0
    for change in clock_changes(at.tzinfo or UTC, year):
        index = bisect_left(days, change, done)
        instants += _with_one_offset(days[done:index], at)
        done = index
        if days[done : done + 1] == [change]:
            instants += _with_one_offset([change], at)
            done += 1
    return instants + _with_one_offset(days[done:], at)


def _with_one_offset(days: list[int], at: time) -> list[int]:
    """Return the instants of days without a clock change between them."""
    if not days:
        return []
    first = to_millis(datetime.combine(date.fromordinal(days[0]), at)) - days[0] * _DAY
    return [first + day * _DAY for day in days]
