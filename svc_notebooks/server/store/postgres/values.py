"""Values that all processes of a shared store follow: the clock, the fault plans and the limits of single users.

A process keeps a copy of all values. A change is announced, and returns when every process has read the change, so that
the next request is handled with the new value, whichever process it reaches. Requests need no statement for this.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING, Any

from ..engine import inserting
from .schema import values
from .side_connections import CHANGED, QUEUED

if TYPE_CHECKING:
    from .database import PostgresDatabase
    from .side_connections import ProcessLock, Values


_FOLLOW_SECONDS = 10.0
"""The longest time to wait for a process that does not read a change, for example because it is suspended."""

_CHECK_SECONDS = 0.02

_PUT = inserting(values, ("key", "value", "version"), otherwise="REPLACE")
_BEHIND = """SELECT COUNT(*) FROM svc_workers AS w JOIN pg_stat_activity AS a
    ON a.pid = w.pid AND a.backend_start = w.started WHERE w.seen < :version AND w.opening <> :own"""
"""Counts the other running processes that have not read a version yet."""


class EditedValue:
    """A value that is changed. If `is_announced` is true, other processes must follow."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.is_announced = True


class SharedValues:
    """The shared values of a store, by key."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._values: dict[str, tuple[int, str, Any]] = {}
        self._changed = Condition()
        self.on_notice: Callable[[], None] = lambda: None
        """Called when another process has queued messages, and when a value has changed."""
        self.clock_lock: ProcessLock = database.clock_lock()
        """The lock of the process that moves the clock."""
        self._listener = database.listen(self._follow, self._receive)
        self.now = self._listener.now

    def get(self, key: str) -> Any:
        """Return a value, or None. The caller must not change it."""
        known = self._values.get(key)
        return known[2] if known else None

    @contextmanager
    def editing(self, key: str) -> Iterator[EditedValue]:
        """Change a value in a `with` block, which has the latest value, while no other process can change it."""
        with self._database.transaction():
            rows = self._database.run("SELECT value FROM svc_values WHERE key = :key", {"key": key})
            edited = EditedValue(json.loads(rows[0][0]) if rows else None)
            yield edited
            last = self._database.run("SELECT COALESCE(MAX(version), 0) FROM svc_values", {})[0][0]
            version = int(last) + edited.is_announced
            content = json.dumps(edited.value)
            self._database.change(_PUT, {"key": key, "value": content, "version": version})
            if edited.is_announced:
                self._database.announce(CHANGED)
        if edited.is_announced:
            self._follow([(key, content, version)])
            others = {"version": version, "own": self._database.opening}
            end = time.monotonic() + _FOLLOW_SECONDS
            self.wait_for(lambda: not self._database.run(_BEHIND, others)[0][0], end)  # all processes follow

    def set(self, key: str, value: Any) -> None:
        """Set a value, and wait until all processes follow."""
        with self.editing(key) as edited:
            edited.value = value

    def _follow(self, rows: Values) -> None:
        """Store values that were read from the database, unless newer ones are known."""
        with self._changed:
            for key, content, version in rows:
                known = self._values.get(key)
                if known is None or (version >= known[0] and content != known[1]):
                    self._values[key] = version, content, json.loads(content)

    def _receive(self, topic: str) -> None:
        if topic in (QUEUED, CHANGED):
            self.on_notice()
        with self._changed:
            self._changed.notify_all()

    def wait_for(self, condition: Callable[[], bool], end: float) -> None:
        """Wait until a condition about other processes is true, or until a time of the monotonic clock."""
        while not condition() and time.monotonic() < end:
            with self._changed:
                self._changed.wait(_CHECK_SECONDS)

    def close(self) -> None:
        """End the thread that receives the changes of other processes."""
        self._listener.close()
