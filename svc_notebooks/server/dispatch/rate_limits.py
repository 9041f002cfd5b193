"""Limits the number of requests of each user within a time window (X-04), and the long reads at the same time.

The first request of a user opens the window, on the clock of the service. A refused request does not count, and its
error names the seconds to wait. The window also ends for a client that has waited for them in real time, because a
program on a socket cannot move a virtual clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ...convert.pool.converter import Abandoned, Admission, TooManyWaiting
from ...core.api.operations import Operation
from ...core.errors.catalogue import ApiError, row as error_row
from ...core.http.messages import Disconnected, Query
from ...core.policy import Policy
from ...core.thread_permit import checked_slices, release_permit
from ...core.times import Clock, format_time
from ..store.clock import SystemClock
from ..store.values import QUOTA, LocalValues, Windows
from .service_context import Caller, Quota

if TYPE_CHECKING:
    from ..store.postgres.state import SharedTables


_MINUTE = timedelta(minutes=1)
_LIMITS = "limits"


@dataclass(frozen=True, slots=True)
class Limit:
    """The number of cost units or requests that each window of the duration `per` allows."""

    most: int
    per: timedelta
    counting: Literal["units", "requests"]

    def __str__(self) -> str:
        return f"{self.most:,} {self.counting} in {self.per.total_seconds():g} seconds"


class RateLimiter:
    """Counts the requests of each user against the limits of the policy and the limits set for single users.

    `shared` are the tables of a store that several processes share, which count together.
    """

    def __init__(
        self,
        policy: Policy,
        clock: Clock,
        shared: SharedTables | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._monotonic = monotonic
        # The end of the window in which a user was refused, and the real time until which the user has to wait.
        self._waits: dict[tuple[str, str], tuple[datetime, float]] = {}
        self._files = _limit(policy.rate_limit, policy.rate_costs)
        self._calendar = _limit(policy.calendar_rate_limit, "requests")
        self._values = shared.values if shared else LocalValues()
        self._windows = shared.windows if shared else Windows()

    def limit(self, user: str, requests: int | None, per: timedelta) -> None:
        """Set the limit of one user. `requests=None` removes the limit. Raises ValueError for invalid values."""
        if requests is not None and (isinstance(requests, bool) or not isinstance(requests, int) or requests < 1):
            raise ValueError("requests must be a whole number of at least 1, or None to remove the limit")
        if per <= timedelta(0):
            raise ValueError("per must be a duration above 0 seconds")
        self._windows.close(user, "own")
        self._waits.pop((user, "own"), None)
        with self._values.editing(_LIMITS) as edited:
            others = {name: row for name, row in (edited.value or {}).items() if name != user}
            edited.value = {**others, user: [requests, per.total_seconds()]} if requests else others

    def check(self, caller: Caller, operation: Operation, query: Query) -> None:
        """Count a request. Raises ApiError (403 or 429, as the policy says) if the request exceeds the limit."""
        if own := (self._values.get(_LIMITS) or {}).get(caller.user):
            name, limit = "own", Limit(own[0], timedelta(seconds=own[1]), "requests")
        elif default := self._calendar if operation.calendar else self._files:
            name, limit = "calendar" if operation.calendar else "files", default
        else:
            return
        self._spend(caller.user, name, limit, operation.cost(limit.counting, media=query.get("alt") == "media"))

    def _spend(self, user: str, kind: str, limit: Limit, price: int) -> None:
        now, key = self._clock.now(), (user, kind)
        ends = self._windows.spend(user, kind, price, limit.most, limit.per, now)
        window, until = self._waits.get(key, (None, math.inf))
        if ends and ends == window and self._monotonic() >= until and self._waits.pop(key, None):
            self._windows.close(user, kind)
            ends = self._windows.spend(user, kind, price, limit.most, limit.per, now)
        if ends:
            seconds = max(1, math.ceil((ends - now).total_seconds()))
            if ends != window:
                self._waits[key] = ends, self._monotonic() + seconds
            refusal = error_row("userRateLimit" if self._policy.rate_status == 403 else "rateLimit")
            title = refusal.message.partition(":")[0]
            message = f"{title}: {limit} are allowed; wait {seconds} seconds and try again."
            raise ApiError([replace(refusal, message=message)], [("Retry-After", str(seconds))])

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each limit set for a single user, with the requests spent in the open window."""
        rows, now = [], self._clock.now()
        for user, (requests, per) in sorted((self._values.get(_LIMITS) or {}).items()):
            window = self._windows.get(user, "own")
            window = window if window and now < window.ends else None
            spent = window.spent if window else 0
            until = format_time(window.ends.astimezone(UTC)) if window else None
            rows.append({"user": user, "requests": requests, "per": per, "spent": spent, "until": until})
        return rows

    def forget(self) -> None:
        """Close all windows, for example because the clock was set."""
        self._windows.clear()
        self._waits.clear()

    def clear(self) -> None:
        """Remove the limits of single users and close all windows."""
        self.forget()
        with self._values.editing(_LIMITS) as edited:
            edited.is_announced, edited.value = bool(edited.value), {}


class RequestQuotas(RateLimiter):
    """Counts the requests of users who have a request quota, in real time, so that a stopped clock blocks no user.

    All requests without a sign-in share the quota `anonymous`.
    """

    def __init__(
        self, policy: Policy, quotas: Mapping[str, Quota], anonymous: Quota, shared: SharedTables | None = None
    ) -> None:
        super().__init__(policy, SystemClock(), shared)
        self._quotas, self._anonymous = quotas, anonymous

    def check(self, caller: Caller, operation: Operation, query: Query) -> None:
        """Count a request. Raises ApiError (403 or 429, as the policy says) if the request exceeds the quota."""
        if quota := self._quotas.get(caller.user) if caller.user else self._anonymous:
            limit = Limit(quota.requests_per_minute, _MINUTE, "requests")
            self._spend(caller.user, QUOTA, limit, operation.cost("requests", media=False))


def _limit(most: int | None, counting: Literal["units", "requests"]) -> Limit | None:
    return None if most is None else Limit(most, _MINUTE, counting)


T = TypeVar("T")

_MAX_RUNNING, _MAX_WAITING = 4, 1_000_000


class LongReads:
    """Lets users take turns with long work that only reads."""

    def __init__(self) -> None:
        self._turns = Admission(_MAX_RUNNING, _MAX_WAITING)

    def run(
        self,
        read: Callable[[], T],
        user: str,
        is_gone: Callable[[], bool],
        snapshot: Callable[[], AbstractContextManager[None]] | None,
    ) -> T:
        """Return the result of `read`, which reads a `snapshot`. Raises Disconnected if the client has gone.

        Long work waits for its turn. With a snapshot, it does not wait where it is, because it has a reader of the
        database: `read` is called again when its turn has come.
        """
        has_turn, waits = False, snapshot is None

        def check(pauses: bool) -> None:
            nonlocal has_turn
            if is_gone():
                raise Disconnected("the client has closed its connection")
            if pauses and not has_turn:
                with release_permit() if waits else nullcontext():
                    stack.enter_context(self._turns.turn(user, is_gone, waits=waits))
                has_turn = True

        try:
            with ExitStack() as stack:
                try:
                    with checked_slices(check), snapshot() if snapshot else nullcontext():
                        return read()
                except TooManyWaiting:
                    with release_permit():
                        stack.enter_context(self._turns.turn(user, is_gone))
                    has_turn = True
                with checked_slices(check), snapshot() if snapshot else nullcontext():
                    return read()
        except Abandoned:
            raise Disconnected("the client has closed its connection") from None
