"""The times of day of a rule, generated lazily, because a rule of every second has 86,400 times a day.

Days on which the first period begins at the same second have the same times.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import product
from math import gcd, lcm

from ..work_budget import WorkBudget
from .rrule import Freq, Rule
from .rrule_days import CYCLE_DAYS, DayFilter

DAY_SECONDS = 86_400
UNITS = {Freq.DAILY: 86_400, Freq.HOURLY: 3600, Freq.MINUTELY: 60, Freq.SECONDLY: 1}
LARGE = 10_000
_HOUR = 3600
MAX_BATCH = 500
"""The largest number of times of a day that are generated together and cached."""

Batch = list[datetime]
"""A list of consecutive times, ten times as fast as a generator."""


def midnight(ordinal: int, zone: tzinfo | None) -> datetime:
    """Return midnight at the beginning of the day with this ordinal, with the time zone `zone`."""
    return datetime.fromordinal(ordinal).replace(tzinfo=zone)


def offsets_from(begin: datetime, offsets: Sequence[timedelta]) -> Batch:
    """Return the times at these offsets from `begin`."""
    return [begin + offset for offset in offsets]


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

    def by_hour(self, since: int = 0) -> Iterator[list[int]]:
        """Yield a list of times per hour in seconds after midnight, without the hours before the second `since`."""
        for hour in self._hours[bisect_left(self._hours, since // _HOUR) :]:
            yield [hour * _HOUR + second for second in self._in_hour]


class DayTimes:
    """The times on each day of a rule whose periods are days, hours, minutes or seconds, counted from the start."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule, self._times = rule, TimesOfDay(rule, start)
        self._unit = UNITS[rule.freq]
        self.step = self._unit * rule.interval
        self._begin = start.toordinal() * DAY_SECONDS + seconds_of(start) // self._unit * self._unit
        minutes = rule.by_minute or (range(60) if rule.freq > Freq.HOURLY else (start.minute,))
        seconds = rule.by_second or (range(60) if rule.freq > Freq.MINUTELY else (start.second,))
        self._hours = rule.by_hour or range(24)
        self._minutes, self._seconds = frozenset(minutes), frozenset(min(second, 59) for second in seconds)
        self._has_whole_hours = len(self._minutes) == len(self._seconds) == 60
        self._has_every_second = self._has_whole_hours and len(self._hours) == 24
        self._is_unlimited = not (rule.by_hour or rule.by_minute or rule.by_second or rule.by_position)
        self._offsets = self._period_offsets()
        self._sizes: dict[int, int] = {}
        self._cache: tuple[int, list[timedelta]] = (-1, [])

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
        rare = self.step > DAY_SECONDS and 366 * DAY_SECONDS // self.step < days.count_in_year(first)
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

    def can_count(self, days: DayFilter) -> bool:
        """Return whether the number of times between two days can be calculated by arithmetic."""
        return DAY_SECONDS % self.step == 0 or (self._is_unlimited and days.is_unlimited)

    def count(self, days: DayFilter, first: int, stop: int) -> int:
        """Return the number of times in the days [first, stop). Requires `can_count`."""
        if DAY_SECONDS % self.step == 0:
            return self.size(first) * days.count(first, stop)
        return self._periods_before(stop) - self._periods_before(first)

    def _periods_before(self, ordinal: int) -> int:
        return -((self._begin - ordinal * DAY_SECONDS) // self.step)

    # -- the times of one day -----------------------------------------------------------------------------------------

    def size(self, ordinal: int) -> int:
        """Return the number of times on the day with this ordinal."""
        phase = self._phase(ordinal)
        if phase not in self._sizes:
            if len(self._sizes) >= LARGE:
                self._sizes.clear()
            self._sizes[phase] = sum(len(seconds) for seconds in self._hourly(phase))
        return self._sizes[phase]

    def count_skipped(self, ordinal: int, since: int) -> int:
        """Return the number of times of a day that `moments` omits for the same `since`."""
        hours = self._hourly(self._phase(ordinal)) if since >= _HOUR else ()
        return sum(len(seconds) for seconds in hours if seconds[-1] < since // _HOUR * _HOUR)

    def moments(self, ordinal: int, zone: tzinfo | None, since: int) -> Iterator[Batch]:
        """Yield the times of a day in batches, without the hours before the second `since`."""
        phase, begin = self._phase(ordinal), midnight(ordinal, zone)
        is_whole = since < _HOUR  # a day without its first hours must not be cached
        if is_whole and phase == self._cache[0]:
            yield offsets_from(begin, self._cache[1])
            return
        row: list[timedelta] = []
        for seconds in self._hourly(phase):
            if seconds[-1] < since // _HOUR * _HOUR:
                continue
            if row and len(row) + len(seconds) > MAX_BATCH:
                yield offsets_from(begin, row)
                row, is_whole = [], False
            row += [timedelta(seconds=second) for second in seconds]
        if is_whole:
            self._cache = phase, row
        yield offsets_from(begin, row)

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


def seconds_of(moment: datetime) -> int:
    """Return the number of seconds from midnight to a time of day."""
    return moment.hour * 3600 + moment.minute * 60 + moment.second
