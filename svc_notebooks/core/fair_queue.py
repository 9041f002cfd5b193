"""A queue in which keys take turns, and in which each key has at most a fixed number of active items."""

from __future__ import annotations

from collections import Counter, deque
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
