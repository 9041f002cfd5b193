"""Limits the number of simultaneous conversions, and lets users take turns."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """A queue of items with keys that take turns, with at most `share` active items per key. Not thread-safe.

    >>> turns: FairQueue[str] = FairQueue(share=1)
    >>> for key, item in [("ada", "1st"), ("ada", "2nd"), ("bob", "3rd")]:
    ...     turns.add(key, item)
    >>> turns.take(), turns.take(), turns.take()
    (('ada', '1st'), ('bob', '3rd'), None)
    >>> turns.finish("ada")
    >>> turns.take()
    ('ada', '2nd')
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._waiting: dict[str, deque[T]] = {}
        self._active: Counter[str] = Counter()
        self._ready: deque[str] = deque()  # the keys from which an item can be taken, in order

    def add(self, key: str, item: T) -> None:
        """Add an item to the end of the key's waiting items."""
        waiting = self._waiting.setdefault(key, deque())
        waiting.append(item)
        if len(waiting) == 1 and self._active[key] < self._share:
            self._ready.append(key)

    def take(self) -> tuple[str, T] | None:
        """Return the next key and item, and mark the item as active. Returns None if no item may become active."""
        if not self._ready:
            return None
        key = self._ready.popleft()
        item = self._waiting[key].popleft()
        self._active[key] += 1
        self._forget_idle(key)
        if key in self._waiting and self._active[key] < self._share:
            self._ready.append(key)
        return key, item

    def finish(self, key: str) -> None:
        """Record that an active item of this key has ended."""
        self._active[key] -= 1
        if key in self._waiting and self._active[key] == self._share - 1:
            self._ready.append(key)
        self._forget_idle(key)

    def remove(self, key: str, item: T) -> bool:
        """Remove a waiting item of this key. Returns False if the item is not waiting."""
        waiting = self._waiting.get(key, deque())
        if item not in waiting:
            return False
        waiting.remove(item)
        if not waiting and key in self._ready:
            self._ready.remove(key)
        self._forget_idle(key)
        return True

    def waiting(self, key: str) -> int:
        """Return the number of waiting items of a key."""
        return len(self._waiting.get(key, ()))

    @property
    def ready(self) -> int:
        """The number of keys from which `take` can return an item."""
        return len(self._ready)

    def _forget_idle(self, key: str) -> None:
        if not self._waiting.get(key, True):
            del self._waiting[key]
        if not self._active[key]:
            del self._active[key]


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
