"""Tests that restoring, forking and saving keep the state and all later results, for random actions (seeded)."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.http.messages import Disconnected, Headers, Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_saved, open_service
from tests.examples import examples
from tests.framed import framed

Q = 262_144
FILES = "/storage/v3/files"
UPLOAD = "/upload/storage/v3/files"
ABOUT = "/storage/v3/about?fields=*"
EVENTS = "/calendar/v3/calendars/primary/events"


class Hand:
    """Performs actions on a service and keeps the results, so that they can be repeated on another."""

    def __init__(self, service: Service, token: str, known: list[str] | None = None) -> None:
        self.service, self.token = service, token
        self.ids = known or []
        self.uris: list[str] = []
        self.answers: list[tuple[int, bytes]] = []

    def ask(self, method: str, target: str, body: bytes = b"", **headers: str) -> Any:
        pairs = [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")]
        pairs += [(name.replace("_", "-"), value) for name, value in headers.items()]
        url = target if "://" in target else f"http://svc.test{target}"
        response = self.service.handle(framed(Request(method, url, Headers(pairs), body)))
        content = response.content()
        self.answers.append((response.status, content))
        return response, content

    def some(self, number: int) -> str:
        return self.ids[number % len(self.ids)] if self.ids else "none"

    def create(self, number: int) -> None:
        _, content = self.ask("POST", f"{UPLOAD}?uploadType=media", b"x" * (number * 1000), Content_Type="text/plain")
        self.ids.append(json.loads(content)["id"])

    def rewrite(self, number: int) -> None:
        self.ask("PUT", f"{UPLOAD}/{self.some(number)}?uploadType=media", b"new" * number)

    def rename(self, number: int) -> None:
        body = json.dumps({"name": f"name {number}", "trashed": number % 2 == 0}).encode()
        self.ask("PATCH", f"{FILES}/{self.some(number)}", body)

    def delete(self, number: int) -> None:
        self.ask("DELETE", f"{FILES}/{self.some(number)}")

    def share(self, number: int) -> None:
        body = json.dumps({"type": "user", "role": "reader", "emailAddress": f"p{number % 3}@svc.example"}).encode()
        self.ask("POST", f"{FILES}/{self.some(number)}/permissions", body)

    def begin(self, number: int) -> None:
        response, _ = self.ask("POST", f"{UPLOAD}?uploadType=resumable", b"")
        self.uris.append(response.headers["Location"])

    def send(self, number: int) -> None:
        if self.uris:
            self.ask("PUT", self.uris[number % len(self.uris)], b"y" * Q, Content_Range=f"bytes 0-{Q - 1}/{3 * Q}")

    def finish(self, number: int) -> None:
        if self.uris:
            self.ask("PUT", self.uris.pop(number % len(self.uris)), b"z" * number)

    def event(self, number: int) -> None:
        day = {"date": f"2026-02-{1 + number % 20:02d}"}, {"date": f"2026-02-{2 + number % 20:02d}"}
        self.ask("POST", EVENTS, json.dumps({"start": day[0], "end": day[1], "summary": f"e{number}"}).encode())

    def watch(self, number: int) -> None:
        body = {"id": f"c{len(self.answers)}", "type": "web_hook", "address": "https://nowhere.example/in"}
        self.ask("POST", "/storage/v3/changes/watch", json.dumps(body).encode())

    def later(self, number: int) -> None:
        self.service.clock.advance(timedelta(hours=number))

    def look(self, number: int) -> None:
        for target in (f"{FILES}?fields=*", "/storage/v3/changes?pageToken=1&fields=*", EVENTS, ABOUT):
            self.ask("GET", target)
        for file_id in self.ids:
            self.ask("GET", f"{FILES}/{file_id}?alt=media")
        for uri in self.uris:
            self.ask("PUT", uri, b"", Content_Range="bytes */*")


ACTIONS: tuple[Callable[[Hand, int], None], ...] = (
    Hand.create, Hand.rewrite, Hand.rename, Hand.delete, Hand.share, Hand.begin, Hand.send, Hand.finish, Hand.event,
    Hand.watch, Hand.later, Hand.look,
)  # fmt: skip

actions = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 300)), max_size=12)


def do(hand: Hand, todo: list[tuple[Callable[[Hand, int], None], int]]) -> list[tuple[int, bytes]]:
    """Return the results of all actions, without sync tokens, which a restored or opened state never gives again."""
    hand.answers = []
    for action, number in [*todo, (Hand.look, 0)]:
        action(hand, number)
    return [(status, re.sub(rb'"nextSyncToken": "[^"]*"', b"", body)) for status, body in hand.answers]


def everything(service: Service) -> dict[str, Any]:
    """Return the state of a service: rows, bytes, time and the position of its ids, without the number of restores."""
    context = service._context
    rows = {name: list(table_rows) for name, table_rows in context.store.rows()}
    rows["meta"] = [row for row in rows["meta"] if row[0] != "history"]
    stored = set(context.store.contents.parts())
    parts = {part.key: b"".join(service._context.content.parts.read(part, 0, part.size)) for part in stored}
    return {**rows, "": (parts, context.clock.now(), context.ids.state(), context.store.counters())}


def of_a_copy(service: Service) -> dict[str, Any]:
    """Return the state that a copy shares. It has no deliveries, other names of parts, and one opening more."""
    state = everything(service)
    parts, now, ids, counters = state.pop("")
    bytes_of = [(content, start, stop, parts[part]) for content, start, stop, part, _ in state.pop("rope")]
    state["channels"] = [row[:-2] for row in state["channels"]]
    state["meta"] = [row for row in state["meta"] if row[0] != "openings"]
    del state["messages"]
    return {**state, "": (bytes_of, now, json.dumps(ids), counters)}


def opened(folder: str | None) -> Service:
    policy = Policy(verified_domains=("*",), part_size=Q)
    return open_service(folder, seed=7, clock=None, policy=policy, background=False)


@pytest.mark.parametrize("in_folder", [False, True])
@examples(0.25)
@given(before=actions, between=actions, after=actions)
def test_a_restore_brings_everything_back_and_what_follows_is_the_same(in_folder, before, between, after):
    with TemporaryDirectory() as folder, opened(folder if in_folder else None) as service:
        hand = Hand(service, service.sign_in())
        do(hand, before)
        kept, then = service.snapshot(), everything(service)
        ids, uris = list(hand.ids), list(hand.uris)
        first = do(hand, [*between, *after])

        service.restore(kept)

        assert everything(service) == then
        hand.ids, hand.uris = ids, uris
        assert do(hand, [*between, *after]) == first


@pytest.mark.parametrize("in_folder", [False, True])
@examples(0.25)
@given(before=actions, here=actions, there=actions)
def test_a_fork_changes_independently(in_folder, before, here, there):
    with TemporaryDirectory() as folder, opened(folder if in_folder else None) as service:
        hand = Hand(service, service.sign_in())
        do(hand, before)
        with service.fork() as fork:
            assert of_a_copy(fork) == of_a_copy(service)
            other = Hand(fork, hand.token, list(hand.ids))
            other.uris = list(hand.uris)

            do(hand, here)
            was = everything(service)
            do(other, there)
            assert everything(service) == was
            now = of_a_copy(fork)
            do(hand, there)
            assert of_a_copy(fork) == now


@pytest.mark.parametrize("in_folder", [False, True])
@examples(0.25)
@given(before=actions, after=actions)
def test_what_is_saved_and_opened_is_the_same_and_goes_on_in_the_same_way(in_folder, before, after):
    with TemporaryDirectory() as folder, opened(f"{folder}/store" if in_folder else None) as service:
        hand = Hand(service, service.sign_in())
        do(hand, before)
        path = service.save(Path(folder) / "kept.svc")
        with open_saved(path, background=False) as again:
            assert of_a_copy(again) == of_a_copy(service)
            other = Hand(again, hand.token, list(hand.ids))
            other.uris = list(hand.uris)
            assert do(other, _without_steps(after)) == do(hand, _without_steps(after))
            assert again.save(Path(folder) / "second.svc").stat().st_size > 0


def _without_steps(todo: Any) -> Any:
    """A copy sends no notifications. The numbers of messages are drawn separately, and no response has them."""
    return [step for step in todo if step[0] is not Hand.watch]


def test_a_fault_in_the_middle_is_no_part_of_a_state():
    with opened(None) as service:
        hand = Hand(service, service.sign_in())
        kept = service.snapshot()
        with service.faults({"action": {"reset": "after"}}), pytest.raises(Disconnected):
            hand.create(3)
        service.restore(kept)
        assert json.loads(hand.ask("GET", FILES)[1])["files"] == []
