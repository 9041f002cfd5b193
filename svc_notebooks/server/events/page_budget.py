"""Ends a page of events early when the budget for expanding recurring events is spent.

The budget counts steps (core/work_budget.py). When it is spent, the instances so far are the page, and its token
continues from there: no instance is left out and none is on two pages. Where a whole budget yields no instance, the
page covers a stretch of time that is short enough for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from heapq import merge
from typing import TypeAlias

from ...core.clock import from_millis, to_millis
from ...core.work_budget import WorkBudget, WorkExceeded
from .resource import EventRecord

Key: TypeAlias = "tuple[int, str]"
Keyed: TypeAlias = "tuple[Key, EventRecord]"
Streams: TypeAlias = "Callable[[datetime | None, datetime | None, WorkBudget], list[Iterator[Keyed]]]"

FIRST, LAST = -(2**62), 2**62
_DAYS_PER_YEAR = 366  # of a year
_END = datetime(9999, 1, 1, tzinfo=UTC)
_MAX_YEARS = 400


class PageEnds(Exception):
    """The budget is spent; the next page begins behind `key`."""

    def __init__(self, key: Key) -> None:
        super().__init__(f"the next page begins behind {key}")
        self.key = key


def in_order(
    streams: Streams,
    key: Key | None,
    window: tuple[datetime | None, datetime | None],
    begin: int,
    *,
    steps: int,
    series: int,
) -> Iterator[Keyed]:
    """What the streams have in a window, in the order of keys, as far as the budget goes.

    Args:
        streams: makes the streams of a window, each in order; they count their steps.
        key: what is not behind it was on a page before; the window begins there.
        begin: when the first of the events begins, in Unix milliseconds.
        steps: the budget.
        series: how many recurring events there are.

    Raises:
        PageEnds: the budget is spent.
    """
    last = after_key = key or (FIRST, "")
    try:
        for last, event in merge(*streams(*window, WorkBudget(steps)), key=_key):
            yield last, event
        return
    except WorkExceeded:
        if last > after_key:
            raise PageEnds(last) from None
    yield from _bounded_period(streams, after_key, window, begin, steps, series)


def _bounded_period(
    streams: Streams,
    after_key: Key,
    window: tuple[datetime | None, datetime | None],
    begin: int,
    steps: int,
    series: int,
) -> Iterator[Keyed]:
    """As `in_order`, for so many years that looking at each day of them is within the budget."""
    after, before = window[0], window[1] or _END
    years = max(1, min(_MAX_YEARS, steps // (_DAYS_PER_YEAR * max(1, series))))
    first = from_millis(begin) if after is None else after
    end = min(before, first + timedelta(days=years * _DAYS_PER_YEAR)) if first.year + years + 1 < _END.year else before
    last = after_key
    try:
        for last, event in merge(*streams(after, end, WorkBudget(steps + 2 * _DAYS_PER_YEAR * series)), key=_key):
            yield last, event
    except WorkExceeded:  # what a COUNT has counted is remembered: the same page gets further next time
        raise PageEnds(max(last, after_key)) from None
    if end < before:
        raise PageEnds((to_millis(end), ""))


def _key(keyed: Keyed) -> Key:
    return keyed[0]
