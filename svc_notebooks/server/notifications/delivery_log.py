"""Every attempt to deliver a message: a ring of one row for each."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from ...core.clock import format_time, from_millis
from ...core.notifications.delivery_schedule import AttemptOutcome, DeliveryStatus
from ..tables.outbox import Waiting


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt (1 for the first), begun at `time`, in Unix milliseconds; 0: taken back before any was made."""

    waiting: Waiting
    attempt: int
    time: int
    outcome: AttemptOutcome
    fate: DeliveryStatus

    def row(self) -> dict[str, Any]:
        """As the control interface shows it."""
        return {
            "channel_id": self.waiting.channel.id,
            "resource_id": self.waiting.channel.resource_id,
            "message_number": self.waiting.number,
            "state": self.waiting.state,
            "attempt": self.attempt,
            "due": format_time(from_millis(self.waiting.due)),
            "time": format_time(from_millis(self.time)),
            "status": self.outcome.status,
            "outcome": self.fate.value,
            "error": self.outcome.error,
        }


class DeliveryLog:
    """The last so many attempts."""

    def __init__(self, length: int) -> None:
        self._deliveries: deque[Delivery] = deque(maxlen=length)

    def add(self, delivery: Delivery) -> None:
        """Remember an attempt."""
        self._deliveries.append(delivery)

    def rows(self) -> list[dict[str, Any]]:
        """All that are kept, in the order of their times; of one time, in the order of the messages."""
        ordered = sorted(
            list(self._deliveries), key=lambda delivery: (delivery.time, delivery.waiting.seq, delivery.attempt)
        )
        return [delivery.row() for delivery in ordered]

    def clear(self) -> None:
        """Begin anew."""
        self._deliveries.clear()


def _order(delivery: Delivery) -> tuple[int, int, int]:
    return delivery.time, delivery.waiting.seq, delivery.attempt
