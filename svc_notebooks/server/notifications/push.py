"""Delivers the push notifications of one service.

A thread sends the messages (delivery_worker.py), so that no request waits. Without threads (JupyterLite), or with
`background=False`, only `deliver` sends messages, and only to receivers in this process.
"""

from __future__ import annotations

import math
import time
from datetime import datetime
from threading import RLock
from typing import TYPE_CHECKING

from ...core.notifications.deliveries import AttemptOutcome
from ...core.platform import capabilities
from ..dispatch.service_context import ServiceContext
from .channels import register_receiver, registered_receivers
from .delivery_queue import POLL_SECONDS, DeliveryQueue, Handler, call_receiver
from .trust_store import TrustStore

if TYPE_CHECKING:
    from ..store.postgres.state import SharedValues
    from .delivery_worker import DeliveryWorker


class PushNotifications:
    """Delivers the waiting messages of a service.

    If `background` is true, a thread delivers the messages. None means true on platforms with threads.
    """

    def __init__(self, context: ServiceContext, *, background: bool | None = None) -> None:
        self._context = context
        self._background = capabilities().threads if background is None else background
        self._trust = TrustStore()
        self._receivers: dict[str, Handler] = {}
        self._worker: DeliveryWorker | None = None
        self._starting = RLock()
        self._is_closed = False
        self._loaded = set[str]()
        self.queue = DeliveryQueue(context)
        shared = context.store.shared
        if shared:
            self.queue.before_reading = self.load_authorities  # another process may have added some
            shared.values.on_notice = self.wake
        context.clock.agenda = self
        context.store.channels.on_change = self.wake
        self.load_authorities()
        if context.store.is_shared or self.queue.has_pending():
            self.wake()

    def load_authorities(self) -> None:
        """Trust the certificate authorities in the store that are not trusted yet."""
        for pem in self._context.store.trusted.authorities():
            if pem not in self._loaded:
                self._trust.add(pem)
                self._loaded.add(pem)
        for endpoint, receiver in registered_receivers(self._context.store).items():
            name = f"{endpoint} {receiver['ca_pem']}"
            if receiver["ca_pem"] and name not in self._loaded:
                self._trust.add_for(endpoint, receiver["ca_pem"])
                self._loaded.add(name)

    def trust(self, pem: str) -> None:
        """Trust the certificates in a PEM text and add the text to the store. Raises ValueError for an invalid text."""
        self._trust.add(pem)
        self._context.store.trusted.add_authority(pem)

    def register_receiver(self, user: str, address: str, ca_pem: str | None) -> str:
        """Register a receiver for the channels of one user, and return its host and port.

        Deliveries to the receiver trust `ca_pem`. Raises ValueError if invalid, and ApiError (409) for a receiver of
        another user.
        """
        if ca_pem:
            TrustStore().add(ca_pem)  # before anything is stored
        endpoint = register_receiver(self._context.store, user, address, ca_pem)
        if ca_pem:
            self._trust.add_for(str(endpoint), ca_pem)
        return str(endpoint)

    def receive_at(self, address: str, handler: Handler | None) -> None:
        """Pass the messages for an address to a function of this process. `handler=None` removes the function."""
        if handler:
            self._receivers[address] = handler
        else:
            self._receivers.pop(address, None)

    def wake(self) -> None:
        """Wake the delivery thread, because messages were queued or a channel was stopped."""
        if self._background:
            with self._starting:
                if not self._is_closed:  # another process may still announce messages
                    self._running_worker()

    def deliver(self, timeout: float | None = None) -> None:
        """Deliver the due messages. Return when each attempt has ended, or after `timeout` seconds of real time."""
        if not self._background:
            while due := self.queue.due():
                for waiting in due:
                    try:
                        self.queue.drain(waiting, self._send_in_process).send(None)
                    except StopIteration:  # the coroutine has ended, because it never waits
                        continue
        elif self._context.store.shared:
            self._deliver_with_others(self._context.store.shared.values, timeout)
        elif self.queue.has_pending():
            self._running_worker().finish(timeout)
        elif self._worker:
            self._worker.finish(timeout)  # a message in flight may no longer be in the store

    def _deliver_with_others(self, values: SharedValues, timeout: float | None) -> None:
        """Deliver the due messages, and wait for those that other processes deliver."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            self._running_worker().finish(None if timeout is None else left)
            if not self.queue.is_busy_elsewhere():
                return
            values.wait_for(lambda: not self.queue.is_busy_elsewhere(), end)

    def next(self) -> datetime | None:
        """Return when the next message is due or its channel expires, or None if no message waits."""
        return self.queue.later()

    def close(self) -> None:
        """End the delivery thread. Messages in flight stay in the store."""
        with self._starting:
            self._is_closed, worker, self._worker = True, self._worker, None
        if worker:
            worker.close()
        if self._context.store.is_shared:
            self._context.store.outbox.release_all()

    def _running_worker(self) -> DeliveryWorker:
        from .delivery_worker import DeliveryWorker
        from .https_sender import HttpsSender

        with self._starting:
            if self._worker is None or not self._worker.wake():
                policy = self._context.policy
                sender = HttpsSender(
                    self._trust, timeout=policy.delivery_timeout, connections=policy.connections_per_receiver
                )
                poll_seconds = POLL_SECONDS if self._context.store.is_shared else None
                self._worker = DeliveryWorker(self.queue, self._context.clock, sender, self._receivers, poll_seconds)
            return self._worker

    async def _send_in_process(self, address: str, headers: list[tuple[str, str]], body: bytes) -> AttemptOutcome:
        handler = self._receivers.get(address)
        if handler is None:
            return AttemptOutcome(None, "this service delivers messages only to receivers in its own process")
        return call_receiver(handler, address, headers, body)
