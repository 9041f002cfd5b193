"""Serialises requests to one upload session and lets a later one take over a stalled one.

An optimisation: the generation check in store/upload_sessions.py guarantees correctness. A second chunk waits for
the first, and a status query cuts off a connection that has fallen silent (edge cases 33 to 38).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from ...core.http.messages import Body, abort_body

_STEP = 0.05  # how often a waiting request looks whether the one in flight still makes progress


class SessionLock:
    """One request's time on a session."""

    def __init__(self, body: Body | None) -> None:
        self._body = body
        self.progress = time.monotonic()
        self.interrupted = False

    def touch(self) -> None:
        """Some bytes have come."""
        self.progress = time.monotonic()

    def silent(self, seconds: float) -> bool:
        """Whether nothing has come for so long."""
        return time.monotonic() - self.progress >= seconds

    def interrupt(self) -> None:
        """Stop reading; a body that can be cut off is cut off."""
        if not self.interrupted:
            self.interrupted = True
            abort_body(self._body)


class SessionLocks:
    """For each session the request that is on it."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._changed = Condition()
        self._locks: dict[str, SessionLock] = {}

    @contextmanager
    def acquire(self, key: str, body: Body | None, *, urgent: bool) -> Iterator[SessionLock]:
        """Wait for the request in flight, or, if this one is urgent, interrupt it; then have the session."""
        mine = SessionLock(body)
        with self._changed:
            self._wait(key, urgent=urgent)
            self._locks[key] = mine
        try:
            yield mine
        finally:
            with self._changed:
                if self._locks.get(key) is mine:
                    del self._locks[key]
                self._changed.notify_all()

    def _wait(self, key: str, *, urgent: bool) -> None:
        asked_at = None
        while other := self._locks.get(key):
            if urgent or other.silent(self._patience):
                other.interrupt()
                asked_at = asked_at or time.monotonic()
            if asked_at and time.monotonic() - asked_at >= self._patience:
                return  # it cannot be cut off; its late bytes will be refused
            self._changed.wait(_STEP)
