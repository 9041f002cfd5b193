"""The control API over raw HTTP on a socket, as a program in any language uses it."""

from collections.abc import Iterator
from typing import Any

import pytest

from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.clock import SystemClock
from tests.contract.conftest import Answer, OverSocket, Q
from tests.contract.wire import served
from tests.receivers import Receiver, receiver


@pytest.fixture
def service() -> Iterator[Service]:
    """A seeded service on the system's clock."""
    with open_service(seed=0, clock=SystemClock()) as service:
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with served(service, control=True, threads=4) as wire:
        yield wire


MISUNDERSTOOD = [
    ("tokens", {"user": "bob@svc.example", "scope": ["storage.readonly"]}, "scope"),
    ("tokens", {"user": "bob@svc.example", "service_account": "yes"}, "service_account"),
    ("tokens", {"user": "bob"}, "user"),
    ("clients", {"name": "app", "public": "yes"}, "public"),
    ("clients", {"name": "app", "redirect_uri": "http://127.0.0.1/cb"}, "redirect_uri"),
    ("service_accounts", {"name": "robot", "scopes": ["calendar"]}, "scopes"),
    ("limits", {"user": "bob@svc.example", "limit": 5}, "limit"),
    ("limits", {"requests": "1"}, "requests"),
    ("limits", {"requests": 1, "per": True}, "per"),
    ("limits", {"user": 5}, "user"),
    ("domains", {"domain": "hooks.example", "port": 443}, "port"),
    ("restore", {"snapshot": "snapshot-1"}, "snapshot"),
    ("faults", {"steps": [{"match": {"operation": "file.create"}, "action": {"status": 503}}]}, "files.create"),
]
NO_ACTIONS: list[Any] = [
    {}, {"reset": "later"}, {"expire": "token"}, {"reset": "before", "body": "x"}, {"delay": 1e15}, {"status": 99},
    {"status": 500, "delay": 1},
]  # fmt: skip
NO_MATCHES: list[Any] = [{"verb": "GET"}, {"nth": "x"}, {"nth": 0}, {"method": 5}]
NO_HEADERS: list[Any] = [["Retry-After"], {"A B": "1"}, {"": "1"}, {"X": "1\r\nSet-Cookie: a=b"}, {"X": "€"}]
PEM = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
UNREADABLE: dict[str, list[dict[str, Any]]] = {
    "clock": [
        {},
        *({"advance": value} for value in ("soon", "99999999999999w", 1e300)),
        *({"now": value} for value in ("yesterday", "0001-01-01T00:00:00+14:00", 5)),
        *({"freeze": value} for value in ("yes", False)),
        {"advance": "1d", "now": "2030-01-01T00:00:00Z"},
        {"advanced": "1d"},
    ],
    "faults": [
        {},
        *({"steps": steps} for steps in ({}, [5], [{}])),
        *({"steps": [{"action": action}]} for action in NO_ACTIONS),
        {"steps": [{"action": {"status": 500}, "times": 0}]},
        *({"steps": [{"action": {"status": 500}, "match": match}]} for match in NO_MATCHES),
        *({"steps": [{"action": {"status": 500, "headers": headers}}]} for headers in NO_HEADERS),
        {"preset": "fog"},
        {"preset": "flaky wifi", "in_order": True},
        {"plan": []},
    ],
    "domains": [{}, {"domain": "https://hooks.example/in"}],
    "trust": [{}, *({"ca_pem": pem} for pem in ("no certificate", f"{PEM[0]}\nAAAA\n{PEM[1]}", ["x"]))],
}


@pytest.mark.parametrize(
    "name, body, named", [*MISUNDERSTOOD, *((name, body, "") for name, bodies in UNREADABLE.items() for body in bodies)]
)
def test_an_invalid_body_is_refused(wire: OverSocket, name: str, body: dict[str, Any], named: str) -> None:
    """A misspelt `scopes` must not give a token for all scopes."""
    answer = tell(wire, name, body)

    assert (answer.status, answer.error["reason"]) == (400, "badRequest")
    assert named in answer.error["message"]
    assert wire.service.limits() == wire.service.fault_plans() == []
    assert not wire.service.clock.is_virtual


def test_a_clock_cannot_leave_the_range_of_dates_and_another_method_is_refused(wire: OverSocket) -> None:
    before = tell(wire, "clock", {"advance": 0}).json
    head = wire.raw("HEAD /_control/clock HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    post = wire.send("POST", "/_control/state", b"", token=None)

    assert tell(wire, "clock", {"advance": "500000w"}).error["reason"] == "badRequest"
    assert tell(wire, "clock", {"advance": 0}).json == before
    assert (head[:13], head[-4:]) == (b"HTTP/1.1 404 ", b"\r\n\r\n")
    assert (post.status, post.headers["allow"]) == (405, "GET, PUT")


FILES = "/storage/v3/files"


def tell(wire: OverSocket, name: str, body: Any, method: str = "POST") -> Answer:
    return wire.json_request(method, f"/_control/{name}", body, token=None)


def ask(wire: OverSocket, name: str) -> Any:
    return wire.send("GET", f"/_control/{name}", token=None).json


@pytest.mark.spec("X-05", "X-05c")
def test_a_plan_is_added_listed_and_removed_and_a_preset_is_added_by_its_name(wire: OverSocket) -> None:
    step = {"match": {"operation": "files.list"}, "times": 2, "action": {"status": 503}}
    made = tell(wire, "faults", {"steps": [step]})

    assert (made.status, made.json) == (200, {"id": "faults-1"})
    assert wire.send("GET", FILES).status == 503
    plan = {"id": "faults-1", "in_order": False, "steps": [{**step, "seen": 1, "fired": 1}]}
    assert ask(wire, "faults")["plans"] == [plan]
    assert wire.send("DELETE", "/_control/faults", token=None).status == 204
    assert wire.send("GET", FILES).status == 200
    assert tell(wire, "faults", {"preset": "thundering herd"}).status == 200
    answers = [wire.send("GET", FILES) for _ in range(6)]
    assert [answer.status for answer in answers] == [503, 503, 503, 429, 429, 200]
    assert answers[0].headers["retry-after"] == "5"
    assert ask(wire, "faults")["plans"][0]["preset"] == "thundering herd"


@pytest.mark.spec("A3-13", "A3-13a")
def test_the_agenda_lists_future_and_past_ends(wire: OverSocket) -> None:
    before = tell(wire, "clock", {"now": "2026-03-01T12:00:00Z"}).json["now"]
    uri = wire.begin({"name": "film"})
    row = {"time": "2026-03-08T12:00:00.000Z", "what": "upload expires", "user": "ada@svc.example"}
    row |= {"subject": "film", "detail": "0 bytes"}
    assert ask(wire, "agenda") == {"agenda": [row]}

    tell(wire, "clock", {"advance": "7d"})

    assert ask(wire, "agenda") == {"agenda": []}
    assert tell(wire, "agenda", {"since": before}).json == {"agenda": [row]}
    assert wire.put(uri, b"", "bytes */*").status == 404


def test_a_state_is_copied_from_one_service_to_another(wire: OverSocket) -> None:
    tell(wire, "clock", {"now": "2026-03-01T12:00:00Z"})
    content = bytes(range(256)) * 5000
    file_id = wire.create(content, fields="id")["id"]
    uri = wire.begin()
    assert wire.put(uri, b"x" * Q, f"bytes 0-{Q - 1}/{2 * Q}").status == 308

    taken = wire.send("GET", "/_control/state", token=None)
    assert taken.headers["content-type"] == "application/zip"
    with open_service(seed=3) as second, served(second, control=True, threads=4) as other:
        other.create(b"it goes away")
        assert other.send("PUT", "/_control/state", taken.body, token=None).status == 204
        other.token = wire.token

        assert other.download(file_id).body == content
        assert len(other.names()) == 1
        assert other.stored(uri.replace(wire.base_url, other.base_url)) == Q
        assert ask(other, "clock") == ask(wire, "clock")
        assert other.create(b"new", fields="id")["id"] != file_id


def test_an_invalid_state_is_refused_and_changes_nothing(wire: OverSocket) -> None:
    wire.create(b"hello")

    for content in (b"", b"PK", b"{}", b"\0" * 5000):
        answer = wire.send("PUT", "/_control/state", content, token=None)
        assert (answer.status, answer.error["reason"]) == (400, "badRequest")
    assert wire.names() == ["Untitled"]


@pytest.fixture
def webhook() -> Iterator[Receiver]:
    with receiver() as webhook:
        yield webhook


def watch(wire: OverSocket, webhook: Receiver, **fields: Any) -> Answer:
    body = {"id": "c1", "type": "web_hook", "address": webhook.address, **fields}
    return wire.post_json("/storage/v3/changes/watch", body)


@pytest.mark.spec("A8-05", "N-01", "N-01a")
def test_register_trust_watch_and_look(wire: OverSocket, webhook: Receiver) -> None:
    assert watch(wire, webhook).status == 401
    assert tell(wire, "domains", {"domain": "LocalHost"}).json == {"domain": "localhost"}
    assert tell(wire, "trust", {"ca_pem": webhook.ca_pem}).status == 204
    assert watch(wire, webhook).status == 200
    wire.create()

    assert [notification.resource_state for notification in webhook.wait_for(2)] == ["sync", "change"]
    wire.service.deliver()  # the receivers have answered; now that is written down, too
    rows = ask(wire, "deliveries")["deliveries"]
    assert rows[0].keys() == {
        "channel_id", "resource_id", "message_number", "state", "attempt", "due", "time", "status", "outcome", "error",
    }  # fmt: skip
    assert [(row["state"], row["attempt"], row["status"], row["outcome"]) for row in rows] == [
        ("sync", 1, 200, "delivered"), ("change", 1, 200, "delivered"),
    ]  # fmt: skip
    tell(wire, "reset", {})
    assert ask(wire, "deliveries")["deliveries"] == []
    assert watch(wire, webhook).status == 200  # the domain is known, and the same id is free again
    assert len(webhook.wait_for(3)) == 3


@pytest.mark.spec("N-08", "N-08b", "A10-03")
def test_advancing_the_clock_delivers_everything_in_order(wire: OverSocket, webhook: Receiver) -> None:
    wire.register_receiver(webhook)
    tell(wire, "clock", {"now": "2026-03-01T12:00:00Z"})
    webhook.answers = [503] * 3
    watch(wire, webhook)
    assert tell(wire, "clock", {"advance": "1m"}).json == {"now": "2026-03-01T12:01:00.000Z"}

    rows = ask(wire, "deliveries")["deliveries"]
    assert [(row["attempt"], row["outcome"]) for row in rows] == [
        (1, "retry"), (2, "retry"), (3, "retry"), (4, "delivered"),
    ]  # fmt: skip
    assert "2026-03-01T12:00:05" < rows[-1]["time"] < "2026-03-01T12:00:08"
    tell(wire, "clock", {"advance": "2h"})
    wire.create()
    tell(wire, "clock", {"advance": "1m"})
    assert len(webhook.requests) == 4
