"""Sends one message: over HTTPS, or by a call of a receiver in this process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from ...core.http.messages import Headers, Request, Response
from ...core.notifications.delivery_schedule import AttemptOutcome
from ..tables.outbox import Waiting
from .delivery_queue import DeliveryQueue

_log = logging.getLogger(__name__)

Handler = Callable[[Request], Response]


class Sender(Protocol):
    """What sends a message to an address."""

    async def send(self, address: str, headers: list[tuple[str, str]], body: bytes) -> AttemptOutcome:
        """How it went; failures are outcomes too."""

    async def close(self) -> None:
        """Let go of all connections."""


def deliver_in_process(handler: Handler, outbox: DeliveryQueue, waiting: Waiting) -> AttemptOutcome:
    """Hand a message to a receiver of this process."""
    body = outbox.body(waiting)
    headers = Headers([*outbox.headers(waiting), ("Content-Length", str(len(body)))])
    try:
        return AttemptOutcome(handler(Request("POST", waiting.channel.address, headers, body)).status)
    except Exception as error:
        _log.exception("the receiver of %s failed", waiting.channel.id)
        return AttemptOutcome(None, f"the receiver failed: {error}")
