"""Expands a rule into local times from its days, its times of day and BYSETPOS.

A chunk, which is a period or a day, can count its times without generating them. An expansion far from the start
therefore generates no earlier times, even with a COUNT.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import chain, dropwhile, product, takewhile
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

from .rrule import Freq, Rule, WorkBudget
from .rrule_days import (
    CALENDAR,
    END,
    MAX_BATCH,
    UNITS,
    Batch,
    DayTimes,
    TimesOfDay,
    days_of,
    midnight,
    offsets_from,
    select_indices,
)

_CYCLE = {Freq.YEARLY: 400, Freq.MONTHLY: 4800, Freq.WEEKLY: 20_871, Freq.DAILY: 146_097}
"""The number of empty periods in a row after which the expansion stops. The calendar repeats after 400 years."""

_MAX_DAYS = {Freq.YEARLY: 366, Freq.MONTHLY: 31, Freq.WEEKLY: 7, Freq.DAILY: 1}
"""The maximum length of a period in days, by frequency."""

_AT_ONCE = {Freq.YEARLY: 8, Freq.MONTHLY: 12, Freq.WEEKLY: 12, Freq.DAILY: 84}
"""The number of periods whose times are generated together, by frequency."""

_MARK_INTERVAL = 256
"""The number of periods or days between two stored counts in `_Marks`."""


class Chunk(NamedTuple):
    """A group of times that can be counted without generating the times.

    `begin` and `last` are the ordinals of the first and last day, `size` returns the number of times, and `generate`
    the times. `periods` is the number of periods or days that were examined.
    """

    begin: int
    last: int
    size: Callable[[], int]
    generate: Callable[[], Iterator[Batch]]
    periods: int = 1


class Window(NamedTuple):
    """The window of the times to generate, from `first` to the day `stop` (exclusive). `work` limits the steps."""

    first: datetime | None
    stop: int
    work: WorkBudget

    @property
    def first_day(self) -> int:
        """The ordinal of the window's first day, or 0 if the window has no beginning."""
        return self.first.toordinal() if self.first else 0


def rule_times(
    rule: Rule,
    start: datetime,
    first: datetime | None = None,
    before: datetime | None = None,
    work: WorkBudget | None = None,
) -> Iterator[Batch]:
    """Yield batches of a rule's local times in order, in the time zone of `start`. Ignores COUNT and UNTIL.

    Yields all times in [first, before), may yield later times, and includes local times that the clock skips. Raises
    WorkExceeded if the expansion takes more steps than `work` allows.
    """
    rule = with_start_parts(rule, start)
    end = END if before is None else min(END, before.toordinal() + 1)
    window = Window(max(start, first or start), end, work or WorkBudget())
    chunks = (chunk for chunk in _walk(rule, start, window) if chunk.last >= window.first_day)
    batches = chain.from_iterable(chunk.generate() for chunk in chunks)
    return _from_start(batches, window.first or start)


def _walk(rule: Rule, start: datetime, window: Window) -> Iterator[Chunk]:
    chunks = (_day_chunks if _is_within_days(rule) else _period_chunks)(rule, start, window)
    return dropwhile(lambda chunk: chunk.last < start.toordinal(), chunks)


def _is_within_days(rule: Rule) -> bool:
    """Return whether DayTimes expands the rule, because its periods are parts of a day, or are days to be counted."""
    if rule.freq is Freq.DAILY:
        return not _offsets(rule) and (rule.count is not None or bool(rule.by_position))
    return rule.freq in UNITS


def _from_start(batches: Iterator[Batch], start: datetime) -> Iterator[Batch]:
    for batch in batches:
        if batch and batch[-1] >= start:
            yield batch[bisect_left(batch, start) :]
            break
    yield from batches


def with_start_parts(rule: Rule, start: datetime) -> Rule:
    """Return the rule with missing BY parts taken from the start (RFC 5545, 3.3.10)."""
    if rule.freq > Freq.WEEKLY or rule.by_year_day or rule.by_month_day or rule.by_day:
        return rule
    if rule.by_week or rule.freq is Freq.WEEKLY:
        return replace(rule, by_day=((0, start.weekday()),))
    month = rule.by_month if rule.by_month or rule.freq is Freq.MONTHLY else (start.month,)
    return replace(rule, by_month=month, by_month_day=(start.day,))


# -- COUNT -----------------------------------------------------------------------------------------------------------


def times_before(rule: Rule, start: datetime, first: datetime, work: WorkBudget | None = None) -> int:
    """Return the number of a rule's local times in [start, first), plus one if the start is not in the rule.

    Counts the times of most days without generating them. Raises WorkExceeded if the count takes more steps than `work`
    allows.
    """
    rule = with_start_parts(rule, start)
    window = Window(first, first.toordinal() + 1, work or WorkBudget())
    marks = _marks(rule, start.replace(tzinfo=None))
    if mark := marks.nearest(window.first_day):
        begin = window._replace(first=midnight(mark[0], start.tzinfo))
        return mark[1] + _count(_walk(rule, start, begin), first, marks, mark[1])
    chunks = _walk(rule, start, window._replace(first=None))
    head = next(chunks, None)
    if head is None:
        return 1
    begins = next(_from_start(head.generate(), start), [])
    count = _size_before(head, first) - _size_before(head, start) + (begins[:1] != [start])
    if window.first_day > head.last and (jump := _jump(rule, start, head.last + 1, window)):
        return count + jump[0] + _count(jump[1], first)
    return count + _count(chunks, first, None if _can_jump(rule, start) else marks, count)


def _count(chunks: Iterator[Chunk], first: datetime, marks: _Marks | None = None, counted: int = 0) -> int:
    """Return the number of the chunks' times before `first`. Stores counts in `marks` at intervals."""
    count = before = periods = 0
    for chunk in takewhile(lambda chunk: chunk.begin <= first.toordinal(), chunks):
        if marks and chunk.begin > before and periods >= _MARK_INTERVAL:
            marks.add(chunk.begin, counted + count)
            periods = 0
        before = chunk.begin
        periods += chunk.periods
        count += _size_before(chunk, first)
    return count


def _size_before(chunk: Chunk, moment: datetime) -> int:
    """Return the number of a chunk's times before `moment`."""
    if chunk.last < moment.toordinal():
        return chunk.size()
    batches = takewhile(lambda batch: not batch or batch[0] < moment, chunk.generate())
    return sum(bisect_left(batch, moment) for batch in batches)


def _can_jump(rule: Rule, start: datetime) -> bool:
    """Return whether the number of times between two days can be calculated by arithmetic."""
    if _is_within_days(rule):
        return DayTimes(rule, start).can_count(days_of(rule))
    return _per_period(rule) > 0


def _jump(rule: Rule, start: datetime, first_day: int, window: Window) -> tuple[int, Iterator[Chunk]] | None:
    """Return the number of times to skip after the first chunk, and the next chunks, or None if not countable."""
    assert window.first
    if not _can_jump(rule, start):
        return None
    if _is_within_days(rule):
        count = DayTimes(rule, start).count(days_of(rule), first_day, window.first_day)
        return count, _day_chunks(rule, start, window)
    periods = _Periods(rule, start)
    skipped = max(0, periods.index_of(window.first) - periods.at_once)
    return skipped * _per_period(rule), _period_chunks(rule, start, window, at_least=periods.at_once)


class _Marks:
    """The stored numbers of a rule's times before certain days, so that the times are counted only once."""

    def __init__(self) -> None:
        self._marks: list[tuple[int, int]] = []
        self._lock = Lock()

    def nearest(self, day: int) -> tuple[int, int] | None:
        """Return the last stored day that is not after `day`, and its count of times, or None without such a day."""
        with self._lock:
            index = bisect_right(self._marks, day, key=itemgetter(0)) - 1
            return self._marks[index] if index >= 0 else None

    def add(self, day: int, count: int) -> None:
        with self._lock:
            if not self._marks or day > self._marks[-1][0]:
                self._marks.append((day, count))


@lru_cache(maxsize=1024)
def _marks(_rule: Rule, _start: datetime) -> _Marks:
    """Return the stored counts of a rule and a local start, which are equal in all time zones."""
    return _Marks()


def _per_period(rule: Rule) -> int:
    """Return the number of times in every whole period, or 0 if the number differs between periods."""
    if rule.by_month or rule.by_year_day or rule.by_position or rule.by_hour or rule.by_minute or rule.by_second:
        return 0
    if rule.freq is Freq.DAILY:
        return 0 if rule.by_day or rule.by_month_day else 1
    if rule.freq is Freq.WEEKLY:
        return len(rule.by_day)
    same = rule.freq is Freq.MONTHLY and not rule.by_day and all(0 < day <= 28 for day in rule.by_month_day)
    return len(rule.by_month_day) if same else 0


# -- years, months, weeks, days --------------------------------------------------------------------------------------


def _period_chunks(rule: Rule, start: datetime, window: Window, *, at_least: int = 0) -> Iterator[Chunk]:
    """Yield the chunks of times from the period in which the window begins."""
    periods = _Periods(rule, start)
    if not periods.can_have_any:
        return
    k = max(periods.index_of(window.first) if window.first else 0, at_least)
    empty, last = 0, periods.last_before(window.stop)
    while k <= last and empty < _CYCLE[rule.freq]:
        count = min(periods.at_once, last + 1 - k)
        window.work.spend(1 if periods.are_regular else count)
        chunks = periods.chunks(k, count)
        yield from chunks
        empty = 0 if any(chunk.size() for chunk in chunks) else empty + count
        k += count


class _Periods:
    """The periods of a rule, numbered from 0 for the period that contains the start."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule = rule
        self._start = start
        self._days = days_of(rule)
        self._number, self._span = CALENDAR[rule.freq]
        self._first = self._number(start, rule.week_start)
        self._times = TimesOfDay(rule, start)
        self._offsets = self._times.as_offsets() if len(self._times) <= MAX_BATCH else []
        days = _offsets(rule)
        self.are_regular = bool(days and self._offsets)
        of_rule = 366 if self.are_regular or self._days.is_unlimited else self._days.count_in_year(start.toordinal())
        largest = max(1, (len(days) or min(of_rule, _MAX_DAYS[rule.freq])) * len(self._times))
        apart = rule.interval if self.are_regular else 1
        self.at_once = max(1, min(_AT_ONCE[rule.freq] // apart, MAX_BATCH // largest))
        self._regular: Sequence[timedelta] = ()
        if self.are_regular:
            in_period = tuple(day + offset for day, offset in product(days, self._offsets))
            length = rule.interval * (7 if rule.freq is Freq.WEEKLY else 1)
            self._regular = _repeated(in_period, length, self.at_once)

    @property
    def can_have_any(self) -> bool:
        """True if at least one day matches the rule, and BYSETPOS can select a time in the longest period."""
        maximum = len(self._times) * min(_MAX_DAYS[self._rule.freq], len(self._rule.by_day) or 366)
        positions = [abs(position) for position in self._rule.by_position]
        return self._days.has_any and (not positions or self._rule.freq < Freq.WEEKLY or min(positions) <= maximum)

    def index_of(self, moment: datetime) -> int:
        return max(0, (self._number(moment, self._rule.week_start) - self._first) // self._rule.interval)

    def last_before(self, stop: int) -> int:
        """Return the number of the last period that begins before the day `stop`, which is negative without one."""
        day = datetime.fromordinal(max(1, stop - 1))
        return (self._number(day, self._rule.week_start) - self._first) // self._rule.interval

    def chunks(self, k: int, count: int) -> list[Chunk]:
        """Return the chunks of `count` periods from period `k` on. `count` is at most `at_once`."""
        first, _ = self._days_of(k)
        _, stop = self._days_of(k + count - 1)
        begin, last = max(first, 1), stop - 1
        if self.are_regular:
            regular = self._regular[: count * len(self._regular) // self.at_once]
            if stop >= END:
                regular = [offset for offset in regular if first + offset.days < END]
            return [Chunk(begin, last, lambda: len(regular), lambda: iter([self._from(begin, regular)]))]
        if self._rule.by_position:
            selected = list(self._select(k, count))
            return [Chunk(begin, last, lambda: len(selected), lambda: iter([selected]), periods=count)]
        days = self._matching_days(k, count)
        if self._offsets:
            size = len(days) * len(self._times)
            return [Chunk(begin, last, lambda: size, lambda: iter([self._at(days)]), periods=count)]
        return [Chunk(day, day, lambda: len(self._times), partial(self._by_hour, day)) for day in days]

    def _days_of(self, k: int) -> tuple[int, int]:
        return self._span(self._first + k * self._rule.interval, self._rule.week_start)

    def _matching_days(self, k: int, count: int) -> list[int]:
        interval = self._rule.interval
        if interval > 1 and self._rule.freq is not Freq.DAILY:
            return [day for n in range(k, k + count) for day in self._matching_days_of(n)]
        first, stop = self._days_of(k)[0], self._days_of(k + count - 1)[1]
        days = self._days.between(max(first, 1), stop)
        return list(days) if interval == 1 else [day for day in days if (day - first) % interval == 0]

    def _matching_days_of(self, k: int) -> list[int]:
        first, stop = self._days_of(k)
        return list(self._days.between(max(first, 1), stop))

    def _from(self, day: int, offsets: Sequence[timedelta]) -> Batch:
        return offsets_from(midnight(day, self._start.tzinfo), offsets)

    def _at(self, days: list[int]) -> Batch:
        return [day + at for day in (midnight(day, self._start.tzinfo) for day in days) for at in self._offsets]

    def _select(self, k: int, count: int) -> Iterator[datetime]:
        for days in map(self._matching_days_of, range(k, k + count)):
            for index in select_indices(len(days) * len(self._times), self._rule.by_position) or ():
                day, time = divmod(index, len(self._times))
                yield midnight(days[day], self._start.tzinfo) + timedelta(seconds=self._times.at(time))

    def _by_hour(self, day: int) -> Iterator[Batch]:
        for hour in self._times.by_hour():
            yield offsets_from(midnight(day, self._start.tzinfo), [timedelta(seconds=second) for second in hour])


@lru_cache(maxsize=256)
def _repeated(offsets: tuple[timedelta, ...], length: int, count: int) -> list[timedelta]:
    """Return the offsets of one period for `count` periods of `length` days, which equal rules share."""
    return [timedelta(days=number * length) + offset for number in range(count) for offset in offsets]


def _offsets(rule: Rule) -> list[timedelta]:
    """Return the offsets of matching days from a period's start, or an empty list if periods differ."""
    if rule.by_month or rule.by_month_day or rule.by_position:
        return []
    if rule.freq is Freq.WEEKLY:
        return sorted(timedelta(days=(day - rule.week_start) % 7) for _, day in rule.by_day)
    return [timedelta()] if rule.freq is Freq.DAILY and not rule.by_day else []


# -- days, hours, minutes, seconds -----------------------------------------------------------------------------------


def _day_chunks(rule: Rule, start: datetime, window: Window) -> Iterator[Chunk]:
    clock = DayTimes(rule, start)
    for ordinal in clock.days(days_of(rule), (window.first or start).toordinal(), window.stop, window.work):
        yield Chunk(ordinal, ordinal, partial(clock.size, ordinal), partial(clock.moments, ordinal, start.tzinfo))
