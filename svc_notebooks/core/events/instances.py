"""Expands recurrences into instances, lazily and in order, from any point in time (E-21).

Converts the local times of a rule to instants, so that 10:00 stays 10:00 in summer time. A skipped local
time has the offset before the gap, and a repeated local time means its first occurrence (RFC 5545, 3.3.5). Every
instance has the event's exact duration (3.8.5.3). COUNT includes the event's start, which is always the first instance,
and counts local times that become the same instant once, so that COUNT=n is n instances.

The local times come from a rule's days, its times of day and BYSETPOS. A chunk, which is a year or a day, can count its
times without generating them. An expansion far from the start therefore generates no earlier times, even with a COUNT.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache, partial
from heapq import merge
from itertools import chain, groupby, product, repeat, takewhile
from typing import NamedTuple

from ..times import clock_changes, skipped_times, skips_day
from .rrule import Freq, Recurrence, Rule, Start, WorkBudget
from .rrule_days import END, MAX_BATCH, Batch, DayTimes, TimesOfDay, days_of, midnight, shared_days

_AT_ONCE = 64  # the number of times that are generated together, unless a single day has more

_MARK_INTERVAL = 256  # the number of steps between two stored counts of times


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
    is_within_days = rule.freq > Freq.DAILY or (rule.freq is Freq.DAILY and rule.by_position)
    return (_day_chunks if is_within_days else _year_chunks)(rule, start, first, stop, work)


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
        return len(self.days.between(begin, end)) * (len(self._times) // self.days.times)

    def batches(self, begin: int, end: int) -> Iterator[Batch]:
        days, first, times = self.days.between(begin, end), midnight(begin, self._zone), self._times
        if self.days.times > 1:
            slots = (divmod(slot, self.days.times) for slot in days)
            yield [first + _DAYS[day - begin] + timedelta(seconds=times.at(index)) for day, index in slots]
        elif len(times) > MAX_BATCH:
            for day, hour in product(days, times.by_hour()):
                yield [first + _DAYS[day - begin] + timedelta(seconds=second) for second in hour]
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


# A duration longer than any clock change, so that bounds in local time exclude no instance (Samoa skipped a day).
_SLACK = timedelta(hours=26)

# The latest end of any instance except the first, so that times.py can print instances in every time zone.
LAST_END = datetime(9998, 12, 31, 9, tzinfo=UTC)

_MAX_DROPPED = 200_000
_MIDNIGHT = time()


class Occurrence(NamedTuple):
    """An instance of an event. `start` is a date (all-day event) or a date-time in the event's time zone."""

    start: Start
    duration: timedelta

    @property
    def end(self) -> Start:
        """The exclusive end, exactly `duration` after the start despite clock changes."""
        if isinstance(self.start, datetime):
            return (self.start.astimezone(UTC) + self.duration).astimezone(self.start.tzinfo)
        return self.start + self.duration


def duration(start: Start, end: Start) -> timedelta:
    """Return the duration of an event, in whole days for dates and in exact time for date-times."""
    if isinstance(start, datetime) and isinstance(end, datetime):
        return end.astimezone(UTC) - start.astimezone(UTC)
    return timedelta(days=end.toordinal() - start.toordinal())


def occurrences(
    recurrence: Recurrence,
    start: Start,
    end: Start,
    *,
    after: datetime | None = None,
    before: datetime | None = None,
    zone: tzinfo = UTC,
    work: WorkBudget | None = None,
) -> Iterator[Occurrence]:
    """Return the instances of an event in order, or only the instances that overlap the window [after, before).

    Args:
        start: A date, or a date-time in the time zone in which the recurrence is expanded.
        end: The exclusive end of the first instance, of the same type as `start`.
        after, before: The window's bounds with a time zone, or None for no bound.
        zone: The time zone in which the days of an all-day event begin, for its comparison with the window.
        work: The limit on the steps of the expansion, or None for no limit.

    Raises:
        WorkExceeded: The expansion took more steps than `work` allows.

    >>> lines = ["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=2"]
    >>> found = occurrences(Recurrence.parse(lines, date(2026, 11, 2)), date(2026, 11, 2), date(2026, 11, 3))
    >>> [str(one.start) for one in found]
    ['2026-11-02', '2026-11-09']
    """
    if isinstance(start, datetime):
        zone = start.tzinfo or zone
    else:  # days are expanded in UTC, because a zone can skip one (Samoa has no 2011-12-30)
        after, before = in_days(after, zone, is_exclusive=True), in_days(before, zone)
        zone = UTC
    begin, length = _in_zone(start, zone), duration(start, end)
    durations = {_in_zone(extra.start, zone): extra.duration for extra in recurrence.rdates if extra.duration}
    span = max([length, *durations.values()])
    first_end = begin.astimezone(UTC) + timedelta.resolution
    last = max(first_end, _add(LAST_END, -length) or first_end)  # later instances would end after `LAST_END`
    moments = _moments(recurrence, begin, _add(after, -span), last if before is None else min(before, last), work)
    if after is not None:
        moments = _skip_past(moments, durations, length, after.astimezone(UTC))
    if not isinstance(start, datetime):
        return (Occurrence(moment.date(), length) for moment in moments)
    if durations:
        return (Occurrence(moment, durations.get(moment, length)) for moment in moments)
    # Like `map(Occurrence, moments, repeat(length))`, without the Python code of the named tuple's constructor.
    return map(partial(tuple.__new__, Occurrence), zip(moments, repeat(length), strict=False))


def in_days(bound: datetime | None, zone: tzinfo, *, is_exclusive: bool = False) -> datetime | None:
    """Return the bound of a window for days that begin at midnight in UTC instead of midnight in `zone`.

    This is the midnight of the first day that begins at or after `bound`. If `is_exclusive`, only days that begin after
    `bound` count, and the result is the last moment before that day.
    """
    if bound is None or zone is UTC:
        return bound
    try:
        local = bound.astimezone(zone)
        days = [datetime.combine(local.date(), _MIDNIGHT, UTC) + timedelta(days=shift) for shift in range(-1, 3)]
    except OverflowError:
        return bound  # at the limits of datetime there are no events
    for day in days:
        begins = day.replace(tzinfo=zone).astimezone(UTC)
        if begins > bound or (begins == bound and not is_exclusive):
            return day - timedelta.resolution if is_exclusive else day
    return bound


def has_start(rule: Rule, start: Start) -> bool:
    """Return whether the start of an event is a time of its rule, as it should be (RFC 5545, 3.8.5.3).

    >>> (rule,) = Recurrence.parse(["RRULE:FREQ=WEEKLY;BYDAY=MO"], date(2026, 11, 2)).rules
    >>> has_start(rule, date(2026, 11, 2)), has_start(rule, date(2026, 11, 3))
    (True, False)
    """
    if rule == Rule(rule.freq, rule.interval, rule.count, rule.until, rule.week_start):
        return True  # without a part that begins with BY, the rule takes the day and the time of the start
    begin = _in_zone(start, getattr(start, "tzinfo", None) or UTC)
    return next(chain.from_iterable(rule_times(rule, begin)), None) == begin


def _in_zone(moment: Start, zone: tzinfo) -> datetime:
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, _MIDNIGHT, zone)
    return moment.astimezone(UTC).astimezone(zone)


def _add(instant: datetime | None, shift: timedelta) -> datetime | None:
    try:
        return None if instant is None else instant.astimezone(UTC) + shift
    except OverflowError:
        return None  # a bound outside of the valid years has no effect


def _skip_past(
    moments: Iterator[datetime], durations: dict[datetime, timedelta], length: timedelta, after: datetime
) -> Iterator[datetime]:
    limit = _add(after, -length) if not durations else None
    for moment in moments:
        if limit is not None and moment.astimezone(UTC) > limit:
            yield moment
            yield from moments
        elif moment.astimezone(UTC) + durations.get(moment, length) > after:
            yield moment


def _moments(
    recurrence: Recurrence,
    begin: datetime,
    first: datetime | None,
    before: datetime | None,
    work: WorkBudget | None = None,
) -> Iterator[datetime]:
    """Yield the distinct start times before `before`. May omit start times before `first` to save work."""
    streams = [_stream(rule, begin, first, before, work) for rule in recurrence.rules]
    zone = begin.tzinfo or UTC
    extras = sorted(moment for extra in recurrence.rdates if _is_before(moment := _in_zone(extra.start, zone), before))
    head = [begin] if _is_before(begin, before) else []
    if len(streams) == 1 and not extras:  # by far the most frequent case, which needs no merge
        first_moment = next(streams[0], None)
        again = [] if first_moment is None or [first_moment] == head else [first_moment]
        moments: Iterator[datetime] = chain(head, again, streams[0])
    else:
        moments = _unique(merge(head, extras, *streams))
    if recurrence.exrules:
        other = [_stream(rule, begin, first, before, work) for rule in recurrence.exrules]
        moments = _difference(moments, _unique(merge(*other)))
    left_out = {_in_zone(moment, zone) for moment in recurrence.exdates}
    return (moment for moment in moments if moment not in left_out) if left_out else moments


def _is_before(moment: datetime, before: datetime | None) -> bool:
    return before is None or moment.astimezone(UTC) < before


def _unique(moments: Iterator[datetime]) -> Iterator[datetime]:
    return (moment for moment, _ in groupby(moments))


def _difference(moments: Iterator[datetime], without: Iterator[datetime]) -> Iterator[datetime]:
    """Yield the times of `moments` that are not in `without`, up to `_MAX_DROPPED` excluded times in a row."""
    other, dropped = next(without, None), 0
    for moment in moments:
        while other is not None and other < moment:
            other = next(without, None)
        dropped = dropped + 1 if moment == other else 0
        if not dropped:
            yield moment
        elif dropped > _MAX_DROPPED:
            return


def _stream(
    rule: Rule, begin: datetime, first: datetime | None, before: datetime | None, work: WorkBudget | None
) -> Iterator[datetime]:
    zone = begin.tzinfo or UTC
    end = min((bound for bound in (end_of_rule(rule, zone), before) if bound is not None), default=None)
    latest = end and _wall_time(end, _SLACK, zone)
    earliest = _earliest_wall_time(first, zone)
    if rule.count is not None:
        batches = _counted(rule, begin, earliest, latest, work or WorkBudget())
    else:
        batches = _order(rule_times(rule, begin, earliest, latest, work))
    return chain.from_iterable(_until(batches, zone, end))


def _counted(
    rule: Rule, begin: datetime, first: datetime | None, before: datetime | None, work: WorkBudget
) -> Iterator[Batch]:
    """Yield the times of a rule up to its COUNT. May omit times before `first`, which are only counted."""
    first = max(begin, _before_gap(first or begin))
    left = (rule.count or 0) - times_before(rule, begin, first, work) + _merged(rule, begin, first, work)
    for batch in _order(rule_times(rule, begin, first, before, work)):
        if left <= 0:
            return
        yield batch[:left]
        left -= len(batch)


def _before_gap(moment: datetime) -> datetime:
    """Return a local time before which no time is moved past it: the begin of a near gap, or else `moment`."""
    for year in range((moment - _SLACK).year, moment.year + 1):
        for gap, length in skipped_times(moment.tzinfo or UTC, year):
            if gap < moment.replace(tzinfo=None) < gap + 2 * length:
                return gap.replace(tzinfo=moment.tzinfo)
    return moment


def _merged(rule: Rule, begin: datetime, first: datetime, work: WorkBudget) -> int:
    """Return how many times of a rule before `first` are moved out of a gap to another time of the rule."""
    zone, start, stop = begin.tzinfo or UTC, begin.replace(tzinfo=None), first.replace(tzinfo=None)
    is_daily = rule.freq <= Freq.DAILY and len(TimesOfDay(rule, begin)) == 1
    if start >= stop or (is_daily and not skips_day(zone, begin.toordinal(), first.toordinal())):
        return 0
    merged = 0
    for year in range(begin.year, first.year + 1):
        work.spend()
        merged += sum(_merged_in(rule, start, *gap) for gap in skipped_times(zone, year) if gap[0] < stop)
    return merged


@lru_cache(maxsize=8192)
def _merged_in(rule: Rule, start: datetime, gap: datetime, length: timedelta) -> int:
    batches = rule_times(rule, start, gap, gap + 2 * length)
    times = set(takewhile((gap + 2 * length).__gt__, chain.from_iterable(batches)))
    return sum(moment < gap + length and moment + length in times for moment in times)


def _earliest_wall_time(first: datetime | None, zone: tzinfo) -> datetime | None:
    """Return a lower bound for the local start times of instances at or after `first`, or None without a bound."""
    early, late = _add(first, -_SLACK), _add(first, _SLACK)
    if first is None or early is None or late is None:
        return None
    begin, end = early.astimezone(zone), late.astimezone(zone)
    return first.astimezone(zone) if begin.utcoffset() == end.utcoffset() else begin


def _order(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the batches, each local time once, with times that the clock skips moved to later times."""
    pending: Batch = []
    for batch in filter(None, batches):
        shown = _skip_gaps(batch)
        if pending or (shown is not batch and shown != batch):
            merged = sorted({*pending, *shown})
            beyond = bisect_right(merged, batch[-1])
            shown, pending = merged[:beyond], merged[beyond:]
        yield shown
    yield pending


def _skip_gaps(batch: Batch) -> Batch:
    zone, first, last = batch[0].tzinfo or UTC, batch[0].toordinal(), batch[-1].toordinal()
    years = range(batch[0].year, batch[-1].year + 1)
    changes = [day for year in years for day in clock_changes(zone, year) if first <= day <= last]
    if not changes:
        return batch
    return [_in_zone(moment, zone) if moment.toordinal() in changes else moment for moment in batch]


def end_of_rule(rule: Rule, zone: tzinfo) -> datetime | None:
    """Return the first time that UNTIL excludes, or None without UNTIL. An UNTIL date includes its whole day."""
    try:
        if isinstance(rule.until, datetime) and rule.until.tzinfo:
            return rule.until + timedelta.resolution
        if rule.until is not None:
            day = date(rule.until.year, rule.until.month, rule.until.day)
            return datetime.combine(day + timedelta(days=1), _MIDNIGHT, zone).astimezone(UTC)
    except OverflowError:
        pass  # UNTIL is the last valid date
    return None


def _until(batches: Iterator[Batch], zone: tzinfo, end: datetime | None) -> Iterator[Batch]:
    """Yield the times before `end`. Compares local times far from `end` and UTC times near `end`."""
    if end is None:
        yield from batches
        return
    earliest, latest = _wall_time(end, -_SLACK, zone), _wall_time(end, _SLACK, zone)
    for batch in batches:
        near = bisect_left(batch, earliest) if earliest else 0
        far = bisect_left(batch, latest) if latest else len(batch)
        kept = batch[:near] + [moment for moment in batch[near:far] if moment.astimezone(UTC) < end]
        yield kept
        if len(kept) < len(batch):
            return


def _wall_time(instant: datetime, shift: timedelta, zone: tzinfo) -> datetime | None:
    try:
        return (instant.astimezone(UTC) + shift).astimezone(zone)
    except OverflowError:
        return None  # outside of the valid years
