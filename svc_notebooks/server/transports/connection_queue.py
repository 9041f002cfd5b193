"""The queue of connections that wait for a thread, which serves the users in turn."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import Generic, Protocol, TypeVar

from ...core.fair_queue import FairQueue

_MAX_KNOWN = 10_000


class HasLane(Protocol):
    """A connection with a lane, which is a text that names the user or the client's address.

    Connections of the same lane share a limited number of threads.
    """

    lane: str


T = TypeVar("T", bound=HasLane)


class ReadyQueue(Generic[T]):
    """The queue from which threads take connections, lane after lane, with at most `share` threads for each lane."""

    def __init__(self, share: int) -> None:
        self._turns: FairQueue[T] = FairQueue(share)
        self._changed = Condition()
        self._closed = False

    def put(self, connection: T) -> None:
        """Add a connection that waits for a thread."""
        with self._changed:
            self._turns.add(connection.lane, connection)
            self._changed.notify()

    def get(self) -> T | None:
        """Wait for a connection and return it, or None if the queue is closed. The thread then counts for its lane."""
        with self._changed:
            while not self._closed:
                if item := self._turns.take():
                    return item[1]
                self._changed.wait()
        return None

    def done(self, lane: str) -> None:
        """Record that a thread has finished with a connection of a lane, so that the lane may get another thread."""
        with self._changed:
            self._turns.finish(lane)
            self._changed.notify()

    @property
    def ready(self) -> int:
        """The number of lanes that have waiting connections and may get another thread."""
        return self._turns.ready

    def close(self) -> None:
        """Close the queue, so that `get` returns None in every thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class LaneTable:
    """Maps requests to lanes. The lane is the user of a known access token, or else the address of the client."""

    def __init__(self, user_of: Callable[[str], str | None]) -> None:
        self._user_of = user_of
        self._known: dict[str, str] = {}

    def lane(self, token: str | None, address: str) -> str:
        """Return the lane of a request with this access token, without reading the store.

        The lane of a missing or unknown token is the client's address.
        """
        return self._known.get(token or "", f"address {address}")

    def look_up(self, token: str | None) -> None:
        """Look up the user of an access token in the store and remember the lane of the token."""
        if token and token not in self._known and (user := self._user_of(token)) is not None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[token] = f"user {user}"
