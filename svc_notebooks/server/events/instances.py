"""The instances of recurring events: made from the recurrence, but for those that were changed by themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from heapq import merge
from typing import Any

from ...core.clock import to_millis
from ...core.events.instances import Occurrence, occurrences
from ...core.events.rfc5545_times import Start, print_moment, read_moment
from ...core.events.times import in_minutes, instant, read_time
from ...core.events.validation import end_of, recurrence_of, start_of
from ...core.http.messages import JSONObject
from ...core.time_zones import zone
from ...core.work_budget import WorkBudget
from ..context.service_context import ServiceContext
from ..store.calendars import CalendarRow
from ..store.events import EventRow
from .resource import Found, stored

_ID = re.compile(r"(?P<series>.+)_(?P<moment>\d{8}(?:T\d{6}Z)?)", re.ASCII)


def instance_id(series: str, start: Start) -> str:
    """The id of the instance that begins then, if nobody moves it.

    >>> from datetime import UTC, date
    >>> instance_id("abcde", date(2026, 3, 10)), instance_id("abcde", datetime(2026, 3, 10, 14, tzinfo=UTC))
    ('abcde_20260310', 'abcde_20260310T140000Z')
    """
    return f"{series}_{print_moment(start)}"


def read_instance_id(text: str) -> tuple[str, Start] | None:
    """The series and the start that an instance's id names; None: it is no such id."""
    found = _ID.fullmatch(text)
    try:
        return (found["series"], read_moment(found["moment"])) if found else None
    except ValueError:
        return None  # the thirteenth month


def instances(
    context: ServiceContext,
    calendar: CalendarRow,
    row: EventRow,
    after: datetime | None,
    before: datetime | None,
    work: WorkBudget | None = None,
) -> Iterator[Found]:
    """The instances that overlap this window, in the order of their starts, cancelled ones among them.

    Raises WorkExceeded, where `work` has an end.
    """
    master, tz = stored(row), zone(calendar.zone)
    changed = {one.id for one in context.store.events.changed_instances(calendar.id, row.id)}
    moved = changed_instances(context, calendar, row, after, before)
    plain = (
        _plain(master, one, tz)
        for one in _occurrences(master.body, tz, after, before, work)
        if not changed or instance_id(row.id, one.start) not in changed
    )
    return merge(plain, moved, key=_by_start)


def changed_instances(
    context: ServiceContext, calendar: CalendarRow, row: EventRow, after: datetime | None, before: datetime | None
) -> Iterator[Found]:
    """Those of them that were changed by themselves."""
    master = stored(row)
    every = (_filled(master, one) for one in context.store.events.changed_instances(calendar.id, row.id))
    return iter(sorted((one for one in every if _overlaps(one.row, after, before)), key=_by_start))


def _by_start(found: Found) -> tuple[int, str]:
    return found.row.start, found.row.id


def _overlaps(row: EventRow, after: datetime | None, before: datetime | None) -> bool:
    early = after is not None and (row.end or row.start) <= to_millis(after)
    return not early and (before is None or row.start < to_millis(before))


def _occurrences(
    body: JSONObject, tz: tzinfo, after: datetime | None, before: datetime | None, work: WorkBudget | None = None
) -> Iterator[Occurrence]:
    recurrence, start, end = recurrence_of(body), start_of(body), end_of(body)
    return occurrences(recurrence, start, end, after=after, before=before, zone=tz, work=work)


def is_within(
    body: JSONObject, calendar: CalendarRow, after: datetime | None, before: datetime | None, work: WorkBudget
) -> bool:
    """Whether a recurring event has any instance in this window."""
    return next(_occurrences(body, zone(calendar.zone), after, before, work), None) is not None


def _plain(master: Found, occurrence: Occurrence, tz: tzinfo) -> Found:
    start, end = occurrence.start, occurrence.end
    body = {name: value for name, value in master.body.items() if name != "recurrence"}
    body |= {"start": _said(master.body["start"], start), "end": _said(master.body["end"], end)}
    body["originalStartTime"] = body["start"]
    return Found(
        master.row._replace(
            id=instance_id(master.row.id, start),
            series=master.row.id,
            recurring=0,
            start=to_millis(instant(start, tz)),
            end=to_millis(instant(end, tz)),
        ),
        body,
    )


def _said(like: Any, moment: Start) -> JSONObject:
    """A time object that says this moment, with the time zone of another."""
    if isinstance(moment, datetime):
        said: JSONObject = {"dateTime": in_minutes(moment).isoformat()}
    else:
        said = {"date": moment.isoformat()}
    return said | ({"timeZone": like["timeZone"]} if like.get("timeZone") else {})


def _filled(master: Found, row: EventRow) -> Found:
    """An instance that was changed: the series' fields under its own."""
    return Found(row, {name: one for name, one in master.body.items() if name != "recurrence"} | json.loads(row.body))


def find(context: ServiceContext, calendar: CalendarRow, event_id: str) -> Found | None:
    """The event of this id, an instance of a recurring one among them; None: there is none."""
    row = context.store.events.get(calendar.id, event_id)
    if row is not None:
        master = context.store.events.get(calendar.id, row.series) if row.series else None
        return _filled(stored(master), row) if master else stored(row)
    named = read_instance_id(event_id)
    series = context.store.events.get(calendar.id, named[0]) if named else None
    if named is None or series is None or not series.recurring:
        return None
    return _instance_at(calendar, stored(series), named[1])


def _instance_at(calendar: CalendarRow, master: Found, start: Start) -> Found | None:
    tz = zone(calendar.zone)
    try:
        begin = instant(start, tz)
        behind = begin + timedelta(days=1)
    except OverflowError:
        return None  # no event lies so near to the ends of all years
    for one in _occurrences(master.body, tz, begin, behind):
        if instance_id("", one.start) == instance_id("", start):
            return _plain(master, one, tz)
    return None


def exists_in_recurrence(calendar: CalendarRow, master: Found, row: EventRow) -> bool:
    """Whether the recurrence still has the instance that a changed one stands for."""
    original: Any = json.loads(row.body)["originalStartTime"]
    return _instance_at(calendar, master, read_time(original)) is not None
