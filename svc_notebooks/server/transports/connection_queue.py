"""Connections whose request has come wait for a thread, and users get threads in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition
from typing import Any, Protocol

from ...core.fair_queue import FairQueue

_MOST_KNOWN = 10_000


class Ready(Protocol):
    """A connection whose next request has come."""

    lane: str
    """Whose request it is: those of one lane share its threads."""

    def close(self) -> None:
        """End it."""


class ReadyQueue:
    """The queue of a pool of threads: connections in turn by lane, of one lane at most `share` with threads.

    What has no lane is taken when no connection can be: by it the pool ends its threads.
    """

    def __init__(self, share: int) -> None:
        self._turns: FairQueue[Ready] = FairQueue(share)
        self._ends: deque[object] = deque()
        self._changed = Condition()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Let a connection wait for a thread, or end one."""
        with self._changed:
            if (lane := getattr(item, "lane", None)) is None:
                self._ends.append(item)
            else:
                self._turns.add(lane, item)
            self._changed.notify()

    def get(self) -> object:
        """Wait for a connection; its lane has one thread more."""
        with self._changed:
            while True:
                if taken := self._turns.take():
                    return taken[1]
                if self._ends:
                    return self._ends.popleft()
                self._changed.wait()

    def done(self, lane: str) -> None:
        """A thread of this lane is free again."""
        with self._changed:
            self._turns.finish(lane)
            self._changed.notify()

    def qsize(self) -> int:
        """How many lanes wait for a thread that they may have."""
        return self._turns.ready

    def drain(self) -> list[Ready]:
        """All connections that wait, which it forgets."""
        with self._changed:
            return self._turns.clear()


class LaneTable:
    """Whose request it is: the user of a token that was seen before, else whoever is at the address."""

    def __init__(self, user_of: Callable[[str], str | None]) -> None:
        self._user_of = user_of
        self._known: dict[str, str] = {}

    def lane(self, token: str | None, address: str) -> str:
        """The lane of a request; nothing is looked up."""
        return self._known.get(token or "", f"address {address}")

    def look_up(self, token: str | None) -> None:
        """Look a token up that was not seen before."""
        if token and token not in self._known and (user := self._user_of(token)) is not None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[token] = f"user {user}"
