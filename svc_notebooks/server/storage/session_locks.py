"""Serialises requests to one upload session and lets a later one take over a stalled one.

An optimisation: the generation check in tables/upload_sessions.py guarantees correctness. A second chunk waits for
the first, and a status query interrupts a connection that has fallen silent (edge cases 33 to 38).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from ...core.http.messages import Body, Disconnected, abort_body

_STEP = 0.05  # seconds after which a waiting request checks again whether the other one makes progress


class SessionLock:
    """The exclusive use of an upload session by one request."""

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
        """Let the next `read` fail, and abort the body where that is possible."""
        if not self.interrupted:
            self.interrupted = True
            abort_body(self._body)


class SessionLocks:
    """The locks of the upload sessions in use, by session id."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._changed = Condition()
        self._locks: dict[str, SessionLock] = {}

    @contextmanager
    def acquire(self, key: str, body: Body | None, *, urgent: bool) -> Iterator[SessionLock]:
        """Lock a session for a block, and wait for or interrupt the request in flight.

        A request that has stalled is interrupted, and any request if this one is urgent.
        """
        lock, interrupted_at = SessionLock(body), 0.0
        with self._changed:
            while other := self._locks.get(key):
                now = time.monotonic()
                if urgent or now - other.progress >= self._patience:
                    other.interrupt()
                    interrupted_at = interrupted_at or now
                if interrupted_at and now - interrupted_at >= self._patience:
                    break  # its body cannot be aborted; the bytes that it still reads will be refused
                self._changed.wait(_STEP)
            self._locks[key] = lock
        try:
            yield lock
        finally:
            with self._changed:
                if self._locks.get(key) is lock:
                    del self._locks[key]
                self._changed.notify_all()
