"""The log of the delivery attempts, in memory or in a PostgreSQL database."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypedDict

from ...core.clock import format_time, from_millis
from ...core.notifications.delivery_schedule import AttemptOutcome, DeliveryStatus
from ..tables.message_queue import Waiting
from ..tables.shared.kept_rows import KeptRows


class DeliveryRow(TypedDict):
    """A delivery attempt as plain data, as `Sandbox.deliveries` and the control API return it."""

    channel_id: str
    resource_id: str
    message_number: int
    state: str
    attempt: int
    due: str
    time: str
    status: int | None
    outcome: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A logged delivery attempt, which began at `time` (Unix milliseconds).

    `attempt` is 0 if the message was cancelled before any attempt.
    """

    waiting: Waiting
    attempt: int
    time: int
    outcome: AttemptOutcome
    status: DeliveryStatus

    def order(self) -> tuple[int, int, int]:
        """Return the key by which attempts are sorted in time."""
        return self.time, self.waiting.seq, self.attempt

    def row(self) -> DeliveryRow:
        """Return the attempt as plain data, with times in RFC 3339."""
        return {
            "channel_id": self.waiting.channel.id,
            "resource_id": self.waiting.channel.resource_id,
            "message_number": self.waiting.number,
            "state": self.waiting.state,
            "attempt": self.attempt,
            "due": format_time(from_millis(self.waiting.due)),
            "time": format_time(from_millis(self.time)),
            "status": self.outcome.status,
            "outcome": self.status.value,
            "error": self.outcome.error,
        }


class DeliveryLog:
    """The last `length` attempts, in memory."""

    def __init__(self, length: int) -> None:
        self._deliveries: deque[Delivery] = deque(maxlen=length)

    def add(self, delivery: Delivery) -> None:
        """Add an attempt."""
        self._deliveries.append(delivery)

    def rows(self) -> list[DeliveryRow]:
        """Return a row for each attempt, in the order of their times."""
        return [each.row() for each in sorted(list(self._deliveries), key=Delivery.order)]

    def clear(self) -> None:
        """Delete all attempts."""
        self._deliveries.clear()


class KeptLog(DeliveryLog):
    """The attempts of all processes that use a database, in the database."""

    def __init__(self, table: KeptRows) -> None:
        super().__init__(0)
        self._table = table

    def add(self, delivery: Delivery) -> None:
        """Add an attempt."""
        self._table.add([delivery.order(), delivery.row()])

    def rows(self) -> list[DeliveryRow]:
        """Return a row for each attempt, in the order of their times."""
        return [row for _, row in sorted((document for _, document in self._table.rows()), key=lambda each: each[0])]

    def clear(self) -> None:
        """Delete all attempts."""
        self._table.clear()
