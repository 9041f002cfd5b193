"""The moments of one rule on the wall clock: the days that count, the times of them, and which of those (BYSETPOS).

A rule is walked in chunks, of a period or of a day, that know how many moments they have before they make them. So an
expansion that begins far from the start makes none of those before, and a COUNT counts them without seeing them.
Periods are found by arithmetic; only where they differ in size must a COUNT look at each, once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from functools import partial
from itertools import chain, dropwhile, product
from math import gcd
from typing import NamedTuple

from .recurrence import Freq, Rule
from .rule_days import CALENDAR, END, Days

_CYCLE = {Freq.YEARLY: 400, Freq.MONTHLY: 4800, Freq.WEEKLY: 20_871, Freq.DAILY: 146_097}
"""The calendar repeats itself after 400 years: so many empty periods in a row mean that no other comes."""

_DAY_SECONDS = 86_400
_UNITS = {Freq.DAILY: 86_400, Freq.HOURLY: 3600, Freq.MINUTELY: 60, Freq.SECONDLY: 1}
_AT_ONCE = 84
"""So many days of a regular rule are made together."""

_LARGE = 10_000
"""A period with more moments is made day by day."""

Batch = list[datetime]
"""Some moments in a row: lists cost a tenth of what a generator costs for each of them."""


class Chunk(NamedTuple):
    """Some moments that need not be made to be counted; `last` is the ordinal of a day that none of them is behind."""

    last: int
    size: int
    make: Callable[[], Batch]


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
    chunks, near = _walk(rule, start, first), first.toordinal() if first else 0
    return chain(_from_start(next(chunks, None), start), (chunk.make() for chunk in chunks if chunk.last >= near))


def _walk(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Chunk]:
    within = rule.freq in _UNITS and not _offsets(rule)
    chunks = _day_chunks(rule, start, first) if within else _period_chunks(rule, start, first)
    return dropwhile(lambda chunk: chunk.last < start.toordinal(), chunks)


def _from_start(chunk: Chunk | None, start: datetime) -> Iterator[Batch]:
    """The first chunk, without what lies before the start."""
    if chunk is not None:
        batch = chunk.make()
        yield batch[bisect_left(batch, start) :]


def _complete(rule: Rule, start: datetime) -> Rule:
    """What a rule does not say is as in the start (3.3.10)."""
    if rule.freq > Freq.WEEKLY or rule.by_year_day or rule.by_month_day or rule.by_day:
        return rule
    if rule.by_week or rule.freq is Freq.WEEKLY:
        return replace(rule, by_day=((0, start.weekday()),))
    month = rule.by_month if rule.by_month or rule.freq is Freq.MONTHLY else (start.month,)
    return replace(rule, by_month=month, by_month_day=(start.day,))


# -- COUNT -----------------------------------------------------------------------------------------------------------


def _counted(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Batch]:
    """The first COUNT moments; those before the window are counted, not made."""
    assert rule.count is not None
    chunks = _walk(rule, start, None)
    begun = next(_from_start(next(chunks, None), start), [])
    left = rule.count - (begun[:1] != [start])
    yield begun[: max(left, 0)]
    left, reach = left - len(begun), _reach(rule, start) if first else 0
    if first and reach:
        k = max(_Periods(rule, start).index_of(first), reach)
        left, chunks = left - (k - reach) * _per_period(rule), _period_chunks(rule, start, first, at_least=reach)
    yield from _cut(left, chunks, first.toordinal() if first else 0)


def _cut(left: int, chunks: Iterator[Chunk], first: int) -> Iterator[Batch]:
    for chunk in chunks:
        if left <= 0:
            return
        if chunk.last >= first:
            yield chunk.make()[:left]
        left -= chunk.size


def _reach(rule: Rule, start: datetime) -> int:
    """How many periods the first chunk has, where all periods have the same number of moments; else 0."""
    return _Periods(rule, start).at_once if _per_period(rule) else 0


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


def _period_chunks(rule: Rule, start: datetime, first: datetime | None, *, at_least: int = 0) -> Iterator[Chunk]:
    """The periods in turn, from the one that `first` lies in."""
    periods = _Periods(rule, start)
    k = max(periods.index_of(first) if first else 0, at_least)
    empty = 0
    while empty < _CYCLE[rule.freq] and (chunks := periods.chunks(k)) is not None:
        yield from chunks
        empty = 0 if any(chunk.size for chunk in chunks) else empty + 1
        k += periods.at_once


class _Periods:
    """The periods of a rule, numbered from the one that the start lies in."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule = rule
        self._zone = start.tzinfo
        self._days = Days(rule)
        self._number, self._span = CALENDAR[rule.freq]
        self._first = self._number(start, rule.week_start)
        self._times = [timedelta(seconds=second) for second in _times(rule, start)]
        regular = [day + at for day, at in product(_offsets(rule), self._times)] if len(self._times) < _LARGE else []
        length = rule.interval * (7 if rule.freq is Freq.WEEKLY else 1)
        self.at_once = max(1, _AT_ONCE // length) if 0 < len(regular) < _LARGE else 1
        moves = [timedelta(days=n * length) for n in range(self.at_once)]
        self._regular = [move + at for move in moves for at in regular]

    def index_of(self, moment: datetime) -> int:
        """The last period that begins at this moment or before."""
        return max(0, (self._number(moment, self._rule.week_start) - self._first) // self._rule.interval)

    def chunks(self, k: int) -> list[Chunk] | None:
        """A period, or `at_once` many where they are regular; None: the calendar has come to its end."""
        first, behind = self._span(self._first + k * self._rule.interval, self._rule.week_start)
        if first >= END:
            return None
        if self._regular:
            return [self._regular_chunk(first, behind + self.at_once * self._rule.interval * 7)]
        days = list(self._days.between(max(first, 1), behind))
        if len(days) * len(self._times) < _LARGE or self._rule.by_position:
            return [self._chunk(days, behind)]
        return [self._chunk([day], day) for day in days]

    def _regular_chunk(self, first: int, reach: int) -> Chunk:
        moves = self._regular if reach < END else [at for at in self._regular if first + at.days < END]
        return Chunk(reach, len(moves), lambda: _moved(_midnight(max(first, 1), self._zone), moves))

    def _chunk(self, days: list[int], last: int) -> Chunk:
        count = len(self._times)
        places = _places(len(days) * count, self._rule.by_position)
        if places is None:
            return Chunk(last, len(days) * count, lambda: self._made(days))
        chosen = [divmod(place, count) for place in places]
        zone, times = self._zone, self._times
        return Chunk(
            days[-1] if days else 0, len(chosen), lambda: [_midnight(days[d], zone) + times[t] for d, t in chosen]
        )

    def _made(self, days: list[int]) -> Batch:
        return [day + at for day in (_midnight(day, self._zone) for day in days) for at in self._times]


def _moved(begin: datetime, moves: Sequence[timedelta]) -> Batch:
    return [begin + at for at in moves]


def _midnight(ordinal: int, zone: tzinfo | None) -> datetime:
    return datetime.fromordinal(ordinal).replace(tzinfo=zone)


def _offsets(rule: Rule) -> list[timedelta]:
    """The days of every period, where they are the same in each: weeks by weekday, and single days."""
    if rule.by_month or rule.by_month_day or rule.by_position:
        return []
    if rule.freq is Freq.WEEKLY:
        return sorted(timedelta(days=(day - rule.week_start) % 7) for _, day in rule.by_day)
    return [timedelta()] if rule.freq is Freq.DAILY and not rule.by_day else []


def _places(size: int, positions: Sequence[int]) -> list[int] | None:
    """Which of so many moments BYSETPOS takes, from 0; None: all."""
    if not positions:
        return None
    places = {at - 1 if at > 0 else size + at for at in positions}
    return [place for place in sorted(places) if 0 <= place < size]


def _times(rule: Rule, start: datetime) -> list[int]:
    """The times of a day that counts, in seconds after midnight; a leap second is the one before it (3.3.5)."""
    hours = rule.by_hour or (start.hour,)
    minutes = rule.by_minute or (start.minute,)
    seconds = rule.by_second or (start.second,)
    return sorted({h * 3600 + m * 60 + min(s, 59) for h, m, s in product(hours, minutes, seconds)})


# -- days, hours, minutes, seconds -----------------------------------------------------------------------------------


def _day_chunks(rule: Rule, start: datetime, first: datetime | None) -> Iterator[Chunk]:
    """The days of a rule whose periods are days or shorter."""
    clock, empty = _Clock(rule, start), 0
    days = Days(rule).between((first or start).toordinal(), END) if clock.ticks else iter(())
    for ordinal in days:
        size = clock.size(ordinal)
        if size:
            yield Chunk(ordinal, size, partial(clock.moments, ordinal, start.tzinfo))
        empty = 0 if size else empty + 1
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
            chosen = {block: _taken(found, rule.by_position) for block, found in self._blocks.items()}
            self._blocks = {block: found for block, found in chosen.items() if found}
        self._sizes: dict[int, int] = {}
        self._last: tuple[int, list[timedelta]] = (-1, [])

    @property
    def ticks(self) -> bool:
        """Whether there is any day on which it has a time."""
        return bool(self._blocks)

    def size(self, ordinal: int) -> int:
        """How many times a day has; days on which the periods begin alike have as many."""
        phase = self._phase(ordinal)
        if phase not in self._sizes:
            if len(self._sizes) >= _LARGE:
                self._sizes.clear()
            self._sizes[phase] = sum(1 for _ in self.seconds(ordinal))
        return self._sizes[phase]

    def moments(self, ordinal: int, zone: tzinfo | None) -> Batch:
        """The moments of a day."""
        phase = self._phase(ordinal)
        if phase != self._last[0]:
            self._last = phase, [timedelta(seconds=second) for second in self.seconds(ordinal)]
        return _moved(_midnight(ordinal, zone), self._last[1])

    def _phase(self, ordinal: int) -> int:
        """How long after midnight the first period of a day begins."""
        return (self._begin - ordinal * _DAY_SECONDS) % self._step

    def seconds(self, ordinal: int) -> Iterator[int]:
        """The times of this day, in seconds after midnight."""
        midnight = ordinal * _DAY_SECONDS
        due = range(self._phase(ordinal), _DAY_SECONDS, self._step)
        if len(due) < len(self._blocks):
            blocks: Iterable[int] = (block for block in due if block in self._blocks)
        else:
            blocks = (block for block in self._blocks if (midnight + block - self._begin) % self._step == 0)
        return (second for block in blocks for second in self._blocks[block])


def _taken(seconds: list[int], positions: Sequence[int]) -> list[int]:
    places = _places(len(seconds), positions)
    return seconds if places is None else [seconds[place] for place in places]


def _seconds(moment: datetime) -> int:
    return moment.hour * 3600 + moment.minute * 60 + moment.second


def _seconds_of_day(rule: Rule, start: datetime) -> Iterator[int]:
    """The times that a day can have, whatever the interval is."""
    hours = rule.by_hour or (range(24) if rule.freq > Freq.DAILY else (start.hour,))
    minutes = rule.by_minute or (range(60) if rule.freq > Freq.HOURLY else (start.minute,))
    seconds = rule.by_second or (range(60) if rule.freq > Freq.MINUTELY else (start.second,))
    return (h * 3600 + m * 60 + min(s, 59) for h, m, s in product(hours, minutes, seconds))
