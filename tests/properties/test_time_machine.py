"""Tests that a move of the clock performs everything due at its time and in its order, compared with a small model.

Uploads and tokens end, channels end, messages are tried again. A receiver that is told something looks around: the
clock stands at the message's time, who has a token that is over is let in no more, who has another is.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.core.times import format_time, from_millis, to_millis
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store.clock import VirtualClock
from tests.examples import examples
from tests.framed import framed
from tests.patience import PATIENCE

pytestmark = pytest.mark.spec("A3-13", "A3-13a", "A3-13b", "A8-08", "A8-08b", "N-08", "N-08b", "T-01", "T-01c")

WEEK = 100.0
POLICY = Policy(session_lifetime=WEEK, retry_jitter=0, verified_domains=("*",))
UPLOAD = "http://svc.test/upload/storage/v3/files?uploadType=resumable"
STEPS = st.sampled_from([0.5, 1, 2, 5, 20, 60, 99, 100, 300])
LIVES = st.sampled_from([1, 2, 7, 30, 100, 500])


@dataclass
class Watch:
    """A channel whose receiver fails a number of times before it answers 200."""

    name: str
    opened: datetime
    ends: datetime
    failures: int

    def attempts(self) -> list[datetime]:
        """Return the times of the attempts: 1, 2, 4 and 8 seconds apart, never after the end."""
        times = [self.opened]
        for wait in (1, 2, 4, 8)[: self.failures]:
            times.append(times[-1] + timedelta(seconds=wait))
        return [time for time in times if time < self.ends or time == self.opened]


class Machine(RuleBasedStateMachine):
    uploads = Bundle("uploads")

    def __init__(self) -> None:
        super().__init__()
        self.service = open_service(seed=0, policy=POLICY, background=False)
        self.start = self.service.clock.now()
        self.token = self.service.sign_in()
        self.touched: dict[str, datetime] = {}
        self.tokens: dict[str, datetime] = {}
        self.watches: list[Watch] = []
        self.notifications: list[tuple[datetime, str]] = []
        self.left: dict[str, int] = {}

    def teardown(self) -> None:
        self.service.close()

    @property
    def now(self) -> datetime:
        return self.service.clock.now()

    def ask(self, method: str, url: str, body: bytes = b"", token: str = "", **headers: str) -> Response:
        pairs = [("Authorization", f"Bearer {token or self.token}"), ("Content-Type", "application/json")]
        pairs += [(name.replace("_", "-"), value) for name, value in headers.items()]
        response = self.service.handle(framed(Request(method, url, Headers(pairs), body)))
        response.content()
        return response

    @rule(target=uploads)
    def begin(self) -> str:
        uri = self.ask("POST", UPLOAD).headers["Location"]
        self._forget_uploads()  # whoever begins one sweeps those that are over
        self.touched[uri] = self.now
        return uri

    @rule(uri=uploads)
    def touch(self, uri: str) -> None:
        status = self.ask("PUT", uri, Content_Range="bytes */*", Content_Length="0").status
        alive = uri in self.touched and self.now - self.touched[uri] < timedelta(seconds=WEEK)

        assert status == (308 if alive else 404)
        if alive:
            self.touched[uri] = self.now
        else:
            self.touched.pop(uri, None)

    def _forget_uploads(self) -> None:
        over = self.now - timedelta(seconds=WEEK)
        self.touched = {uri: time for uri, time in self.touched.items() if time > over}

    @rule(life=LIVES)
    def sign_in(self, life: float) -> None:
        token = self.service.sign_in(f"p{len(self.tokens)}@svc.example", expires_in=life)
        self.tokens[token] = self.now + timedelta(seconds=life)

    @rule(life=LIVES, failures=st.integers(0, 4))
    def watch(self, life: float, failures: int) -> None:
        name = f"channel-{len(self.watches)}"
        watch = Watch(name, self.now, self.now + timedelta(seconds=life), failures)
        address = f"https://{name}.example/"
        self.left[name] = failures
        self.service.receive_at(address, self.hear)
        body = {"id": name, "type": "web_hook", "address": address, "expiration": to_millis(watch.ends)}
        assert self.ask("POST", "http://svc.test/storage/v3/changes/watch", json.dumps(body).encode()).status == 200
        self.service.deliver()
        self.watches.append(watch)

    @rule(seconds=STEPS)
    def advance(self, seconds: float) -> None:
        before = self.now
        assert self.service.clock.advance(seconds) - before == timedelta(seconds=seconds)

    @rule(seconds=STEPS)
    def set(self, seconds: float) -> None:
        there = self.now + timedelta(seconds=seconds)
        assert self.service.clock.set(there) == there == self.now

    @rule(seconds=STEPS)
    def freeze_and_wait(self, seconds: float) -> None:
        stands = self.service.clock.freeze()
        self.service.clock.wait(seconds)
        assert self.now - stands == timedelta(seconds=seconds)

    def hear(self, request: Request) -> Response:
        name = request.headers["X-Svc-Channel-ID"]
        self.notifications.append((self.now, name))
        for token, ends in self.tokens.items():
            let_in = self.ask("GET", "http://svc.test/storage/v3/about?fields=kind", token=token).status == 200
            assert let_in == (self.now < ends)
        self.left[name] -= 1
        return Response(503 if self.left[name] >= 0 else 200)

    @invariant()
    def every_message_was_sent_at_its_time_and_in_order(self) -> None:
        expected = [(time, watch.name) for watch in self.watches for time in watch.attempts() if time <= self.now]

        assert sorted(self.notifications) == sorted(expected)
        assert [time for time, _ in self.notifications] == sorted(time for time, _ in self.notifications)

    @invariant()
    def the_agenda_is_what_lies_ahead_and_what_has_happened_until_it_is_forgotten(self) -> None:
        assert [(row["time"], row["what"]) for row in self.service.agenda()] == self.model(self.now)
        assert [(row["time"], row["what"]) for row in self.service.agenda(since=self.start)] == self.model(self.start)

    def model(self, since: datetime) -> list[tuple[str, str]]:
        ends = [(time + timedelta(seconds=WEEK), "upload expires") for time in self.touched.values()]
        ends += [(time, "token expires") for time in self.tokens.values()]
        ends += [(watch.ends, "channel expires") for watch in self.watches]
        ends += [(time, "message is sent") for watch in self.watches for time in self._next(watch)]
        return [(format_time(from_millis(to_millis(time))), kind) for time, kind in sorted(ends) if time > since]

    def _next(self, watch: Watch) -> list[datetime]:
        """Return the waiting attempt, which is dropped when the channel ends."""
        if self.now >= watch.ends:
            return []
        sent = [time for time in watch.attempts() if time <= self.now]
        more = watch.failures >= len(sent) and len(sent) < POLICY.delivery_attempts
        return [sent[-1] + timedelta(seconds=2.0 ** (len(sent) - 1))] if more else []


TestMachine = Machine.TestCase
TestMachine.settings = examples(0.4, stateful_step_count=25)


def test_two_moves_of_the_clock_at_once_add_up():
    """A receiver moves the clock during a move, and the clock does not go back to the end of the first move."""
    with open_service(seed=0, policy=POLICY, background=False) as service:
        token, began = service.sign_in(), service.clock.now()

        def hear(request):
            service.clock.wait(50)
            return Response(503)

        service.receive_at("https://slow.example/", hear)
        body = {"id": "c", "type": "web_hook", "address": "https://slow.example/"}
        pairs = Headers([("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")])
        service.handle(Request("POST", "http://svc.test/storage/v3/changes/watch", pairs, json.dumps(body).encode()))
        service.deliver()

        assert service.clock.now() == began + timedelta(seconds=50)
        assert service.clock.advance(2) == began + timedelta(seconds=101)


def test_a_wait_is_not_delayed_by_another_move_of_the_clock():
    """A receiver in another thread waits during a move that waits for its response."""
    clock, moving, answered = VirtualClock(), Event(), Event()

    def deliver():
        moving.set()
        answered.wait(PATIENCE)

    clock.agenda = SimpleNamespace(next=lambda: None, deliver=deliver)
    began = clock.now()
    with ThreadPoolExecutor(1) as other:
        moved = other.submit(clock.advance, 10)
        assert moving.wait(PATIENCE)
        clock.wait(3600)
        answered.set()

        assert moved.result(PATIENCE) == began + timedelta(seconds=10)
