"""Lets all requests of a session wait after the service has refused one of them because of a rate limit (X-04).

The wait is that of the Retry-After header. Without this header only the refused request waits (retry.py), with delays
that double, with jitter.
"""

from __future__ import annotations

from typing import Protocol

from ...core.errors.errors import error_from
from ...core.http.backoff import RetryRule
from ...core.http.messages import Response
from ...core.uploads.client_state_machine import ResponseFacts

REFUSALS = frozenset({403, 429, 503})
"""The statuses of the responses that may be refusals because of a rate limit."""


_MIN_WAIT = 0.001
"""A shorter wait may not advance a clock."""


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
    """The time before which the threads of a session send no request, in seconds of the session's clock."""

    def __init__(self) -> None:
        self.until = 0.0

    def wait(self, sender: WaitingSender) -> None:
        """Wait before a request is sent, unless the retry rule of the sender does not allow the whole wait."""
        patience = sender.retry.time_left(since_progress=0.0, since_start=0.0)
        while (now := sender.elapsed()) < (until := self.until) <= now + patience:
            sender.sleep(max(until - now, _MIN_WAIT))

    def observe(self, sender: WaitingSender, response: Response) -> Response:
        """Let the session wait if a response with a status of `REFUSALS` is a refusal, and return it with its body.

        A Retry-After time longer than the retry rule allows concerns only the refused request, which is not repeated.
        """
        response = Response(response.status, response.headers, response.content())
        retry_after = sender.retry_after(response) or 0.0
        facts = ResponseFacts(response.status, reason=error_from(response.status, response.content()).reason)
        if facts.worth_retrying and retry_after <= sender.retry.time_left(since_progress=0.0, since_start=0.0):
            self.until = max(self.until, sender.elapsed() + retry_after)
        return response
