"""The thread that delivers: an event loop, and one task for each channel that has something to send.

A slow or dead receiver holds up its own channel and nothing else (N-09): no delivery waits for another channel's.
The thread ends when it has long had nothing to do, so that a sandbox that somebody has let go of can be forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from threading import Condition, Event, Thread

from ...core.notifications.delivery_schedule import AttemptOutcome
from ..storage.clock import SystemClock, VirtualClock
from ..tables.outbox import Waiting
from .delivery_queue import DeliveryQueue
from .senders import Handler, Sender, deliver_in_process

_log = logging.getLogger(__name__)

_CLOSING_SECONDS = 5.0
_IDLE_SECONDS = 30.0


class DeliveryWorker:
    """The thread. Other threads only call `wake`, `finish` and `close`."""

    def __init__(
        self,
        outbox: DeliveryQueue,
        clock: SystemClock | VirtualClock,
        make_sender: Callable[[], Sender],
        receivers: Mapping[str, Handler],
    ) -> None:
        self._outbox = outbox
        self._clock = clock
        self._make_sender = make_sender
        self._receivers = receivers
        self._loop = asyncio.new_event_loop()
        self._wake_event = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._requested, self._done = 0, 0
        self._condition = Condition()
        self._closed = Event()
        self._thread = Thread(target=self._main, name="svc-delivery", daemon=True)
        self._thread.start()

    def wake(self) -> bool:
        """Look again for what is due; False: the thread has ended."""
        with self._condition:
            if self._closed.is_set():
                return False
            self._requested += 1
            self._wake()
            return True

    def finish(self, timeout: float | None = None) -> None:
        """Wait until nothing is due and nothing under way, or so many seconds."""
        with self._condition:
            self._requested += 1
            mine = self._requested
            self._wake()
            self._condition.wait_for(lambda: self._done >= mine or self._closed.is_set(), timeout)

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        self._wake()
        self._thread.join(_CLOSING_SECONDS)

    def _wake(self) -> None:
        with suppress(RuntimeError):  # it has ended
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
        sender = self._make_sender()
        try:
            while not self._closed.is_set():
                self._wake_event.clear()
                seconds = self._seconds_until(self._begin_due(sender))
                try:
                    await asyncio.wait_for(self._wake_event.wait(), _IDLE_SECONDS if seconds is None else seconds)
                except TimeoutError:
                    if seconds is None:
                        self._end_if_idle()
        finally:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await sender.close()

    def _begin_due(self, sender: Sender) -> datetime | None:
        """Send what is due; when there will be something else."""
        requested = self._requested  # before looking: what is queued later is not promised to who asked
        due, later = self._due_and_later()
        for waiting in due:
            task = self._loop.create_task(self._drain_channel(waiting, sender))
            self._tasks.add(task)
            task.add_done_callback(self._task_done)
        if not self._tasks:
            with self._condition:
                self._done = requested
                self._condition.notify_all()
        return later

    def _due_and_later(self) -> tuple[list[Waiting], datetime | None]:
        """What goes out now, and when to look again. A store that fails once must not end the thread.

        The later time is asked for first: what becomes due between the two questions is then in both answers.
        """
        try:
            later = self._outbox.later()
            return self._outbox.due(), later
        except Exception:
            _log.exception("the outbox cannot be read")
            return [], None

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._wake_event.set()
        if not task.cancelled() and (error := task.exception()):
            _log.error("a delivery failed", exc_info=error)

    def _seconds_until(self, later: datetime | None) -> float | None:
        """By the system's clock; a virtual one tells when it moves."""
        return None if later is None or self._clock.is_virtual else (later - self._clock.now()).total_seconds()

    def _end_if_idle(self) -> None:
        """Nobody has asked since the last look: who asks from now on is told that this thread has ended."""
        with self._condition:
            if self._done == self._requested and not self._tasks:
                self._closed.set()

    async def _drain_channel(self, first: Waiting, sender: Sender) -> None:
        """Send what is due of one channel, in its order."""
        waiting: Waiting | None = first
        while waiting:
            outcome = self._outbox.record_outcome(waiting, await self._attempt(waiting, sender))
            waiting = outcome.following
            if outcome.postponed:
                self._wake_event.set()  # to wait no longer than until then

    async def _attempt(self, waiting: Waiting, sender: Sender) -> AttemptOutcome:
        if refused := self._outbox.check_allowed(waiting):
            return refused
        if handler := self._receivers.get(waiting.channel.address):
            return await self._loop.run_in_executor(None, deliver_in_process, handler, self._outbox, waiting)
        return await sender.send(waiting.channel.address, self._outbox.headers(waiting), self._outbox.body(waiting))
