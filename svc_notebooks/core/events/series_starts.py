"""The starts of a simple series in Unix milliseconds, computed with integers for any window of time.

Most series have one rule of days, weeks, months or years, and few exceptions. Their instances begin on the days of the
rule (`shared_days`) at the time of day of the start. `instances.py` expands all other series, for which
`SeriesStarts.of` returns None.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from ..times import skips_day, to_millis
from .event_times import instant
from .instances import LAST_END, end_of_rule
from .rrule import Freq, Recurrence, Start
from .rrule_days import END, RuleDays, shared_days

DAY = 86_400_000

# The ordinal of the day with which Unix time begins.
EPOCH = date(1970, 1, 1).toordinal()

_MILLISECOND = timedelta(milliseconds=1)
_LAST_END = to_millis(LAST_END)
_MAX_INTERVAL = 60


@dataclass(frozen=True, slots=True)
class SeriesStarts:
    """The starts of a series, which `between` computes. The starts of an all-day series are midnights in UTC.

    `begin` is the start of the series, and `stop` is a time from which on there are no starts. `days` has the days of
    the rule, of which those after `last_day` do not count, `at` is the time of day, and `left_out` has the exceptions.
    """

    begin: int
    stop: int
    days: RuleDays
    last_day: int
    at: time
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
        begin, stop = to_millis(start), _LAST_END - length // _MILLISECOND
        rule = recurrence.rules[0]
        days, last_day = shared_days(rule, start), END - 1
        if rule.count is not None:
            counted = days.last_day(start.toordinal(), rule.count)
            if counted is None or skips_day(tz, start.toordinal(), counted):
                return None
            last_day = counted
        if (end := end_of_rule(rule, tz)) is not None:
            stop = min(stop, to_millis(end - timedelta.resolution) + 1)
        stop = min(stop, (last_day - EPOCH + 3) * DAY) if days.has_any else begin
        left_out = frozenset(to_millis(instant(moment, tz)) for moment in recurrence.exdates)
        return cls(begin, max(begin + 1, stop), days, last_day, start.timetz(), left_out)

    def between(self, low: int, high: int) -> list[int]:
        """Return the starts in [low, high) in order, each once. The start of the series always is one."""
        begin, stop = max(low, self.begin + 1), min(high, self.stop)
        starts: set[int] = set()  # a day that a time zone skips has the instant of the next day
        if begin < stop:
            first, last = begin // DAY + EPOCH - 2, min(self.last_day, stop // DAY + EPOCH + 2, END - 1)
            for year in range(date.fromordinal(first).year, date.fromordinal(last).year + 1) if first <= last else ():
                days = self.days.of_year(year)
                for day in map(date.fromordinal, days[bisect_left(days, first) : bisect_right(days, last)]):
                    moment = to_millis(datetime.combine(day, self.at))  # in a gap, with the offset before
                    if begin <= moment < stop:
                        starts.add(moment)
        if low <= self.begin < high:
            starts.add(self.begin)
        return sorted(starts - self.left_out)


def _is_simple(recurrence: Recurrence) -> bool:
    if len(recurrence.rules) != 1 or recurrence.exrules or recurrence.rdates:
        return False
    (rule,) = recurrence.rules
    if rule.freq > Freq.DAILY or rule.interval > _MAX_INTERVAL or rule.by_hour or rule.by_minute or rule.by_second:
        return False
    return rule.freq is not Freq.DAILY or not rule.by_position
