"""Which days a rule speaks of, and where its periods lie on the calendar.

`DayFilter` knows which days count, part by part, as the table of RFC 5545 (3.3.10) limits and expands. A period is
found by arithmetic: its number on the calendar gives its days.
"""

from __future__ import annotations

from bisect import bisect_left
from calendar import isleap, monthrange
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache

from .rrule import Freq, Rule

LAST_YEAR = 9998
"""No instance lies in the last year that a date can have: what ends after it could not be said."""

END = datetime(LAST_YEAR + 1, 1, 1).toordinal()  # noqa: DTZ001  a day


CYCLE_DAYS = 146_097
"""The calendar repeats itself after 400 years of so many days."""

_CYCLE_YEARS = 400

_Day = Callable[[datetime], bool]


class DayFilter:
    """The days that count, by every part of a rule that speaks of days.

    Years that are alike have the same ones, and there are few kinds of years: so each kind is looked at once.
    """

    def __init__(self, rule: Rule) -> None:
        self._checks = [check(rule) for field, check in _CHECKS.items() if getattr(rule, field)]
        self._by_year_type: dict[tuple[int, bool, bool], list[int]] = {}

    @property
    def is_unlimited(self) -> bool:
        """Whether every day counts."""
        return not self._checks

    def between(self, first: int, stop: int) -> Iterator[int]:
        """The days from `first` to before `behind` that count, as ordinals."""
        empty = 0
        for year in _years(first, stop):
            begin, days = self.of_year(year)
            for day in days[bisect_left(days, first - begin) : bisect_left(days, stop - begin)]:
                yield begin + day
            empty = 0 if days else empty + 1
            if empty > _CYCLE_YEARS:
                return

    def count(self, first: int, stop: int) -> int:
        """How many days there are from `first` to before `behind`."""
        years = (self.of_year(year) for year in _years(first, stop))
        return sum(bisect_left(days, stop - begin) - bisect_left(days, first - begin) for begin, days in years)

    def has(self, ordinal: int) -> bool:
        """Whether this day counts."""
        if not self._checks:
            return True
        begin, days = self.of_year(date.fromordinal(ordinal).year)
        index = bisect_left(days, ordinal - begin)
        return index < len(days) and days[index] == ordinal - begin

    def count_in_year(self, ordinal: int) -> int:
        """How many days count in the year of this one."""
        return len(self.of_year(date.fromordinal(ordinal).year)[1])

    @property
    def has_any(self) -> bool:
        """Whether any day of any year counts."""
        return not self._checks or any(self.of_year(year)[1] for year in range(2001, 2001 + _CYCLE_YEARS))

    def of_year(self, year: int) -> tuple[int, list[int]]:
        """The ordinal of 1 January, and how many days behind it each of those lies that count."""
        begin = date(year, 1, 1)
        year_type = begin.weekday(), isleap(year), isleap(year - 1)
        if year_type not in self._by_year_type:
            days = range(366 if isleap(year) else 365)
            self._by_year_type[year_type] = list(self._checked(begin, days) if self._checks else days)
        return begin.toordinal(), self._by_year_type[year_type]

    def _checked(self, begin: date, days: Iterable[int]) -> Iterator[int]:
        for day in days:
            moment = datetime.fromordinal(begin.toordinal() + day)
            if all(check(moment) for check in self._checks):
                yield day


def days_of(rule: Rule) -> DayFilter:
    """The days of a rule. Rules that say the same of days share them."""
    parts = {field: getattr(rule, field) for field in _CHECKS}
    return _days(Rule(rule.freq, week_start=rule.week_start, **parts))


@lru_cache(maxsize=128)
def _days(rule: Rule) -> DayFilter:
    return DayFilter(rule)


def _years(first: int, stop: int) -> range:
    return range(date.fromordinal(first).year, date.fromordinal(stop - 1).year + 1) if first < stop else range(0)


def _by_month(rule: Rule) -> _Day:
    return lambda day: day.month in rule.by_month


def _by_week(rule: Rule) -> _Day:
    return lambda day: not _week_numbers(day, rule.week_start).isdisjoint(rule.by_week)


def _week_numbers(day: datetime, week_start: int) -> set[int]:
    """The number of a day's week, from the front and from the back. Week 1 has four days of its year or more."""
    middle = day + timedelta(days=3 - (day.weekday() - week_start) % 7)
    number = (_year_day(middle) - 1) // 7 + 1
    weeks = (_year_day(_last_middle(middle)) - 1) // 7 + 1
    return {number, number - weeks - 1}


def _last_middle(middle: datetime) -> datetime:
    """The middle of the last week of its year."""
    return middle + timedelta(days=(_year_length(middle) - _year_day(middle)) // 7 * 7)


def _by_year_day(rule: Rule) -> _Day:
    return lambda day: not {_year_day(day), _year_day(day) - _year_length(day) - 1}.isdisjoint(rule.by_year_day)


def _by_month_day(rule: Rule) -> _Day:
    return lambda day: day.day in rule.by_month_day or day.day - _month_length(day) - 1 in rule.by_month_day


def _by_day(rule: Rule) -> _Day:
    """Weekdays, with ordinals those of the month, or of the year where no month is named (3.3.10, notes 1 and 2)."""
    every = {weekday for ordinal, weekday in rule.by_day if not ordinal}
    some = {(ordinal, weekday) for ordinal, weekday in rule.by_day if ordinal}
    in_month = rule.freq is Freq.MONTHLY or bool(rule.by_month)
    if not some:
        return lambda day: day.weekday() in every
    return lambda day: day.weekday() in every or not _ordinals(day, in_month=in_month).isdisjoint(some)


def _ordinals(day: datetime, *, in_month: bool) -> set[tuple[int, int]]:
    at, size = (day.day, _month_length(day)) if in_month else (_year_day(day), _year_length(day))
    return {((at - 1) // 7 + 1, day.weekday()), (-((size - at) // 7 + 1), day.weekday())}


def _year_day(day: datetime) -> int:
    return day.timetuple().tm_yday


def _year_length(day: datetime) -> int:
    return 366 if isleap(day.year) else 365


def _month_length(day: datetime) -> int:
    return monthrange(day.year, day.month)[1]


_CHECKS: dict[str, Callable[[Rule], _Day]] = {
    "by_month": _by_month,
    "by_week": _by_week,
    "by_year_day": _by_year_day,
    "by_month_day": _by_month_day,
    "by_day": _by_day,
}


# -- where periods lie on the calendar: their numbers, and their days as ordinals ------------------------------------


def _week(day: datetime, week_start: int) -> int:
    return (day.toordinal() - 1 - week_start) // 7


def _week_span(number: int, week_start: int) -> tuple[int, int]:
    return number * 7 + 1 + week_start, number * 7 + 8 + week_start


def _month(day: datetime, _: int) -> int:
    return day.year * 12 + day.month - 1


def _month_span(number: int, _: int) -> tuple[int, int]:
    return _month_begin(number), _month_begin(number + 1)


def _month_begin(number: int) -> int:
    year, month = divmod(number, 12)
    return datetime(year, month + 1, 1).toordinal() if year <= LAST_YEAR else END  # noqa: DTZ001  a day


CALENDAR: dict[Freq, tuple[Callable[[datetime, int], int], Callable[[int, int], tuple[int, int]]]] = {
    Freq.YEARLY: (lambda day, _: day.year, lambda year, _: (_month_begin(year * 12), _month_begin(year * 12 + 12))),
    Freq.MONTHLY: (_month, _month_span),
    Freq.WEEKLY: (_week, _week_span),
    Freq.DAILY: (lambda day, _: day.toordinal(), lambda day, _: (day, day + 1)),
}
