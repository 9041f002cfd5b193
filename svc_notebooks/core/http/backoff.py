"""When to try again: growing delays up to a cap, and when to give up (A3-22).

Pure: the chance and the time come in as arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_JITTER = 0.25
"""The largest part that chance may take off a delay: a half would let a delay be no longer than the one before."""

_MOST_DOUBLINGS = 1023  # 2.0**1024 overflows

_MIN_WAIT = 0.001  # a clock may not see less, and then the rest of the patience would never pass
_YEARS = 10 * 366 * 86_400  # nobody needs to know how many


def growing_delay(first: float, cap: float, failures: int, jitter: float) -> float:
    """The delay in seconds after so many failures in a row (1 for the first): `first`, doubled each time, up to `cap`.

    `jitter` is the part that is taken off, from 0 to MOST_JITTER. It is taken off before the cap is applied, so each
    delay is longer than the one before until a delay equals the cap.

    >>> [growing_delay(1.0, 5.0, failures, jitter=0.25) for failures in (1, 2, 3, 4, 5)]
    [0.75, 1.5, 3.0, 5.0, 5.0]
    """
    return min(cap, first * 2.0 ** min(failures - 1, _MOST_DOUBLINGS) * (1 - jitter))


@dataclass(frozen=True, slots=True)
class RetryRule:
    """How patient a client is; all in seconds.

    `patience` is counted from the last byte of progress, `deadline` from the start (None: no end).

    >>> RetryRule().delay(failures=3, chance=0.5)
    3.5
    """

    base: float = 1.0
    cap: float = 32.0
    patience: float = 300.0
    deadline: float | None = None

    def delay(self, failures: int, chance: float, retry_after: float | None = None) -> float:
        """The wait after so many failures in a row (1 for the first); `chance` is between 0 and 1.

        A Retry-After is the least that is waited: the service asked for it.
        """
        return max(growing_delay(self.base, self.cap, failures, MAX_JITTER * chance), retry_after or 0.0)

    def time_left(self, *, since_progress: float, since_start: float) -> float:
        """The time until it is given up."""
        patience = self.patience - since_progress
        return patience if self.deadline is None else min(patience, self.deadline - since_start)

    def wait(self, failures: int, chance: float, retry_after: float | None, left: float) -> float | None:
        """The wait before the next try, at most the time that is left; None: give up now.

        It is given up when no time is left, and when the service asks to wait for longer than that.

        >>> RetryRule().wait(1, 0.5, retry_after=61.0, left=60.0) is None
        True
        """
        if left < _MIN_WAIT or (retry_after or 0.0) > left:
            return None
        return min(self.delay(failures, chance, retry_after), left)

    def too_long_message(self, requested: float) -> str:
        """What a person is told of a service that asks to wait for longer than the client waits."""
        maximum = self.patience if self.deadline is None else min(self.patience, self.deadline)
        return f"The service asks to wait {_in_words(requested)}; this client waits {maximum:,g} seconds at most."


def _in_words(seconds: float) -> str:
    if seconds > _YEARS:
        return "for years"
    days = round(seconds / 86_400)
    return f"{seconds:,.0f} seconds" + (f" ({days:,} days)" if days > 1 else "")


def parse_retry_after(text: str | None, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for, a number or a date; None for what is neither.

    >>> parse_retry_after("120", datetime.now(UTC))
    120.0
    """
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text)  # of 400 digits: infinity
    try:
        return max(0.0, (_aware(parsedate_to_datetime(text)) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):  # an offset of twenty digits, a date before the year 1
        return None


def _aware(when: datetime) -> datetime:
    return when if when.tzinfo else when.replace(tzinfo=UTC)
