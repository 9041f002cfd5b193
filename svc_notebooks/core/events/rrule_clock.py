"""The times of a day that a rule has: those of a rule of days, and the periods of hours, minutes and seconds.

Nothing is made before it is asked for: a rule of every second has 86,400 times a day, and a page needs a few of them.
Periods shorter than a day are counted from the start, so days on which the first of them begins alike have the same
times. Where a period is longer than a day, its days are found by arithmetic.
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
MOST_TOGETHER = 500
"""The times of a day that has no more than these are made together and kept."""

Batch = list[datetime]
"""Some moments in a row: lists cost a tenth of what a generator costs for each of them."""


def midnight(ordinal: int, zone: tzinfo | None) -> datetime:
    """The beginning of a day on the wall clock."""
    return datetime.fromordinal(ordinal).replace(tzinfo=zone)


def moved(begin: datetime, moves: Sequence[timedelta]) -> Batch:
    """The moments that lie so far behind this one."""
    return [begin + at for at in moves]


def places(size: int, positions: Sequence[int]) -> list[int] | None:
    """Which of so many moments BYSETPOS takes, from 0; None: all."""
    if not positions:
        return None
    chosen = {at - 1 if at > 0 else size + at for at in positions}
    return [place for place in sorted(chosen) if 0 <= place < size]


class Times:
    """The times of each day of a rule, in order, in seconds after midnight; a leap second is the one before (3.3.5)."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._hours = rule.by_hour or (start.hour,)
        minutes = rule.by_minute or (start.minute,)
        seconds = sorted({min(second, 59) for second in rule.by_second or (start.second,)})
        self._in_hour = [minute * 60 + second for minute in minutes for second in seconds]

    def __len__(self) -> int:
        return len(self._hours) * len(self._in_hour)

    def at(self, place: int) -> int:
        """The time at a place."""
        hour, rest = divmod(place, len(self._in_hour))
        return self._hours[hour] * _HOUR + self._in_hour[rest]

    def as_moves(self) -> list[timedelta]:
        """All of them, as what has passed since midnight."""
        return [timedelta(seconds=second) for hour in self.of_hours() for second in hour]

    def of_hours(self, since: int = 0) -> Iterator[list[int]]:
        """All of them, hour by hour; without the hours before the second `since`."""
        for hour in self._hours[bisect_left(self._hours, since // _HOUR) :]:
            yield [hour * _HOUR + second for second in self._in_hour]


class DayTimes:
    """The times of each day, where periods are days, hours, minutes or seconds and are counted from the start's."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule, self._times = rule, Times(rule, start)
        self._unit = UNITS[rule.freq]
        self.step = self._unit * rule.interval
        self._begin = start.toordinal() * DAY_SECONDS + seconds_of(start) // self._unit * self._unit
        minutes = rule.by_minute or (range(60) if rule.freq > Freq.HOURLY else (start.minute,))
        seconds = rule.by_second or (range(60) if rule.freq > Freq.MINUTELY else (start.second,))
        self._hours = rule.by_hour or range(24)
        self._minutes, self._seconds = frozenset(minutes), frozenset(min(second, 59) for second in seconds)
        self._all_of_hour = len(self._minutes) == len(self._seconds) == 60
        self._all = self._all_of_hour and len(self._hours) == 24
        self._is_free = not (rule.by_hour or rule.by_minute or rule.by_second or rule.by_position)
        self._offsets = self._in_period()
        self._sizes: dict[int, int] = {}
        self._kept: tuple[int, list[timedelta]] = (-1, [])

    def _in_period(self) -> list[int]:
        """The seconds of a period that count, from its beginning; of a day they are not made here."""
        minutes = self._minutes if self._rule.freq is Freq.HOURLY else (0,)
        seconds = (0,) if self._rule.freq in (Freq.DAILY, Freq.SECONDLY) else self._seconds
        offsets = sorted(minute * 60 + second for minute in minutes for second in seconds)
        if self._rule.freq is Freq.DAILY:
            return offsets
        chosen = places(len(offsets), self._rule.by_position)
        return offsets if chosen is None else [offsets[place] for place in chosen]

    def days(self, days: DayFilter, first: int, behind: int, work: WorkBudget) -> Iterator[int]:
        """The days from `first` to before `behind` that have times, as ordinals; it ends where all would repeat."""
        if not self._fits():
            return
        rare = self.step > DAY_SECONDS and 366 * DAY_SECONDS // self.step < days.in_year_of(first)
        last, cycle = first, lcm(CYCLE_DAYS * DAY_SECONDS, self.step) // DAY_SECONDS
        for ordinal in self._due_days(first, behind) if rare else days.between(first, behind):
            work.spend()
            if (not rare or days.has(ordinal)) and self._has_times(ordinal):
                last = ordinal
                yield ordinal
            elif ordinal - last > cycle:
                return

    def _fits(self) -> bool:
        """Whether a period ever begins at a time of day that counts."""
        if self._rule.freq is Freq.DAILY or self._all:
            return bool(self._offsets)
        common = gcd(self.step, DAY_SECONDS)
        parts = (self._hours, self._minutes if self._unit < _HOUR else (0,), self._seconds if self._unit == 1 else (0,))
        blocks = (h * _HOUR + m * 60 + s for h, m, s in product(*parts))
        return bool(self._offsets) and any((block - self._begin) % common == 0 for block in blocks)

    def _due_days(self, first: int, behind: int) -> Iterator[int]:
        """The days on which a period begins, where periods are longer than a day."""
        begin = first * DAY_SECONDS + self._phase(first)
        return (second // DAY_SECONDS for second in range(begin, behind * DAY_SECONDS, self.step))

    def can_count(self, days: DayFilter) -> bool:
        """Whether arithmetic says how many times there are between two days."""
        return DAY_SECONDS % self.step == 0 or (self._is_free and days.is_free)

    def count(self, days: DayFilter, first: int, behind: int) -> int:
        """How many times the days from `first` to before `behind` have, where it can be said."""
        if DAY_SECONDS % self.step == 0:
            return self.size(first) * days.count(first, behind)
        return self._ticks_before(behind) - self._ticks_before(first)

    def _ticks_before(self, ordinal: int) -> int:
        return -((self._begin - ordinal * DAY_SECONDS) // self.step)

    # -- the times of one day -----------------------------------------------------------------------------------------

    def size(self, ordinal: int) -> int:
        """How many times a day has."""
        phase = self._phase(ordinal)
        if phase not in self._sizes:
            if len(self._sizes) >= LARGE:
                self._sizes.clear()
            self._sizes[phase] = sum(len(seconds) for seconds in self._hourly(phase))
        return self._sizes[phase]

    def skipped(self, ordinal: int, since: int) -> int:
        """How many times `moments` leaves out."""
        hours = self._hourly(self._phase(ordinal)) if since >= _HOUR else ()
        return sum(len(seconds) for seconds in hours if seconds[-1] < since // _HOUR * _HOUR)

    def moments(self, ordinal: int, zone: tzinfo | None, since: int) -> Iterator[Batch]:
        """The moments of a day, some at a time; without the hours before the second `since`."""
        phase, begin = self._phase(ordinal), midnight(ordinal, zone)
        if phase == self._kept[0]:
            yield moved(begin, self._kept[1])
            return
        row: list[timedelta] = []
        is_whole = since < _HOUR
        for seconds in self._hourly(phase):
            if seconds[-1] < since // _HOUR * _HOUR:
                continue
            if row and len(row) + len(seconds) > MOST_TOGETHER:
                yield moved(begin, row)
                row, is_whole = [], False
            row += [timedelta(seconds=second) for second in seconds]
        if is_whole:
            self._kept = phase, row
        yield moved(begin, row)

    def _phase(self, ordinal: int) -> int:
        """How many seconds after midnight the first period of a day begins; days alike in this have the same times."""
        return (self._begin - ordinal * DAY_SECONDS) % self.step

    def _has_times(self, ordinal: int) -> bool:
        phase = self._phase(ordinal)
        known = self._sizes.get(phase)
        return any(self._hourly(phase)) if known is None else known > 0

    def _hourly(self, phase: int) -> Iterator[Sequence[int]]:
        """The times of a day in seconds after midnight, hour by hour."""
        if self._rule.freq is Freq.DAILY:
            return iter(()) if phase else self._of_whole_day()
        hours: Iterable[int] = self._hours
        if self.step >= _HOUR:
            hours = (
                hour for second in range(phase, DAY_SECONDS, self.step) if (hour := second // _HOUR) in self._hours
            )
        return filter(None, (self._of_hour(phase, hour) for hour in hours))

    def _of_whole_day(self) -> Iterator[Sequence[int]]:
        chosen = places(len(self._times), self._rule.by_position)
        return iter([[self._times.at(place) for place in chosen]]) if chosen is not None else self._times.of_hours()

    def _of_hour(self, phase: int, hour: int) -> Sequence[int]:
        begin = hour * _HOUR
        due = range(begin + (phase - begin) % self.step, begin + _HOUR, self.step)
        if self._unit == _HOUR:
            return [second + offset for second in due for offset in self._offsets]
        if self._unit == 60:
            return [second + offset for second in due if second // 60 % 60 in self._minutes for offset in self._offsets]
        if self._all_of_hour:
            return due
        return [second for second in due if second % 60 in self._seconds and second // 60 % 60 in self._minutes]


def seconds_of(moment: datetime) -> int:
    """What has passed of its day."""
    return moment.hour * 3600 + moment.minute * 60 + moment.second
