"""The moments of one rule on the wall clock: the days that count, the times of them, and which of those (BYSETPOS).

A rule is walked in chunks, of a period or of a day, that know how many moments they have before they make them. So an
expansion that begins far from the start makes none of those before, and a COUNT counts them without seeing them.
Periods are found by arithmetic; only where they differ in size must a COUNT look at each, once.
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
    seconds_of,
    selected_indices,
    shifted,
)

_CYCLE = {Freq.YEARLY: 400, Freq.MONTHLY: 4800, Freq.WEEKLY: 20_871, Freq.DAILY: 146_097}
"""The calendar repeats itself after 400 years: so many empty periods in a row mean that no other comes."""

_MAX_DAYS = {Freq.YEARLY: 366, Freq.MONTHLY: 31, Freq.WEEKLY: 7, Freq.DAILY: 1}
"""No period has more."""

_DAYS_AT_ONCE = 84
"""So many days of a regular rule are made together."""

_MARK_INTERVAL = 256
"""So many chunks are counted from one mark to the next."""


def _zero(_since: int) -> int:
    return 0


class Chunk(NamedTuple):
    """Some moments that need not be made to be counted.

    `begin` and `last` are the ordinals of days: none of them is before the one, none behind the other. `make` takes
    the second of the last day before which hours may be left out; `skipped` says how many moments it leaves out.
    """

    begin: int
    last: int
    size: Callable[[], int]
    make: Callable[[int], Iterator[Batch]]
    skipped: Callable[[int], int] = _zero


class Window(NamedTuple):
    """Which moments are asked for: those before `first` and from the day `behind` on are not needed.

    `work` counts what is looked at on the way; it may end the expansion by WorkExceeded.
    """

    first: datetime | None
    stop: int
    work: WorkBudget

    @property
    def first_day(self) -> int:
        """The day on which it begins. 0: before all."""
        return self.first.toordinal() if self.first else 0

    def hours_after(self, chunk: Chunk) -> int:
        """The second of the chunk's last day on which it begins."""
        return seconds_of(self.first) if self.first and chunk.last == self.first_day else 0


def rule_times(
    rule: Rule,
    start: datetime,
    first: datetime | None = None,
    before: datetime | None = None,
    work: WorkBudget | None = None,
) -> Iterator[Batch]:
    """The moments of a rule in order, none before `start`. Outside of [first, behind) they are left out to save work.

    Moments have the time zone of the start, and what they say is what its clocks on the wall would say. UNTIL is not
    looked at. With a COUNT the start is the first of those that are counted, also where the rule would not have it.

    Raises WorkExceeded, where `work` has an end.
    """
    rule = _with_start_parts(rule, start)
    end = END if before is None else min(END, before.toordinal() + 1)
    if rule.count is not None:
        return _counted(
            rule, start, Window(None if first is None or first <= start else first, end, work or WorkBudget())
        )
    window = Window(max(start, first or start), end, work or WorkBudget())
    chunks = (chunk for chunk in _walk(rule, start, window) if chunk.last >= window.first_day)
    batches = chain.from_iterable(chunk.make(window.hours_after(chunk)) for chunk in chunks)
    return _from_start(batches, window.first or start)


def _walk(rule: Rule, start: datetime, window: Window) -> Iterator[Chunk]:
    chunks = (_day_chunks if _is_within_days(rule) else _period_chunks)(rule, start, window)
    return dropwhile(lambda chunk: chunk.last < start.toordinal(), chunks)


def _is_within_days(rule: Rule) -> bool:
    """Whether the periods are days or shorter, and not simply every so many days."""
    return rule.freq in UNITS and not _offsets(rule)


def _from_start(batches: Iterator[Batch], start: datetime) -> Iterator[Batch]:
    """The batches, without what lies before the start."""
    for batch in batches:
        if batch and batch[-1] >= start:
            yield batch[bisect_left(batch, start) :]
            break
    yield from batches


def _with_start_parts(rule: Rule, start: datetime) -> Rule:
    """What a rule does not say is as in the start (3.3.10)."""
    if rule.freq > Freq.WEEKLY or rule.by_year_day or rule.by_month_day or rule.by_day:
        return rule
    if rule.by_week or rule.freq is Freq.WEEKLY:
        return replace(rule, by_day=((0, start.weekday()),))
    month = rule.by_month if rule.by_month or rule.freq is Freq.MONTHLY else (start.month,)
    return replace(rule, by_month=month, by_month_day=(start.day,))


# -- COUNT -----------------------------------------------------------------------------------------------------------


def _counted(rule: Rule, start: datetime, window: Window) -> Iterator[Batch]:
    """The first COUNT moments. Those before the window are counted, not made."""
    assert rule.count is not None
    marks = _marks(rule, start.replace(tzinfo=None))
    if mark := marks.nearest(window.first_day):
        left, chunks = rule.count - mark[1], _walk(rule, start, window._replace(first=midnight(mark[0], start.tzinfo)))
        yield from _take(left, chunks, window, marks, rule.count)
        return
    left, chunks = rule.count, _walk(rule, start, window._replace(first=None))
    head, begun = next(chunks, None), False
    for batch in _from_start(head.make(0) if head else iter(()), start):
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
    """The moments of the chunks until none are left. How many were counted on the way is marked."""
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
        for batch in chunk.make(window.hours_after(chunk)):
            yield batch[: max(left, 0)]
            left -= len(batch)


def _can_jump(rule: Rule, start: datetime) -> bool:
    """Whether arithmetic says how many moments lie between two days."""
    if _is_within_days(rule):
        return DayTimes(rule, start).can_count(days_of(rule))
    return _per_period(rule) > 0


def _jump(rule: Rule, start: datetime, first_day: int, window: Window) -> tuple[int, Iterator[Chunk]] | None:
    """How many moments lie from the day `behind` the first chunk to the window, and the chunks from there."""
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
    """How many moments of a rule lie before some days, so that they need not be counted again."""

    def __init__(self) -> None:
        self._days: list[int] = []
        self._counts: list[int] = []
        self._lock = Lock()

    def nearest(self, day: int) -> tuple[int, int] | None:
        """The last mark that is not behind this day: its day, and the count."""
        with self._lock:
            index = bisect_right(self._days, day) - 1
            return (self._days[index], self._counts[index]) if index >= 0 else None

    def add(self, day: int, count: int) -> None:
        """Remember a count, if it is the furthest one."""
        with self._lock:
            if not self._days or day > self._days[-1]:
                self._days.append(day)
                self._counts.append(count)


@lru_cache(maxsize=1024)
def _marks(_rule: Rule, _start: datetime) -> _Marks:
    """The marks of a rule and a start on the wall clock: two zones may show the same instant, so it has none."""
    return _Marks()


def _per_period(rule: Rule) -> int:
    """How many moments every whole period has, if that is always the same number. Else 0."""
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
    """The periods in turn, from the one that the window begins in."""
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
    """The periods of a rule, numbered from the one that the start lies in."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._rule = rule
        self._zone = start.tzinfo
        self._days = days_of(rule)
        self._number, self._span = CALENDAR[rule.freq]
        self._first = self._number(start, rule.week_start)
        self._times = TimesOfDay(rule, start)
        times = self._times.as_offsets() if len(self._times) <= MAX_BATCH else []
        self._offsets = times
        regular = [day + offset for day, offset in product(_offsets(rule), times)]
        length = rule.interval * (7 if rule.freq is Freq.WEEKLY else 1)
        self.at_once = max(1, min(_DAYS_AT_ONCE // length, MAX_BATCH // len(regular))) if regular else 1
        self._regular = [timedelta(days=n * length) + offset for n in range(self.at_once) for offset in regular]

    @property
    def can_have_any(self) -> bool:
        """Whether there is a day that counts, and a period can be so long that BYSETPOS finds something."""
        maximum = len(self._times) * min(_MAX_DAYS[self._rule.freq], len(self._rule.by_day) or 366)
        positions = [abs(position) for position in self._rule.by_position]
        return self._days.has_any and (not positions or self._rule.freq < Freq.WEEKLY or min(positions) <= maximum)

    def index_of(self, moment: datetime) -> int:
        """The last period that begins at this moment or before."""
        return max(0, (self._number(moment, self._rule.week_start) - self._first) // self._rule.interval)

    def chunks(self, k: int, end: int) -> list[Chunk] | None:
        """A period, or `at_once` many where they are regular. None: it begins on the day `end` or later."""
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
            begin, reach, lambda: len(offsets), lambda since: iter([shifted(midnight(begin, self._zone), offsets)])
        )

    def _chunk(self, first: int, days: list[int], last: int) -> Chunk:
        count, begin = len(self._times), max(first, 1)
        indices = selected_indices(len(days) * count, self._rule.by_position)
        if indices is None:
            skipped = self._skipped if len(days) == 1 else _zero
            return Chunk(begin, last, lambda: len(days) * count, lambda since: self._batches(days, since), skipped)
        make_selected = partial(self._selected, days, indices)
        return Chunk(begin, days[-1] if days else 0, lambda: len(indices), lambda since: iter([make_selected()]))

    def _selected(self, days: list[int], indices: list[int]) -> Batch:
        positions = (divmod(index, len(self._times)) for index in indices)
        return [midnight(days[day], self._zone) + timedelta(seconds=self._times.at(time)) for day, time in positions]

    def _batches(self, days: list[int], since: int) -> Iterator[Batch]:
        if self._offsets:
            yield [day + at for day in (midnight(day, self._zone) for day in days) for at in self._offsets]
            return
        since = since if len(days) == 1 else 0
        for day, hour in ((day, hour) for day in days for hour in self._times.by_hour(since)):
            yield shifted(midnight(day, self._zone), [timedelta(seconds=second) for second in hour])

    def _skipped(self, since: int) -> int:
        return 0 if self._offsets else len(self._times) - sum(len(hour) for hour in self._times.by_hour(since))


def _offsets(rule: Rule) -> list[timedelta]:
    """The days of every period, where they are the same in each: weeks by weekday, and single days."""
    if rule.by_month or rule.by_month_day or rule.by_position:
        return []
    if rule.freq is Freq.WEEKLY:
        return sorted(timedelta(days=(day - rule.week_start) % 7) for _, day in rule.by_day)
    return [timedelta()] if rule.freq is Freq.DAILY and not rule.by_day else []


# -- days, hours, minutes, seconds -----------------------------------------------------------------------------------


def _day_chunks(rule: Rule, start: datetime, window: Window) -> Iterator[Chunk]:
    """The days of a rule whose periods are days or shorter."""
    clock = DayTimes(rule, start)
    for ordinal in clock.days(days_of(rule), (window.first or start).toordinal(), window.stop, window.work):
        size, make = partial(clock.size, ordinal), partial(clock.moments, ordinal, start.tzinfo)
        yield Chunk(ordinal, ordinal, size, make, partial(clock.skipped, ordinal))
