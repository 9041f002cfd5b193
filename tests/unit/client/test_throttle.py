"""The rate that the threads of a session share, in a simulation of a service with a limit and 16 clients."""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Callable, Generator
from random import Random

import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import Session
from svc_notebooks.client.transport.throttle import Throttle
from svc_notebooks.core.http.backoff import RetryRule
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.notebook.current_session import session_or_current
from tests.scripted import Time

CLIENTS = 16
LATENCY = 0.02

Check = Callable[[float], float | None]
"""The service's check of a request at a time. It returns None, or the Retry-After seconds of a refusal."""


def fixed_window(most: int, per: float, *, retry_after: bool) -> Check:
    """Return the check of a service that counts the requests of each window, as the service of this package does."""
    ends, spent = 0.0, 0

    def check(now: float) -> float | None:
        nonlocal ends, spent
        if now >= ends:
            ends, spent = now + per, 0
        if spent < most:
            spent += 1
            return None
        return max(1, math.ceil(ends - now)) if retry_after else 0.0

    return check


def token_bucket(most: int, per: float, *, retry_after: bool) -> Check:
    """Return the check of a service with a token bucket, which is full at first."""
    tokens, filled_at = float(most), 0.0

    def check(now: float) -> float | None:
        nonlocal tokens, filled_at
        tokens, filled_at = min(most, tokens + (now - filled_at) * most / per), now
        if tokens >= 1:
            tokens -= 1
            return None
        return 1.0 if retry_after else 0.0

    return check


def between(begins: float, ends: float, check: Check) -> Check:
    """Return a check that limits the requests only between two times."""
    return lambda now: check(now) if begins <= now < ends else None


class Simulation:
    """The times of the accepted and of the refused requests of clients that share a rate throttle."""

    def __init__(self, check: Check, *, seconds: float) -> None:
        self.accepted: list[float] = []
        self.refused: list[float] = []
        self._check, self._random, self._throttle = check, Random(0), Throttle()
        clients = [self._client(0.0) for _ in range(CLIENTS)]
        due = [(next(client), n) for n, client in enumerate(clients)]
        while due[0][0] < seconds:
            now, n = due[0]
            heapq.heapreplace(due, (clients[n].send(now), n))

    def _client(self, now: float) -> Generator[float, float, None]:
        """Send requests, each again until it is accepted. Yields the times at which the client goes on."""
        now = yield 0.0
        failures = 0
        while True:
            while self._throttle.active:
                turn, epoch = self._throttle.reserve(now)
                if turn <= now:
                    break
                now = yield turn
                if epoch == self._throttle.epoch:
                    break
            sent_at = now
            now = yield now + LATENCY * self._random.uniform(0.4, 0.6)
            retry_after = self._check(now)
            (self.accepted if retry_after is None else self.refused).append(now)
            now = yield now + LATENCY * self._random.uniform(0.4, 0.6)
            if retry_after is None:
                failures = 0
                self._throttle.accepted.append(sent_at)
            else:
                failures += 1
                self._throttle.refuse(now, sent_at, retry_after)
                now = yield now + RetryRule().delay(failures, self._random.random(), retry_after)

    def rate(self, begins: float, ends: float) -> float:
        """Return the accepted requests per second between two times."""
        return sum(begins <= time < ends for time in self.accepted) / (ends - begins)

    def refused_share(self, begins: float, ends: float) -> float:
        """Return the share of refused requests between two times."""
        refused = sum(begins <= time < ends for time in self.refused)
        return refused / (refused + self.rate(begins, ends) * (ends - begins))


@pytest.mark.parametrize("limit", [fixed_window, token_bucket])
@pytest.mark.parametrize(
    "most, per, retry_after", [(10, 1.0, True), (10, 1.0, False), (100, 1.0, False), (100, 10.0, True)]
)
def test_the_clients_stay_near_the_limit_with_few_refusals(
    limit: Callable[..., Check], most: int, per: float, *, retry_after: bool
) -> None:
    run = Simulation(limit(most, per, retry_after=retry_after), seconds=60.0)

    assert 0.6 * most / per <= run.rate(10.0, 60.0) <= 1.01 * most / per
    assert run.refused_share(10.0, 60.0) <= 0.02
    assert len(run.refused) <= 60


def test_the_clients_follow_a_limit_that_begins_late() -> None:
    run = Simulation(between(5.0, math.inf, fixed_window(10, 1.0, retry_after=False)), seconds=60.0)

    assert run.rate(0.0, 5.0) > 700
    assert 6 <= run.rate(20.0, 60.0) <= 10
    assert run.refused_share(20.0, 60.0) <= 0.03


def test_the_clients_are_as_fast_as_before_half_a_minute_after_the_limit_has_gone() -> None:
    run = Simulation(between(0.0, 20.0, fixed_window(10, 1.0, retry_after=True)), seconds=55.0)

    assert run.rate(5.0, 20.0) < 11
    assert run.rate(51.0, 55.0) > 700


class Service:
    """A service that returns prepared responses in turn, and then 200. It notes the times of the requests."""

    def __init__(self, *responses: Response, **rule: float) -> None:
        self.time = Time()
        self.requested_at: list[float] = []
        self._responses = list(responses)
        self._start = self.time.now()
        self.session = Session(
            "https://svc.test",
            handler=self._handle,
            clock=self.time,
            sleep=self.time.sleep,
            random=Random(0),
            retry=RetryRule(**rule),
        )

    def send(self) -> int:
        """Send a request once and return the status of the response."""
        return self.session.send(self.session.request("GET", "/storage/v3/files")).status

    def _handle(self, _: Request) -> Response:
        self.requested_at.append((self.time.now() - self._start).total_seconds())
        return self._responses.pop(0) if self._responses else Response(200, body=b"{}")


def refusal(status: int, retry_after: str | None = None, reason: str = "") -> Response:
    headers = Headers([] if retry_after is None else [("Retry-After", retry_after)])
    return Response(status, headers, json.dumps({"error": {"errors": [{"reason": reason}]}}).encode())


@pytest.mark.parametrize(
    "response",
    [refusal(429, "7"), refusal(503, "7"), refusal(403, "7", "userRateLimitExceeded")],
    ids=["429", "503", "403"],
)
def test_the_next_request_of_a_session_waits_for_the_retry_after_of_an_earlier_one(response: Response) -> None:
    service = Service(response)

    assert [service.send(), service.send()] == [response.status, 200]
    assert service.requested_at == [0.0, 7.0]


@pytest.mark.parametrize(
    "response",
    [refusal(403, "7", "insufficientFilePermissions"), refusal(503), refusal(404, "7"), refusal(429, "400")],
    ids=["not allowed", "without Retry-After", "not found", "longer than the patience"],
)
def test_another_response_does_not_slow_the_next_request(response: Response) -> None:
    service = Service(response)

    for _ in range(2):
        service.send()

    assert service.requested_at == pytest.approx([0.0, 0.0])


def test_a_session_that_never_waits_is_not_slowed() -> None:
    service = Service(refusal(429, "1"), refusal(429), patience=0.0)

    assert [service.send() for _ in range(3)] == [429, 429, 200]
    assert service.time.slept == []


def test_a_request_that_waits_for_its_turn_is_not_a_failed_try() -> None:
    service = Service(refusal(429, "250"))
    service.send()

    assert service.session.call("GET", "/storage/v3/files") == {}
    assert service.requested_at == [0.0, 250.0]


def test_a_turn_is_reserved_again_after_a_refusal() -> None:
    throttle, time = Throttle(), Time()

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        if len(time.slept) == 1:  # another thread is refused meanwhile
            throttle.refuse(session.elapsed(), session.elapsed(), 10.0)

    session = Session("https://svc.test", handler=lambda _: Response(200), clock=time, sleep=sleep)
    began = session.elapsed()
    throttle.refuse(began, began, 5.0)

    throttle.wait(session)

    assert session.elapsed() - began == pytest.approx(15.0)


def test_a_sandbox_with_a_limit_of_ten_a_second_refuses_few_requests() -> None:
    with svc.sandbox() as lab:
        lab.limit(requests=10, per="1s")
        session, began = session_or_current(lab), lab.clock.now()

        for _ in range(150):
            session.call("GET", "/storage/v3/files", query={"fields": "nextPageToken"})

        statuses = svc.exchanges()["status"].tolist()
        assert statuses.count(403) <= 4
        assert 14 <= (lab.clock.now() - began).total_seconds() <= 25
