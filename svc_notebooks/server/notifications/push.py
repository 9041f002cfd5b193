"""Delivers the push notifications of one service: its outbox, its delivery service and the certificates it trusts."""

from __future__ import annotations

from typing import Any

from ..context.service_context import ServiceContext
from .delivery_queue import DeliveryQueue
from .delivery_service import DeliveryService
from .senders import Handler, Sender
from .trust_store import TrustStore


class PushNotifications:
    """Delivers what waits in the store of a service, and keeps the log of the attempts."""

    def __init__(self, context: ServiceContext, *, background: bool | None = None) -> None:
        self._store, self._policy = context.store, context.policy
        self._trust = TrustStore()
        self._outbox = DeliveryQueue(context.store, context.clock, context.policy, context.names, context.secret)
        self._delivery = DeliveryService(self._outbox, context.clock, self._make_sender, background=background)
        context.clock.agenda = self._delivery
        context.store.channels.on_change = self._delivery.wake
        self.load_authorities()
        if self._outbox.has_pending():
            self._delivery.wake()

    def _make_sender(self) -> Sender:
        from .connection_pool import HttpsSender  # TLS and HTTP: nothing needs them before the first message

        policy = self._policy
        return HttpsSender(self._trust, timeout=policy.delivery_timeout, connections=policy.connections_per_receiver)

    def load_authorities(self) -> None:
        """Trust the certificate authorities that the store holds."""
        for pem in self._store.trusted.authorities():
            self._trust.add(pem)

    def trust(self, pem: str) -> None:
        """Trust the certificates in a text and keep it in the store. Raises ValueError."""
        self._trust.add(pem)
        self._store.trusted.add_authority(pem)

    def receive_at(self, address: str, handler: Handler | None) -> None:
        """Let a function of this process answer the messages to this address; None: no longer."""
        self._delivery.receive_at(address, handler)

    def deliver(self, timeout: float | None = None) -> None:
        """Deliver what is due now; `timeout` in seconds of real time."""
        self._delivery.deliver(timeout)

    def attempts(self) -> list[dict[str, Any]]:
        """One row for each attempt to deliver a message, in the order of their times."""
        self._outbox.sweep()
        return self._outbox.deliveries.rows()

    def forget(self) -> None:
        """Forget what is under way and the log: the store has been replaced."""
        self._outbox.forget()

    def close(self) -> None:
        """Stop; what is under way stays queued in the store."""
        self._delivery.close()
