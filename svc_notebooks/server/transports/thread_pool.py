"""Grows the thread pool when idle clients occupy every thread, so that new connections are served."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Protocol

_LOOK_SECONDS = 0.25
_THREADS_ADDED = 32


class Pool(Protocol):
    """Threads that serve connections; `qsize` counts those that wait for one."""

    @property
    def qsize(self) -> int: ...

    def grow(self, amount: int) -> None:
        """Have so many more threads, as far as the pool's own limit goes."""


class PoolMonitor:
    """Looks after a pool: connections wait, and between two looks nothing was answered."""

    def __init__(self, pool: Pool, answered: Callable[[], int]) -> None:
        self._pool = pool
        self._answered = answered
        self._stopped = Event()
        self._thread = Thread(target=self._watch, name="svc-pool-monitor", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        before = -1
        while not self._stopped.wait(_LOOK_SECONDS):
            answered = self._answered()
            if self._pool.qsize and answered == before:
                self._pool.grow(_THREADS_ADDED)
            before = answered
