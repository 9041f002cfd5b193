"""The windows of time in which the requests of users are counted against their limits."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import NamedTuple

from ..engine import Database, TableGroup, inserting
from .schema import windows

QUOTA = "quota"
"""The kind of the windows in real time. The windows of other kinds are on the clock of the service."""

_MOST_WINDOWS = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_GET = 'SELECT ends, spent FROM svc_windows WHERE "user" = :user AND kind = :kind'
_PUT = inserting(windows, ("user", "kind", "ends", "spent"), otherwise="REPLACE")


class LimitWindow(NamedTuple):
    """A window of time, and the units or requests that were spent in it."""

    ends: datetime
    spent: int = 0


class Windows:
    """The windows of users by kind, in memory."""

    def __init__(self) -> None:
        self._windows: dict[tuple[str, str], LimitWindow] = {}
        self._lock: AbstractContextManager[object] = Lock()

    def spend(self, user: str, kind: str, price: int, most: int, per: timedelta, now: datetime) -> datetime | None:
        """Count `price` in the open window, or in a new one that ends `per` later.

        Return None, or else the end of the open window if more than `most` would be spent. The clock may have been set
        back, so a window that ends later than a new one is not open.
        """
        with self._exclusive():
            window = self.get(user, kind)
            if window is None or not now < window.ends <= now + per:
                window = LimitWindow(now + per)
            if window.spent and window.spent + price > most:
                return window.ends
            self._put(user, kind, window._replace(spent=window.spent + price), now)
        return None

    def _exclusive(self) -> AbstractContextManager[object]:
        return self._lock

    def get(self, user: str, kind: str) -> LimitWindow | None:
        """Return the last window of a user, or None."""
        return self._windows.get((user, kind))

    def _put(self, user: str, kind: str, window: LimitWindow, now: datetime) -> None:
        if len(self._windows) >= _MOST_WINDOWS:
            self._windows = {key: known for key, known in self._windows.items() if now < known.ends}
        self._windows[user, kind] = window

    def close(self, user: str, kind: str) -> None:
        """Close the window of a user."""
        with self._lock:
            self._windows.pop((user, kind), None)

    def clear(self) -> None:
        """Close all windows."""
        with self._lock:
            self._windows = {}


class SharedWindows(TableGroup, Windows):
    """The windows of users by kind, for all processes that share a store."""

    def __init__(self, database: Database) -> None:
        TableGroup.__init__(self, database)

    def _exclusive(self) -> AbstractContextManager[object]:
        return self._database.transaction(durable=False)

    def get(self, user: str, kind: str) -> LimitWindow | None:
        """Return the last window of a user, or None."""
        rows = self._database.run(_GET, {"user": user, "kind": kind})
        return LimitWindow(_EPOCH + rows[0][0] * _MICROSECOND, rows[0][1]) if rows else None

    def _put(self, user: str, kind: str, window: LimitWindow, now: datetime) -> None:
        ends = (window.ends - _EPOCH) // _MICROSECOND
        self._database.change(_PUT, {"user": user, "kind": kind, "ends": ends, "spent": window.spent})

    def close(self, user: str, kind: str) -> None:
        """Close the window of a user."""
        values = {"user": user, "kind": kind}
        self._database.change('DELETE FROM svc_windows WHERE "user" = :user AND kind = :kind', values)

    def clear(self) -> None:
        """Close all windows on the clock of the service."""
        self._database.change("DELETE FROM svc_windows WHERE kind <> :quota", {"quota": QUOTA})
