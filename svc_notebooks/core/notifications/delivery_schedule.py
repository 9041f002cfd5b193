"""Classification of delivery attempts as delivered, to be retried, or failed (N-08)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..http.backoff import growing_delay

DELIVERED = frozenset({102, 200, 201, 202, 204})
"""The response statuses for which a message counts as delivered."""

RETRIED = frozenset({500, 502, 503, 504})
"""The response statuses after which a message is sent again. Statuses not here or in `DELIVERED` are failures."""


class DeliveryStatus(Enum):
    """The delivery status of a message or of a delivery attempt."""

    DELIVERED = "delivered"
    RETRY = "retry"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """The result of a delivery attempt. `status` is the receiver's HTTP status, or None with an `error` text."""

    status: int | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The maximum number of delivery attempts, and the waits between them in seconds.

    Each wait is longer than the previous wait, up to `cap`. `jitter` is the largest fraction to remove at random.

    >>> [Schedule(jitter=0).wait(n, 0.5) for n in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 32.0]
    """

    attempts: int = 5
    first: float = 1.0
    cap: float = 32.0
    jitter: float = 0.25

    def wait(self, attempt: int, chance: float) -> float:
        """Return the seconds to wait after attempt number `attempt`, counted from 1. `chance` is random from 0 to 1."""
        return growing_delay(self.first, self.cap, attempt, self.jitter * chance)


@dataclass(frozen=True, slots=True)
class DeliveryDecision:
    """The decision after a delivery attempt. `wait` is in seconds, or None without a next attempt."""

    status: DeliveryStatus
    wait: float | None = None


def next_attempt(outcome: AttemptOutcome, attempt: int, schedule: Schedule, chance: float) -> DeliveryDecision:
    """Decide whether a message was delivered, is sent again or has failed after an attempt.

    `attempt` is 1 for the first attempt. `chance` is a random number from 0 to 1, which shortens the wait.

    >>> next_attempt(AttemptOutcome(204), 1, Schedule(), 0.0).status
    <DeliveryStatus.DELIVERED: 'delivered'>
    >>> next_attempt(AttemptOutcome(503), 5, Schedule(), 0.0).status
    <DeliveryStatus.FAILED: 'failed'>
    """
    if outcome.status in DELIVERED:
        return DeliveryDecision(DeliveryStatus.DELIVERED)
    if outcome.status in RETRIED and attempt < schedule.attempts:
        return DeliveryDecision(DeliveryStatus.RETRY, schedule.wait(attempt, chance))
    return DeliveryDecision(DeliveryStatus.FAILED)
