import json
from random import Random

import pytest

from svc_notebooks.client.retry import Throttle
from svc_notebooks.client.session import Session
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Headers, Request, Response
from tests.scripted import Time


class Service:
    """A service that returns prepared responses in turn, and then 200. It notes the times of the requests."""

    def __init__(self, *responses: Response, **rule: float) -> None:
        self.time = Time()
        self.requested_at: list[float] = []
        self._responses = list(responses)
        self._start = self.time.now()
        timing = {"clock": self.time, "sleep": self.time.sleep, "random": Random(0), "retry": RetryRule(**rule)}
        self.session = Session("https://svc.test", handler=self._handle, **timing)

    def send(self) -> int:
        return self.session.send(self.session.request("GET", "/storage/v3/files")).status

    def _handle(self, _: Request) -> Response:
        self.requested_at.append((self.time.now() - self._start).total_seconds())
        return self._responses.pop(0) if self._responses else Response(200, body=b"{}")


def refusal(status: int, retry_after: str | None = None, reason: str = "") -> Response:
    headers = Headers([] if retry_after is None else [("Retry-After", retry_after)])
    return Response(status, headers, json.dumps({"error": {"errors": [{"reason": reason}]}}).encode())


REFUSALS = {
    "429": (refusal(429, "7"), 7.0),
    "503": (refusal(503, "7"), 7.0),
    "403": (refusal(403, "7", "userRateLimitExceeded"), 7.0),
    "not allowed": (refusal(403, "7", "insufficientFilePermissions"), 0.0),
    "without Retry-After": (refusal(503), 0.0),
    "not found": (refusal(404, "7"), 0.0),
    "longer than the patience": (refusal(429, "400"), 0.0),
}


@pytest.mark.parametrize("response, wait", REFUSALS.values(), ids=REFUSALS)
def test_the_next_request_of_a_session_waits_for_the_retry_after_of_a_rate_limit(response, wait):
    service = Service(response)

    assert [service.send(), service.send()] == [response.status, 200]
    assert service.requested_at == [0.0, pytest.approx(wait)]


def test_a_session_that_never_waits_is_not_slowed():
    service = Service(refusal(429, "1"), refusal(429), patience=0.0)

    assert [service.send() for _ in range(3)] == [429, 429, 200]
    assert service.time.slept == []


def test_the_wait_is_longer_if_another_thread_is_refused_meanwhile():
    throttle, time = Throttle(), Time()

    def sleep(seconds):
        time.sleep(seconds)
        if len(time.slept) == 1:
            throttle.observe(session, refusal(429, "10"))

    session = Session("https://svc.test", handler=lambda _: Response(200), clock=time, sleep=sleep)
    began = session.elapsed()
    throttle.observe(session, refusal(429, "5"))

    throttle.wait(session)

    assert session.elapsed() - began == pytest.approx(15.0)
