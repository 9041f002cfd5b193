"""Limits the number of simultaneous conversions, and lets users take turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from ...core.fair_queue import FairQueue

POLL_SECONDS = 0.1
"""The interval, in seconds, at which the service checks that a client is still connected."""


class Abandoned(Exception):
    """Raised when the client that requested a conversion has disconnected."""


class TooManyWaiting(Exception):
    """Raised when a user requests a conversion and already has the maximum number of waiting conversions."""


class Admission:
    """Lets at most `max_running` conversions run at the same time, and lets users take turns.

    Each user can have `max(1, max_running - 1)` running conversions and `max_waiting` waiting conversions.
    """

    def __init__(self, max_running: int, max_waiting: int) -> None:
        self._free_slots = max_running
        self._max_waiting = max_waiting
        self._turns: FairQueue[Event] = FairQueue(share=max(1, max_running - 1))
        self._lock = Lock()

    @contextmanager
    def turn(self, user: str, is_gone: Callable[[], bool], *, waits: bool = True) -> Iterator[None]:
        """Occupy a running slot from the user's turn to the end of the context. Raises TooManyWaiting or Abandoned.

        If `waits` is false, TooManyWaiting is raised where the turn would not begin at once.
        """
        admitted = Event()
        with self._lock:
            self._turns.add(user, admitted)
            self._admit()
            if self._turns.waiting(user) > (self._max_waiting if waits else 0) and self._turns.remove(user, admitted):
                raise TooManyWaiting
        try:
            while not admitted.wait(POLL_SECONDS):
                if is_gone():
                    raise Abandoned
            yield
        finally:
            with self._lock:
                if not self._turns.remove(user, admitted):
                    self._turns.finish(user)
                    self._free_slots += 1
                self._admit()

    def _admit(self) -> None:
        while self._free_slots and (admitted := self._turns.take()):
            self._free_slots -= 1
            admitted[1].set()
