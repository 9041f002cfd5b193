"""The queue of connections that wait for a thread, which serves the users in turn (fair queueing: a user is a flow).

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
from typing import TYPE_CHECKING

from ...core.thread_permit import Released

if TYPE_CHECKING:
    from .client_connection import ServerConnection

PERMITS = 2
BRIEF_SECONDS = 0.003
LONG_SECONDS = 0.05
_MAX_STAYING = 2
_MAX_KNOWN = 10_000


@dataclass(slots=True)
class _Flow:
    """The connections of a flow that wait for a thread, and its threads that wait for a permit.

    A flow is a text that names the user or the client's address.
    """

    connections: deque[ServerConnection] = field(default_factory=deque)
    resuming: deque[Event] = field(default_factory=deque)
    # The number of threads that have a connection of this flow.
    threads: int = 0
    # The number of threads that have a permit.
    running: int = 0
    # The number of permits that all flows had got when this flow got its last permit.
    turn: int = 0
    # The time of the last permit.
    since: float = 0.0

    @property
    def is_waiting(self) -> bool:
        return bool(self.connections or self.resuming)


class _Paused:
    __slots__ = ("_flow", "_queue")

    def __init__(self, queue: ReadyQueue, flow: str) -> None:
        self._queue, self._flow = queue, flow

    def __enter__(self) -> None:
        self._queue.pause(self._flow)

    def __exit__(self, *error: object) -> None:
        self._queue.resume(self._flow)

    @property
    def others_wait(self) -> bool:
        return self._queue.others_wait(self._flow)


class ReadyQueue:
    """The queue from which threads take connections, flow after flow.

    One thread runs at a time, or `PERMITS` threads if one of them has run for `BRIEF_SECONDS`, and one for each flow. A
    thread that runs for `LONG_SECONDS`, as for a long query, does not count, but each flow can have only one such
    thread, and all flows `PERMITS` of them. At most `share` threads have connections of the same flow. `look` adds the
    connections whose requests have arrived.
    """

    def __init__(
        self, share: int, clock: Callable[[], float] = time.monotonic, look: Callable[[], None] = lambda: None
    ) -> None:
        self._share, self._clock, self._look = share, clock, look
        self.turns = 0  # the number of permits that were given. It grows as long as work goes on.
        self._idle = self._occupied = self._extra = 0
        self._flow_by_name: dict[str, _Flow] = {}
        self._waiting: dict[str, _Flow] = {}
        self._running: dict[str, _Flow] = {}
        self._assigned: deque[ServerConnection] = deque()
        self._lock = RLock()
        self._changed, self._paused = Condition(self._lock), Condition(self._lock)
        self._closed = False

    def put(self, connection: ServerConnection) -> None:
        """Add a connection that waits for a thread."""
        with self._lock:
            self._waiting_flow(connection.flow).connections.append(connection)
            self._changed.notify(self._assign())

    def get(self, finished: str | None = None) -> ServerConnection | None:
        """Wait for a connection and return it, or None if the queue is closed. The thread then has a permit.

        `finished` is the flow of the connection that the thread has served, and whose permit it returns.
        """
        with self._lock:
            if finished is not None:
                self._flow_by_name[finished].threads -= 1
                self._occupied -= 1
                self._return_permit(finished)
            self._idle += 1
            self._changed.notify(max(0, self._assign() - 1))  # one of them is for this thread
            while not (self._assigned or self._closed):
                self._notify_if_paused()
                if not self._changed.wait(BRIEF_SECONDS if self._waiting else None):
                    self._changed.notify(self._assign())
            return None if self._closed else self._assigned.popleft()

    def others_wait(self, flow: str) -> bool:
        """Look for new requests. Return True if connections or threads of other flows wait, or have a permit.

        Two threads that run at the same time wait 5 ms for the interpreter again and again. Otherwise the thread runs
        on as if it had got a new permit, so that it does not count as long.
        """
        self._look()
        if len(self._waiting) > (flow in self._waiting) or len(self._running) > (flow in self._running):
            return True
        self.turns += 1
        self._flow_by_name[flow].since = self._clock()
        return False

    def paused(self, flow: str) -> Released:
        """Return a context manager that returns the permit of a thread, and waits for a permit at the end of its block.

        It can be used for several blocks.
        """
        return _Paused(self, flow)

    def pause(self, flow: str) -> None:
        """Return the permit of a thread."""
        with self._lock:
            self._return_permit(flow)
            if self._waiting:
                self._changed.notify(self._assign())
            self._notify_if_paused()

    def resume(self, flow: str) -> None:
        """Wait for a permit."""
        with self._lock:
            if not self._waiting and flow not in self._running and self._has_free_permit(self._clock()):
                self._give_permit(flow, self._flow_by_name[flow])  # no other flow needs it
                return
            granted = Event()
            self._waiting_flow(flow).resuming.append(granted)
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
            needs_thread = any(flow.connections and flow.threads < self._share for flow in waiting)
            if any(flow.resuming for flow in waiting) or (needs_thread and self._idle):
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
            for flow in self._waiting.values():
                for granted in flow.resuming:
                    granted.set()
            self._changed.notify_all()

    def _waiting_flow(self, name: str) -> _Flow:
        """Return the flow to which a waiting connection or thread is added."""
        flow = self._flow_by_name.get(name)
        if flow is None:
            if len(self._flow_by_name) >= _MAX_KNOWN:
                self._flow_by_name = {
                    key: known for key, known in self._flow_by_name.items() if known.threads or known.is_waiting
                }
            flow = self._flow_by_name[name] = _Flow()
        self._waiting[name] = flow
        return flow

    def _return_permit(self, name: str) -> None:
        flow = self._flow_by_name[name]
        flow.running -= 1
        if not flow.running:
            del self._running[name]

    def _assign(self) -> int:
        """Give the free permits to flows. Return the number of connections that idle threads can now take."""
        count = 0
        while self._waiting and (name := self._next_flow()) is not None:
            flow = self._waiting[name]
            self._give_permit(name, flow)
            if flow.resuming:
                flow.resuming.popleft().set()
            else:
                flow.threads += 1
                self._idle -= 1
                self._occupied += 1
                self._assigned.append(flow.connections.popleft())
                count += 1
            if not flow.is_waiting:
                del self._waiting[name]
        return count

    def _give_permit(self, name: str, flow: _Flow) -> None:
        self._running[name] = flow
        self.turns += 1
        flow.turn, flow.since = self.turns, self._clock()
        flow.running += 1

    def _has_free_permit(self, now: float) -> bool:
        if not self._running:
            return True
        seconds = [now - flow.since for flow in self._running.values()]
        most = PERMITS if any(each >= BRIEF_SECONDS for each in seconds) else 1
        long = sum(each >= LONG_SECONDS for each in seconds)
        return sum(flow.running for flow in self._running.values()) < most + min(long, PERMITS) + self._extra

    def _next_flow(self) -> str | None:
        now = self._clock()
        if not self._has_free_permit(now):
            return None
        long_before = now - LONG_SECONDS
        names = [
            name
            for name, flow in self._waiting.items()
            if (flow.resuming or (self._idle and flow.threads < self._share))
            and (flow.running <= self._extra or (flow.running == self._extra + 1 and flow.since <= long_before))
        ]
        return min(names, key=lambda name: self._waiting[name].turn, default=None)


class FlowTable:
    """Maps requests to flows. The flow is the user of a known access token, or else the address of the client."""

    def __init__(self, user_of: Callable[[str], str | None]) -> None:
        self._user_of = user_of
        self._known: dict[str, str] = {}

    def flow(self, token: str | None, address: str) -> str:
        """Return the flow of a request with this access token, without reading the store.

        The flow of a missing or unknown token is the client's address.
        """
        return self._known.get(token or "", f"address {address}")

    def look_up(self, token: str | None) -> None:
        """Look up the user of an access token in the store and remember the flow of the token."""
        if token and token not in self._known and (user := self._user_of(token)) is not None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[token] = f"user {user}"
