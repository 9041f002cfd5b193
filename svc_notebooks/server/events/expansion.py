"""Expands the recurring events of a calendar into a list of instances, in the order of their starts and ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from heapq import merge
from operator import itemgetter

from ...core.clock import from_millis, to_millis
from ...core.work_budget import WorkBudget
from ..context.cursors import Cursor
from ..context.service_context import ServiceContext
from ..tables.calendars import CalendarRow
from ..tables.events import EventRow
from .instances import Slot, instance_slots, list_changed_instances, with_series_fields
from .list_criteria import ListCriteria
from .page_budget import FIRST, LAST, Entry, Key, Keyed, in_order
from .resource import EventRecord, event_from_row
from .series import ParsedSeries, series_of, sorted_instances

_ROWS_PER_QUERY = 250


def expand_calendar(
    context: ServiceContext,
    calendar: CalendarRow,
    criteria: ListCriteria,
    key: Key | None,
    budget: WorkBudget | None = None,
) -> Cursor:
    """Return a cursor over the single events and the instances of a calendar after a key. Iteration raises PageEnds.

    With a `budget`, which several calendars can share, iteration raises WorkExceeded instead.
    """
    before = _millis(criteria.before, LAST)
    series = [each for each in series_of(context, calendar) if each.row.start < before]
    changed = context.store.events.changed_ids(calendar.id)
    stored = lambda before: _stored_events(context, calendar, criteria, key, before)  # noqa: E731
    return _expand(context, calendar, criteria, key, stored, series, changed, budget)


def expand_event(
    context: ServiceContext, calendar: CalendarRow, criteria: ListCriteria, key: Key | None, row: EventRow
) -> Cursor:
    """Return a cursor over the instances of one recurring event after a key. Iteration raises PageEnds."""
    after = _page_start(criteria.after, key)
    changed = {instance.id for instance in context.store.events.changed_instances(calendar.id, row.id)}
    stored = lambda before: list_changed_instances(context, calendar, row, after, before)  # noqa: E731
    return _expand(context, calendar, criteria, key, stored, [ParsedSeries.of(row)], {row.id: changed})


def _expand(
    context: ServiceContext,
    calendar: CalendarRow,
    criteria: ListCriteria,
    key: Key | None,
    stored: Callable[[datetime | None], Iterable[EventRecord]],
    recurring: list[ParsedSeries],
    changed: dict[str, set[str]],
    budget: WorkBudget | None = None,
) -> Cursor:
    """Return a cursor over stored events before a time, and over generated instances that were not changed."""

    recurring = [each for each in recurring if _is_listed(criteria, each.row)]
    simple = [each for each in recurring if each.starts is not None]
    others = [event_from_row(each.row) for each in recurring if each.starts is None]

    def streams(after: datetime | None, before: datetime | None, work: WorkBudget) -> list[Iterator[Keyed]]:
        slots = (
            (master, instance_slots(calendar, master, after, before, changed.get(master.row.id, ()), work))
            for master in others
        )
        instances = sorted_instances(calendar, simple, (after, before), changed, work)
        return [by_start(stored(before)), instances, *(_instances(master, each) for master, each in slots)]

    steps = context.policy.expansion_steps
    work, begin = WorkBudget(steps), min((each.row.start for each in recurring), default=0)
    window = _page_start(criteria.after, key), criteria.before
    if budget is None:
        entries = in_order(streams, key, window, begin, work=work, steps=steps, series=len(recurring))
    else:
        entries = merge(*streams(*window, budget), key=itemgetter(0))
    listed = (entry for entry in entries if entry[1].slot or criteria.matches(entry[1].event))
    return Cursor(listed, len(recurring), work)


def _is_listed(criteria: ListCriteria, row: EventRow) -> bool:
    return criteria.accepts(row) and (not criteria.filters or criteria.passes(event_from_row(row)))


def _instances(master: EventRecord, slots: Iterator[tuple[str, Slot]]) -> Iterator[Keyed]:
    return (((slot.start, instance_id), Entry(master, slot)) for instance_id, slot in slots)


def _stored_events(
    context: ServiceContext, calendar: CalendarRow, criteria: ListCriteria, key: Key | None, before: datetime | None
) -> Iterator[EventRecord]:
    """Yield the single events and the changed instances in the window. An instance may be moved far from its series."""
    masters: dict[str, EventRecord | None] = {}
    window = _millis(criteria.after, FIRST), _millis(before, LAST)
    for row in context.store.events.within(calendar.id, window, *(key or (FIRST, "")), _ROWS_PER_QUERY):
        if row.series is None:
            yield event_from_row(row)
            continue
        if row.series not in masters:
            series = context.store.events.get(calendar.id, row.series)
            is_listed = series and series.recurring and (criteria.deleted or not series.cancelled)
            masters[row.series] = event_from_row(series) if series and is_listed else None
        if master := masters[row.series]:
            yield with_series_fields(master, row)


def by_start(events: Iterable[EventRecord]) -> Iterator[Keyed]:
    """Return the events with their keys, which are the start in Unix milliseconds and the id."""
    return (((event.row.start, event.row.id), Entry(event)) for event in events)


def _page_start(after: datetime | None, key: Key | None) -> datetime | None:
    """Return the later of `after` and the start of the previous page's last event, or None if neither is set."""
    if key is None or key[0] == FIRST:
        return after
    start = from_millis(key[0])
    return start if after is None else max(start, after)


def _millis(bound: datetime | None, unlimited: int) -> int:
    return unlimited if bound is None else to_millis(bound)
