"""Expands a rule into local times from its days, its times of day and BYSETPOS.

A chunk, which is a year or a day, can count its times without generating them. An expansion far from the start
therefore generates no earlier times, even with a COUNT.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from itertools import chain, product, takewhile
from typing import NamedTuple

from .rrule import Freq, Rule, WorkBudget
from .rrule_days import (
    END,
    MAX_BATCH,
    Batch,
    DayTimes,
    TimesOfDay,
    days_of,
    midnight,
    offsets_from,
    shared_days,
)

_AT_ONCE = 64
"""The number of times that are generated together, unless a single day has more."""

_MARK_INTERVAL = 256
"""The number of steps between two stored counts of times."""


class Chunk(NamedTuple):
    """A group of times that can be counted without generating the times.

    `begin` and `last` are the ordinals of the first and last day, `size` returns the number of times, and `generate`
    the times.
    """

    begin: int
    last: int
    size: Callable[[], int]
    generate: Callable[[], Iterator[Batch]]


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
    begin = max(start, first or start)
    stop = END if before is None else min(END, before.toordinal() + 1)
    chunks = _chunks(rule, start, begin.toordinal(), stop, work or WorkBudget())
    return _from_start(chain.from_iterable(chunk.generate() for chunk in chunks), begin)


def _chunks(rule: Rule, start: datetime, first: int, stop: int, work: WorkBudget) -> Iterator[Chunk]:
    """Yield the chunks of times on the days [first, stop). The day `first` is not before the start."""
    return (_day_chunks if _is_within_days(rule) else _year_chunks)(rule, start, first, stop, work)


def _is_within_days(rule: Rule) -> bool:
    """Return whether DayTimes expands the rule, because its periods are parts of a day, or days with BYSETPOS."""
    return rule.freq > Freq.DAILY or (rule.freq is Freq.DAILY and bool(rule.by_position))


def _from_start(batches: Iterator[Batch], start: datetime) -> Iterator[Batch]:
    for batch in batches:
        if batch and batch[-1] >= start:
            yield batch[bisect_left(batch, start) :]
            break
    yield from batches


# -- COUNT -----------------------------------------------------------------------------------------------------------


def times_before(rule: Rule, start: datetime, first: datetime, work: WorkBudget | None = None) -> int:
    """Return the number of a rule's local times in [start, first), plus one if the start is not in the rule.

    Counts the times of most days without generating them. Raises WorkExceeded if the count takes more steps than `work`
    allows.
    """
    work, day = work or WorkBudget(), first.toordinal()
    marks = _marks(rule, start.replace(tzinfo=None))
    if (mark := max((mark for mark in tuple(marks) if mark <= day), default=None)) is not None:
        return _count(_chunks(rule, start, mark, day + 1, work), first, work, marks, marks[mark])
    chunks = _chunks(rule, start, start.toordinal(), day + 1, work)
    head = next(chunks, None)
    if head is None:
        return 1
    begins = next(_from_start(head.generate(), start), [])
    count = _size_before(head, first) - _size_before(head, start) + (begins[:1] != [start])
    return _count(chunks, first, work, marks, count)


@lru_cache(maxsize=1024)
def _marks(_rule: Rule, _start: datetime) -> dict[int, int]:
    """Return the numbers of times before some days, for a rule and a local start, so that they are counted only once.

    They are equal in all time zones.
    """
    return {}


def _count(chunks: Iterator[Chunk], first: datetime, work: WorkBudget, marks: dict[int, int], count: int) -> int:
    """Return `count` and the number of the chunks' times before `first`. Stores counts in `marks` at intervals."""
    marked_at = work.done
    for chunk in chunks:
        if work.done - marked_at >= _MARK_INTERVAL:
            marks[chunk.begin] = count
            marked_at = work.done
        count += _size_before(chunk, first)
    return count


def _size_before(chunk: Chunk, moment: datetime) -> int:
    """Return the number of a chunk's times before `moment`."""
    if chunk.last < moment.toordinal():
        return chunk.size()
    batches = takewhile(lambda batch: not batch or batch[0] < moment, chunk.generate())
    return sum(bisect_left(batch, moment) for batch in batches)


# -- years, months, weeks, days --------------------------------------------------------------------------------------


def _year_chunks(rule: Rule, start: datetime, first: int, stop: int, work: WorkBudget) -> Iterator[Chunk]:
    times = _YearTimes(rule, start)
    if not times.days.has_any or first >= stop:
        return
    for year in range(date.fromordinal(first).year, date.fromordinal(stop - 1).year + 1):
        work.spend(_STEPS_PER_YEAR)
        begin, end = max(first, date(year, 1, 1).toordinal()), min(stop, date(year + 1, 1, 1).toordinal())
        yield Chunk(begin, end - 1, partial(times.size, begin, end), partial(times.batches, begin, end))


_STEPS_PER_YEAR = 12
_DAYS = [timedelta(days=number) for number in range(366)]


class _YearTimes:
    """The times of a rule whose periods are days, weeks, months or years, on the days [begin, end) of a year."""

    def __init__(self, rule: Rule, start: datetime) -> None:
        self._zone, self._times = start.tzinfo, TimesOfDay(rule, start)
        self.days = shared_days(rule, start, len(self._times) if rule.by_position else 1)

    def size(self, begin: int, end: int) -> int:
        return self.days.count(begin, end) * (len(self._times) // self.days.times)

    def batches(self, begin: int, end: int) -> Iterator[Batch]:
        days, first, times = self.days.between(begin, end), midnight(begin, self._zone), self._times
        if self.days.times > 1:
            slots = (divmod(slot, self.days.times) for slot in days)
            yield [first + _DAYS[day - begin] + timedelta(seconds=times.at(index)) for day, index in slots]
        elif len(times) > MAX_BATCH:
            for day, hour in product(days, times.by_hour()):
                yield offsets_from(first + _DAYS[day - begin], [timedelta(seconds=second) for second in hour])
        else:
            offsets = times.as_offsets()
            for at in range(0, len(days), max(1, _AT_ONCE // len(offsets))):
                part = days[at : at + max(1, _AT_ONCE // len(offsets))]
                yield [day + offset for day in [first + _DAYS[day - begin] for day in part] for offset in offsets]


# -- days, hours, minutes, seconds -----------------------------------------------------------------------------------


def _day_chunks(rule: Rule, start: datetime, first: int, stop: int, work: WorkBudget) -> Iterator[Chunk]:
    clock = DayTimes(rule, start)
    for day in clock.days(days_of(rule), first, stop, work):
        yield Chunk(day, day, partial(clock.size, day), partial(clock.moments, day, start.tzinfo))
