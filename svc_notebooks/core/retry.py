"""When to try again: exponential delays with full jitter up to a cap, and when to give up (A3-22).

Pure: the chance and the time come in as arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_MOST_DOUBLINGS = 60  # 2.0**60 seconds is beyond any cap, and larger powers would overflow

_MOST_DIGITS = 9  # thirty years: what asks for more says nothing


@dataclass(frozen=True, slots=True)
class RetryRule:
    """How patient a client is; all in seconds.

    `patience` is counted from the last byte of progress, `deadline` from the start (None: no end).

    >>> RetryRule().delay(failures=3, chance=0.5)
    2.0
    """

    base: float = 1.0
    cap: float = 32.0
    patience: float = 300.0
    deadline: float | None = None

    def delay(self, failures: int, chance: float, retry_after: float | None = None) -> float:
        """The wait after so many failures in a row (1 for the first); `chance` is between 0 and 1.

        A Retry-After is the least that is waited: the service asked for it.
        """
        full = min(self.cap, self.base * 2.0 ** min(failures - 1, _MOST_DOUBLINGS))
        return max(chance * full, retry_after or 0.0)

    def exhausted(self, *, since_progress: float, since_start: float) -> bool:
        """Whether it is time to give up."""
        late = self.deadline is not None and since_start > self.deadline
        return late or since_progress > self.patience


def parse_retry_after(text: str | None, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for, given as a number or as a date; None if unreadable.

    >>> parse_retry_after("120", datetime.now(UTC))
    120.0
    """
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text) if len(text.strip()) <= _MOST_DIGITS else None
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # an offset of twenty digits
        return None
    return max(0.0, (_aware(when) - now).total_seconds())


def _aware(when: datetime) -> datetime:
    return when if when.tzinfo else when.replace(tzinfo=UTC)
