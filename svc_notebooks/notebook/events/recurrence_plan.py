"""The start, end and recurrence of an event, and the days on which the event takes place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from ...core.events.instances import Occurrence, occurrences
from ...core.events.rrule import Recurrence, Start

DAY = timedelta(days=1)
_MAX_INSTANCES = 2000
"""The largest number of instances that `event_days` reads. Only hourly or more frequent rules exceed this number in a
few months."""


@dataclass(frozen=True, slots=True)
class RecurrencePlan:
    """The start, the end and the recurrence lines of an event. Its methods raise ValueError for an invalid line."""

    lines: tuple[str, ...]
    start: Start
    end: Start

    @property
    def is_endless(self) -> bool:
        """True if a recurrence rule has neither COUNT nor UNTIL, so that the event recurs forever."""
        return any(rule.count is None and rule.until is None for rule in Recurrence.parse(self.lines, self.start).rules)

    def instances(self, after: datetime | None = None, before: datetime | None = None) -> Iterator[Occurrence]:
        """Return an iterator of the instances that end after `after` and start before `before`. None means no bound."""
        recurrence = Recurrence.parse(self.lines, self.start)
        return occurrences(recurrence, self.start, self.end, after=after, before=before)


def event_days(plan: RecurrencePlan, first: date, beyond: date) -> set[date]:
    """Return the dates of the event, in its time zone, from `first` up to but not including `beyond`.

    >>> plan = RecurrencePlan(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> sorted(day.day for day in event_days(plan, date(2026, 11, 1), date(2026, 12, 1)))
    [2, 3]
    """
    days: set[date] = set()
    instances = plan.instances(_add(first, -DAY), _add(beyond, DAY))  # one day is more than the UTC offset of any zone
    for instance in islice(instances, _MAX_INSTANCES):
        begins, ends = max(day_of(instance.start), first), min(last_day(instance.end), beyond - DAY)
        days.update(begins + n * DAY for n in range((ends - begins).days + 1))
    return days


def _add(day: date, step: timedelta) -> datetime | None:
    """Return midnight (UTC) of `day` plus `step`. Return None if the result is out of the range of datetime."""
    try:
        return datetime.combine(day, time(), UTC) + step
    except OverflowError:
        return None


def last_day(end: Start) -> date:
    """Return the last day of an event with the exclusive end `end`. If the end is midnight, return the day before."""
    return day_of(end - timedelta(microseconds=1)) if isinstance(end, datetime) else end - DAY


def day_of(moment: Start) -> date:
    """Return a date unchanged, and a datetime as the date in its own time zone."""
    return moment.date() if isinstance(moment, datetime) else moment
