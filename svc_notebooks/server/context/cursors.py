"""Keeps the cursors of lists of events open between pages, so that a page does not expand all recurring events again.

A cursor is only a cache: without it, the next page is expanded from the key in its page token, with the same result.
The key of a cursor contains the state of the calendar, so a cursor from before a change is never used.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from ...core.work_budget import WorkBudget

MAX_OPEN_SERIES = 30_000
"""The largest number of recurring events of all open cursors together. Each takes about 2 KB of memory."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The rest of a list of events. `work` limits the steps that each page may take.

    `series` is the number of recurring events that are expanded, or None if the list is cheap to begin at any key.
    `shared` has the JSON that the instances of each series have in common.
    """

    entries: Iterator[Any]
    series: int | None = None
    work: WorkBudget | None = None
    shared: dict[int, str] = field(default_factory=dict)


class CursorCache:
    """The open cursors of a service, by keys that identify the list, the next page and the state of the calendar."""

    def __init__(self, most: int = MAX_OPEN_SERIES) -> None:
        self._most = most
        self._open: OrderedDict[Hashable, Cursor] = OrderedDict()
        self._lock = Lock()

    def take(self, key: Hashable) -> Cursor | None:
        """Remove and return the cursor with a key, with a full budget, or None if no such cursor is open."""
        with self._lock:
            cursor = self._open.pop(key, None)
        if cursor and cursor.work:
            cursor.work.renew()
        return cursor

    def keep(self, key: Hashable, cursor: Cursor) -> None:
        """Keep a cursor open. Closes the cursors that were not used for longest if there are too many series."""
        if cursor.series is None:
            return
        with self._lock:
            self._open[key] = cursor
            while sum(_size(each) for each in self._open.values()) > self._most:
                self._open.popitem(last=False)


def _size(cursor: Cursor) -> int:
    return 1 + (cursor.series or 0)
