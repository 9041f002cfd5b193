"""One call, tried until it is settled: what may be sent again, when, and how often (A3-22, X-07).

    an answer that says wait (403 rate limit, 408, 429, 5xx)    sent again, as the interface asks (Errors)
    no answer, and surely nothing arrived                       sent again
    no answer, and nobody knows whether it arrived              sent again only if it is `repeatable`

Repeatable is what has the same effect twice: GET, PUT, PATCH, DELETE, and a creation whose id was chosen
before, because the second one is then answered 409.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...core.errors.errors import AlreadyExists, Interrupted, NotSignedIn, ServiceFailed, SvcError, Unreachable
from ...core.http.backoff import RetryRule
from ...core.http.messages import Request, Response
from ...core.http.redaction import redacted_url
from ...core.printable_text import printable
from ...core.uploads.client_state_machine import ResponseFacts
from .in_process import TransportError

IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestSender(Protocol):
    """What attempts need of a session."""

    retry: RetryRule

    def send(self, request: Request) -> Response:
        """One exchange."""

    def renew(self) -> bool:
        """Another token after a 401."""

    def elapsed(self) -> float:
        """Seconds on a clock that only goes on."""

    def chance(self) -> float:
        """A number between 0 and 1."""

    def sleep(self, seconds: float) -> None:
        """Wait."""

    def retry_after(self, response: Response) -> float | None:
        """The seconds that a response asks to wait."""

    def error(self, status: int, content: bytes) -> SvcError:
        """What an error answer means."""


class RetryBudget:
    """Counts failures and waits longer each time; progress makes it fresh again."""

    def __init__(self, sender: RequestSender) -> None:
        self._sender = sender
        self._failures = 0
        self._too_long: float | None = None  # the wait that the service asked for, where it was given up for that
        self._started_at = self._progress_at = sender.elapsed()

    def progress(self) -> None:
        """Something came through."""
        self._failures = 0
        self._progress_at = self._sender.elapsed()

    def wait(self, retry_after: float | None = None) -> bool:
        """Wait before the next try; False when it is time to give up."""
        self._failures += 1
        sender, now = self._sender, self._sender.elapsed()
        left = sender.retry.time_left(since_progress=now - self._progress_at, since_start=now - self._started_at)
        delay = sender.retry.wait(self._failures, sender.chance(), retry_after, left)
        if delay is None:
            self._too_long = retry_after if retry_after and retry_after > left else None
            return False
        sender.sleep(delay)
        return True

    def explain(self, error: SvcError) -> SvcError:
        """The error of a call that was given up; where the service asked for a longer wait, it says so."""
        if self._too_long is not None:
            error.message = f"{error.message} {self._sender.retry.too_long_message(self._too_long)}"
            error.advice = "Try again after that time."
        return error


class Retry:
    """The tries of one call."""

    __slots__ = ("_budget", "_renewed", "_repeatable", "_sender", "uncertain")

    def __init__(self, sender: RequestSender, *, repeatable: bool) -> None:
        self._sender = sender
        self._repeatable = repeatable
        self._budget: RetryBudget | None = None
        self._renewed = False
        self.uncertain = False  # an earlier try may have been carried out, its answer lost

    def run(self, make: Callable[[], Request]) -> Response:
        """Send what `make` gives until it is answered for good; the answer has its whole body.

        Raises SvcError for an answer that is an error, Interrupted when there is none.
        """
        while (response := self.once(make())) is None:
            pass
        return response

    def once(self, request: Request) -> Response | None:
        """One try; None means: again."""
        try:
            response = self._sender.send(request)
            whole = Response(response.status, response.headers, response.content())
        except TransportError as broken:
            self._no_answer(broken, request)
            return None
        if response.status < 300:
            return whole
        self._error(whole)
        return None

    def _no_answer(self, broken: TransportError, request: Request) -> None:
        again = self._repeatable or not broken.sent
        self._budget = self._budget or RetryBudget(self._sender)
        if not again or broken.hopeless or not self._budget.wait():
            raise interrupted(broken, request, certain=again) from broken
        self.uncertain |= broken.sent

    def _error(self, response: Response) -> None:
        if response.status < 400:
            where = printable(redacted_url(response.headers.get("Location") or "nowhere"))
            raise ServiceFailed(f"The service sends elsewhere ({where}): check base_url.", status=response.status)
        error = self._sender.error(response.status, response.content())
        if self._may_sign_in(error):
            return
        if not ResponseFacts(response.status, reason=error.reason).worth_retrying:
            raise error
        patience = self._budget = self._budget or RetryBudget(self._sender)
        if not patience.wait(self._sender.retry_after(response)):
            raise patience.explain(error)
        self.uncertain |= response.status >= 500

    def _may_sign_in(self, error: SvcError) -> bool:
        if not isinstance(error, NotSignedIn) or self._renewed:
            return False
        self._renewed = True
        return self._sender.renew()

    def made_before(self, error: AlreadyExists) -> bool:
        """Whether a 409 means that an earlier try of this very call had succeeded (X-07)."""
        return self.uncertain and error.status == 409


def interrupted(
    broken: TransportError, request: Request, *, certain: bool = True, resumable: bool = False
) -> Interrupted:
    """The error that people see for a connection that broke, or never came about."""
    kind = Unreachable if broken.unreachable else Interrupted
    error = kind(f"No answer to {request.method} {request.path}: {broken}.", resumable=resumable)
    if not certain:
        error.advice = (
            "It may have been carried out: look before you send it again, or choose the id first (generate_ids),"
            " which makes a repetition harmless."
        )
    return error
