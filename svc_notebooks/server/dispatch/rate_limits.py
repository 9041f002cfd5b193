"""Limits the number of requests of each user within a time window (X-04).

The first request of a user opens the window, on the clock of the service. A refused request does not count, and its
error names the seconds to wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Literal, TypedDict

from ...core.api.operations import Operation
from ...core.clock import Clock, format_time
from ...core.errors.catalogue import ApiError, row
from ...core.http.messages import Query
from ...core.policy import Policy
from ..context.access_tokens import Caller
from ..context.quotas import Quota
from ..storage.clock import SystemClock

_MINUTE = timedelta(minutes=1)
_MOST_WINDOWS = 10_000


@dataclass(frozen=True, slots=True)
class Limit:
    """The number of cost units or requests that each window of the duration `per` allows."""

    most: int
    per: timedelta
    counting: Literal["units", "requests"]

    def __str__(self) -> str:
        return f"{self.most:,} {self.counting} in {self.per.total_seconds():g} seconds"


class RateLimitRow(TypedDict):
    """The limit of one user as plain data, with the requests spent in the open window and the end of the window."""

    user: str
    requests: int
    per: float
    spent: int
    until: str | None


@dataclass(slots=True)
class _Window:
    ends: datetime
    spent: int = 0


class RateLimiter:
    """Counts the requests of each user against the limits of the policy and the limits set for single users.

    With `only_own`, the limits of the policy do not apply.
    """

    def __init__(self, policy: Policy, clock: Clock, *, only_own: bool = False) -> None:
        self._policy = policy
        self._clock = clock
        self._files = None if only_own else _limit(policy.rate_limit, policy.rate_costs)
        self._calendar = None if only_own else _limit(policy.calendar_rate_limit, "requests")
        self._own: dict[str, Limit] = {}
        self._windows: dict[tuple[str, str], _Window] = {}
        self._lock = Lock()

    def limit(self, user: str, requests: int | None, per: timedelta) -> None:
        """Set the limit of one user. `requests=None` removes the limit. Raises ValueError for invalid values."""
        if requests is not None and (isinstance(requests, bool) or not isinstance(requests, int) or requests < 1):
            raise ValueError("requests must be a whole number of at least 1, or None to remove the limit")
        if per <= timedelta(0):
            raise ValueError("per must be a duration above 0 seconds")
        with self._lock:
            self._own.pop(user, None)
            self._windows.pop((user, "own"), None)
            if requests is not None:
                self._own[user] = Limit(requests, per, "requests")

    def check(self, caller: Caller, operation: Operation, query: Query) -> None:
        """Count a request. Raises ApiError (403 or 429, as the policy says) if the request exceeds the limit."""
        if own := self._own.get(caller.user):  # read once, because another thread may remove it
            name, limit = "own", own
        elif default := self._calendar if operation.calendar else self._files:
            name, limit = "calendar" if operation.calendar else "files", default
        else:
            return
        price = operation.cost(limit.counting, media=query.get("alt") == "media")
        now = self._clock.now()
        with self._lock:
            window = self._window((caller.user, name), now, limit)
            if window.spent and window.spent + price > limit.most:
                seconds = max(1, math.ceil((window.ends - now).total_seconds()))
                refusal = row("userRateLimit" if self._policy.rate_status == 403 else "rateLimit")
                title = refusal.message.partition(":")[0]
                message = f"{title}: {limit} are allowed; wait {seconds} seconds and try again."
                raise ApiError([replace(refusal, message=message)], [("Retry-After", str(seconds))])
            window.spent += price

    def _window(self, key: tuple[str, str], now: datetime, limit: Limit) -> _Window:
        window = self._windows.get(key)
        if window and now < window.ends <= now + limit.per:  # the clock may have been set back
            return window
        if len(self._windows) >= _MOST_WINDOWS:
            self._windows = {name: known for name, known in self._windows.items() if now < known.ends}
        self._windows[key] = _Window(now + limit.per)
        return self._windows[key]

    def rows(self) -> list[RateLimitRow]:
        """Return one row for each limit set for a single user, with the requests spent in the open window."""
        with self._lock:
            return [self._row(user, limit) for user, limit in sorted(self._own.items())]

    def _row(self, user: str, limit: Limit) -> RateLimitRow:
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
        """Close all windows, for example because the clock was set."""
        with self._lock:
            self._windows.clear()

    def clear(self) -> None:
        """Remove the limits of single users and close all windows."""
        self.forget()
        self._own.clear()


def _limit(most: int | None, counting: Literal["units", "requests"]) -> Limit | None:
    return None if most is None else Limit(most, _MINUTE, counting)


def request_quota_limiter(policy: Policy, quotas: Mapping[str, Quota]) -> RateLimiter:
    """Return a limiter for the request quotas of users, in real time, so that a frozen clock blocks no user."""
    limiter = RateLimiter(policy, SystemClock(), only_own=True)
    for user, quota in quotas.items():
        limiter.limit(user, quota.requests_per_minute, _MINUTE)
    return limiter
