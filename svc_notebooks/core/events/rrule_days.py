"""The matching days of a rule by the table of RFC 5545 (3.3.10), and the days of its periods."""

from __future__ import annotations

from bisect import bisect_left
from calendar import isleap, monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from .rrule import Freq, Rule

LAST_YEAR = 9998
"""The last year of instances, so that the end of each instance is a valid date."""

END = datetime(LAST_YEAR + 1, 1, 1).toordinal()  # noqa: DTZ001  a day


CYCLE_DAYS = 146_097
"""The number of days in 400 years, after which the calendar repeats."""

_CYCLE_YEARS = 400


class DayFilter:
    """The days that match all day parts of a rule, such as BYMONTH, cached by the year's length and weekdays."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._is_limited = any(getattr(rule, field) for field in _DAY_PARTS)
        self._by_year_type: dict[tuple[int, bool, bool], Sequence[int]] = {}

    @property
    def is_unlimited(self) -> bool:
        """True if every day matches the rule."""
        return not self._is_limited

    def between(self, first: int, stop: int) -> Iterator[int]:
        """Yield the ordinals of the matching days in [first, stop)."""
        empty = 0
        for year in _years(first, stop):
            begin, days = self.of_year(year)
            for day in days[bisect_left(days, first - begin) : bisect_left(days, stop - begin)]:
                yield begin + day
            empty = 0 if days else empty + 1
            if empty > _CYCLE_YEARS:
                return

    def count(self, first: int, stop: int) -> int:
        """Return the number of matching days in [first, stop)."""
        years = (self.of_year(year) for year in _years(first, stop))
        return sum(bisect_left(days, stop - begin) - bisect_left(days, first - begin) for begin, days in years)

    def has(self, ordinal: int) -> bool:
        """Return whether the day with this ordinal matches the rule."""
        if not self._is_limited:
            return True
        begin, days = self.of_year(date.fromordinal(ordinal).year)
        index = bisect_left(days, ordinal - begin)
        return index < len(days) and days[index] == ordinal - begin

    def count_in_year(self, ordinal: int) -> int:
        """Return the number of matching days in the year of the day with this ordinal."""
        return len(self.of_year(date.fromordinal(ordinal).year)[1])

    @property
    def has_any(self) -> bool:
        """True if at least one day of any year matches the rule."""
        return not self._is_limited or any(self.of_year(year)[1] for year in range(2001, 2001 + _CYCLE_YEARS))

    def of_year(self, year: int) -> tuple[int, Sequence[int]]:
        """Return the ordinal of 1 January, and the year's matching days as offsets from 1 January."""
        first = date(year, 1, 1)
        begin, year_type = first.toordinal(), (first.weekday(), isleap(year), isleap(year - 1))
        if year_type not in self._by_year_type:
            self._by_year_type[year_type] = _days_of_year(self._rule, first) if self._is_limited else _year(first)
        return begin, self._by_year_type[year_type]


_DAY_PARTS = ("by_month", "by_week", "by_year_day", "by_month_day", "by_day")


def days_of(rule: Rule) -> DayFilter:
    """Return the day filter of a rule. Rules with equal day parts share a filter."""
    return _days(rule.freq, rule.week_start, *(getattr(rule, field) for field in _DAY_PARTS))


@lru_cache(maxsize=512)
def _days(freq: Freq, week_start: int, *parts: Any) -> DayFilter:
    return DayFilter(Rule(freq, week_start=week_start, **dict(zip(_DAY_PARTS, parts, strict=True))))


def _years(first: int, stop: int) -> range:
    return range(date.fromordinal(first).year, date.fromordinal(stop - 1).year + 1) if first < stop else range(0)


# -- the days of a year, as offsets from 1 January --------------------------------------------------------------------


def _year(first: date) -> range:
    return range(366 if isleap(first.year) else 365)


def _days_of_year(rule: Rule, first: date) -> list[int]:
    """Return the days that match all day parts of a rule in the year that begins on `first`, in order."""
    year = _year(first)
    months = [_month(first, month) for month in rule.by_month or range(1, 13)]
    matches: list[set[int]] = []
    if rule.by_day:  # ordinals count in the month or in the year (3.3.10, notes 1 and 2)
        spans = months if rule.freq is Freq.MONTHLY or rule.by_month else [year]
        matches.append({day for span in spans for day in _weekdays(rule.by_day, span, first.weekday())})
    if rule.by_month_day:
        matches.append({day for month in months for day in _numbered(rule.by_month_day, month)})
    if rule.by_month and not matches:
        matches.append({day for month in months for day in month})
    if rule.by_year_day:
        matches.append(set(_numbered(rule.by_year_day, year)))
    days = set.intersection(*matches) if matches else set(year)
    if rule.by_week:
        days = {day for day in days if not _week_numbers(first, day, rule.week_start).isdisjoint(rule.by_week)}
    return sorted(days)


def _month(first: date, month: int) -> range:
    begin = first.replace(month=month).toordinal() - first.toordinal()
    return range(begin, begin + monthrange(first.year, month)[1])


def _numbered(numbers: Sequence[int], days: range) -> list[int]:
    """Return the days with these numbers, which count from 1, or from -1 backwards from the last day."""
    size = len(days)
    return [days[number - 1 if number > 0 else number] for number in numbers if abs(number) <= size]


def _weekdays(by_day: Sequence[tuple[int, int]], days: range, new_year: int) -> Iterator[int]:
    for ordinal, weekday in by_day:
        every = days[(weekday - new_year - days.start) % 7 :: 7]
        yield from _numbered((ordinal,), every) if ordinal else every


def _week_numbers(first: date, day: int, week_start: int) -> set[int]:
    """Return a day's week numbers from the start and the end of the year. Week 1 has at least four days in the year."""
    middle = first + timedelta(days=day)
    middle += timedelta(days=3 - (middle.weekday() - week_start) % 7)
    year = date(middle.year, 1, 1)
    year_day, length = (middle - year).days, len(_year(year))
    number = year_day // 7 + 1
    weeks = (year_day + (length - year_day - 1) // 7 * 7) // 7 + 1
    return {number, number - weeks - 1}


# -- where periods lie on the calendar: their numbers, and their days as ordinals ------------------------------------


def _month_begin(number: int) -> int:
    year, month = divmod(number, 12)
    return datetime(year, month + 1, 1).toordinal() if year <= LAST_YEAR else END  # noqa: DTZ001  a day


CALENDAR: dict[Freq, tuple[Callable[[datetime, int], int], Callable[[int, int], tuple[int, int]]]] = {
    Freq.YEARLY: (lambda day, _: day.year, lambda year, _: (_month_begin(year * 12), _month_begin(year * 12 + 12))),
    Freq.MONTHLY: (
        lambda day, _: day.year * 12 + day.month - 1,
        lambda month, _: (_month_begin(month), _month_begin(month + 1)),
    ),
    Freq.WEEKLY: (
        lambda day, week_start: (day.toordinal() - 1 - week_start) // 7,
        lambda week, week_start: (week * 7 + 1 + week_start, week * 7 + 8 + week_start),
    ),
    Freq.DAILY: (lambda day, _: day.toordinal(), lambda day, _: (day, day + 1)),
}
