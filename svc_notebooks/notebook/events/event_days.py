"""The days on which an event takes place."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

from ...core.events.rrule import Start
from ...core.events.series import Series

DAY = timedelta(days=1)
_MAX_INSTANCES = 2000
"""The largest number of instances that `event_days` reads. Only hourly or more frequent rules exceed this number in a
few months."""


def event_days(series: Series, first: date, beyond: date) -> set[date]:
    """Return the dates of the event, in its time zone, from `first` up to but not including `beyond`.

    >>> series = Series(("RRULE:FREQ=DAILY;COUNT=2",), date(2026, 11, 2), date(2026, 11, 3))
    >>> sorted(day.day for day in event_days(series, date(2026, 11, 1), date(2026, 12, 1)))
    [2, 3]
    """
    days: set[date] = set()
    instances = series.instances(
        _add(first, -DAY), _add(beyond, DAY)
    )  # one day is more than the UTC offset of any zone
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
