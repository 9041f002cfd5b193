"""The thread that delivers push notifications.

Its event loop runs one task for each channel with a due message, so a slow receiver delays only its own channel (N-09).
An idle thread ends, so that Python can delete a sandbox that is no longer referenced.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from threading import Condition, Event, Thread

from ...core.notifications.deliveries import AttemptOutcome
from ..store.clock import VirtualClock
from .delivery_queue import DeliveryQueue, Handler, call_receiver
from .https_sender import HttpsSender

_log = logging.getLogger(__name__)

_CLOSING_SECONDS = 5.0
_IDLE_SECONDS = 30.0


class DeliveryWorker:
    """The delivery thread. Other threads may call only `wake`, `finish` and `close`."""

    def __init__(
        self,
        queue: DeliveryQueue,
        clock: VirtualClock,
        sender: HttpsSender,
        receivers: Mapping[str, Handler],
        poll_seconds: float | None = None,
    ) -> None:
        """Start the thread. With `poll_seconds`, it reads the queue at least that often, and never ends by itself."""
        self._poll_seconds = poll_seconds
        self._queue = queue
        self._clock = clock
        self._sender = sender
        self._receivers = receivers
        self._loop = asyncio.new_event_loop()
        self._wake_event = asyncio.Event()
        self._tasks: set[asyncio.Task[bool]] = set()
        # Three counts of the calls of `wake` and `finish`: all calls, the calls before the queue was last read, and the
        # calls whose messages have been sent.
        self._requested, self._looked, self._done = 0, 0, 0
        self._condition = Condition()
        self._closed = Event()
        self._thread = Thread(target=self._main, name="svc-delivery", daemon=True)
        self._thread.start()

    def wake(self) -> bool:
        """Make the thread look for messages that are due. Return False if the thread has ended."""
        with self._condition:
            if self._closed.is_set():
                return False
            self._requested += 1
            self._wake()
            return True

    def finish(self, timeout: float | None = None) -> None:
        """Wait until no message is due or in flight, or for at most `timeout` seconds."""
        with self._condition:
            self._requested += 1
            own_request = self._requested
            self._wake()
            self._condition.wait_for(lambda: self._done >= own_request or self._closed.is_set(), timeout)

    def close(self) -> None:
        """End the thread and wait until it has ended."""
        self._closed.set()
        self._wake()
        self._thread.join(_CLOSING_SECONDS)

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._wake_event.set)

    def _main(self) -> None:
        try:
            self._loop.run_until_complete(self._run())
        finally:
            with self._condition:
                self._closed.set()
                self._condition.notify_all()
            self._loop.close()

    async def _run(self) -> None:
        try:
            while not self._closed.is_set():
                self._wake_event.clear()
                seconds = self._start_due()
                try:
                    await asyncio.wait_for(self._wake_event.wait(), _IDLE_SECONDS if seconds is None else seconds)
                except TimeoutError:
                    with self._condition:  # a later call of `wake` returns False
                        if seconds is None and self._done == self._requested and not self._tasks:
                            self._closed.set()
        finally:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._sender.close()

    def _start_due(self) -> float | None:
        """Start a task for each channel with a due message. Return the seconds until the next message is due.

        Return None if no message waits, and for a virtual clock, which wakes the thread when the clock moves. In a
        store that other processes share, return at most the interval in which the queue is read.
        """
        self._looked = self._requested  # before the queue is read, as later messages belong to a later request
        seconds = None
        try:
            # `later` is read first, so that a message that becomes due between the two queries is in both results.
            later = None if self._clock.is_virtual else self._queue.later()
            due = self._queue.due()
            if later is not None:
                seconds = (later - self._clock.now()).total_seconds()
            if self._poll_seconds is not None:
                seconds = min(self._poll_seconds, self._poll_seconds if seconds is None else seconds)
        except Exception:  # a store that fails once must not end the thread
            _log.exception("the due messages cannot be read from the database")
            due = []
        for waiting in due:
            task = self._loop.create_task(self._queue.drain(waiting, self._send))
            self._tasks.add(task)
            task.add_done_callback(self._on_task_done)
        self._notify_waiters()
        return seconds

    def _on_task_done(self, task: asyncio.Task[bool]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            _log.error("a delivery failed", exc_info=error)
        if error or (not task.cancelled() and task.result()):
            self._wake_event.set()  # `finish` must still wait, because another task may start
        else:
            self._notify_waiters()

    def _notify_waiters(self) -> None:
        """Let `finish` return if no task is running."""
        if not self._tasks:
            with self._condition:
                self._done = self._looked
                self._condition.notify_all()

    async def _send(self, address: str, headers: list[tuple[str, str]], body: bytes) -> AttemptOutcome:
        if handler := self._receivers.get(address):
            return await self._loop.run_in_executor(None, call_receiver, handler, address, headers, body)
        return await self._sender.send(address, headers, body)
