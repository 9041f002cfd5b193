"""Ends a page of events early when the step budget for the expansion of recurring events is spent.

The page ends with the instances found so far, and its page token continues after the last instance. If the whole budget
(core/events/rrule.py) yields no instance, the page covers a period that is short enough for the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from heapq import merge
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from ...core.clock import from_millis, to_millis
from ...core.events.rrule import WorkBudget, WorkExceeded
from .event_resource import EventRecord
from .instances import Slot

Key: TypeAlias = "tuple[int, str]"
Keyed: TypeAlias = "tuple[Key, Entry]"
Streams: TypeAlias = "Callable[[datetime | None, datetime | None, WorkBudget], list[Iterator[Keyed]]]"

FIRST, LAST = -(2**62), 2**62
_DAYS_PER_YEAR = 366
_END = datetime(9999, 1, 1, tzinfo=UTC)
_MAX_YEARS = 400


class Entry(NamedTuple):
    """An event of a list. With a `slot`, it is the instance of the recurring event `event` at that time."""

    event: EventRecord
    slot: Slot | None = None


class PageEnds(Exception):
    """Raised when the step budget of a page is spent. The next page begins after `key`."""

    def __init__(self, key: Key) -> None:
        super().__init__(f"the next page begins after {key}")
        self.key = key


def in_order(
    streams: Streams,
    key: Key | None,
    window: tuple[datetime | None, datetime | None],
    begin: int,
    *,
    work: WorkBudget,
    steps: int,
    series: int,
) -> Iterator[Keyed]:
    """Yield the events of a time window in the order of their keys. Raises PageEnds when the step budget is spent.

    `streams` returns the ordered event streams of a window, which count their steps. `key` is the last key of the
    previous page, or None. `begin` is the start of the first recurring event in Unix milliseconds. `work` has `steps`
    steps. `series` is the number of recurring events.
    """
    last = after_key = key or (FIRST, "")
    try:
        for last, event in merge(*streams(*window, work), key=itemgetter(0)):
            yield last, event
        return
    except WorkExceeded:
        if last > after_key:
            raise PageEnds(last) from None
    yield from _in_order_for_years(streams, after_key, window, begin, steps, series)


def _in_order_for_years(
    streams: Streams,
    after_key: Key,
    window: tuple[datetime | None, datetime | None],
    begin: int,
    steps: int,
    series: int,
) -> Iterator[Keyed]:
    """Yield events like `in_order`, but only for as many years as the budget covers. Raises PageEnds at the end."""
    after, before = window[0], window[1] or _END
    years = max(1, min(_MAX_YEARS, steps // (_DAYS_PER_YEAR * max(1, series))))
    first = from_millis(begin) if after is None else after
    end = min(before, first + timedelta(days=years * _DAYS_PER_YEAR)) if first.year + years + 1 < _END.year else before
    last = after_key
    try:
        for last, event in merge(
            *streams(after, end, WorkBudget(steps + 2 * _DAYS_PER_YEAR * series)), key=itemgetter(0)
        ):
            yield last, event
    except WorkExceeded:  # the evaluation of COUNT is cached, so the next request gets further
        raise PageEnds(max(last, after_key)) from None
    if end < before:
        raise PageEnds((to_millis(end), ""))
