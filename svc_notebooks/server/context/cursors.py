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
"""The largest size of all open cursors together, in recurring events. Each takes about 2 KB of memory."""

_ROWS_READ_AHEAD = 70
"""The size, in recurring events, of the rows of single events that a cursor has read ahead."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The rest of a list of events. `work` limits the steps that each page may take.

    `series` is the number of recurring events that are expanded. Without any, the list is cheap to begin at any key.
    `shared` has the JSON that the instances of each series have in common.
    """

    entries: Iterator[Any]
    series: int = 0
    work: WorkBudget | None = None
    shared: dict[int, str] = field(default_factory=dict)


class CursorCache:
    """The open cursors of a service, by keys that identify the list, the next page and the state of the calendar."""

    def __init__(self, most: int = MAX_OPEN_SERIES) -> None:
        self._most = most
        self._open: OrderedDict[Hashable, Cursor] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def take(self, key: Hashable) -> Cursor | None:
        """Remove and return the cursor with a key, with a full budget, or None if no such cursor is open."""
        with self._lock:
            cursor = self._open.pop(key, None)
            self._size -= _size(cursor)
        if cursor and cursor.work:
            cursor.work.renew()
        return cursor

    def keep(self, key: Hashable, cursor: Cursor) -> None:
        """Keep a cursor open, unless its list is cheap to begin. Closes those not used for longest beyond the limit."""
        if not cursor.series:
            return
        with self._lock:
            self._size += _size(cursor) - _size(self._open.pop(key, None))
            self._open[key] = cursor
            while self._size > self._most:
                _, closed = self._open.popitem(last=False)
                self._size -= _size(closed)


def _size(cursor: Cursor | None) -> int:
    return _ROWS_READ_AHEAD + cursor.series if cursor else 0
