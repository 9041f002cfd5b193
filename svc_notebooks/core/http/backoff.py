"""Delays between retries (A3-22, N-08), and the time after which a client gives up, without clock and chance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# The largest fraction of a delay that jitter removes. With one half, a delay might not exceed the previous delay.
MAX_JITTER = 0.25

_MOST_DOUBLINGS = 1023  # 2.0**1024 overflows

# A shorter wait may not advance a clock, and the time left would never pass.
MIN_WAIT = 0.001

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

    @property
    def longest_wait(self) -> float:
        """The seconds until a client gives up that has just started."""
        return self.patience if self.deadline is None else min(self.patience, self.deadline)

    def too_long_message(self, requested: float) -> str:
        """Return an error message for a Retry-After time that is longer than the client waits."""
        days = round(min(requested, _YEARS) / 86_400)
        wait = f"{requested:,.0f} seconds" + (f" ({days:,} days)" if days > 1 else "")
        wait = "many years" if requested > _YEARS else wait
        return f"The service requires a wait of {wait}; this client waits at most {self.longest_wait:,g} seconds."


class Backoff:
    """The consecutive failures of a request or a transfer, and the waits between them. Times are in seconds.

    `failures` is the number of failures since the last progress. After a `wait` that returned None, `too_long` is the
    Retry-After time that was longer than the time left, or None.

    >>> backoff = Backoff(RetryRule(patience=60), now=0.0)
    >>> [backoff.wait(now, chance=0.5) for now in (0.0, 1.0, 59.0, 60.0)]
    [0.875, 1.75, 1.0, None]
    """

    def __init__(self, rule: RetryRule, now: float) -> None:
        self.rule = rule
        self.failures = 0
        self.too_long: float | None = None
        self._started_at = self._progress_at = now

    def progress(self, now: float) -> None:
        """Reset the count of failures, because the transfer has made progress."""
        self.failures = 0
        self._progress_at = now

    def wait(self, now: float, chance: float, retry_after: float | None = None) -> float | None:
        """Count a failure. Return the seconds until the next attempt, or None if the client must give up.

        `chance` is random from 0 to 1.
        """
        self.failures += 1
        left = self.rule.patience - (now - self._progress_at)
        if self.rule.deadline is not None:
            left = min(left, self.rule.deadline - (now - self._started_at))
        self.too_long = retry_after if retry_after and retry_after > left else None
        if left < MIN_WAIT or self.too_long is not None:
            return None
        return min(self.rule.delay(self.failures, chance, retry_after), left)


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
