"""An event that recurs, and the days on which it takes place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from ...core.events.instances import Occurrence, occurrences
from ...core.events.rrule import Recurrence, Start

DAY = timedelta(days=1)
_MAX_INSTANCES = 2000
"""Instances that are looked at; only rules of hours and less have more in a few months."""


@dataclass(frozen=True, slots=True)
class RecurrencePlan:
    """An event with its recurrence, whose times can be worked out. Raises ValueError for lines that are wrong."""

    lines: tuple[str, ...]
    start: Start
    end: Start

    @property
    def is_endless(self) -> bool:
        """Whether a rule goes on for ever."""
        return any(rule.count is None and rule.until is None for rule in Recurrence.parse(self.lines, self.start).rules)

    def instances(self, after: datetime | None = None, before: datetime | None = None) -> Iterator[Occurrence]:
        """Those that overlap the window, or all from the first one on."""
        recurrence = Recurrence.parse(self.lines, self.start)
        return occurrences(recurrence, self.start, self.end, after=after, before=before)


def marked_days(plan: RecurrencePlan, first: date, beyond: date) -> set[date]:
    """The days from `first` to before `beyond` on which something takes place, on the wall clock of the event.

    >>> plan = RecurrencePlan(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> sorted(day.day for day in marked_days(plan, date(2026, 11, 1), date(2026, 12, 1)))
    [2, 3]
    """
    instances = plan.instances(_edge(first, -DAY), _edge(beyond, DAY))  # whatever the zone is, a day is enough
    return {day for instance in islice(instances, _MAX_INSTANCES) for day in _days_of(instance, first, beyond)}


def _edge(day: date, step: timedelta) -> datetime | None:
    """A bound of the time that is looked at; none where time itself ends."""
    try:
        return datetime.combine(day, time(), UTC) + step
    except OverflowError:
        return None


def _days_of(occurrence: Occurrence, first: date, beyond: date) -> Iterator[date]:
    begins, ends = max(day_of(occurrence.start), first), min(last_day(occurrence.end), beyond - DAY)
    yield from (begins + n * DAY for n in range((ends - begins).days + 1))


def last_day(end: Start) -> date:
    """The end is exclusive: midnight belongs to the day before."""
    return day_of(end - timedelta(microseconds=1)) if isinstance(end, datetime) else end - DAY


def day_of(moment: Start) -> date:
    """The day on the wall clock."""
    return moment.date() if isinstance(moment, datetime) else moment
