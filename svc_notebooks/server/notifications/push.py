"""Delivers the push notifications of one service.

Messages are sent in a thread that starts with the first of them (delivery_worker.py), so that no request waits. Where
there are no threads (JupyterLite), or none are wanted, they are sent when `deliver` is called, to receivers in this
process. What needs sockets is imported when a message is sent, not before.
"""

from __future__ import annotations

from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING

from ...core.notifications.delivery_schedule import AttemptOutcome
from ...core.platform import capabilities
from ..context.service_context import ServiceContext
from .delivery_queue import DeliveryQueue, Handler, call_receiver
from .trust_store import TrustStore

if TYPE_CHECKING:
    from .delivery_worker import DeliveryWorker


class PushNotifications:
    """Delivers the messages that wait in the store of a service.

    `background` decides whether a thread does it. None means a thread where there are threads.
    """

    def __init__(self, context: ServiceContext, *, background: bool | None = None) -> None:
        self._context = context
        self._background = capabilities().threads if background is None else background
        self._trust = TrustStore()
        self._receivers: dict[str, Handler] = {}
        self._worker: DeliveryWorker | None = None
        self._starting = Lock()
        self.queue = DeliveryQueue(context)
        context.clock.agenda = self
        context.store.channels.on_change = self.wake
        self.load_authorities()
        if self.queue.has_pending():
            self.wake()

    def load_authorities(self) -> None:
        """Trust the certificate authorities that the store holds."""
        for pem in self._context.store.trusted.authorities():
            self._trust.add(pem)

    def trust(self, pem: str) -> None:
        """Trust the certificates in a text and keep it in the store. Raises ValueError."""
        self._trust.add(pem)
        self._context.store.trusted.add_authority(pem)

    def receive_at(self, address: str, handler: Handler | None) -> None:
        """Let a function of this process answer the messages to an address. None removes it."""
        if handler:
            self._receivers[address] = handler
        else:
            self._receivers.pop(address, None)

    def wake(self) -> None:
        """Wake the thread, because messages were queued or a channel was stopped."""
        if self._background:
            self._running_worker()

    def deliver(self, timeout: float | None = None) -> None:
        """Deliver everything that is due now, and return when every receiver has answered or was given up.

        `timeout` is in seconds of real time, after which the thread goes on by itself. None waits to the end.
        """
        if not self._background:
            while due := self.queue.due():
                for waiting in due:
                    try:
                        self.queue.drain(waiting, self._send_in_process).send(None)
                    except StopIteration:  # the coroutine has ended: nothing in it ever has to wait
                        continue
        elif self.queue.has_pending():
            self._running_worker().finish(timeout)
        elif self._worker:
            self._worker.finish(timeout)  # a message that is under way may no longer be in the store

    def next(self) -> datetime | None:
        """Return when the next message will be due or a channel with messages will expire, or None."""
        return self.queue.later()

    def close(self) -> None:
        """End the thread. Messages that are under way stay in the store."""
        if self._worker:
            self._worker.close()
            self._worker = None

    def _running_worker(self) -> DeliveryWorker:
        """Wake the worker, or start a new one if it has ended."""
        from .delivery_worker import DeliveryWorker
        from .https_sender import HttpsSender

        with self._starting:
            if self._worker is None or not self._worker.wake():
                policy = self._context.policy
                sender = HttpsSender(
                    self._trust, timeout=policy.delivery_timeout, connections=policy.connections_per_receiver
                )
                self._worker = DeliveryWorker(self.queue, self._context.clock, sender, self._receivers)
            return self._worker

    async def _send_in_process(self, address: str, headers: list[tuple[str, str]], body: bytes) -> AttemptOutcome:
        handler = self._receivers.get(address)
        if handler is None:
            return AttemptOutcome(None, "nothing can be sent from here: this service delivers to its own process alone")
        return call_receiver(handler, address, headers, body)
