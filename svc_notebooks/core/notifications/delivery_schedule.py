"""Decides whether a notification was delivered, is sent again or has failed (N-08)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..http.backoff import growing_delay

DELIVERED = frozenset({102, 200, 201, 202, 204})
"""The statuses of a delivered message."""

RETRIED = frozenset({500, 502, 503, 504})
"""The statuses after which a message is sent again. All others are failures."""


class DeliveryStatus(Enum):
    """The status of a message, or of an attempt to deliver it."""

    DELIVERED = "delivered"
    RETRY = "retry"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """The outcome of an attempt, with the status of the response, or None and the error."""

    status: int | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The number of attempts, and the waits between them in seconds.

    Each wait is longer than the one before, up to `cap`. `jitter` is the largest part of a wait that chance removes.

    >>> [Schedule(jitter=0).wait(n, 0.5) for n in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 32.0]
    """

    attempts: int = 5
    first: float = 1.0
    cap: float = 32.0
    jitter: float = 0.25

    def wait(self, attempt: int, chance: float) -> float:
        """Return the seconds from a failed attempt (1 for the first) to the next. `chance` is from 0 to 1."""
        return growing_delay(self.first, self.cap, attempt, self.jitter * chance)


@dataclass(frozen=True, slots=True)
class DeliveryDecision:
    """The decision after an attempt. `wait` is the time to the next attempt in seconds, None if there is none."""

    status: DeliveryStatus
    wait: float | None = None


def next_attempt(outcome: AttemptOutcome, attempt: int, schedule: Schedule, chance: float) -> DeliveryDecision:
    """Decide after an attempt (1 for the first). `chance` is from 0 to 1.

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
