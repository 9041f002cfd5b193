"""Slows all requests of a session after the service has refused one of them because of a rate limit (X-04).

The threads of a session share one rate, which is first the rate of the requests that the service accepted before the
refusal. A further refusal halves the rate. It doubles every ten seconds without a refusal, and has no limit after 30.
Each request reserves a turn, at equal distances, and waits for this turn in its own thread.
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Protocol

from ...core.errors.errors import error_from
from ...core.http.backoff import RetryRule
from ...core.http.messages import Response
from ...core.uploads.client_state_machine import ResponseFacts

REFUSALS = frozenset({403, 429, 503})
"""The statuses of the responses that may slow a session."""

_DOUBLED_AFTER = 10.0
"""The seconds without a refusal in which the rate doubles."""

_SAME_REFUSAL = 1.0
"""The seconds after a refusal in which further refusals do not lower the rate again, as in a window of one second."""

_FORGET_AFTER = 30.0
"""The seconds without a refusal after which requests are no longer slowed."""

_MIN_RATE = 0.2


class WaitingSender(Protocol):
    """The protocol of a session for `Throttle`."""

    retry: RetryRule

    def elapsed(self) -> float:
        """Return the time of a monotonic clock in seconds."""

    def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""

    def retry_after(self, response: Response) -> float | None:
        """Return the seconds in the Retry-After header, or None without a valid header."""


class Throttle:
    """The rate of the requests of a session, which is not limited before the first refusal.

    A session without a limit only reads `active` and appends to `accepted` for each request. All times are in seconds
    of one clock.
    """

    def __init__(self) -> None:
        self.active = False
        """True if each request must call `wait` before it is sent."""
        self.accepted: deque[float] = deque(maxlen=1000)
        """The times at which the last accepted requests were sent."""
        self.epoch = 0
        """The number of refusals. Turns that were reserved in an earlier epoch are no longer valid."""
        self._lock = Lock()
        self._lowered: float | None = None  # the rate after the last refusal, or None without a limit
        self._refused_at = 0.0  # the end of the Retry-After time of the last refusal that has lowered the rate
        self._paused_until = 0.0
        self._next_turn = 0.0

    def rate(self, now: float) -> float | None:
        """Return the allowed number of requests per second at a time, or None without a limit."""
        since = max(0.0, now - self._refused_at)
        if self._lowered is None or since >= _FORGET_AFTER:
            return None
        return self._lowered * 2 ** (since / _DOUBLED_AFTER)

    def wait(self, sender: WaitingSender) -> None:
        """Wait for the turn of a request, unless its turn is later than the retry rule of the sender allows."""
        patience = sender.retry.time_left(since_progress=0.0, since_start=0.0)
        while True:
            now = sender.elapsed()
            turn, epoch = self.reserve(now)
            if not now < turn <= now + patience:
                return
            sender.sleep(turn - now)
            if epoch == self.epoch:
                return

    def observe(self, sender: WaitingSender, response: Response, sent_at: float) -> Response:
        """Slow the session if a response with a status of `REFUSALS` is a refusal, and return it with its whole body.

        A Retry-After time longer than the retry rule allows concerns only the refused request, which is not repeated.
        """
        response = Response(response.status, response.headers, response.content())
        patience = sender.retry.time_left(since_progress=0.0, since_start=0.0)
        retry_after = sender.retry_after(response) or 0.0
        pause = retry_after if retry_after <= patience else 0.0
        facts = ResponseFacts(response.status, reason=error_from(response.status, response.content()).reason)
        if facts.worth_retrying and facts.status != 503:
            self.refuse(sender.elapsed(), sent_at, pause)
        elif facts.worth_retrying and pause:
            self.pause(sender.elapsed(), pause)
        return response

    def reserve(self, now: float) -> tuple[float, int]:
        """Reserve the next turn, and return its time and epoch."""
        with self._lock:
            rate = self.rate(now)
            if rate is None:
                self._lowered, turn = None, max(now, self._paused_until)
                self.active = turn > now
            else:
                turn = max(now, self._next_turn)
                self._next_turn = turn + 1 / rate
            return turn, self.epoch

    def pause(self, now: float, seconds: float) -> None:
        """Send no request in the next seconds, as a Retry-After header requires."""
        with self._lock:
            self._pause(now, seconds)

    def refuse(self, now: float, sent_at: float, retry_after: float = 0.0) -> None:
        """Lower the rate because the service has refused a request, and send no request for `retry_after` seconds.

        The rate is lowered only once for refusals of requests that were sent at about the same time.
        """
        with self._lock:
            rate = self.rate(now)
            is_new = rate is None or sent_at >= self._refused_at + _SAME_REFUSAL
            if is_new and retry_after < _FORGET_AFTER:  # a longer wait is enough
                accepted = sum(time > now - 1 for time in self.accepted.copy())
                self._lowered = max(_MIN_RATE, accepted if rate is None else rate / 2)
                self._refused_at = now + retry_after
            self._pause(now, retry_after)

    def clear(self) -> None:
        """Send the next requests without a wait, as before the first refusal."""
        with self._lock:
            self._lowered, self._paused_until, self.active = None, 0.0, False

    def _pause(self, now: float, seconds: float) -> None:
        self._paused_until = self._next_turn = max(self._paused_until, now + seconds)
        self.epoch += 1
        self.active = True
