"""Repeats a failed request if this is safe, after the delays that the interface recommends (A3-22, X-07).

    a response to wait for (403 rate limit, 408, 429, 5xx)      sent again
    no response, and the request did not arrive                 sent again
    no response, and the request may have arrived               sent again only if it is `repeatable`

A repeatable request has the same effect if sent twice, such as GET, PUT, PATCH, DELETE, and a POST that creates a
resource with a chosen id, because the service answers a second such request with 409.
After this 409, `send_once`, `Session.fetch` and `ClientUpload` read the resource.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ..core.errors.errors import Interrupted, NotSignedIn, ServiceFailed, SvcError, Unreachable, error_from, warn_caller
from ..core.http.backoff import MIN_WAIT, Backoff
from ..core.http.messages import Request, Response
from ..core.http.redaction import redact_url
from ..core.printable_text import printable
from ..core.uploads.client_state_machine import ResponseFacts
from .transport.in_process import TransportError

if TYPE_CHECKING:
    from .session import Session

# -- lets all requests of a session wait after the service has refused one of them because of a rate limit


# The statuses of the responses that may be refusals because of a rate limit.
REFUSALS = frozenset({403, 429, 503})


_SILENT_FAILURES = 2  # the number of failed tries to connect after which the next one is reported


class Throttle:
    """The time before which the threads of a session send no request, in seconds of the session's clock."""

    def __init__(self) -> None:
        self.until = 0.0

    def wait(self, session: Session) -> None:
        """Wait before a request is sent, unless the retry rule of the session does not allow the whole wait."""
        longest = session.retry.longest_wait
        while (now := session.elapsed()) < (until := self.until) <= now + longest:
            session.sleep(max(until - now, MIN_WAIT))

    def observe(self, session: Session, response: Response) -> Response:
        """Let the session wait if a response with a status of `REFUSALS` is a refusal, and return it with its body.

        A Retry-After time longer than the retry rule allows concerns only the refused request, which is not repeated.
        """
        response = Response(response.status, response.headers, response.content())
        retry_after = session.retry_after(response) or 0.0
        facts = ResponseFacts(response.status, reason=error_from(response.status, response.content()).reason)
        if facts.worth_retrying and retry_after <= session.retry.longest_wait:
            self.until = max(self.until, session.elapsed() + retry_after)
        return response


# The number of requests that were sent again in this thread, which only grows.
repeated_requests: ContextVar[int] = ContextVar("repeated_requests", default=0)

# The function with which requests wait in this thread. A batch sets it, so that it can end the wait.
thread_sleep: ContextVar[Callable[[float], None]] = ContextVar("thread_sleep", default=time.sleep)

IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Retry:
    """The tries of a request or of a transfer, with the waits between them.

    The session's retry rule limits the waits, which are longer after each failure. They begin with the first failure,
    or with a call of `progress`. `uncertain` is True if an earlier try may have succeeded without a response.
    """

    __slots__ = ("_backoff", "_renewed", "_repeatable", "_session", "uncertain")

    def __init__(self, session: Session, *, repeatable: bool) -> None:
        self._session = session
        self._repeatable = repeatable
        self._renewed = self.uncertain = False
        self._backoff: Backoff | None = None

    def run(self, request: Request | Callable[[], Request]) -> Response:
        """Send a request, or those of a function, until a try succeeds. Return the response with its whole body.

        Raises SvcError for an error response that allows no further try, and Interrupted without a response.
        """
        while True:
            sent = request if isinstance(request, Request) else request()
            try:
                response = self._session.send(sent)
                if not isinstance(response.body, bytes):
                    response = Response(response.status, response.headers, response.content())
            except TransportError as broken:
                self.wait_or_raise_broken(broken, sent)
                continue
            if response.status < 300:
                return response
            self.wait_or_raise(response)

    def progress(self) -> None:
        """Reset the count of failures, because the transfer begins or has made progress."""
        now = self._session.elapsed()
        self._backoff = self._backoff or Backoff(self._session.retry, now)
        self._backoff.progress(now)

    def wait(self, retry_after: float | None = None, refusal: SvcError | None = None) -> bool:
        """Count a failure, wait for the next try and return True, or return False without a wait if no try is left.

        If the wait that the service requires is too long, the message of `refusal` names the wait.
        """
        session, now = self._session, self._session.elapsed()
        backoff = self._backoff = self._backoff or Backoff(session.retry, now)
        delay = backoff.wait(now, session.random.random(), retry_after)
        if delay is None:
            if refusal and backoff.too_long is not None:
                refusal.message = f"{refusal.message} {session.retry.too_long_message(backoff.too_long)}"
                refusal.advice = "Try again after that time."
            return False
        session.sleep(delay)
        repeated_requests.set(repeated_requests.get() + 1)
        return True

    def wait_or_raise(self, response: Response) -> None:
        """Wait before the next try, or raise the response's error if no further try is allowed."""
        error = response_error(self._session, response)
        if isinstance(error, NotSignedIn) and not self._renewed:
            self._renewed = True
            if self._session.renew():
                return
        is_lasting = not ResponseFacts(response.status, reason=error.reason).worth_retrying
        if is_lasting or not self.wait(self._session.retry_after(response), error):
            raise error
        self.uncertain |= response.status >= 500

    def wait_or_raise_broken(self, broken: TransportError, request: Request, *, resumable: bool = False) -> None:
        """Wait before the next try after a broken connection, or raise Interrupted if no further try is allowed.

        `resumable` means that a repeated call continues.
        """
        again = self._repeatable or not broken.sent
        warn_of_waiting(self._session, broken, self._backoff.failures if self._backoff else 0)
        if not again or broken.hopeless or not self.wait():
            raise connection_error(broken, request, certain=again, resumable=resumable) from broken
        self.uncertain |= broken.sent


def warn_of_waiting(session: Session, broken: TransportError, failures: int) -> None:
    """Warn the caller once if nothing listens at the address. `failures` is the number of failed tries before."""
    if broken.unreachable and not broken.hopeless and failures == _SILENT_FAILURES:
        longest = session.retry.longest_wait
        warn_caller(f"{broken}; trying again for up to {longest:g} seconds, interrupt to stop")


def response_error(session: Session, response: Response) -> SvcError:
    """Return the error for an error response or a redirect, for the caller to raise."""
    if not 300 <= response.status < 400:
        return session.error(response.status, response.content())
    address = printable(redact_url(response.headers.get("Location") or "nowhere"))
    return ServiceFailed(
        f"The service redirects to {address}; check base_url.",
        status=response.status,
        advice="Redirects are not followed, because requests contain the access token.",
    )


def connection_error(
    broken: TransportError, request: Request, *, certain: bool = True, resumable: bool = False
) -> Interrupted:
    """Return the Interrupted or Unreachable error for a broken connection, for the caller to raise.

    `certain` is False if the request may have succeeded. `resumable` means that a repeated call continues.
    """
    kind = Unreachable if broken.unreachable else Interrupted
    error = kind(f"No response to {request.method} {request.path}: {broken}.", resumable=resumable)
    if not certain:
        error.uncertain = True
        error.advice = (
            "The request may have succeeded: check before you repeat it. A request with an id from generate_ids() can"
            " be repeated safely."
        )
    return error
