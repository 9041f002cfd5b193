"""Who may convert now: a few conversions at a time, shared fairly between users."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from ...core.fair_queue import Turns

LOOK_SECONDS = 0.1
"""How often a conversion looks whether its client is still there."""


class Abandoned(Exception):
    """The client of this conversion has gone."""


class TooManyWait(Exception):
    """This user has as many conversions waiting as one may have."""


class Admission:
    """Lets `most` conversions run at a time, users in turn; one user leaves room for another.

    A user has at most one fewer than `most` running (and always one), and at most `most_waiting` waiting.
    """

    def __init__(self, most: int, most_waiting: int) -> None:
        self._room = most
        self._most_waiting = most_waiting
        self._turns: Turns[Event] = Turns(share=max(1, most - 1))
        self._lock = Lock()

    @contextmanager
    def turn(self, user: str, is_gone: Callable[[], bool]) -> Iterator[None]:
        """Wait until it is this user's turn, and have it. Raises TooManyWait, or Abandoned."""
        admitted = Event()
        with self._lock:
            self._turns.add(user, admitted)
            self._admit()
            if self._turns.waiting(user) > self._most_waiting and self._turns.remove(user, admitted):
                raise TooManyWait
        try:
            while not admitted.wait(LOOK_SECONDS):
                if is_gone():
                    raise Abandoned
            yield
        finally:
            self._leave(user, admitted)

    def _leave(self, user: str, admitted: Event) -> None:
        with self._lock:
            if not self._turns.remove(user, admitted):
                self._turns.done(user)
                self._room += 1
            self._admit()

    def _admit(self) -> None:
        while self._room and (taken := self._turns.take()):
            self._room -= 1
            taken[1].set()
