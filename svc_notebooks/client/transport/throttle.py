"""Slows all requests of a session after the service has refused one of them because of a rate limit (X-04).

The threads of a session share one rate, which is first the rate of the requests that the service accepted before the
refusal. A further refusal lowers the rate at once. The rate grows back along the curve of CUBIC (RFC 9438, section
4.2), which stays near the last refused rate for some seconds, and then grows faster and faster until the limit ends.
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

_DECREASE = 0.9
"""The fraction of the rate that remains after a refusal."""

_SAFE = 0.97
"""The fraction of the refused rate near which the rate stays."""

_PLATEAU = 10.0
"""The seconds in which the rate grows back, near the rate of the refusal."""

_SAME_REFUSAL = 1.0
"""The seconds after a refusal in which further refusals do not lower the rate again, as in a window of one second."""

_FORGET_AFTER = 30.0
"""The seconds without a refusal after which requests are no longer slowed."""

_MEASURED = 10.0
"""The maximum number of seconds in which the accepted requests are counted."""

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
        self._peak: float | None = None  # the rate to which the rate grows back, or None without a limit
        self._measuring = False  # the rate was measured at a refusal, and late responses may still correct it
        self._refused_at = 0.0
        self._paused_until = 0.0
        self._next_turn = 0.0

    def rate(self, now: float) -> float | None:
        """Return the allowed number of requests per second at a time, or None without a limit."""
        since = now - self._refused_at
        if self._peak is None or since >= _FORGET_AFTER:
            return None
        return self._peak * (1 + (1 - _DECREASE) * (since / _PLATEAU - 1) ** 3)

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
                self._peak, turn = None, max(now, self._paused_until)
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
            if self._peak is None or sent_at >= self._refused_at + _SAME_REFUSAL:
                self._lower(now, retry_after)
            elif self._measuring:
                self._peak = max(self._peak, self._accepted_rate(now, retry_after))
            self._pause(now, retry_after)

    def clear(self) -> None:
        """Send the next requests without a wait, as before the first refusal."""
        with self._lock:
            self._peak, self._paused_until, self.active = None, 0.0, False

    def _pause(self, now: float, seconds: float) -> None:
        self._paused_until = self._next_turn = max(self._paused_until, now + seconds)
        self.epoch += 1
        self.active = True

    def _lower(self, now: float, retry_after: float) -> None:
        rate, accepted_rate = self.rate(now), self._accepted_rate(now, retry_after)
        self._measuring = rate is None
        if rate is None:
            self._peak = accepted_rate
        elif now - self._refused_at < _PLATEAU / 2:  # the limit is lower than before
            self._peak = max(_MIN_RATE, min(rate, max(accepted_rate, rate / 2)))
        else:
            self._peak = max(_MIN_RATE, rate * _SAFE)
        self._refused_at = now

    def _accepted_rate(self, now: float, retry_after: float) -> float:
        """Return the rate of the accepted requests up to the end of `retry_after`, in which none is accepted."""
        first = now - max(1.0, _MEASURED - retry_after)
        times = [time for time in self.accepted.copy() if time >= first]
        return len(times) / max(1.0, now + retry_after - times[0]) if times else _MIN_RATE
