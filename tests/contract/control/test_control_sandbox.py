"""Faults, limits, time and whole states by the control API over raw HTTP on a socket."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.core.fault_plan import PRESETS
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.clock import SystemClock
from svc_notebooks.server.transports.control_api import CALLS
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket, Q

FILES = "/storage/v3/files"
PAGE = Path(__file__).parents[3] / "docs" / "control.md"


@pytest.fixture
def service() -> Iterator[Service]:
    """A seeded service on the system's clock."""
    with open_service(seed=0, clock=SystemClock()) as service:
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with SocketServer(service, control=True, threads=4) as server:
        yield OverSocket(service, server.base_url)


def tell(wire: OverSocket, name: str, body: Any, method: str = "POST") -> Answer:
    return wire.json_request(method, f"/_control/{name}", body, token=None)


def ask(wire: OverSocket, name: str) -> Any:
    return wire.send("GET", f"/_control/{name}", token=None).json


# -- faults


@pytest.mark.spec("X-05", "X-05c")
def test_a_plan_is_added_listed_and_removed(wire: OverSocket) -> None:
    step = {"match": {"operation": "files.list"}, "times": 2, "action": {"status": 503}}
    made = tell(wire, "faults", {"steps": [step]})

    assert (made.status, made.json) == (200, {"id": "faults-1"})
    assert wire.send("GET", FILES).status == 503
    assert ask(wire, "faults")["plans"] == [
        {"id": "faults-1", "in_order": False, "steps": [{**step, "seen": 1, "fired": 1}]}
    ]
    assert wire.send("DELETE", "/_control/faults", token=None).status == 204
    assert wire.send("GET", FILES).status == 200


@pytest.mark.spec("X-05", "X-05c")
def test_a_preset_is_added_by_its_name(wire: OverSocket) -> None:
    assert tell(wire, "faults", {"preset": "thundering herd"}).status == 200

    answers = [wire.send("GET", FILES) for _ in range(6)]

    assert [answer.status for answer in answers] == [503, 503, 503, 429, 429, 200]
    assert answers[0].headers["retry-after"] == "5"
    assert ask(wire, "faults")["plans"][0]["preset"] == "thundering herd"


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"steps": {}},
        {"steps": [5]},
        {"steps": [{"action": {"reset": "later"}}]},
        {"steps": [{"action": {"expire": "token"}}]},
        {"steps": [{"action": {"status": 503}, "match": {"verb": "GET"}}]},
        {"preset": "fog"},
        {"preset": "flaky wifi", "in_order": True},
        {"plan": []},
    ],
)
def test_a_plan_that_cannot_be_read_is_refused_and_changes_nothing(wire: OverSocket, plan: dict[str, Any]) -> None:
    answer = tell(wire, "faults", plan)

    assert (answer.status, answer.error["reason"]) == (400, "badRequest")
    assert ask(wire, "faults") == {"plans": []}


# -- time


@pytest.mark.parametrize("body", [{"freeze": True}, {"advance": 0}])
def test_a_clock_is_frozen(wire: OverSocket, body: dict[str, Any]) -> None:
    stands = tell(wire, "clock", body).json

    wire.send("GET", FILES)

    assert ask(wire, "clock") == stands


@pytest.mark.parametrize("body", [{"freeze": False}, {"freeze": "yes"}, {"freeze": 1}])
def test_an_invalid_freeze_is_refused(wire: OverSocket, body: dict[str, Any]) -> None:
    assert tell(wire, "clock", body).error["reason"] == "badRequest"
    assert not wire.service.clock.is_virtual


@pytest.mark.parametrize("seconds", [10**400, -(10**400), 1e300, True, "soon", [60]])
def test_a_token_lifetime_out_of_range_is_refused(wire: OverSocket, seconds: Any) -> None:
    assert tell(wire, "tokens", {"user": "eve@svc.example", "expires_in": seconds}).error["reason"] == "badRequest"


@pytest.mark.spec("A3-13", "A3-13a")
def test_the_agenda_lists_future_and_past_ends(wire: OverSocket) -> None:
    before = tell(wire, "clock", {"now": "2026-03-01T12:00:00Z"}).json["now"]
    uri = wire.begin({"name": "film"})
    row = {
        "time": "2026-03-08T12:00:00.000Z",
        "what": "upload expires",
        "user": "ada@svc.example",
        "subject": "film",
        "detail": "0 bytes",
    }
    assert ask(wire, "agenda") == {"agenda": [row]}

    tell(wire, "clock", {"advance": "7d"})

    assert ask(wire, "agenda") == {"agenda": []}
    assert tell(wire, "agenda", {"since": before}).json == {"agenda": [row]}
    assert wire.put(uri, b"", "bytes */*").status == 404


@pytest.mark.parametrize("body", [{"since": "yesterday"}, {"until": 5}])
def test_an_agenda_between_invalid_instants_is_refused(wire: OverSocket, body: dict[str, Any]) -> None:
    assert tell(wire, "agenda", body).error["reason"] == "badRequest"


# -- states


def test_a_state_is_copied_from_one_service_to_another(wire: OverSocket) -> None:
    tell(wire, "clock", {"now": "2026-03-01T12:00:00Z"})
    content = bytes(range(256)) * 5000
    file_id = wire.create(content, fields="id")["id"]
    uri = wire.begin()
    assert wire.put(uri, b"x" * Q, f"bytes 0-{Q - 1}/{2 * Q}").status == 308

    taken = wire.send("GET", "/_control/state", token=None)
    assert taken.headers["content-type"] == "application/zip"
    with open_service(seed=3) as second, SocketServer(second, control=True, threads=4) as server:
        other = OverSocket(second, server.base_url)
        other.create(b"it goes away")
        assert other.send("PUT", "/_control/state", taken.body, token=None).status == 204
        other.token = wire.token

        assert other.download(file_id).body == content
        assert len(other.names()) == 1
        assert (
            other.put(uri.replace(wire.base_url, other.base_url), b"", "bytes */*").headers["range"]
            == f"bytes=0-{Q - 1}"
        )
        assert ask(other, "clock") == ask(wire, "clock")
        assert other.create(b"new", fields="id")["id"] != file_id


def test_a_state_can_be_sent_in_chunks(wire: OverSocket) -> None:
    wire.create(b"hello")
    taken = wire.send("GET", "/_control/state", token=None).body
    tell(wire, "reset", {})

    pieces = iter([taken[:1000], taken[1000:]])
    assert wire.send("PUT", "/_control/state", pieces, token=None).status == 204

    assert wire.names() == ["Untitled"]


@pytest.mark.parametrize("content", [b"", b"PK", b"{}", b"\0" * 5000])
def test_an_invalid_state_is_refused_and_changes_nothing(wire: OverSocket, content: bytes) -> None:
    wire.create(b"hello")

    answer = wire.send("PUT", "/_control/state", content, token=None)

    assert (answer.status, answer.error["reason"]) == (400, "badRequest")
    assert wire.names() == ["Untitled"]


def test_a_state_takes_no_other_method(wire: OverSocket) -> None:
    answer = wire.send("POST", "/_control/state", b"", token=None)

    assert (answer.status, answer.headers["allow"]) == (405, "GET, PUT")


def test_snapshots_work_for_a_service_in_a_folder(tmp_path: Path) -> None:
    with open_service(tmp_path, seed=0) as kept, SocketServer(kept, control=True, threads=4) as server:
        wire = OverSocket(kept, server.base_url)
        file_id = wire.create(b"hello", fields="id")["id"]
        snapshot = tell(wire, "snapshot", {}).json["id"]
        wire.send("DELETE", f"{FILES}/{file_id}")
        assert tell(wire, "restore", {"id": snapshot}).status == 204

        assert wire.download(file_id).body == b"hello"
        assert tell(wire, "restore", {"id": "snapshot-9"}).error["reason"] == "badRequest"


# -- the page


def test_the_page_names_every_call_and_no_other() -> None:
    calls = {f"{method} {name}" for method, name in CALLS} | {"GET state", "PUT state", "POST files/{id}"}

    assert set(re.findall(r"`((?:GET|POST|PUT|DELETE) [a-z_{}/]+)`", PAGE.read_text(encoding="utf-8"))) == calls


def test_the_page_names_every_preset() -> None:
    named = " ".join(PAGE.read_text(encoding="utf-8").partition("Presets:")[2].split())

    assert [preset.name for preset in PRESETS] == re.findall(r"`([a-z ]+)`", named)[: len(PRESETS)]
