"""What becomes of a message that was posted: delivered, tried again later, or given up (N-08).

Pure: the outcome, the count of tries and the chance come in, the judgement goes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..http.backoff import growing_delay

DELIVERED = frozenset({102, 200, 201, 202, 204})
"""Statuses by which a receiver says that it has the message."""

RETRIED = frozenset({500, 502, 503, 504})
"""Statuses after which the same message is sent again; whatever is in neither set is a failure."""


class DeliveryStatus(Enum):
    """What became of a message, or of one attempt to deliver it."""

    DELIVERED = "delivered"
    RETRY = "retry"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """How one attempt went: the receiver's status, or None and why no status came."""

    status: int | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """How patient deliveries are: the number of attempts, and the waits between them in seconds.

    Each wait is longer than the one before, up to `cap`. `jitter` is the largest part of a wait that chance takes off.

    >>> [Schedule(jitter=0).wait(n, 0.5) for n in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 32.0]
    """

    attempts: int = 5
    first: float = 1.0
    cap: float = 32.0
    jitter: float = 0.25

    def wait(self, attempt: int, chance: float) -> float:
        """Seconds from a failed attempt (1 for the first) to the next. `chance` is between 0 and 1."""
        return growing_delay(self.first, self.cap, attempt, self.jitter * chance)


@dataclass(frozen=True, slots=True)
class DeliveryDecision:
    """What follows from an attempt. `wait`: seconds until the next one, where there is one."""

    status: DeliveryStatus
    wait: float | None = None


def next_attempt(outcome: AttemptOutcome, attempt: int, schedule: Schedule, chance: float) -> DeliveryDecision:
    """What follows from an attempt (1 for the first).

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
