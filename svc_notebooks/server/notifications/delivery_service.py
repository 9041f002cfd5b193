"""Takes messages out: in a thread that begins with the first of them (delivery_worker.py), so that no request waits.

Where there are no threads (JupyterLite), or none are wanted, messages go out when `deliver` is called, to
receivers in this process. What needs sockets is loaded when a message is sent, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from ...core.notifications.delivery_schedule import AttemptOutcome
from ...core.platform import capabilities
from ..storage.clock import SystemClock, VirtualClock
from ..tables.outbox import Waiting
from .delivery_queue import DeliveryQueue
from .senders import Handler, Sender, deliver_in_process

if TYPE_CHECKING:
    from .delivery_worker import DeliveryWorker


class DeliveryService:
    """Delivers what is due: in a thread if told so, or where there are threads. `make_poster` is called in it."""

    def __init__(
        self,
        outbox: DeliveryQueue,
        clock: SystemClock | VirtualClock,
        make_sender: Callable[[], Sender],
        *,
        background: bool | None = None,
    ) -> None:
        self._outbox = outbox
        self._clock = clock
        self._make_sender = make_sender
        self._background = capabilities().threads if background is None else background
        self._receivers: dict[str, Handler] = {}
        self._worker: DeliveryWorker | None = None
        self._starting = Lock()

    def receive_at(self, address: str, handler: Handler | None) -> None:
        """Let a function of this process answer messages to this address; None: no longer."""
        self._receivers.pop(address, None)
        if handler:
            self._receivers[address] = handler

    def wake(self) -> None:
        """There is news: queued messages, or a channel that was stopped."""
        if self._background:
            self._running_worker()

    def deliver(self, timeout: float | None = None) -> None:
        """Deliver everything that is due now; when it returns, every receiver has answered or was given up.

        `timeout` in seconds: how long a thread's work is waited for; None: to its end.
        """
        if not self._background:
            self._deliver_in_process()
        elif self._outbox.has_pending():
            self._running_worker().finish(timeout)
        elif self._worker:
            self._worker.finish(timeout)  # something may be on its way that waits no more

    def next(self) -> datetime | None:
        """When something will be due that is not yet; None: nothing waits."""
        return self._outbox.later()

    def close(self) -> None:
        """Stop; what is under way stays queued in the store."""
        if self._worker:
            self._worker.close()
            self._worker = None

    def _running_worker(self) -> DeliveryWorker:
        """The carrier, awake; another one where it has ended."""
        from .delivery_worker import DeliveryWorker

        with self._starting:
            if self._worker is None or not self._worker.wake():
                self._worker = DeliveryWorker(self._outbox, self._clock, self._make_sender, self._receivers)
            return self._worker

    def _deliver_in_process(self) -> None:
        while due := self._outbox.due():
            for first in due:
                waiting: Waiting | None = first
                while waiting:
                    waiting = self._outbox.record_outcome(waiting, self._attempt(waiting)).following

    def _attempt(self, waiting: Waiting) -> AttemptOutcome:
        handler = self._receivers.get(waiting.channel.address)
        if refused := self._outbox.check_allowed(waiting):
            return refused
        if handler is None:
            return AttemptOutcome(None, "nothing can be sent from here: this service delivers to its own process alone")
        return deliver_in_process(handler, self._outbox, waiting)
