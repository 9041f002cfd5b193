"""Delays between retries, and the time after which a client gives up (A3-22), without clock and random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_JITTER = 0.25
"""The largest fraction of a delay that jitter removes. With one half, a delay might not exceed the previous delay."""

_MOST_DOUBLINGS = 1023  # 2.0**1024 overflows

_MIN_WAIT = 0.001  # shorter waits may not advance the clock, and the time left would never pass
_YEARS = 10 * 366 * 86_400


def growing_delay(first: float, cap: float, failures: int, jitter: float) -> float:
    """Return the delay in seconds after a number of consecutive failures, 1 for the first.

    The delay is `first`, doubled with each further failure, less the fraction `jitter` (0 to MAX_JITTER), at most
    `cap`. Delays below `cap` always grow, because the jitter is removed first.

    >>> [growing_delay(1.0, 5.0, failures, jitter=0.25) for failures in (1, 2, 3, 4, 5)]
    [0.75, 1.5, 3.0, 5.0, 5.0]
    """
    return min(cap, first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS) * (1 - jitter))


@dataclass(frozen=True, slots=True)
class RetryRule:
    """A client's delays between retries, and the time after which the client gives up, in seconds.

    `patience` limits the time without progress, and `deadline` the time since the start (None for no limit).

    >>> RetryRule().delay(failures=3, chance=0.5)
    3.5
    """

    base: float = 1.0
    cap: float = 32.0
    patience: float = 300.0
    deadline: float | None = None

    def delay(self, failures: int, chance: float, retry_after: float | None = None) -> float:
        """Return the delay in seconds, at least `retry_after`, after a number of failures. `chance` is from 0 to 1."""
        return max(growing_delay(self.base, self.cap, failures, MAX_JITTER * chance), retry_after or 0.0)

    def time_left(self, *, since_progress: float, since_start: float) -> float:
        """Return the seconds until the client gives up. The arguments are in seconds."""
        patience = self.patience - since_progress
        return patience if self.deadline is None else min(patience, self.deadline - since_start)

    def wait(self, failures: int, chance: float, retry_after: float | None, left: float) -> float | None:
        """Return the seconds until the next attempt, at most `left`, or None if the client must give up.

        >>> RetryRule().wait(1, 0.5, retry_after=61.0, left=60.0) is None
        True
        """
        if left < _MIN_WAIT or (retry_after or 0.0) > left:
            return None
        return min(self.delay(failures, chance, retry_after), left)

    def too_long_message(self, requested: float) -> str:
        """Return an error message for a Retry-After time that is longer than the client waits."""
        maximum = self.patience if self.deadline is None else min(self.patience, self.deadline)
        days = round(min(requested, _YEARS) / 86_400)
        wait = f"{requested:,.0f} seconds" + (f" ({days:,} days)" if days > 1 else "")
        wait = "many years" if requested > _YEARS else wait
        return f"The service requires a wait of {wait}; this client waits at most {maximum:,g} seconds."


def parse_retry_after(text: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header requests as a number or date, or None if missing or invalid.

    >>> parse_retry_after("120", datetime.now(UTC))
    120.0
    """
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text)  # the result is infinity for 400 digits
    try:
        when = parsedate_to_datetime(text)
        return max(0.0, ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):  # an offset of twenty digits, a date before the year 1
        return None
