"""The starts of a simple series in Unix milliseconds, computed with integers for any window of time.

Most series have one rule of days, weeks, months or years with few times of day, few exceptions and few single dates.
Their instances begin on the days of the rule (`shared_days`), each at those times of day. `instances.py` expands all
other series, for which `SeriesStarts.of` returns None.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from ..times import clock_changes, from_millis, skips_day, to_millis
from .instances import LAST_END, end_of_rule
from .rrule import Freq, Recurrence, Rule, Start
from .rrule_days import END, RuleDays, TimesOfDay, shared_days

DAY = 86_400_000
EPOCH = date(1970, 1, 1).toordinal()
"""The ordinal of the day with which Unix time begins."""

_MILLISECOND = timedelta(milliseconds=1)
_LAST_END = to_millis(LAST_END)
_MAX_INTERVAL = 60
_MAX_TIMES = 24


@dataclass(frozen=True, slots=True)
class SeriesStarts:
    """The starts of a series, which `between` computes. The starts of an all-day series are midnights in UTC.

    `begin` is the start of the series, and `stop` is a time from which on there are no starts. `days` has the days of
    the rule, which ends before `rule_stop`, and is None without a rule. `extra` has the dates to add, and `left_out`
    those to leave out.
    """

    begin: int
    stop: int
    days: RuleDays | None
    first_day: int
    last_day: int
    rule_stop: int
    times: tuple[time, ...]
    extra: tuple[int, ...]
    left_out: frozenset[int]

    @classmethod
    def of(cls, recurrence: Recurrence, start: Start, length: timedelta) -> SeriesStarts | None:
        """Return the starts of a series, or None if it is not simple. `length` is the duration of each instance.

        `start` is in the time zone of the series. The days of an all-day series are expanded in UTC.
        """
        if not _is_simple(recurrence):
            return None
        if not isinstance(start, datetime):
            start = datetime(start.year, start.month, start.day, tzinfo=UTC)
        tz = start.tzinfo or UTC
        start = start.astimezone(UTC).astimezone(tz)
        begin, last_start = to_millis(start), _LAST_END - length // _MILLISECOND
        extra = tuple(sorted(_millis_of(extra.start, tz) for extra in recurrence.rdates))
        left_out = frozenset(_millis_of(moment, tz) for moment in recurrence.exdates)
        times = _times(recurrence.rules, start)
        rule_days = last_day = None
        rule_stop = begin
        for rule in recurrence.rules:
            rule_days = shared_days(rule, start)
            last_day = END - 1
            if rule.count is not None:
                is_daily = times == (start.timetz(),)  # with another time, the start is not a time of the rule
                last_day = rule_days.last_day(start.toordinal(), rule.count) if is_daily else None
                if last_day is None or skips_day(tz, start.toordinal(), last_day):
                    return None
            end = last_start if rule.until is None else min(last_start, _end_in_millis(rule, tz))
            rule_stop = min(end, (last_day - EPOCH + 3) * DAY) if rule_days.has_any else begin
        stop = max(begin + 1, rule_stop, *(moment + 1 for moment in extra[-1:]))
        days = start.toordinal(), last_day or 0
        extra = tuple(moment for moment in extra if moment < max(last_start, begin + 1))
        return cls(begin, stop, rule_days, *days, rule_stop, times, extra, left_out)

    @property
    def first(self) -> int:
        """The first start, which is before the start of the series if a date to add is."""
        return min((self.begin, *self.extra[:1]))

    def before(self, end: int) -> SeriesStarts:
        """Return the starts without those from `end` on."""
        extra = tuple(moment for moment in self.extra if moment < end)
        return replace(self, stop=min(self.stop, end), rule_stop=min(self.rule_stop, end), extra=extra)

    def between(self, low: int, high: int) -> list[int]:
        """Return the starts in [low, high) in order, each once."""
        begin, starts = self.begin, []
        stop = min(high, self.rule_stop)
        if self.days is not None and stop > low and stop > begin:
            first = max(self.first_day, low // DAY + EPOCH - 2)
            last = min(self.last_day, stop // DAY + EPOCH + 2, END - 1)
            starts = self._of_days(self.days, first, last)
            starts = starts[bisect_left(starts, max(low, begin + 1)) : bisect_left(starts, stop)]
        if low <= begin < high:
            starts.insert(0, begin)
        if self.extra:
            starts = sorted({*starts, *self.extra[bisect_left(self.extra, low) : bisect_left(self.extra, high)]})
        return [moment for moment in starts if moment not in self.left_out] if self.left_out else starts

    def _of_days(self, days: RuleDays, first: int, last: int) -> list[int]:
        """Return the starts on the days from `first` to `last` in order, each once."""
        starts: list[int] = []
        for year in range(date.fromordinal(first).year, date.fromordinal(last).year + 1) if first <= last else ():
            matching = days.of_year(year)
            part = matching[bisect_left(matching, first) : bisect_right(matching, last)]
            for at in self.times if part else ():
                starts += _instants(part, year, at)
        if len(self.times) > 1:
            return sorted(set(starts))
        return list(dict.fromkeys(starts))  # a day that a time zone skips has the instant of the next day


@lru_cache(maxsize=64)
def year_of(millis: int) -> int:
    """Return the year of a time in Unix milliseconds, or the last year of instances for a later time."""
    return from_millis(min(millis, _LAST_END)).year


def _is_simple(recurrence: Recurrence) -> bool:
    has_durations = any(extra.duration is not None for extra in recurrence.rdates)
    if len(recurrence.rules) > 1 or recurrence.exrules or has_durations:
        return False
    return all(map(_is_simple_rule, recurrence.rules))


@lru_cache(maxsize=2048)
def _is_simple_rule(rule: Rule) -> bool:
    if rule.freq > Freq.DAILY or rule.interval > _MAX_INTERVAL:
        return False
    has_times = bool(rule.by_hour or rule.by_minute or rule.by_second)
    if rule.by_position and (has_times or rule.freq is Freq.DAILY):
        return False
    times = max(1, len(rule.by_hour)) * max(1, len(rule.by_minute)) * max(1, len(rule.by_second))
    return times <= _MAX_TIMES


def _times(rules: tuple[Rule, ...], start: datetime) -> tuple[time, ...]:
    """Return the times of day of a rule, in the time zone of the start."""
    at = start.timetz()
    for rule in rules:
        if rule.by_hour or rule.by_minute or rule.by_second:
            midnight = datetime(2000, 1, 1, tzinfo=UTC)
            times = sorted(offset for offset in TimesOfDay(rule, start).as_offsets())
            return tuple((midnight + offset).time().replace(tzinfo=at.tzinfo) for offset in times)
    return (at,)


def _millis_of(moment: Start, tz: tzinfo) -> int:
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=tz)
    return to_millis(moment.astimezone(UTC))


@lru_cache(maxsize=2048)
def _end_in_millis(rule: Rule, tz: tzinfo) -> int:
    """Return the first millisecond that UNTIL excludes."""
    end = end_of_rule(rule, tz)
    return _LAST_END if end is None else to_millis(end - timedelta.resolution) + 1


def _instants(days: list[int], year: int, at: time) -> list[int]:
    """Return the instants of days of one year. A skipped time of day has the offset before the gap (3.3.5)."""
    instants: list[int] = []
    done = 0
    for change in clock_changes(at.tzinfo or UTC, year):
        if change < days[0] or change > days[-1]:
            continue
        index = bisect_left(days, change, done)
        instants += _with_one_offset(days[done:index], at)
        done = index
        if days[done : done + 1] == [change]:
            instants += _with_one_offset([change], at)
            done += 1
    return instants + _with_one_offset(days[done:], at) if done else _with_one_offset(days, at)


def _with_one_offset(days: list[int], at: time) -> list[int]:
    """Return the instants of days without a clock change between them."""
    if not days:
        return []
    first = to_millis(datetime.combine(date.fromordinal(days[0]), at)) - days[0] * DAY
    return [first + day * DAY for day in days]
