"""A state machine of channels, clock and queue, whose notifications are compared with a model.

The service delivers in the test's own thread, to functions; so every run is the same, and a failing one can be
made smaller.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.notifications.deliveries import RETRIED
from svc_notebooks.core.times import to_millis
from svc_notebooks.server.service import open_service
from tests.examples import examples

pytestmark = pytest.mark.spec("A10-03", "N-02", "N-08", "N-08b", "N-10", "N-10a")

ADDRESS = "https://hooks.example/"
ANSWERS = st.sampled_from([[503] * 6, [500, 502, 504, 503, 204], [503, 200, 503, 404], [301, 102], [200]])
LIVES = st.sampled_from([2, 5, 20, 600])
STEPS = st.sampled_from([0.5, 1, 3, 10, 50])


@dataclass
class Watching:
    """A channel in the model."""

    file: str
    resource: str
    expires: int
    stopped: bool = False
    ended: bool = False
    expected: list[str] = field(default_factory=list)
    """The states of the queued messages, in order."""


class Machine(RuleBasedStateMachine):
    files = Bundle("files")
    channels = Bundle("channels")

    def __init__(self) -> None:
        super().__init__()
        self.service = open_service(seed=0, background=False)
        self.token = self.service.sign_in()
        self.service.register_domain("hooks.example")
        self.known: dict[str, Watching] = {}
        self.trashed: dict[str, bool] = {}
        self.answers: dict[str, list[int]] = defaultdict(list)
        self.notifications: dict[str, list[tuple[int, str, int, int]]] = defaultdict(list)

    def teardown(self) -> None:
        self.service.close()

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = b"" if body is None else json.dumps(body).encode()
        headers = [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")]
        pairs = Headers([*headers, ("Content-Length", str(len(content)))])
        response = self.service.handle(Request(method, f"http://svc.test/storage/v3{path}", pairs, content))
        answer = response.content()
        return response.status, json.loads(answer) if answer else None

    def now(self) -> int:
        return to_millis(self.service.clock.now())

    def receive(self, request: Request) -> Response:
        channel = request.headers["X-Svc-Channel-ID"]
        status = self.answers[channel].pop(0) if self.answers[channel] else 200
        number, state = int(request.headers["X-Svc-Message-Number"]), request.headers["X-Svc-Resource-State"]
        self.notifications[channel].append((number, state, status, self.now()))
        return Response(status, Headers([]))

    def say(self, file: str, *states: str) -> None:
        for channel in self.known.values():
            if channel.file == file and not channel.stopped and not channel.ended and self.now() < channel.expires:
                channel.expected += states
                channel.ended = "remove" in states

    @initialize(target=channels, seconds=LIVES, answers=st.lists(ANSWERS, min_size=3, max_size=3))
    def begin(self, seconds: int, answers: list[list[int]]) -> Any:
        file = self.create()
        return multiple(*(self.watch(file, seconds, statuses) for statuses in answers))

    @rule(target=files)
    def create(self) -> str:
        status, file = self.call("POST", "/files", {"name": "x"})
        assert status == 200
        self.trashed[file["id"]] = False
        return file["id"]

    @rule(target=channels, file=files, seconds=LIVES, statuses=ANSWERS)
    def watch(self, file: str, seconds: int, statuses: list[int]) -> Any:
        name = f"channel-{len(self.known)}"
        self.service.receive_at(ADDRESS + name, self.receive)
        body = {"id": name, "type": "web_hook", "address": ADDRESS + name, "expiration": self.now() + seconds * 1000}
        status, answer = self.call("POST", f"/files/{file}/watch", body)
        if file not in self.trashed:
            assert status == 404
            return multiple()
        assert status == 200
        self.answers[name] = list(statuses)
        self.known[name] = Watching(file, answer["resourceId"], answer["expiration"], expected=["sync"])
        return name

    @rule(file=files, trashed=st.booleans())
    def update(self, file: str, trashed: bool) -> None:
        status, _ = self.call("PATCH", f"/files/{file}", {"name": "y", "trashed": trashed})
        if file not in self.trashed:
            assert status == 404
            return
        moved = [] if self.trashed[file] == trashed else ["trash" if trashed else "untrash"]
        self.trashed[file] = trashed
        self.say(file, "update", *moved)

    @rule(file=files)
    def delete(self, file: str) -> None:
        status, _ = self.call("DELETE", f"/files/{file}")
        assert status == (204 if file in self.trashed else 404)
        if self.trashed.pop(file, None) is not None:
            self.say(file, "remove")

    @rule(channel=channels)
    def stop(self, channel: str) -> None:
        known = self.known[channel]
        status, _ = self.call("POST", "/channels/stop", {"id": channel, "resourceId": known.resource})
        assert status == (204 if not known.stopped and self.now() < known.expires else 404)
        known.stopped = True

    @rule(channel=channels, statuses=ANSWERS)
    def answer(self, channel: str, statuses: list[int]) -> None:
        self.answers[channel] = list(statuses)

    @rule()
    def deliver(self) -> None:
        self.service.deliver()
        waiting = {row["channel_id"] for row in self.service.deliveries() if self.is_waiting(row)}
        for name, channel in self.known.items():
            if not channel.stopped and self.now() < channel.expires and name not in waiting:
                assert len({number for number, *_ in self.notifications[name]}) == len(channel.expected)

    def is_waiting(self, row: dict[str, Any]) -> bool:
        """Return whether this is the latest attempt of a message that will be sent again."""
        last = self.notifications[row["channel_id"]][-1:] or [(0, "", 0, 0)]
        return row["outcome"] == "retry" and last[0][0] == row["message_number"] and last[0][2] in RETRIED

    @rule(seconds=STEPS)
    def advance(self, seconds: float) -> None:
        self.service.clock.advance(seconds)

    @invariant()
    def what_was_told_is_what_was_queued(self) -> None:
        for name, channel in self.known.items():
            tries = self.notifications[name]
            numbers = list(dict.fromkeys(number for number, *_ in tries))
            assert numbers == sorted(numbers), "in the order of the messages, none again after a later one"
            states = [next(state for n, state, *_ in tries if n == number) for number in numbers]
            assert states == channel.expected[: len(states)], "nothing is left out, nothing made up"
            assert all(time < channel.expires for *_, time in tries), "nothing after the end"
            assert numbers[:1] in ([], [1])

    @invariant()
    def a_message_is_tried_while_it_should_be(self) -> None:
        for tries in self.notifications.values():
            for number in {attempt[0] for attempt in tries}:
                statuses = [status for n, _, status, _ in tries if n == number]
                assert all(status in RETRIED for status in statuses[:-1])
                assert len(statuses) <= self.service.policy.delivery_attempts
                times = [time for n, _, _, time in tries if n == number]
                waits = [(b - a) / 1000 for a, b in pairwise(times)]
                for doubling, wait in enumerate(waits):
                    assert wait >= 0.75 * 2**doubling - 0.001

    @invariant()
    def nobody_waits_longer_than_the_schedule_says(self) -> None:
        schedule = self.service.policy.schedule
        for name, channel in self.known.items():
            tries = self.notifications[name]
            attempt = [number for number, *_ in tries].count(tries[-1][0]) if tries else schedule.attempts
            if channel.stopped or channel.expires <= self.now() or attempt == schedule.attempts:
                continue
            if tries[-1][2] in RETRIED:
                assert self.now() - tries[-1][3] <= schedule.wait(attempt, 0.0) * 1000 + 1

    @invariant()
    def after_a_while_nothing_waits(self) -> None:
        rows = self.service.deliveries()
        assert len([row for row in rows if row["outcome"] != "cancelled"]) == sum(map(len, self.notifications.values()))


TestMachine = Machine.TestCase
TestMachine.settings = examples(0.6, stateful_step_count=20, suppress_health_check=list(HealthCheck))
