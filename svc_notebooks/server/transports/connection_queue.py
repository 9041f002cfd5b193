"""The queue of connections that wait for a thread, which serves the users in turn.

Threads of one process compete for the interpreter, so each thread that runs makes the others slower. Therefore only a
few threads run at the same time, each with a permit. A second thread gets a permit only if the first one is not brief:
two threads would hand over the interpreter at every statement of SQLite. A thread that waits releases its permit (see
core/thread_permit.py). The next permit goes to the waiting user whose last permit was given first. So users with many
requests get permits in turn, and a user with a request now and then gets the next permit.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Event, RLock
from typing import Any, Generic, Protocol, TypeVar

from ...core.thread_permit import Released

PERMITS = 2
BRIEF_SECONDS = 0.003
LONG_SECONDS = 0.05
_MAX_STAYING = 2
_MAX_KNOWN = 10_000


class HasLane(Protocol):
    """A connection with a lane, which is a text that names the user or the client's address.

    Connections of the same lane share a limited number of threads and permits.
    """

    lane: str


T = TypeVar("T", bound=HasLane)


@dataclass(slots=True)
class _Lane(Generic[T]):
    """The connections of a lane that wait for a thread, and its threads that wait for a permit."""

    connections: deque[T] = field(default_factory=deque)
    resuming: deque[Event] = field(default_factory=deque)
    threads: int = 0
    """The number of threads that have a connection of this lane."""
    running: int = 0
    """The number of threads that have a permit."""
    turn: int = 0
    """The number of permits that all lanes had got when this lane got its last permit."""
    since: float = 0.0
    """The time of the last permit."""

    @property
    def is_waiting(self) -> bool:
        return bool(self.connections or self.resuming)


class _Paused:
    __slots__ = ("_lane", "_queue")

    def __init__(self, queue: ReadyQueue[Any], lane: str) -> None:
        self._queue, self._lane = queue, lane

    def __enter__(self) -> None:
        self._queue.pause(self._lane)

    def __exit__(self, *error: object) -> None:
        self._queue.resume(self._lane)

    @property
    def others_wait(self) -> bool:
        return self._queue.others_wait(self._lane)


class ReadyQueue(Generic[T]):
    """The queue from which threads take connections, lane after lane.

    One thread runs at a time, or `PERMITS` threads if one of them has run for `BRIEF_SECONDS`, and one for each lane. A
    thread that runs for `LONG_SECONDS`, as for a long query, does not count, but each lane can have only one such
    thread, and all lanes `PERMITS` of them. At most `share` threads have connections of the same lane. `look` adds the
    connections whose requests have arrived.
    """

    def __init__(
        self, share: int, clock: Callable[[], float] = time.monotonic, look: Callable[[], None] = lambda: None
    ) -> None:
        self._share, self._clock, self._look = share, clock, look
        self.turns = 0
        """The number of permits that were given. It grows as long as work goes on."""
        self._idle = self._occupied = self._extra = 0
        self._lane_by_name: dict[str, _Lane[T]] = {}
        self._waiting: dict[str, _Lane[T]] = {}
        self._running: dict[str, _Lane[T]] = {}
        self._assigned: deque[T] = deque()
        self._lock = RLock()
        self._changed, self._paused = Condition(self._lock), Condition(self._lock)
        self._closed = False

    def put(self, connection: T) -> None:
        """Add a connection that waits for a thread."""
        with self._lock:
            self._waiting_lane(connection.lane).connections.append(connection)
            self._changed.notify(self._assign())

    def get(self, finished: str | None = None) -> T | None:
        """Wait for a connection and return it, or None if the queue is closed. The thread then has a permit.

        `finished` is the lane of the connection that the thread has served, and whose permit it returns.
        """
        with self._lock:
            if finished is not None:
                self._lane_by_name[finished].threads -= 1
                self._occupied -= 1
                self._return_permit(finished)
            self._idle += 1
            self._changed.notify(max(0, self._assign() - 1))  # one of them is for this thread
            while not (self._assigned or self._closed):
                self._notify_if_paused()
                if not self._changed.wait(BRIEF_SECONDS if self._waiting else None):
                    self._changed.notify(self._assign())
            return None if self._closed else self._assigned.popleft()

    def others_wait(self, lane: str) -> bool:
        """Look for new requests. Return True if connections or threads of other lanes wait, or have a permit.

        Two threads that run at the same time wait 5 ms for the interpreter again and again. Otherwise the thread runs
        on as if it had got a new permit, so that it does not count as long.
        """
        self._look()
        if len(self._waiting) > (lane in self._waiting) or len(self._running) > (lane in self._running):
            return True
        self.turns += 1
        self._lane_by_name[lane].since = self._clock()
        return False

    def paused(self, lane: str) -> Released:
        """Return a context manager that returns the permit of a thread, and waits for a permit at the end of its block.

        It can be used for several blocks.
        """
        return _Paused(self, lane)

    def pause(self, lane: str) -> None:
        """Return the permit of a thread."""
        with self._lock:
            self._return_permit(lane)
            if self._waiting:
                self._changed.notify(self._assign())
            self._notify_if_paused()

    def resume(self, lane: str) -> None:
        """Wait for a permit."""
        with self._lock:
            if not self._waiting and lane not in self._running and self._has_free_permit(self._clock()):
                self._give_permit(lane, self._lane_by_name[lane])  # no other lane needs it
                return
            granted = Event()
            self._waiting_lane(lane).resuming.append(granted)
            self._changed.notify(self._assign())
            if self._closed:
                granted.set()
        while not granted.wait(BRIEF_SECONDS):
            self.check()

    @property
    def is_busy(self) -> bool:
        """True while connections wait for a thread or threads for a permit, and while several threads are occupied."""
        return bool(self._waiting) or self._occupied > _MAX_STAYING

    @property
    def is_waiting(self) -> bool:
        """True while connections wait for a thread or threads for a permit."""
        return bool(self._waiting)

    def wait_until_paused(self, seconds: float) -> None:
        """Wait until no thread has a permit, at most for some seconds."""
        with self._lock:
            if self._running:
                self._paused.wait(seconds)

    def _notify_if_paused(self) -> None:
        if not self._running:
            self._paused.notify()

    def check(self) -> None:
        """Give permits to other threads where threads have run for `BRIEF_SECONDS` or `LONG_SECONDS`."""
        with self._lock:
            self._changed.notify(self._assign())

    def add_missing_permit(self) -> bool:
        """Add a permit if one is missing. Return True if connections wait because all threads are occupied.

        The server calls this after a time without a response, so that even requests that wait for other requests cannot
        stop it.
        """
        with self._lock:
            waiting = self._waiting.values()
            needs_thread = any(lane.connections and lane.threads < self._share for lane in waiting)
            if any(lane.resuming for lane in waiting) or (needs_thread and self._idle):
                self._extra += 1
                self._changed.notify(self._assign())
            return needs_thread and not self._idle

    def remove_extra_permits(self) -> None:
        """Remove the permits that `add_missing_permit` added, as soon as threads return theirs."""
        self._extra = 0

    def close(self) -> None:
        """Close the queue, so that `get` returns None in every thread, and paused threads need no permit."""
        with self._lock:
            self._closed = True
            for lane in self._waiting.values():
                for granted in lane.resuming:
                    granted.set()
            self._changed.notify_all()

    def _waiting_lane(self, name: str) -> _Lane[T]:
        """Return the lane to which a waiting connection or thread is added."""
        lane = self._lane_by_name.get(name)
        if lane is None:
            if len(self._lane_by_name) >= _MAX_KNOWN:
                self._lane_by_name = {
                    key: known for key, known in self._lane_by_name.items() if known.threads or known.is_waiting
                }
            lane = self._lane_by_name[name] = _Lane()
        self._waiting[name] = lane
        return lane

    def _return_permit(self, name: str) -> None:
        lane = self._lane_by_name[name]
        lane.running -= 1
        if not lane.running:
            del self._running[name]

    def _assign(self) -> int:
        """Give the free permits to lanes. Return the number of connections that idle threads can now take."""
        count = 0
        while self._waiting and (name := self._next_lane()) is not None:
            lane = self._waiting[name]
            self._give_permit(name, lane)
            if lane.resuming:
                lane.resuming.popleft().set()
            else:
                lane.threads += 1
                self._idle -= 1
                self._occupied += 1
                self._assigned.append(lane.connections.popleft())
                count += 1
            if not lane.is_waiting:
                del self._waiting[name]
        return count

    def _give_permit(self, name: str, lane: _Lane[T]) -> None:
        self._running[name] = lane
        self.turns += 1
        lane.turn, lane.since = self.turns, self._clock()
        lane.running += 1

    def _has_free_permit(self, now: float) -> bool:
        if not self._running:
            return True
        seconds = [now - lane.since for lane in self._running.values()]
        most = PERMITS if any(each >= BRIEF_SECONDS for each in seconds) else 1
        long = sum(each >= LONG_SECONDS for each in seconds)
        return sum(lane.running for lane in self._running.values()) < most + min(long, PERMITS) + self._extra

    def _next_lane(self) -> str | None:
        now = self._clock()
        if not self._has_free_permit(now):
            return None
        long_before = now - LONG_SECONDS
        names = [
            name
            for name, lane in self._waiting.items()
            if (lane.resuming or (self._idle and lane.threads < self._share))
            and (lane.running <= self._extra or (lane.running == self._extra + 1 and lane.since <= long_before))
        ]
        return min(names, key=lambda name: self._waiting[name].turn, default=None)


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
