"""A recurring event, and the days on which it takes place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from ...core.events.instances import Occurrence, occurrences
from ...core.events.rrule import Recurrence, Start

DAY = timedelta(days=1)
_MAX_INSTANCES = 2000
"""The number of instances that are read; only hourly and more frequent rules have more in a few months."""


@dataclass(frozen=True, slots=True)
class RecurrencePlan:
    """The recurrence of an event with its start and end. Its methods raise ValueError for lines that are not valid."""

    lines: tuple[str, ...]
    start: Start
    end: Start

    @property
    def is_endless(self) -> bool:
        """True if a rule never ends."""
        return any(rule.count is None and rule.until is None for rule in Recurrence.parse(self.lines, self.start).rules)

    def instances(self, after: datetime | None = None, before: datetime | None = None) -> Iterator[Occurrence]:
        """Return the instances that overlap the window, or all of them."""
        recurrence = Recurrence.parse(self.lines, self.start)
        return occurrences(recurrence, self.start, self.end, after=after, before=before)


def event_days(plan: RecurrencePlan, first: date, beyond: date) -> set[date]:
    """Return the days from `first` to before `beyond` on which the event takes place, in its own time zone.

    >>> plan = RecurrencePlan(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> sorted(day.day for day in event_days(plan, date(2026, 11, 1), date(2026, 12, 1)))
    [2, 3]
    """
    days: set[date] = set()
    instances = plan.instances(_add(first, -DAY), _add(beyond, DAY))  # a day is more than any time zone's offset
    for instance in islice(instances, _MAX_INSTANCES):
        begins, ends = max(day_of(instance.start), first), min(last_day(instance.end), beyond - DAY)
        days.update(begins + n * DAY for n in range((ends - begins).days + 1))
    return days


def _add(day: date, step: timedelta) -> datetime | None:
    """Return midnight of the day plus the step, None beyond the range of datetime."""
    try:
        return datetime.combine(day, time(), UTC) + step
    except OverflowError:
        return None


def last_day(end: Start) -> date:
    """Return the last day of an event from its exclusive end. An end at midnight belongs to the day before."""
    return day_of(end - timedelta(microseconds=1)) if isinstance(end, datetime) else end - DAY


def day_of(moment: Start) -> date:
    """Return the day of a date or of a datetime in its zone."""
    return moment.date() if isinstance(moment, datetime) else moment
