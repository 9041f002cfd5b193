"""The days and the times of day that match a rule by the table of RFC 5545 (3.3.10)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from calendar import isleap, monthrange
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import groupby, product
from math import gcd, lcm

from .rrule import Freq, Rule, WorkBudget

# The last year of instances, so that the end of each instance is a valid date.
LAST_YEAR = 9998

END = datetime(LAST_YEAR + 1, 1, 1).toordinal()  # noqa: DTZ001  a day


# The number of days in 400 years, after which the calendar repeats.
CYCLE_DAYS = 146_097

_CYCLE_YEARS = 400


class DayFilter:
    """The days that match all day parts of a rule, such as BYMONTH, cached by the year's length and weekdays."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        # True if every day matches the rule.
        self.is_unlimited = not any(getattr(rule, field) for field in _DAY_PARTS)
        self._by_year_type: dict[tuple[int, bool, bool], Sequence[int]] = {}

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

    def has(self, ordinal: int) -> bool:
        """Return whether the day with this ordinal matches the rule."""
        if self.is_unlimited:
            return True
        begin, days = self.of_year(date.fromordinal(ordinal).year)
        index = bisect_left(days, ordinal - begin)
        return index < len(days) and days[index] == ordinal - begin

    @property
    def has_any(self) -> bool:
        """True if at least one day of any year matches the rule."""
        return self.is_unlimited or any(self.of_year(year)[1] for year in range(2001, 2001 + _CYCLE_YEARS))

    def of_year(self, year: int) -> tuple[int, Sequence[int]]:
        """Return the ordinal of 1 January, and the year's matching days as offsets from 1 January."""
        first = date(year, 1, 1)
        begin, year_type = first.toordinal(), (first.weekday(), isleap(year), isleap(year - 1))
        if year_type not in self._by_year_type:
            self._by_year_type[year_type] = _year(first) if self.is_unlimited else _days_of_year(self._rule, first)
        return begin, self._by_year_type[year_type]


_DAY_PARTS = ("by_month", "by_week", "by_year_day", "by_month_day", "by_day")


@lru_cache(maxsize=512)
def days_of(rule: Rule) -> DayFilter:
    """Return the day filter of a rule, which is kept."""
    return DayFilter(rule)


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


# -- the days of a rule, year by year ---------------------------------------------------------------------------------

# The number of the period of a day, which is given as an ordinal. The second argument is the first day of weeks.
_PERIODS: dict[Freq, Callable[[int, int], int]] = {
    Freq.YEARLY: lambda day, _: date.fromordinal(day).year,
    Freq.MONTHLY: lambda day, _: date.fromordinal(day).year * 12 + date.fromordinal(day).month - 1,
    Freq.WEEKLY: lambda day, week_start: (day - 1 - week_start) // 7,
    Freq.DAILY: lambda day, _: day,
}

_MAX_YEARS_KEPT = 16
_WEEK = 7


class RuleDays:
    """The days of a rule without its end, by year, for all starts with the same position in the rule's interval.

    If BYSETPOS selects from several times a day, whose number is `times`, each time has an entry `day * times + index`.
    """

    def __init__(self, rule: Rule, phase: int, times: int = 1) -> None:
        self._rule, self._phase, self.times = rule, phase, times
        self._filter = days_of(rule)
        self._years: dict[int, list[int]] = {}
        # False if there are no days in any year.
        self.has_any = self._filter.has_any and self._can_select()

    def of_year(self, year: int) -> list[int]:
        """Return the ordinals of the rule's days in a year, in order."""
        days = self._years.get(year)
        if days is None:
            if len(self._years) >= _MAX_YEARS_KEPT:
                self._years.clear()
            days = self._years[year] = self._days(year)
        return days

    def between(self, first: int, stop: int) -> list[int]:
        """Return the entries of the days [first, stop), which are in one year."""
        entries = self.of_year(date.fromordinal(first).year)
        return entries[bisect_left(entries, first * self.times) : bisect_left(entries, stop * self.times)]

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
            return least <= len(rule.by_day) * self.times
        return any(any(True for _ in self._selected(year, 1)) for year in range(2001, 2001 + _CYCLE_YEARS))

    def _days(self, year: int) -> list[int]:
        rule = self._rule
        first, last = (self._number(date(year, *day).toordinal()) for day in ((1, 1), (12, 31)))
        if first + (self._phase - first) % rule.interval > last:
            return []  # the interval leaves out all periods of the year
        if rule.by_position:
            return list(self._selected(year, rule.interval))
        begin, offsets = self._filter.of_year(year)
        days = [begin + offset for offset in offsets]
        number, week_start, interval, phase = _PERIODS[rule.freq], rule.week_start, rule.interval, self._phase
        return days if interval == 1 else [day for day in days if number(day, week_start) % interval == phase]

    def _selected(self, year: int, interval: int) -> Iterator[int]:
        """Yield what BYSETPOS selects in a year, each out of its period, which may begin in another year."""
        rule, times = self._rule, self.times
        first, stop = (date(number, 1, 1).toordinal() for number in (year, year + 1))
        beyond = _WEEK if rule.freq is Freq.WEEKLY else 0
        days = self._filter.between(max(1, first - beyond), min(END, stop + beyond))
        for number, group in groupby(days, self._number):
            if interval == 1 or number % interval == self._phase:
                period = list(group)
                for index in select_indices(len(period) * times, rule.by_position) or ():
                    day, time = divmod(index, times)
                    if first <= period[day] < stop:
                        yield period[day] * times + time

    def _number(self, day: int) -> int:
        return _PERIODS[self._rule.freq](day, self._rule.week_start)


def shared_days(rule: Rule, start: datetime, times: int = 1) -> RuleDays:
    """Return the days of a rule whose parts that are missing come from the local time `start`."""
    number = _PERIODS[rule.freq](start.toordinal(), rule.week_start)
    # without its end and its times of day, so that many series have the same rule
    days = replace(rule, count=None, until=None, by_hour=(), by_minute=(), by_second=())
    return _days_of_rule(with_start_parts(days, start), number % rule.interval, times)


@lru_cache(maxsize=2048)
def _days_of_rule(rule: Rule, phase: int, times: int) -> RuleDays:
    return RuleDays(rule, phase, times)


def with_start_parts(rule: Rule, start: datetime) -> Rule:
    """Return the rule with missing BY parts taken from the start (RFC 5545, 3.3.10)."""
    if rule.freq > Freq.WEEKLY or rule.by_year_day or rule.by_month_day or rule.by_day:
        return rule
    if rule.by_week or rule.freq is Freq.WEEKLY:
        return replace(rule, by_day=((0, start.weekday()),))
    month = rule.by_month if rule.by_month or rule.freq is Freq.MONTHLY else (start.month,)
    return replace(rule, by_month=month, by_month_day=(start.day,))


# -- times of day ------------------------------------------------------------------------------------------------------

DAY_SECONDS = 86_400
UNITS = {Freq.DAILY: 86_400, Freq.HOURLY: 3600, Freq.MINUTELY: 60, Freq.SECONDLY: 1}
LARGE = 10_000
_HOUR = 3600

# The largest number of times of a day that are generated together and cached.
MAX_BATCH = 500

# A list of consecutive times, ten times as fast as a generator.
Batch = list[datetime]


def midnight(ordinal: int, zone: tzinfo | None) -> datetime:
    """Return midnight at the beginning of the day with this ordinal, with the time zone `zone`."""
    return datetime.fromordinal(ordinal).replace(tzinfo=zone)


def select_indices(size: int, positions: Sequence[int]) -> list[int] | None:
    """Return the indices (from 0) that BYSETPOS selects out of `size` times, or None without BYSETPOS."""
    if not positions:
        return None
    indices = {position - 1 if position > 0 else size + position for position in positions}
    return [index for index in sorted(indices) if 0 <= index < size]


class TimesOfDay:
    """A rule's times of day in seconds after midnight. A leap second counts as the second before (RFC 5545, 3.3.5)."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._hours = rule.by_hour or (start.hour,)
        minutes = rule.by_minute or (start.minute,)
        seconds = sorted({min(second, 59) for second in rule.by_second or (start.second,)})
        self._in_hour = [minute * 60 + second for minute in minutes for second in seconds]

    def __len__(self) -> int:
        return len(self._hours) * len(self._in_hour)

    def at(self, index: int) -> int:
        """Return the time at an index, in seconds after midnight."""
        hour, rest = divmod(index, len(self._in_hour))
        return self._hours[hour] * _HOUR + self._in_hour[rest]

    def as_offsets(self) -> list[timedelta]:
        """Return all times of day as offsets from midnight."""
        return [timedelta(seconds=second) for hour in self.by_hour() for second in hour]

    def by_hour(self) -> Iterator[list[int]]:
        """Yield a list of times per hour in seconds after midnight."""
        for hour in self._hours:
            yield [hour * _HOUR + second for second in self._in_hour]


class DayTimes:
    """The times on each day of a rule whose periods are days, hours, minutes or seconds, counted from the start."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule, self._times = rule, TimesOfDay(rule, start)
        self._unit = UNITS[rule.freq]
        self.step = self._unit * rule.interval
        seconds_of_day = start.hour * 3600 + start.minute * 60 + start.second
        self._begin = start.toordinal() * DAY_SECONDS + seconds_of_day // self._unit * self._unit
        minutes = rule.by_minute or (range(60) if rule.freq > Freq.HOURLY else (start.minute,))
        seconds = rule.by_second or (range(60) if rule.freq > Freq.MINUTELY else (start.second,))
        self._hours = rule.by_hour or range(24)
        self._minutes, self._seconds = frozenset(minutes), frozenset(min(second, 59) for second in seconds)
        self._has_whole_hours = len(self._minutes) == len(self._seconds) == 60
        self._has_every_second = self._has_whole_hours and len(self._hours) == 24
        self._offsets = self._period_offsets()
        self._sizes: dict[int, int] = {}

    def _period_offsets(self) -> list[int]:
        """Return a period's matching times in seconds from its start. Daily periods use `_hourly` instead."""
        minutes = self._minutes if self._rule.freq is Freq.HOURLY else (0,)
        seconds = (0,) if self._rule.freq in (Freq.DAILY, Freq.SECONDLY) else self._seconds
        offsets = sorted(minute * 60 + second for minute in minutes for second in seconds)
        if self._rule.freq is Freq.DAILY:
            return offsets
        indices = select_indices(len(offsets), self._rule.by_position)
        return offsets if indices is None else [offsets[index] for index in indices]

    def days(self, days: DayFilter, first: int, stop: int, work: WorkBudget) -> Iterator[int]:
        """Yield the ordinals of days with times in [first, stop). Stops after a calendar cycle without times."""
        if not self._has_any():
            return
        in_year = len(days.of_year(date.fromordinal(first).year)[1])
        rare = self.step > DAY_SECONDS and 366 * DAY_SECONDS // self.step < in_year
        last, cycle = first, lcm(CYCLE_DAYS * DAY_SECONDS, self.step) // DAY_SECONDS
        begin = first * DAY_SECONDS + self._phase(first)  # the first period that begins on this day or later
        due = (second // DAY_SECONDS for second in range(begin, stop * DAY_SECONDS, self.step))
        for ordinal in due if rare else days.between(first, stop):
            work.spend()
            if (not rare or days.has(ordinal)) and self._has_times(ordinal):
                last = ordinal
                yield ordinal
            elif ordinal - last > cycle:
                return

    def _has_any(self) -> bool:
        if self._rule.freq is Freq.DAILY or self._has_every_second:
            return bool(self._offsets)
        common = gcd(self.step, DAY_SECONDS)
        parts = (self._hours, self._minutes if self._unit < _HOUR else (0,), self._seconds if self._unit == 1 else (0,))
        blocks = (h * _HOUR + m * 60 + s for h, m, s in product(*parts))
        return bool(self._offsets) and any((block - self._begin) % common == 0 for block in blocks)

    # -- the times of one day -----------------------------------------------------------------------------------------

    def size(self, ordinal: int) -> int:
        """Return the number of times on the day with this ordinal."""
        phase = self._phase(ordinal)
        if phase not in self._sizes:
            if len(self._sizes) >= LARGE:
                self._sizes.clear()
            self._sizes[phase] = sum(len(seconds) for seconds in self._hourly(phase))
        return self._sizes[phase]

    def moments(self, ordinal: int, zone: tzinfo | None) -> Iterator[Batch]:
        """Yield the times of a day in batches."""
        begin, batch = midnight(ordinal, zone), Batch()
        for seconds in self._hourly(self._phase(ordinal)):
            if batch and len(batch) + len(seconds) > MAX_BATCH:
                yield batch
                batch = []
            batch += [begin + timedelta(seconds=second) for second in seconds]
        yield batch

    def _phase(self, ordinal: int) -> int:
        """Return the second of a day at which its first period begins. Days with equal phases have equal times."""
        return (self._begin - ordinal * DAY_SECONDS) % self.step

    def _has_times(self, ordinal: int) -> bool:
        phase = self._phase(ordinal)
        known = self._sizes.get(phase)
        return any(self._hourly(phase)) if known is None else known > 0

    def _hourly(self, phase: int) -> Iterator[Sequence[int]]:
        """Yield a day's times in seconds after midnight, one sequence per hour with times."""
        if self._rule.freq is Freq.DAILY:
            if phase:
                return iter(())
            indices = select_indices(len(self._times), self._rule.by_position)
            return self._times.by_hour() if indices is None else iter([[self._times.at(index) for index in indices]])
        hours: Iterable[int] = self._hours
        if self.step >= _HOUR:
            hours = (
                hour for second in range(phase, DAY_SECONDS, self.step) if (hour := second // _HOUR) in self._hours
            )
        return filter(None, (self._one_hour(phase, hour) for hour in hours))

    def _one_hour(self, phase: int, hour: int) -> Sequence[int]:
        begin = hour * _HOUR
        due = range(begin + (phase - begin) % self.step, begin + _HOUR, self.step)
        if self._unit == _HOUR:
            return [second + offset for second in due for offset in self._offsets]
        if self._unit == 60:
            return [second + offset for second in due if second // 60 % 60 in self._minutes for offset in self._offsets]
        if self._has_whole_hours:
            return due
        return [second for second in due if second % 60 in self._seconds and second // 60 % 60 in self._minutes]
