"""Expands a rule into local times from its days, its times of day and BYSETPOS.

A chunk, which is a period or a day, can count its times without generating them. An expansion far from the start
therefore generates no earlier times, even with a COUNT.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import chain, dropwhile, product
from threading import Lock
from typing import NamedTuple

from ..work_budget import WorkBudget
from .rrule import Freq, Rule
from .rrule_days import CALENDAR, END, days_of
from .rrule_times_of_day import (
    LARGE,
    MAX_BATCH,
    UNITS,
    Batch,
    DayTimes,
    TimesOfDay,
    midnight,
    offsets_from,
    seconds_of,
    select_indices,
)

_CYCLE = {Freq.YEARLY: 400, Freq.MONTHLY: 4800, Freq.WEEKLY: 20_871, Freq.DAILY: 146_097}
"""The number of empty periods in a row after which the expansion stops. The calendar repeats after 400 years."""

_MAX_DAYS = {Freq.YEARLY: 366, Freq.MONTHLY: 31, Freq.WEEKLY: 7, Freq.DAILY: 1}
"""The maximum length of a period in days, by frequency."""

_DAYS_AT_ONCE = 84
"""The number of days for which a regular rule's times are generated together."""

_MARK_INTERVAL = 256
"""The number of chunks between two stored counts in `_Marks`."""


def _zero(_since: int) -> int:
    return 0


class Chunk(NamedTuple):
    """A group of times that can be counted without generating the times.

    `begin` and `last` are the ordinals of the first and last day, and `size` returns the number of times. `generate`
    takes a second of the last day and may omit earlier hours. `skipped` returns the number of times that `generate`
    omits.
    """

    begin: int
    last: int
    size: Callable[[], int]
    generate: Callable[[int], Iterator[Batch]]
    skipped: Callable[[int], int] = _zero


class Window(NamedTuple):
    """The window of the times to generate, from `first` to the day `stop` (exclusive). `work` limits the steps."""

    first: datetime | None
    stop: int
    work: WorkBudget

    @property
    def first_day(self) -> int:
        """The ordinal of the window's first day, or 0 if the window has no beginning."""
        return self.first.toordinal() if self.first else 0

    def hours_after(self, chunk: Chunk) -> int:
        """Return the second at which the window begins on the chunk's last day, or 0 if not on that day."""
        return seconds_of(self.first) if self.first and chunk.last == self.first_day else 0


def rule_times(
    rule: Rule,
    start: datetime,
    first: datetime | None = None,
    before: datetime | None = None,
    work: WorkBudget | None = None,
) -> Iterator[Batch]:
    """Yield batches of a rule's local times in order, in the time zone of `start`. Ignores UNTIL.

    May omit times outside of [first, before), and includes local times that the clock skips. COUNT always includes the
    start, even if the rule does not. Raises WorkExceeded if the expansion takes more steps than `work` allows.
    """
    rule = _with_start_parts(rule, start)
    end = END if before is None else min(END, before.toordinal() + 1)
    if rule.count is not None:
        window = Window(first if first and first > start else None, end, work or WorkBudget())
        return _count_times(rule, start, window)
    window = Window(max(start, first or start), end, work or WorkBudget())
    chunks = (chunk for chunk in _walk(rule, start, window) if chunk.last >= window.first_day)
    batches = chain.from_iterable(chunk.generate(window.hours_after(chunk)) for chunk in chunks)
    return _from_start(batches, window.first or start)


def _walk(rule: Rule, start: datetime, window: Window) -> Iterator[Chunk]:
    chunks = (_day_chunks if _is_within_days(rule) else _period_chunks)(rule, start, window)
    return dropwhile(lambda chunk: chunk.last < start.toordinal(), chunks)


def _is_within_days(rule: Rule) -> bool:
    """Return whether the rule's periods are at most a day long, except for a rule of simply every n days."""
    return rule.freq in UNITS and not _offsets(rule)


def _from_start(batches: Iterator[Batch], start: datetime) -> Iterator[Batch]:
    for batch in batches:
        if batch and batch[-1] >= start:
            yield batch[bisect_left(batch, start) :]
            break
    yield from batches


def _with_start_parts(rule: Rule, start: datetime) -> Rule:
    """Return the rule with missing BY parts taken from the start (RFC 5545, 3.3.10)."""
    if rule.freq > Freq.WEEKLY or rule.by_year_day or rule.by_month_day or rule.by_day:
        return rule
    if rule.by_week or rule.freq is Freq.WEEKLY:
        return replace(rule, by_day=((0, start.weekday()),))
    month = rule.by_month if rule.by_month or rule.freq is Freq.MONTHLY else (start.month,)
    return replace(rule, by_month=month, by_month_day=(start.day,))


# -- COUNT -----------------------------------------------------------------------------------------------------------


def _count_times(rule: Rule, start: datetime, window: Window) -> Iterator[Batch]:
    """Yield the first COUNT times of a rule. Times before the window are only counted."""
    assert rule.count is not None
    marks = _marks(rule, start.replace(tzinfo=None))
    if mark := marks.nearest(window.first_day):
        left, chunks = rule.count - mark[1], _walk(rule, start, window._replace(first=midnight(mark[0], start.tzinfo)))
        yield from _take(left, chunks, window, marks, rule.count)
        return
    left, chunks = rule.count, _walk(rule, start, window._replace(first=None))
    head, begun = next(chunks, None), False
    for batch in _from_start(head.generate(0) if head else iter(()), start):
        left -= not begun and batch[:1] != [start]
        begun = True
        yield batch[: max(left, 0)]
        left -= len(batch)
    left -= not begun
    if head and window.first_day > head.last and (jump := _jump(rule, start, head.last + 1, window)):
        yield from _take(left - jump[0], jump[1], window)
    else:
        yield from _take(left, chunks, window, None if _can_jump(rule, start) else marks, rule.count)


def _take(
    left: int, chunks: Iterator[Chunk], window: Window, marks: _Marks | None = None, total: int = 0
) -> Iterator[Batch]:
    """Yield the chunks' times until `left` times are counted. Stores counts in `marks` at intervals."""
    before = 0
    for number, chunk in enumerate(chunks):
        if left <= 0:
            return
        if marks and chunk.begin > before and number % _MARK_INTERVAL == _MARK_INTERVAL - 1:
            marks.add(chunk.begin, total - left)
        before = chunk.begin
        if chunk.last < window.first_day:
            left -= chunk.size()
            continue
        left -= chunk.skipped(window.hours_after(chunk))
        for batch in chunk.generate(window.hours_after(chunk)):
            yield batch[: max(left, 0)]
            left -= len(batch)


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
        self._days: list[int] = []
        self._counts: list[int] = []
        self._lock = Lock()

    def nearest(self, day: int) -> tuple[int, int] | None:
        """Return the last stored day that is not after `day`, and its count of times, or None without such a day."""
        with self._lock:
            index = bisect_right(self._days, day) - 1
            return (self._days[index], self._counts[index]) if index >= 0 else None

    def add(self, day: int, count: int) -> None:
        with self._lock:
            if not self._days or day > self._days[-1]:
                self._days.append(day)
                self._counts.append(count)


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
    empty = 0
    while empty < _CYCLE[rule.freq] and (chunks := periods.chunks(k, window.stop)) is not None:
        window.work.spend()
        yield from chunks
        empty = 0 if any(chunk.size() for chunk in chunks) else empty + 1
        k += periods.at_once


class _Periods:
    """The periods of a rule, numbered from 0 for the period that contains the start."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule = rule
        self._zone = start.tzinfo
        self._days = days_of(rule)
        self._number, self._span = CALENDAR[rule.freq]
        self._first = self._number(start, rule.week_start)
        self._times = TimesOfDay(rule, start)
        self._offsets = self._times.as_offsets() if len(self._times) <= MAX_BATCH else []
        regular = [day + offset for day, offset in product(_offsets(rule), self._offsets)]
        length = rule.interval * (7 if rule.freq is Freq.WEEKLY else 1)
        self.at_once = max(1, min(_DAYS_AT_ONCE // length, MAX_BATCH // len(regular))) if regular else 1
        self._regular = [timedelta(days=n * length) + offset for n in range(self.at_once) for offset in regular]

    @property
    def can_have_any(self) -> bool:
        """True if at least one day matches the rule, and BYSETPOS can select a time in the longest period."""
        maximum = len(self._times) * min(_MAX_DAYS[self._rule.freq], len(self._rule.by_day) or 366)
        positions = [abs(position) for position in self._rule.by_position]
        return self._days.has_any and (not positions or self._rule.freq < Freq.WEEKLY or min(positions) <= maximum)

    def index_of(self, moment: datetime) -> int:
        return max(0, (self._number(moment, self._rule.week_start) - self._first) // self._rule.interval)

    def chunks(self, k: int, end: int) -> list[Chunk] | None:
        """Return the chunks of period `k`, or of `at_once` regular periods, or None from the day `end` on."""
        first, stop = self._span(self._first + k * self._rule.interval, self._rule.week_start)
        if first >= end:
            return None
        if self._regular:
            return [self._regular_chunk(first, stop + self.at_once * self._rule.interval * 7)]
        days = list(self._days.between(max(first, 1), stop))
        if len(days) * len(self._times) < LARGE or self._rule.by_position:
            return [self._chunk(first, days, stop)]
        return [self._chunk(first, [day], day) for day in days]

    def _regular_chunk(self, first: int, reach: int) -> Chunk:
        offsets = self._regular if reach < END else [offset for offset in self._regular if first + offset.days < END]
        begin = max(first, 1)
        return Chunk(
            begin, reach, lambda: len(offsets), lambda since: iter([offsets_from(midnight(begin, self._zone), offsets)])
        )

    def _chunk(self, first: int, days: list[int], last: int) -> Chunk:
        count, begin = len(self._times), max(first, 1)
        indices = select_indices(len(days) * count, self._rule.by_position)
        if indices is None:
            skipped = self._count_skipped if len(days) == 1 else _zero
            return Chunk(begin, last, lambda: len(days) * count, lambda since: self._batches(days, since), skipped)
        return Chunk(
            begin, days[-1] if days else 0, lambda: len(indices), lambda since: iter([self._select(days, indices)])
        )

    def _select(self, days: list[int], indices: list[int]) -> Batch:
        positions = (divmod(index, len(self._times)) for index in indices)
        return [midnight(days[day], self._zone) + timedelta(seconds=self._times.at(time)) for day, time in positions]

    def _batches(self, days: list[int], since: int) -> Iterator[Batch]:
        if self._offsets:
            yield [day + at for day in (midnight(day, self._zone) for day in days) for at in self._offsets]
            return
        since = since if len(days) == 1 else 0
        for day, hour in ((day, hour) for day in days for hour in self._times.by_hour(since)):
            yield offsets_from(midnight(day, self._zone), [timedelta(seconds=second) for second in hour])

    def _count_skipped(self, since: int) -> int:
        return 0 if self._offsets else len(self._times) - sum(len(hour) for hour in self._times.by_hour(since))


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
        size, generate = partial(clock.size, ordinal), partial(clock.moments, ordinal, start.tzinfo)
        yield Chunk(ordinal, ordinal, size, generate, partial(clock.count_skipped, ordinal))
