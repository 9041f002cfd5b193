"""Tests of several clients that change the same thing at once: one succeeds, nothing is lost, and all records agree.

Requests on one upload session at once are in tests/unit/server/test_races.py.
"""

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import urlencode

import pytest

from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.server.auth.tables import GrantRow, OAuth, Users, digest_of
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store.engine import Database
from tests.patience import PATIENCE

FILES = "/storage/v3/files"
EVENTS = "/calendar/v3/calendars/primary/events"
FOLDER = "application/vnd.svc-apps.folder"
ADDRESS = "https://hooks.example/in"
HOUR = {"start": {"dateTime": "2026-11-02T10:00:00Z"}, "end": {"dateTime": "2026-11-02T11:00:00Z"}}
ROUNDS = 5

Answer = tuple[int, Any]


class TwoClients:
    """A service, three clients, and the notifications of its channels."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.pool = ThreadPoolExecutor(4)
        self.notifications: Counter[tuple[str, str]] = Counter()
        self.answers: list[tuple[str, int]] = []
        self.journal: list[tuple[str, int]] = []
        self.open()
        self.token = self.service.sign_in()

    def open(self) -> None:
        self.service = open_service(self.path, seed=0, background=False)
        self.service.register_domain("hooks.example")
        self.service.receive_at(ADDRESS, self.receive)

    def close(self) -> None:
        self.journal += [(row["method"], row["status"]) for row in self.service.journal()]
        self.service.close()

    def receive(self, message: Request) -> Response:
        self.notifications[message.headers["X-Svc-Channel-ID"], message.headers["X-Svc-Resource-State"]] += 1
        return Response(200)

    def ask(self, method: str, target: str, body: object = None, **headers: str) -> Answer:
        pairs = [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json"), *headers.items()]
        sent = b"" if body is None else json.dumps(body).encode()
        answer = self.service.handle(Request(method, f"http://svc.local{target}", Headers(pairs), sent))
        self.answers.append((method, answer.status))
        content = answer.content()
        return answer.status, json.loads(content) if content else None

    def read(self, target: str) -> Any:
        status, body = self.ask("GET", target)
        assert status == 200, body
        return body

    def at_once(self, *hands: Callable[[], Answer]) -> list[Answer]:
        ready = Barrier(len(hands))

        def go(hand: Callable[[], Answer]) -> Answer:
            ready.wait(PATIENCE)
            return hand()

        return [future.result(PATIENCE) for future in [self.pool.submit(go, hand) for hand in hands]]

    def thrice(self, method: str, target: str, body: object) -> list[int]:
        return sorted(status for status, _ in self.at_once(*[lambda: self.ask(method, target, body)] * 3))


@pytest.fixture(params=["memory", "folder"])
def room(request, tmp_path):
    made = TwoClients(None if request.param == "memory" else tmp_path)
    yield made
    made.close()
    made.pool.shutdown()
    assert Counter(made.journal) == Counter(made.answers)


@pytest.mark.spec("A4-01", "A4-01b", "X-02", "X-02c", "E-11", "E-11b", "A8-02", "A8-02c")
def test_an_id_is_given_to_one_file_one_event_and_one_channel(room):
    for file in room.read(f"{FILES}/generateIds?count={ROUNDS}")["ids"]:
        assert room.thrice("POST", FILES, {"id": file, "name": "a"}) == [200, 409, 409]
    for n in range(ROUNDS):
        assert room.thrice("POST", EVENTS, {**HOUR, "id": f"event{n}"}) == [200, 409, 409]
        body = {"id": f"channel-{n}", "type": "web_hook", "address": ADDRESS}
        assert room.thrice("POST", f"{FILES}/{file}/watch", body) == [200, 400, 400]
    room.service.deliver()

    assert len(room.read(FILES)["files"]) == len(room.read(EVENTS)["items"]) == ROUNDS
    assert room.notifications == {(f"channel-{n}", "sync"): 1 for n in range(ROUNDS)}


def test_a_write_with_if_match_overwrites_no_other_change(room):
    room.ask("POST", EVENTS, {**HOUR, "id": "counter", "summary": "0"})

    def count():
        done = 0
        while done < ROUNDS:
            event = room.read(f"{EVENTS}/counter")
            more = {"summary": str(int(event["summary"]) + 1)}
            status, _ = room.ask("PATCH", f"{EVENTS}/counter", more, **{"If-Match": event["etag"]})
            assert status in (200, 412)
            done += status == 200
        return 200, None

    room.at_once(count, count, count)

    assert room.read(f"{EVENTS}/counter")["summary"] == str(3 * ROUNDS)


def test_folders_that_move_into_each_other_make_no_ring(room):
    for _ in range(ROUNDS):
        ids = [room.ask("POST", FILES, {"name": name, "mimeType": FOLDER})[1]["id"] for name in "abc"]

        def move(folder, into):
            return lambda: room.ask("PATCH", f"{FILES}/{folder}?addParents={into}", {})

        moves = room.at_once(*(move(child, parent) for child, parent in zip(ids, ids[1:] + ids[:1], strict=True)))

        assert sorted(status for status, _ in moves) == [200, 200, 400]


@pytest.mark.spec("N-02", "N-11")
def test_the_file_the_change_log_and_the_messages_agree_over_a_restart(tmp_path):
    room = TwoClients(tmp_path)
    file = room.ask("POST", FILES, {"name": "a"})[1]["id"]
    start = room.read("/storage/v3/changes/startPageToken")["startPageToken"]
    for n in range(2):
        room.ask("POST", f"{FILES}/{file}/watch", {"id": f"channel-{n}", "type": "web_hook", "address": ADDRESS})

    def rename(n):
        return lambda: room.ask("PATCH", f"{FILES}/{file}", {"name": f"name {n}"})

    for n in range(ROUNDS):
        assert {status for status, _ in room.at_once(*map(rename, range(3)))} == {200}
        if n == ROUNDS // 2:
            room.close()
            room.open()
    room.service.deliver()

    told = {"sync": 1, "update": 3 * ROUNDS}
    assert room.notifications == {(f"channel-{n}", state): told[state] for n in range(2) for state in told}
    changes = room.read(f"/storage/v3/changes?pageToken={start}&fields=changes(file(name,version))")["changes"]
    assert changes[-1]["file"] == room.read(f"{FILES}/{file}?fields=name,version")
    room.close()
    room.pool.shutdown()
    assert Counter(room.journal) == Counter(room.answers)


@pytest.mark.spec("T-01", "T-01b")
def test_a_token_revoked_during_its_lookup_is_invalid(monkeypatch):
    with open_service(seed=0) as service:
        token, look = service.sign_in(), Users.token

        def revoked_meanwhile(people, secret):
            user = look(people, secret)
            monkeypatch.undo()
            assert service.handle(Request("POST", f"http://svc.local/revoke?token={token}")).status == 200
            return user

        def ask():
            headers = Headers([("Authorization", f"Bearer {token}")])
            return service.handle(Request("GET", f"http://svc.local{FILES}", headers)).status

        monkeypatch.setattr(Users, "token", revoked_meanwhile)

        assert [ask(), ask()] == [200, 401]


def test_a_root_that_is_looked_up_while_the_state_changes_is_looked_up_again(monkeypatch):
    with open_service(seed=0) as service:
        service.sign_in()
        people, look, looks = service._context.store.users, Database.fetch_one, []
        people.forget()

        def changed_meanwhile(database, *arguments):
            looks.append(look(database, *arguments))
            people.forget()
            return looks[-1]

        monkeypatch.setattr(Database, "fetch_one", changed_meanwhile)
        assert [people.root("ada@svc.example") for _ in range(2)] == [row[0] for row in looks]


@pytest.mark.spec("T-01", "T-01b")
def test_a_revocation_that_meets_a_refresh_ends_what_comes_of_it(monkeypatch):
    with open_service(seed=0) as service, ThreadPoolExecutor(1) as pool:
        client = service.oauth_client("app")
        who = ("ada@svc.example", client["client_id"])
        grant = GrantRow(digest_of("again"), "refresh", "consent", *who, "storage", None, "", "", "", 0)
        service._context.store.oauth.add_grant(grant)
        look, revocations = OAuth.grant, []

        def revoked_meanwhile(oauth, secret):
            row = look(oauth, secret)
            monkeypatch.undo()
            revocations.append(pool.submit(service.handle, Request("POST", "http://svc.local/revoke?token=again")))
            wait(revocations, timeout=0.2)  # it may not come through before the refresh is over
            return row

        monkeypatch.setattr(OAuth, "grant", revoked_meanwhile)
        secrets = {name: client[name] for name in ("client_id", "client_secret")}
        form = urlencode({"grant_type": "refresh_token", "refresh_token": "again", **secrets})
        kind = Headers([("Content-Type", "application/x-www-form-urlencoded")])
        answer = service.handle(Request("POST", "http://svc.local/token", kind, form.encode()))
        assert (answer.status, revocations[0].result(PATIENCE).status) == (200, 200)

        token = json.loads(answer.content())["access_token"]
        bearer = Headers([("Authorization", f"Bearer {token}")])
        assert service.handle(Request("GET", f"http://svc.local{FILES}", bearer)).status == 401
