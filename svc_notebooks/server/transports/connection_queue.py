"""Connections whose request has come wait for a thread, and users get threads in turn."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import Generic, Protocol, TypeVar

from ...core.fair_queue import FairQueue

_MAX_KNOWN = 10_000


class HasLane(Protocol):
    """A connection whose request has come. The requests of one lane share its threads."""

    lane: str


T = TypeVar("T", bound=HasLane)


class ReadyQueue(Generic[T]):
    """The queue of the threads. It takes lanes in turn, and gives one lane at most `share` threads."""

    def __init__(self, share: int) -> None:
        self._turns: FairQueue[T] = FairQueue(share)
        self._changed = Condition()
        self._closed = False

    def put(self, connection: T) -> None:
        """Let a connection wait for a thread."""
        with self._changed:
            self._turns.add(connection.lane, connection)
            self._changed.notify()

    def get(self) -> T | None:
        """Wait for a connection, whose lane then has one thread more. Return None when the queue is closed."""
        with self._changed:
            while not self._closed:
                if item := self._turns.take():
                    return item[1]
                self._changed.wait()
        return None

    def done(self, lane: str) -> None:
        """Free a thread of a lane."""
        with self._changed:
            self._turns.finish(lane)
            self._changed.notify()

    @property
    def ready(self) -> int:
        """The number of lanes that wait for a thread and may have one."""
        return self._turns.ready

    def close(self) -> list[T]:
        """Close the queue and return the connections that wait."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            return self._turns.clear()


class LaneTable:
    """The lane of each request, which is the user of a known access token, or else the client's address."""

    def __init__(self, user_of: Callable[[str], str | None]) -> None:
        self._user_of = user_of
        self._known: dict[str, str] = {}

    def lane(self, token: str | None, address: str) -> str:
        """Return the lane of a request, without a look-up in the store."""
        return self._known.get(token or "", f"address {address}")

    def look_up(self, token: str | None) -> None:
        """Look up the user of an unknown token."""
        if token and token not in self._known and (user := self._user_of(token)) is not None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[token] = f"user {user}"
