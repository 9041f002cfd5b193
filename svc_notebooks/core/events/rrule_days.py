"""The matching days of a rule by the table of RFC 5545 (3.3.10), and the days of its periods."""

from __future__ import annotations

from bisect import bisect_left
from calendar import isleap, monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

from .rrule import Freq, Rule

LAST_YEAR = 9998
"""The last year of instances, so that the end of each instance is a valid date."""

END = datetime(LAST_YEAR + 1, 1, 1).toordinal()  # noqa: DTZ001  a day


CYCLE_DAYS = 146_097
"""The number of days in 400 years, after which the calendar repeats."""

_CYCLE_YEARS = 400

_Day = Callable[[datetime], bool]


class DayFilter:
    """The days that match all day parts of a rule, such as BYMONTH, cached by the year's length and weekdays."""

    def __init__(self, rule: Rule) -> None:
        self._checks = [check(rule) for field, check in _CHECKS.items() if getattr(rule, field)]
        self._by_year_type: dict[tuple[int, bool, bool], Sequence[int]] = {}

    @property
    def is_unlimited(self) -> bool:
        """True if every day matches the rule."""
        return not self._checks

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
        if not self._checks:
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
        return not self._checks or any(self.of_year(year)[1] for year in range(2001, 2001 + _CYCLE_YEARS))

    def of_year(self, year: int) -> tuple[int, Sequence[int]]:
        """Return the ordinal of 1 January, and the year's matching days as offsets from 1 January."""
        first = date(year, 1, 1)
        begin, year_type = first.toordinal(), (first.weekday(), isleap(year), isleap(year - 1))
        if year_type not in self._by_year_type:
            days: Sequence[int] = range(366 if isleap(year) else 365)
            if self._checks:
                moments = [datetime.fromordinal(begin + day) for day in days]
                days = [day for day in days if all(check(moments[day]) for check in self._checks)]
            self._by_year_type[year_type] = days
        return begin, self._by_year_type[year_type]


def days_of(rule: Rule) -> DayFilter:
    """Return the day filter of a rule. Rules with equal day parts share a filter."""
    parts = {field: getattr(rule, field) for field in _CHECKS}
    return _days(Rule(rule.freq, week_start=rule.week_start, **parts))


@lru_cache(maxsize=128)
def _days(rule: Rule) -> DayFilter:
    return DayFilter(rule)


def _years(first: int, stop: int) -> range:
    return range(date.fromordinal(first).year, date.fromordinal(stop - 1).year + 1) if first < stop else range(0)


def _week_numbers(day: datetime, week_start: int) -> set[int]:
    """Return a day's week numbers from the start and the end of the year. Week 1 has at least four days in the year."""
    middle = day + timedelta(days=3 - (day.weekday() - week_start) % 7)
    number = (_year_day(middle) - 1) // 7 + 1
    last_middle = middle + timedelta(days=(_year_length(middle) - _year_day(middle)) // 7 * 7)
    weeks = (_year_day(last_middle) - 1) // 7 + 1
    return {number, number - weeks - 1}


def _by_day(rule: Rule) -> _Day:
    """Return a function that tests a day for BYDAY, with ordinals in the month or year (3.3.10, notes 1 and 2)."""
    every = {weekday for ordinal, weekday in rule.by_day if not ordinal}
    some = {(ordinal, weekday) for ordinal, weekday in rule.by_day if ordinal}
    in_month = rule.freq is Freq.MONTHLY or bool(rule.by_month)
    if not some:
        return lambda day: day.weekday() in every

    def check(day: datetime) -> bool:
        at, size = (day.day, _month_length(day)) if in_month else (_year_day(day), _year_length(day))
        ordinals = {((at - 1) // 7 + 1, day.weekday()), (-((size - at) // 7 + 1), day.weekday())}
        return day.weekday() in every or not ordinals.isdisjoint(some)

    return check


def _year_day(day: datetime) -> int:
    return day.timetuple().tm_yday


def _year_length(day: datetime) -> int:
    return 366 if isleap(day.year) else 365


def _month_length(day: datetime) -> int:
    return monthrange(day.year, day.month)[1]


_CHECKS: dict[str, Callable[[Rule], _Day]] = {
    "by_month": lambda rule: lambda day: day.month in rule.by_month,
    "by_week": lambda rule: lambda day: not _week_numbers(day, rule.week_start).isdisjoint(rule.by_week),
    "by_year_day": lambda rule: (
        lambda day: _year_day(day) in rule.by_year_day or _year_day(day) - _year_length(day) - 1 in rule.by_year_day
    ),
    "by_month_day": lambda rule: (
        lambda day: day.day in rule.by_month_day or day.day - _month_length(day) - 1 in rule.by_month_day
    ),
    "by_day": _by_day,
}


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
