"""The moments of one rule on the wall clock: which days count, which times of them, which of those (BYSETPOS).

`_Days` knows which days count, part by part, as the table of RFC 5545 (3.3.10) limits and expands. A period is
found by arithmetic, so the walk begins where the window does; only a COUNT over periods that differ must be walked
from the start.
"""

from __future__ import annotations

from bisect import bisect_left
from calendar import isleap, monthrange
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo
from itertools import chain, product
from math import gcd
from typing import TypeVar

from .recurrence import Freq, Rule

LAST_YEAR = 9998
"""No instance lies in the last year that a date can have: what ends after it could not be said."""

_END = datetime(LAST_YEAR + 1, 1, 1).toordinal()  # noqa: DTZ001  a day
_CYCLE = {Freq.YEARLY: 400, Freq.MONTHLY: 4800, Freq.WEEKLY: 20_871, Freq.DAILY: 146_097}
"""The calendar repeats itself after 400 years: so many empty periods in a row mean that no other comes."""

_DAY_SECONDS = 86_400
_UNITS = {Freq.DAILY: 86_400, Freq.HOURLY: 3600, Freq.MINUTELY: 60, Freq.SECONDLY: 1}
_AT_ONCE = 84
"""So many days of a regular rule are made together."""


Batch = list[datetime]
"""Some moments in a row: lists cost a tenth of what a generator costs for each of them."""


def rule_times(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Batch]:
    """The moments of a rule in order, none before `start`; those before `first` are left out where that saves work.

    Moments have the time zone of the start, and what they say is what its clocks on the wall would say. UNTIL is not
    looked at. With a COUNT the start is the first of those that are counted, also where the rule would not have it.
    """
    rule = _complete(rule, start)
    if first is not None and first <= start:
        first = None
    if rule.count is not None:
        return _counted(rule, start, first)
    return _walk(rule, start, first)


def _walk(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Batch]:
    within = rule.freq in _UNITS and not _offsets(rule)
    return _within_days(rule, start, first) if within else _over_periods(rule, start, first)


def _complete(rule: Rule, start: datetime) -> Rule:
    """What a rule does not say is as in the start (3.3.10)."""
    if rule.freq > Freq.WEEKLY or rule.by_year_day or rule.by_month_day or rule.by_day:
        return rule
    if rule.by_week or rule.freq is Freq.WEEKLY:
        return replace(rule, by_day=((0, start.weekday()),))
    month = rule.by_month if rule.by_month or rule.freq is Freq.MONTHLY else (start.month,)
    return replace(rule, by_month=month, by_month_day=(start.day,))


def _counted(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Batch]:
    """The first COUNT moments; those before the window are counted by arithmetic where every period has as many."""
    assert rule.count is not None
    each = _per_period(rule)
    periods = _Periods(rule, start) if first and each else None
    k = periods.index_of(first) if periods and first else 0
    if periods and k:
        return _cut(rule.count - _before(periods, k, each, start), _over_periods(rule, start, first))
    return _cut_with_start(rule.count, start, _walk(rule, start, None))


def _before(periods: _Periods, k: int, each: int, start: datetime) -> int:
    """How many moments the periods before this one have, the start among them."""
    own = periods.begun(start)
    return len(own) + (start not in own) + (k - 1) * each


def _cut_with_start(count: int, start: datetime, batches: Iterator[Batch]) -> Iterator[Batch]:
    batch = next(batches, [])
    return _cut(count - (batch[:1] != [start]), chain([batch], batches))


def _cut(count: int, batches: Iterator[Batch]) -> Iterator[Batch]:
    for batch in batches:
        if count <= 0:
            return
        yield batch[:count]
        count -= len(batch)


def _per_period(rule: Rule) -> int:
    """How many moments every whole period has, if that is always the same number; else 0."""
    if rule.by_month or rule.by_year_day or rule.by_position or rule.by_hour or rule.by_minute or rule.by_second:
        return 0
    if rule.freq is Freq.DAILY:
        return 0 if rule.by_day or rule.by_month_day else 1
    if rule.freq is Freq.WEEKLY:
        return len(rule.by_day)
    same = rule.freq is Freq.MONTHLY and not rule.by_day and all(0 < day <= 28 for day in rule.by_month_day)
    return len(rule.by_month_day) if same else 0


# -- years, months, weeks, days --------------------------------------------------------------------------------------


def _over_periods(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Batch]:
    """The moments of the periods in turn, from the one that `first` lies in."""
    periods = _Periods(rule, start)
    k = periods.index_of(first) if first else 0
    empty = 0
    while empty < _CYCLE[rule.freq] and (batch := periods.batch(k)) is not None:
        if k == 0:
            batch = batch[bisect_left(batch, start) :]
        if batch:
            yield batch
        empty = 0 if batch else empty + 1
        k += periods.at_once


class _Periods:
    """The periods of a rule, numbered from the one that the start lies in."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule = rule
        self._zone = start.tzinfo
        self._days = _Days(rule)
        self._number, self._span = _CALENDAR[rule.freq]
        self._first = self._number(start, rule.week_start)
        self._times = [timedelta(seconds=second) for second in _times(rule, start)]
        regular = [day + at for day, at in product(_offsets(rule), self._times)]
        length = timedelta(days=rule.interval * (7 if rule.freq is Freq.WEEKLY else 1))
        self.at_once = max(1, _AT_ONCE // length.days) if regular else 1
        self._regular = [n * length + at for n in range(self.at_once) for at in regular]

    def index_of(self, moment: datetime) -> int:
        """The last period that begins at this moment or before."""
        return max(0, (self._number(moment, self._rule.week_start) - self._first) // self._rule.interval)

    def begun(self, start: datetime) -> Batch:
        """The moments of the first period, from the start on."""
        return [moment for moment in self.batch(0) or [] if self.index_of(moment) == 0 and moment >= start]

    def batch(self, k: int) -> Batch | None:
        """The moments of a period (`at_once` many, where they are regular); None: the calendar has come to its end."""
        first, behind = self._span(self._first + k * self._rule.interval, self._rule.week_start)
        if first >= _END:
            return None
        if self._regular:
            begin = _midnight(max(first, 1), self._zone)
            return [begin + at for at in self._regular]
        days = [_midnight(day, self._zone) for day in self._days.between(max(first, 1), behind)]
        return _chosen([day + at for day in days for at in self._times], self._rule.by_position)


def _midnight(ordinal: int, zone: tzinfo | None) -> datetime:
    return datetime.fromordinal(ordinal).replace(tzinfo=zone)


def _offsets(rule: Rule) -> list[timedelta]:
    """The days of every period, where they are the same in each: weeks by weekday, and single days."""
    if rule.by_month or rule.by_month_day or rule.by_position:
        return []
    if rule.freq is Freq.WEEKLY:
        return sorted(timedelta(days=(day - rule.week_start) % 7) for _, day in rule.by_day)
    return [timedelta()] if rule.freq is Freq.DAILY and not rule.by_day else []


_T = TypeVar("_T")


def _chosen(moments: list[_T], positions: Sequence[int]) -> list[_T]:
    if not positions:
        return moments
    size = len(moments)
    places = {at - 1 if at > 0 else size + at for at in positions}
    return [moments[place] for place in sorted(places) if 0 <= place < size]


def _times(rule: Rule, start: datetime) -> list[int]:
    """The times of a day that counts, in seconds after midnight; a leap second is the one before it (3.3.5)."""
    hours = rule.by_hour or (start.hour,)
    minutes = rule.by_minute or (start.minute,)
    seconds = rule.by_second or (start.second,)
    return sorted({h * 3600 + m * 60 + min(s, 59) for h, m, s in product(hours, minutes, seconds)})


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
    return datetime(year, month + 1, 1).toordinal() if year <= LAST_YEAR else _END  # noqa: DTZ001  a day


_CALENDAR: dict[Freq, tuple[Callable[[datetime, int], int], Callable[[int, int], tuple[int, int]]]] = {
    Freq.YEARLY: (lambda day, _: day.year, lambda year, _: (_month_begin(year * 12), _month_begin(year * 12 + 12))),
    Freq.MONTHLY: (_month, _month_span),
    Freq.WEEKLY: (_week, _week_span),
    Freq.DAILY: (lambda day, _: day.toordinal(), lambda day, _: (day, day + 1)),
}


# -- which days count ------------------------------------------------------------------------------------------------

_Day = Callable[[datetime], bool]


class _Days:
    """The days that count, by every part of a rule that speaks of days.

    Years that are alike have the same ones, and there are few kinds of years: so each kind is looked at once.
    """

    def __init__(self, rule: Rule) -> None:
        self._checks = [check(rule) for field, check in _CHECKS.items() if getattr(rule, field)]
        self._kinds: dict[tuple[int, bool, bool], list[int]] = {}

    def between(self, first: int, behind: int) -> Iterator[int]:
        """The days from `first` to before `behind` that count, as ordinals."""
        for year in range(date.fromordinal(first).year, date.fromordinal(behind - 1).year + 1):
            begin, days = self.of_year(year)
            for day in days[bisect_left(days, first - begin) : bisect_left(days, behind - begin)]:
                yield begin + day

    def of_year(self, year: int) -> tuple[int, list[int]]:
        """The ordinal of 1 January, and how many days behind it each of those lies that count."""
        begin = date(year, 1, 1)
        kind = begin.weekday(), isleap(year), isleap(year - 1)
        if kind not in self._kinds:
            days = [datetime.fromordinal(begin.toordinal() + n) for n in range(366 if isleap(year) else 365)]
            self._kinds[kind] = [n for n, day in enumerate(days) if all(check(day) for check in self._checks)]
        return begin.toordinal(), self._kinds[kind]


def _by_month(rule: Rule) -> _Day:
    return lambda day: day.month in rule.by_month


def _by_week(rule: Rule) -> _Day:
    return lambda day: not _week_numbers(day, rule.week_start).isdisjoint(rule.by_week)


def _week_numbers(day: datetime, week_start: int) -> set[int]:
    """The number of a day's week, from the front and from the back; week 1 has four days of its year or more."""
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


# -- days, hours, minutes, seconds -----------------------------------------------------------------------------------


def _within_days(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Batch]:
    """The moments of a rule whose periods are days or shorter, day by day."""
    clock, empty = _Clock(rule, start), 0
    for ordinal in _Days(rule).between((first or start).toordinal(), _END) if clock.ticks else ():
        day = _midnight(ordinal, start.tzinfo)
        batch = [day + timedelta(seconds=second) for second in clock.seconds(ordinal)]
        if batch and batch[-1] >= start:
            yield batch[bisect_left(batch, start) :]
        empty = 0 if batch else empty + 1
        if empty > _CYCLE[Freq.DAILY]:
            return


class _Clock:
    """The times of each day: periods of hours, minutes or seconds are counted from the start's."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        unit = _UNITS[rule.freq]
        self._step = unit * rule.interval
        self._begin = start.toordinal() * _DAY_SECONDS + _seconds(start) // unit * unit
        self._blocks: dict[int, list[int]] = {}
        for second in _seconds_of_day(rule, start):
            block = second // unit * unit
            if (block - self._begin) % gcd(self._step, _DAY_SECONDS) == 0:
                self._blocks.setdefault(block, []).append(second)
        if rule.by_position:
            chosen = {block: _chosen(found, rule.by_position) for block, found in self._blocks.items()}
            self._blocks = {block: found for block, found in chosen.items() if found}

    @property
    def ticks(self) -> bool:
        """Whether there is any day on which it has a time."""
        return bool(self._blocks)

    def seconds(self, ordinal: int) -> Iterator[int]:
        """The times of this day, in seconds after midnight."""
        midnight = ordinal * _DAY_SECONDS
        due = range((self._begin - midnight) % self._step, _DAY_SECONDS, self._step)
        if len(due) < len(self._blocks):
            blocks: Iterable[int] = (block for block in due if block in self._blocks)
        else:
            blocks = (block for block in self._blocks if (midnight + block - self._begin) % self._step == 0)
        return (second for block in blocks for second in self._blocks[block])


def _seconds(moment: datetime) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def _seconds_of_day(rule: Rule, start: datetime) -> Iterator[int]:
    """The times that a day can have, whatever the interval is."""
    hours = rule.by_hour or (range(24) if rule.freq > Freq.DAILY else (start.hour,))
    minutes = rule.by_minute or (range(60) if rule.freq > Freq.HOURLY else (start.minute,))
    seconds = rule.by_second or (range(60) if rule.freq > Freq.MINUTELY else (start.second,))
    return (h * 3600 + m * 60 + min(s, 59) for h, m, s in product(hours, minutes, seconds))
