"""What a running service counts and follows: values by key, such as fault plans, and the windows of rate limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from threading import Lock, RLock
from typing import Any, NamedTuple


class EditedValue:
    """A value that is changed. If `is_announced` is true, other processes of a shared store must follow."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.is_announced = True


class LocalValues(dict[str, Any]):
    """The values of a service whose store no other process uses. SharedValues has the same methods."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = RLock()

    @contextmanager
    def editing(self, key: str) -> Iterator[EditedValue]:
        """Change a value in a `with` block, while no other thread can change it."""
        with self._lock:
            edited = EditedValue(self.get(key))
            yield edited
            self[key] = edited.value


# The kind of the windows in real time. The windows of other kinds are on the clock of the service.
QUOTA = "quota"

_MOST_WINDOWS = 10_000


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
