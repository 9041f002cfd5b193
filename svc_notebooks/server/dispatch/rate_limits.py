"""How much a user may ask for: so many units within a window of time that their first request opens (X-04).

A window is on the service's clock. What is refused costs nothing, and the refusal says how long to wait.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from ...core.api.costs import Counting, cost
from ...core.api.operations import Operation
from ...core.clock import Clock, format_time
from ...core.errors.catalogue import ApiError, row
from ...core.policy import Policy
from ..context.access_tokens import Caller

_MINUTE = timedelta(minutes=1)
_MOST_WINDOWS = 10_000


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many units or requests in each window."""

    most: int
    per: timedelta
    counting: Counting

    def __str__(self) -> str:
        return f"{self.most:,} {self.counting} in {self.per.total_seconds():g} seconds"


@dataclass(slots=True)
class _Window:
    """What has been spent until the window ends."""

    ends: datetime
    spent: int = 0


class RateLimiter:
    """The limits, and what was spent of them."""

    def __init__(self, policy: Policy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._files = _limit(policy.rate_limit, policy.rate_costs)
        self._calendar = _limit(policy.calendar_rate_limit, "requests")
        self._own: dict[str, Limit] = {}
        self._windows: dict[tuple[str, str], _Window] = {}
        self._lock = Lock()

    def limit(self, user: str, requests: int | None, per: timedelta) -> None:
        """Give a user a limit of their own, in the place of the policy's; None: no longer. Raises ValueError."""
        if requests is not None and (isinstance(requests, bool) or not isinstance(requests, int) or requests < 1):
            raise ValueError("requests takes a whole number from 1 on, or nothing to lift the limit")
        if per <= timedelta(0):
            raise ValueError("per takes a length of time above 0 seconds")
        with self._lock:
            self._own.pop(user, None)
            self._windows.pop((user, "own"), None)
            if requests is not None:
                self._own[user] = Limit(requests, per, "requests")

    def check(self, caller: Caller, operation: Operation, *, media: bool) -> None:
        """Let this request count. Raises ApiError (403, or 429 by policy) for one that is too much."""
        name, limit = self._limit_for(caller.user, operation)
        if limit is None:
            return
        price, now = cost(operation, limit.counting, media=media), self._clock.now()
        with self._lock:
            window = self._window((caller.user, name), now, limit)
            if window.spent and window.spent + price > limit.most:
                raise self._refusal(limit, window.ends - now)
            window.spent += price

    def _limit_for(self, user: str, operation: Operation) -> tuple[str, Limit | None]:
        if own := self._own.get(user):  # one look: it may be lifted at any moment
            return "own", own
        return ("calendar", self._calendar) if operation.calendar else ("files", self._files)

    def _window(self, key: tuple[str, str], now: datetime, limit: Limit) -> _Window:
        window = self._windows.get(key)
        if window and now < window.ends <= now + limit.per:  # a clock may have been put back
            return window
        if len(self._windows) >= _MOST_WINDOWS:
            self._windows = {name: known for name, known in self._windows.items() if now < known.ends}
        self._windows[key] = _Window(now + limit.per)
        return self._windows[key]

    def _refusal(self, limit: Limit, left: timedelta) -> ApiError:
        seconds = max(1, math.ceil(left.total_seconds()))
        refusal = row("userRateLimit" if self._policy.rate_status == 403 else "rateLimit")
        message = f"{refusal.message.partition(':')[0]}: {limit} are allowed; wait {seconds} seconds and try again."
        return ApiError([replace(refusal, message=message)], [("Retry-After", str(seconds))])

    def rows(self) -> list[dict[str, Any]]:
        """The limits of users, with what was spent of them in the window that is open."""
        with self._lock:
            return [self._row(user, limit) for user, limit in sorted(self._own.items())]

    def _row(self, user: str, limit: Limit) -> dict[str, Any]:
        window, now = self._windows.get((user, "own")), self._clock.now()
        is_open = window is not None and now < window.ends
        return {
            "user": user,
            "requests": limit.most,
            "per": limit.per.total_seconds(),
            "spent": window.spent if window and is_open else 0,
            "until": format_time(window.ends.astimezone(UTC)) if window and is_open else None,
        }

    def forget(self) -> None:
        """Nothing was spent: the clock stands elsewhere."""
        with self._lock:
            self._windows.clear()

    def clear(self) -> None:
        """No limits but the policy's."""
        self.forget()
        self._own.clear()


def _limit(most: int | None, counting: Counting) -> Limit | None:
    return None if most is None else Limit(most, _MINUTE, counting)
