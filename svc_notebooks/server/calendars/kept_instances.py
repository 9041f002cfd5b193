"""Decides what becomes of the changed and cancelled instances of a series when its times or its recurrence change.

An instance stays if the series still has its original start, which moves as the start of the series does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from ...core.events.instances import duration, occurrences
from ...core.events.rrule import Start
from ...core.events.times import Shift, clock_time, read_time
from ...core.events.validation import end_of, recurrence_of, start_of
from ...core.resources.events import Event
from ...core.time_zones import skipped_times
from .event_resource import EventRecord, pick
from .instances import instance_at, with_times
from .tables import CalendarRow, EventRow

_TIMES = ("start", "end", "recurrence")
_DAY = timedelta(days=1)
_COMPARED = 60
"""The number of instances that are compared to decide whether a series has moved to other days."""


def kept_instances(
    calendar: CalendarRow, before: Event, series: EventRecord, rows: list[EventRow]
) -> dict[str, EventRow]:
    """Return the rows of changed instances after a change of their series, by their ids before the change.

    `before` has the fields of the series before the change. Rows that are missing are no longer in the series.
    """
    if pick(before, _TIMES) == pick(series.body, _TIMES):
        return {row.id: row for row in rows}
    old = start_of(before)
    originals = {row.id: read_time(json.loads(row.body)["originalStartTime"]) for row in rows}
    options = [
        _instances(calendar, series, originals, shift) for shift in (_shift(before, series.body), Shift(old, old))
    ]
    instances = max(options, key=len)  # the first, if both keep the same number of instances
    return {row.id: _row(row, before, instances[row.id], calendar) for row in rows if row.id in instances}


def _instances(
    calendar: CalendarRow, series: EventRecord, originals: dict[str, Start], shift: Shift
) -> dict[str, EventRecord]:
    """Return the instances of a series at moved original starts, by the ids of these."""
    instances = (
        (event_id, instance_at(calendar, series, start))
        for event_id, original in originals.items()
        for start in _moved(original, shift)
    )
    return {event_id: instance for event_id, instance in instances if instance is not None}


def _shift(before: Event, after: Event) -> Shift:
    """Return the move of a series. It moves the days only if those of all instances have moved, not the start alone."""
    old, new = start_of(before), start_of(after)
    shift = Shift(old, new)
    days = zip(_clock_times(before), _clock_times(after), strict=False)
    if all((clock + shift.days * _DAY).date() == moved.date() for clock, moved in days):
        return shift
    return Shift(old, Shift(clock_time(new), new).move(datetime.combine(old, clock_time(new).time())))


def _clock_times(series: Event) -> Iterator[datetime]:
    every = occurrences(recurrence_of(series), start_of(series), end_of(series))
    return (clock_time(each.start) for each in islice(every, _COMPARED))


def _moved(original: Start, shift: Shift) -> Iterator[Start]:
    """Yield the times to which an original start may have moved. Before the last one, it was moved out of a gap."""
    if isinstance(original, datetime) and isinstance(shift.before, datetime):
        clock = original.astimezone(shift.before.tzinfo)
        for gap, length in skipped_times(clock.tzinfo or UTC, clock.year):
            if gap + length <= clock.replace(tzinfo=None) < gap + 2 * length:
                yield shift.move(clock - length)
    yield shift.move(original)


def _row(row: EventRow, before: Event, instance: EventRecord, calendar: CalendarRow) -> EventRow:
    """Return the row of a changed instance at its place in the changed series. Its own times do not change."""
    own: Event = json.loads(row.body)
    is_at_original = read_time(own["start"]) == read_time(own["originalStartTime"])
    has_length = duration(start_of(own), end_of(own)) == duration(start_of(before), end_of(before))
    moved = ("start", "end", "originalStartTime") if is_at_original and has_length else ("originalStartTime",)
    body: Event = {**own, **pick(instance.body, moved)}
    if body == own:
        return row
    row = row._replace(id=instance.row.id, updated=instance.row.updated, body=json.dumps(body))
    return with_times(row, body, calendar)
