"""Keeps the recurring events of calendars parsed between requests, so that a list parses only those that changed.

The series of a calendar are kept by the numbers of their rows. A changed event has a row with a new number.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from threading import Lock
from typing import Any

MAX_SERIES = 30_000
"""The largest number of recurring events that are kept. Each takes about 2 KB of memory."""


class SeriesCache:
    """The parsed recurring events of the calendars that were listed last, by calendar and by row number."""

    def __init__(self, most: int = MAX_SERIES) -> None:
        self._most = most
        self._calendars: OrderedDict[Hashable, Mapping[int, Any]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def get(self, calendar: Hashable) -> Mapping[int, Any]:
        """Return the kept series of a calendar, empty if there are none."""
        with self._lock:
            return self._calendars.get(calendar, {})

    def keep(self, calendar: Hashable, series: Mapping[int, Any]) -> None:
        """Keep the series of a calendar. Drops the calendars not listed for longest if there are too many."""
        with self._lock:
            self._size += len(series) - len(self._calendars.pop(calendar, {}))
            if series:
                self._calendars[calendar] = series
            while self._size > self._most:
                _, dropped = self._calendars.popitem(last=False)
                self._size -= len(dropped)
