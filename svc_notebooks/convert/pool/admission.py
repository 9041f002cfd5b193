"""Limits how many conversions run at a time, shared fairly between users."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from ...core.fair_queue import FairQueue

POLL_SECONDS = 0.1
"""How often a conversion looks whether its client is still there."""


class Abandoned(Exception):
    """The client of this conversion has gone."""


class TooManyWaiting(Exception):
    """This user has as many conversions waiting as one may have."""


class Admission:
    """Lets `max_running` conversions run at a time, users in turn; one user leaves room for another.

    A user has at most one fewer than `max_running` running (and always one), and at most `max_waiting` waiting.
    """

    def __init__(self, max_running: int, max_waiting: int) -> None:
        self._free_slots = max_running
        self._max_waiting = max_waiting
        self._turns: FairQueue[Event] = FairQueue(share=max(1, max_running - 1))
        self._lock = Lock()

    @contextmanager
    def turn(self, user: str, is_gone: Callable[[], bool]) -> Iterator[None]:
        """Wait until it is this user's turn, and have it. Raises TooManyWaiting, or Abandoned."""
        admitted = Event()
        with self._lock:
            self._turns.add(user, admitted)
            self._admit()
            if self._turns.waiting(user) > self._max_waiting and self._turns.remove(user, admitted):
                raise TooManyWaiting
        try:
            while not admitted.wait(POLL_SECONDS):
                if is_gone():
                    raise Abandoned
            yield
        finally:
            self._release(user, admitted)

    def _release(self, user: str, admitted: Event) -> None:
        with self._lock:
            if not self._turns.remove(user, admitted):
                self._turns.finish(user)
                self._free_slots += 1
            self._admit()

    def _admit(self) -> None:
        while self._free_slots and (admitted := self._turns.take()):
            self._free_slots -= 1
            admitted[1].set()
