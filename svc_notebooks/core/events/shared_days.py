"""The days of a rule by year, which all series with equal rules share.

The days are ordinals, and are computed once for each rule and year. `series_starts.py` adds the times of day.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from itertools import groupby

from .rrule import Freq, Rule
from .rrule_days import CALENDAR, END, LAST_YEAR, days_of
from .rrule_expansion import with_start_parts
from .rrule_times_of_day import select_indices

_MAX_YEARS_KEPT = 16
_WEEK = 7


class RuleDays:
    """The days of a rule without its end, by year, for all starts with the same position in the rule's interval."""

    def __init__(self, rule: Rule, phase: int) -> None:
        self._rule, self._phase = rule, phase
        self._filter = days_of(rule)
        self._years: dict[int, list[int]] = {}
        self.has_any = self._filter.has_any and self._can_select()
        """False if there are no days in any year."""

    def of_year(self, year: int) -> list[int]:
        """Return the ordinals of the rule's days in a year, in order."""
        days = self._years.get(year)
        if days is None:
            if len(self._years) >= _MAX_YEARS_KEPT:
                self._years.clear()
            days = self._years[year] = self._days(year)
        return days

    def last_day(self, start: int, count: int) -> int | None:
        """Return the last day of a COUNT that begins on the day `start`, or None if that takes more than 16 years."""
        left, first = count - 1, date.fromordinal(start).year
        if not left:
            return start
        for year in range(first, min(first + _MAX_YEARS_KEPT, LAST_YEAR + 1)):
            matching = self.of_year(year)
            skipped = bisect_right(matching, start) if year == first else 0
            if len(matching) - skipped >= left:
                return matching[skipped + left - 1]
            left -= len(matching) - skipped
        return None

    def _can_select(self) -> bool:
        """Return whether BYSETPOS selects a day in any of the 400 years after which the calendar repeats."""
        rule, least = self._rule, min((abs(position) for position in self._rule.by_position), default=0)
        if rule.freq is Freq.WEEKLY or not least:
            return least <= len(rule.by_day)
        return any(any(True for _ in self._selected_days(year, 1)) for year in range(2001, 2401))

    def _days(self, year: int) -> list[int]:
        rule = self._rule
        if rule.freq is Freq.YEARLY and rule.interval > 1 and year % rule.interval != self._phase:
            return []
        if rule.by_position:
            return list(self._selected_days(year, rule.interval))
        begin, offsets = self._filter.of_year(year)
        days = [begin + offset for offset in offsets]
        return days if rule.interval == 1 else [day for day in days if self._number(day) % rule.interval == self._phase]

    def _selected_days(self, year: int, interval: int) -> Iterator[int]:
        """Yield the days of a year that BYSETPOS selects, each out of its period, which may begin in another year."""
        rule = self._rule
        first, stop = (date(number, 1, 1).toordinal() for number in (year, year + 1))
        beyond = _WEEK if rule.freq is Freq.WEEKLY else 0
        days = self._filter.between(max(1, first - beyond), min(END, stop + beyond))
        for number, group in groupby(days, self._number):
            if interval == 1 or number % interval == self._phase:
                period = list(group)
                selected = (period[index] for index in select_indices(len(period), rule.by_position) or ())
                yield from (day for day in selected if first <= day < stop)

    def _number(self, day: int) -> int:
        return CALENDAR[self._rule.freq][0](datetime.fromordinal(day), self._rule.week_start)


def shared_days(rule: Rule, start: datetime) -> RuleDays:
    """Return the days of a rule whose parts that are missing come from the local time `start`."""
    number = CALENDAR[rule.freq][0](start, rule.week_start)
    return _days_of_rule(with_start_parts(_of_days(rule), start), number % rule.interval)


@lru_cache(maxsize=2048)
def _days_of_rule(rule: Rule, phase: int) -> RuleDays:
    return RuleDays(rule, phase)


@lru_cache(maxsize=2048)
def _of_days(rule: Rule) -> Rule:
    """Return a rule without its end and its times of day."""
    return replace(rule, count=None, until=None, by_hour=(), by_minute=(), by_second=())
