"""Serialises the requests to an upload session, and interrupts a stalled request when a later request arrives.

A second chunk waits for the first, and a status query interrupts any request (edge cases 33 to 38). The claims
in tables/upload_sessions.py guarantee correctness without this module.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from ...core.http.messages import Body, Disconnected, abort_body
from ...core.thread_permit import release_permit

_STEP = 0.05  # seconds after which a waiting request checks again whether the active request makes progress


class SessionLock:
    """The lock with which one request has exclusive use of an upload session."""

    def __init__(self, body: Body | None) -> None:
        self._body = body
        self.progress = time.monotonic()
        self.interrupted = False

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


class SessionLocks:
    """The locks of all upload sessions that requests are using."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._changed = Condition()
        self._locks: dict[str, SessionLock] = {}

    @contextmanager
    def acquire(self, key: str, body: Body | None, *, urgent: bool) -> Iterator[SessionLock]:
        """Lock an upload session for a `with` block, after waiting for the request that has the lock.

        If that request has received no bytes for `patience` seconds or `urgent` is true, interrupt that request.
        """
        lock = SessionLock(body)
        with self._changed:
            is_free = self._locks.setdefault(key, lock) is lock
        if not is_free:
            with release_permit():
                self._wait_for_lock(key, lock, urgent=urgent)
        try:
            yield lock
        finally:
            with self._changed:
                if self._locks.get(key) is lock:
                    del self._locks[key]
                self._changed.notify_all()

    def _wait_for_lock(self, key: str, lock: SessionLock, *, urgent: bool) -> None:
        interrupted_at = 0.0
        with self._changed:
            while other := self._locks.get(key):
                now = time.monotonic()
                if urgent or now - other.progress >= self._patience:
                    other.interrupt()
                    interrupted_at = interrupted_at or now
                if interrupted_at and now - interrupted_at >= self._patience:
                    break  # the other body cannot be aborted, but its later bytes will not be stored
                self._changed.wait(_STEP)
            self._locks[key] = lock
