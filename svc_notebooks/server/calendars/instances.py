"""Computes the instances of recurring events. Individually changed instances replace the computed instances."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from heapq import merge
from typing import Literal, NamedTuple

from ...core.api.operations import EVENT_ID
from ...core.errors.catalogue import refuse
from ...core.events.event_times import in_minutes, instant
from ...core.events.instances import Occurrence, occurrences
from ...core.events.rrule import Start, WorkBudget, print_moment, read_moment
from ...core.events.validation import end_of, recurrence_of, start_of
from ...core.resources.events import Event, EventTime
from ...core.times import from_millis, to_millis, zone
from ..dispatch.service_context import RequestContext, ServiceContext
from .event_resource import EventRecord, omit
from .tables import CalendarRow, EventRow

_INSTANCE_ID = re.compile(r"(?P<series>.+)_(?P<moment>\d{8}(?:T\d{6}Z)?)", re.ASCII)


def instance_id(series: str, start: Start) -> str:
    """Return the id of the instance of a series that originally begins at `start`.

    >>> from datetime import UTC, date
    >>> instance_id("abcde", date(2026, 3, 10)), instance_id("abcde", datetime(2026, 3, 10, 14, tzinfo=UTC))
    ('abcde_20260310', 'abcde_20260310T140000Z')
    """
    return f"{series}_{print_moment(start)}"


def read_instance_id(text: str) -> tuple[str, Start] | None:
    """Return the series id and the original start in an instance id. Return None if the text is not an instance id."""
    match = _INSTANCE_ID.fullmatch(text)
    try:
        return (match["series"], read_moment(match["moment"])) if match else None
    except ValueError:
        return None  # for example a thirteenth month


def instances(
    context: ServiceContext,
    calendar: CalendarRow,
    row: EventRow,
    after: datetime | None,
    before: datetime | None,
    work: WorkBudget | None = None,
    horizon: datetime | None = None,
) -> Iterator[EventRecord]:
    """Return the instances of a recurring event that overlap a time window, sorted by start.

    Cancelled instances are included, and from `horizon` on only changed instances. Raises WorkExceeded when the budget
    `work` is spent.
    """
    master = EventRecord(row)
    changed = {instance.id for instance in context.store.events.changed_instances(calendar.id, row.id)}
    moved = list_changed_instances(context, calendar, row, after, before)
    timed = instance_times(calendar, master, after, horizon or before, changed, work)
    return merge((build_instance(master, times) for _, times in timed), moved, key=_by_start)


class TimeSpan(NamedTuple):
    """The start and the exclusive end of a generated instance, in Unix milliseconds, and the zone or date of its texts.

    `date` is None for a timed instance, and has the first day and the day after the last day of an all-day instance.
    """

    start: int
    end: int
    tz: tzinfo
    dates: tuple[date, date] | None = None


def instance_times(
    calendar: CalendarRow,
    master: EventRecord,
    after: datetime | None,
    before: datetime | None,
    changed: Container[str] = (),
    work: WorkBudget | None = None,
) -> Iterator[tuple[str, TimeSpan]]:
    """Return the ids and times of the instances of a recurring event in a window, without those with `changed` ids.

    They are enough to sort the instances of many series. Raises WorkExceeded when the budget `work` is spent.
    """
    tz = zone(calendar.zone)
    every = _occurrences(master.body, tz, after, before, work)
    timed = ((instance_id(master.row.id, occurrence.start), _times_of(occurrence, tz)) for occurrence in every)
    return ((key, times) for key, times in timed if key not in changed) if changed else timed


@lru_cache(maxsize=8192)
def moment_text(millis: int) -> str:
    """Return the end of the id of a timed instance that begins at a time in Unix milliseconds."""
    return print_moment(from_millis(millis))


def _times_of(occurrence: Occurrence, tz: tzinfo) -> TimeSpan:
    start, end = occurrence.start, occurrence.end
    bounds = to_millis(instant(start, tz)), to_millis(instant(end, tz))
    if isinstance(start, datetime):
        return TimeSpan(*bounds, start.tzinfo or UTC)
    return TimeSpan(*bounds, tz, (start, end))


def list_changed_instances(
    context: ServiceContext, calendar: CalendarRow, row: EventRow, after: datetime | None, before: datetime | None
) -> Iterator[EventRecord]:
    """Return the individually changed instances that overlap a time window, in the order of their starts."""
    master = EventRecord(row)
    stored = context.store.events.changed_instances(calendar.id, row.id)
    changed = [with_series_fields(master, instance) for instance in stored if overlaps(instance, after, before)]
    return iter(sorted(changed, key=_by_start))


def _by_start(event: EventRecord) -> tuple[int, str]:
    return event.row.start, event.row.id


def overlaps(row: EventRow, after: datetime | None, before: datetime | None) -> bool:
    """Return True if an event that does not recur overlaps a time window. None means no limit on that side."""
    early = after is not None and (row.end or row.start) <= to_millis(after)
    return not early and (before is None or row.start < to_millis(before))


def _occurrences(
    body: Event, tz: tzinfo, after: datetime | None, before: datetime | None, work: WorkBudget | None = None
) -> Iterator[Occurrence]:
    recurrence, start, end = recurrence_of(body), start_of(body), end_of(body)
    return occurrences(recurrence, start, end, after=after, before=before, zone=tz, work=work)


def is_within(
    body: Event, calendar: CalendarRow, after: datetime | None, before: datetime | None, work: WorkBudget
) -> bool:
    """Return True if a recurring event has at least one instance in a time window."""
    return next(_occurrences(body, zone(calendar.zone), after, before, work), None) is not None


def build_instance(master: EventRecord, times: TimeSpan) -> EventRecord:
    """Return the instance of a recurring event at a time."""
    series, tz = master.body, times.tz
    if times.dates is None:
        suffix = moment_text(times.start)
        start = _time_object(series["start"], "dateTime", _time_text(times.start, tz))
        end = _time_object(series["end"], "dateTime", _time_text(times.end, tz))
    else:
        suffix = print_moment(times.dates[0])
        start = _time_object(series["start"], "date", times.dates[0].isoformat())
        end = _time_object(series["end"], "date", times.dates[1].isoformat())
    body: Event = {**series, "start": start, "originalStartTime": start, "end": end}
    body.pop("recurrence", None)
    name = master.row.id
    row = master.row._replace(id=f"{name}_{suffix}", series=name, recurring=0, start=times.start, end=times.end)
    return EventRecord(row, body)


def _time_text(millis: int, tz: tzinfo) -> str:
    return in_minutes(from_millis(millis).astimezone(tz)).isoformat()


def _time_object(template: EventTime, name: Literal["date", "dateTime"], text: str) -> EventTime:
    time: EventTime = {"date": text} if name == "date" else {"dateTime": text}
    if template.get("timeZone"):
        time["timeZone"] = template["timeZone"]
    return time


def with_series_fields(master: EventRecord, row: EventRow) -> EventRecord:
    """Return a changed instance. Fields that the instance does not have itself are taken from its series."""
    own: Event = json.loads(row.body)
    return EventRecord(row, {**omit(master.body, "recurrence"), **own})


def find_event(context: ServiceContext, calendar: CalendarRow, event_id: str) -> EventRecord | None:
    """Return the event or the instance with this id. Return None if there is no such event in the calendar."""
    row = context.store.events.get(calendar.id, event_id)
    if row is not None:
        master = context.store.events.get(calendar.id, row.series) if row.series else None
        return with_series_fields(EventRecord(master), row) if master else EventRecord(row)
    parsed = read_instance_id(event_id)
    series = context.store.events.get(calendar.id, parsed[0]) if parsed else None
    if parsed is None or series is None or not series.recurring:
        return None
    return instance_at(calendar, EventRecord(series), parsed[1])


def event_in_path(context: ServiceContext, request: RequestContext, calendar: CalendarRow) -> EventRecord:
    """Return the event or instance whose id is in the path. Raises ApiError (404) if there is no such event."""
    event_id = request.path_params[EVENT_ID]
    event = find_event(context, calendar, event_id)
    if event is None:
        raise refuse("eventNotFound", eventId=event_id[:200])
    return event


def instance_at(calendar: CalendarRow, master: EventRecord, start: Start) -> EventRecord | None:
    """Return the instance of a recurring event that originally begins at `start`, or None if there is none."""
    tz = zone(calendar.zone)
    try:
        begin = instant(start, tz)
        end = begin + timedelta(days=1)
        begin -= timedelta(days=not isinstance(start, datetime))  # a day that the zone skips has no length
    except OverflowError:
        return None  # at the limits of datetime there are no events
    for occurrence in _occurrences(master.body, tz, begin, end):
        if instance_id("", occurrence.start) == instance_id("", start):
            return build_instance(master, _times_of(occurrence, tz))
    return None
