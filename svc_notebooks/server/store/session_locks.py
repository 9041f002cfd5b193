"""Serialises the requests to an upload session, and interrupts a stalled request when a later request arrives.

A second chunk waits for the first, and a status query interrupts any request. The claims
in uploads/tables.py guarantee correctness without this module.
"""

from __future__ import annotations

import time
from threading import Condition, Lock

from ...core.http.messages import Body, Disconnected, abort_body
from ...core.thread_permit import release_permit

_STEP = 0.05  # seconds after which a waiting request checks again whether the active request makes progress


class SessionLocks:
    """The locks of all upload sessions that requests are using."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._changed = Condition(Lock())
        self._locks: dict[str, SessionLock] = {}
        self._waiting = 0

    def _wait_for_lock(self, key: str, lock: SessionLock, *, urgent: bool) -> None:
        interrupted_at = 0.0
        with self._changed:
            self._waiting += 1
            try:
                while other := self._locks.get(key):
                    now = time.monotonic()
                    if urgent or now - other.progress >= self._patience:
                        other.interrupt()
                        interrupted_at = interrupted_at or now
                    if interrupted_at and now - interrupted_at >= self._patience:
                        break  # the other body cannot be aborted, but its later bytes will not be stored
                    self._changed.wait(_STEP)
            finally:
                self._waiting -= 1
            self._locks[key] = lock


class SessionLock:
    """The lock with which one request has exclusive use of an upload session in a `with` block.

    The block waits for the request that has the lock. If that request has received no bytes for `patience` seconds or
    `urgent` is true, it is interrupted.
    """

    def __init__(self, locks: SessionLocks, key: str, body: Body | None, *, urgent: bool) -> None:
        self._all = locks
        self._key = key
        self._body = body
        self._urgent = urgent
        self.progress = time.monotonic()
        self.interrupted = False

    def __enter__(self) -> SessionLock:
        with self._all._changed:
            is_free = self._all._locks.setdefault(self._key, self) is self
        if not is_free:
            with release_permit():
                self._all._wait_for_lock(self._key, self, urgent=self._urgent)
        return self

    def __exit__(self, *error: object) -> None:
        with self._all._changed:
            if self._all._locks.get(self._key) is self:
                del self._all._locks[self._key]
            if self._all._waiting:
                self._all._changed.notify_all()

    def read(self, size: int) -> bytes:
        """Read a block of the request's body. Raises Disconnected if a later request has interrupted this one."""
        if self.interrupted or self._body is None:
            raise Disconnected
        block = self._body.read(size)
        self.progress = time.monotonic()
        return block

    def interrupt(self) -> None:
        """Make the next `read` raise Disconnected, and abort the request body if its connection supports that."""
        if not self.interrupted:
            self.interrupted = True
            abort_body(self._body)
