"""Injected faults, which have the same effect in-process, over a socket and over TLS (X-05)."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from queue import Queue
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from svc_notebooks.core.http.messages import Disconnected, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.dispatch.faults import ArmedPlan
from svc_notebooks.server.service import Service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, InProcess, Q, Stage, Wire
from tests.contract.wire import OverTls
from tests.patience import PATIENCE
from tests.receivers import AUTHORITY, server_context

BROKEN = (Disconnected, http.client.HTTPException, OSError)
"""What a caller sees of a connection that is cut: in-process, without an answer, in the middle of one."""

FILES = "/storage/v3/files"
MEDIA = "/upload/storage/v3/files?uploadType=media"
SESSION = {"operation": "upload.session"}

pytestmark = pytest.mark.spec("X-05", "X-05a", "X-05b")


@pytest.fixture(scope="module")
def secured() -> Iterator[tuple[Stage, str]]:
    """Return the `stage` of all tests over TLS."""
    stage = Stage()
    context = server_context(AUTHORITY.issue_cert("127.0.0.1"))
    with SocketServer(cast(Service, stage), tls=context, threads=4) as server:
        yield stage, server.base_url


@pytest.fixture(params=["in-process", "socket", "tls"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def wire(wire: Wire, way: str, request: pytest.FixtureRequest) -> Wire:
    if way != "tls" or not isinstance(wire, InProcess):
        return wire
    stage, base_url = request.getfixturevalue("secured")
    stage.service = wire.service
    return OverTls(wire.service, base_url)


def step(action: dict[str, Any], times: int = 1, **match: Any) -> dict[str, Any]:
    return {"match": match, "times": times, "action": action}


@contextmanager
def cut() -> Iterator[None]:
    with pytest.raises(BROKEN):
        yield


@contextmanager
def never(wire: Wire, plan: dict[str, Any]) -> Iterator[None]:
    """Expect the error for a fault that does not happen in the block."""
    with pytest.raises(AssertionError, match="never happened"), wire.service.faults(plan):
        yield


def upload(wire: Wire, content: bytes = b"hello") -> Answer:
    return wire.send("POST", MEDIA, content, {"Content-Type": "text/plain"})


REASONS = {400: "badRequest", 403: "userRateLimitExceeded", 404: "notFound", 429: "rateLimitExceeded"}


def test_a_status_alone_gets_its_error_envelope_and_below_400_no_body(wire: Wire) -> None:
    for status, reason in {**REASONS, **dict.fromkeys((500, 502, 503, 504), "backendError")}.items():
        with wire.service.faults(step({"status": status})):
            answer = wire.send("GET", FILES)
        assert (answer.status, answer.error["reason"]) == (status, reason)
    for status in (204, 304, 308):
        with wire.service.faults(step({"status": status})):
            answer = wire.send("GET", FILES)
        assert (answer.status, answer.body) == (status, b"")
    assert wire.send("GET", FILES).status == 200


@pytest.mark.parametrize("body, kind", [("busy", "text/plain"), ({"why": ["busy"]}, "application/json")])
def test_a_status_has_the_given_headers_and_body(wire: Wire, body: Any, kind: str) -> None:
    with wire.service.faults(step({"status": 503, "headers": {"Retry-After": "7", "X-Why": "busy"}, "body": body})):
        answer = wire.send("GET", FILES)

    assert (answer.status, answer.headers["retry-after"], answer.headers["x-why"]) == (503, "7", "busy")
    assert answer.headers["content-type"].startswith(kind)
    assert (answer.json if kind == "application/json" else answer.body.decode()) == body


def test_a_status_comes_before_the_work_and_a_reset_before_or_after_it(wire: Wire) -> None:
    with wire.service.faults(step({"status": 503}, operation="files.create")):
        assert upload(wire, b"x" * 3 * Q).status == 503
    assert wire.names() == []
    for moment, stored in (("before", 0), ("after", 1)):
        with wire.service.faults(step({"reset": moment}, method="POST")), cut():
            upload(wire)
        assert len(wire.names()) == stored


@pytest.mark.spec("A3-12")
def test_a_chunk_that_is_cut_keeps_its_whole_multiples(wire: Wire) -> None:
    whole, chunked = wire.begin(), wire.begin()
    with wire.service.faults(step({"cut_request_after": 300_000}, **SESSION)), cut():
        wire.put(whole, b"x" * 3 * Q, f"bytes 0-{3 * Q - 1}/{3 * Q}")
    with wire.service.faults(step({"cut_request_after": 300_000}, **SESSION)), cut():
        wire.put(chunked, iter([b"x" * Q, b"x" * Q, b"x" * Q]))

    answer = wire.put(whole, b"", f"bytes */{3 * Q}")
    assert (answer.status, answer.headers["range"]) == (308, f"bytes=0-{Q - 1}")
    assert wire.put(whole, b"x" * 2 * Q, f"bytes {Q}-{3 * Q - 1}/{3 * Q}").json["name"] == "Untitled"
    assert wire.stored(chunked) == Q


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_shorter_than_the_cut_is_not_cut(wire: Wire, chunked: bool) -> None:
    for body in (b"", b"x" * 299_999, b"x" * 300_000):
        with never(wire, step({"cut_request_after": 300_000}, operation="files.create")):
            assert wire.send("POST", MEDIA, iter([body]) if chunked else body).status == 200


def test_a_refused_request_with_an_unread_body_is_cut_too(wire: Wire) -> None:
    with wire.service.faults(step({"cut_request_after": 1000})), cut():
        wire.send("POST", MEDIA, iter([b"x" * 5000]), token=None)


@pytest.mark.parametrize("most", [0, 1, 100_000])
def test_a_response_is_cut_after_the_given_bytes(wire: Wire, most: int) -> None:
    file_id = wire.create(b"x" * 400_000, fields="id")["id"]

    with wire.service.faults(step({"cut_response_after": most}, operation="files.get")), cut():
        wire.download(file_id)

    assert wire.service.journal()[-1]["sent"] == most
    assert wire.download(file_id).body == b"x" * 400_000


@pytest.mark.spec("A3-20")
def test_the_last_chunk_is_stored_and_its_response_is_lost(wire: Wire) -> None:
    uri = wire.begin()
    with wire.service.faults(step({"reset": "after"}, **SESSION)), cut():
        wire.put(uri, b"hello")

    assert wire.put(uri, b"", "bytes */5").status == 200
    assert len(wire.names()) == 1


@pytest.mark.spec("A3-13", "A3-13a")
def test_an_expired_session_does_not_exist(wire: Wire) -> None:
    uri, eve = wire.begin(), wire.service.sign_in("eve@svc.example")
    headers = {"Content-Range": "bytes */*", "X-Svc-Fault": "expire=session"}
    assert wire.send("PUT", uri, b"", headers, token=eve).status == 404, "she expires no session of another user"
    assert wire.put(uri, b"x" * Q, f"bytes 0-{Q - 1}/{2 * Q}").status == 308

    with wire.service.faults(step({"expire": "session"}, **SESSION)):
        assert wire.put(uri, b"", "bytes */*").status == 404

    assert wire.put(uri, b"", "bytes */*").status == 404
    assert wire.service.journal()[-2]["fault"].endswith("/0: expire session")


def test_a_match_is_by_operation_method_path_user_number_and_order(wire: Wire) -> None:
    bob = wire.service.sign_in("bob@svc.example")
    match = {"operation": "files.list", "method": "get", "path": "/storage/*/files", "user": "Bob@svc.example"}

    with wire.service.faults(step({"status": 503}, **match)):
        assert wire.send("GET", FILES).status == 200
        assert wire.send("GET", f"{FILES}?pageSize=1", token=bob).status == 503
    with wire.service.faults(step({"status": 500}, 2, path="*/files", nth=2)):
        assert wire.send("GET", "/storage/v3/about?fields=*").status == 200
        assert [wire.send("GET", FILES).status for _ in range(4)] == [200, 500, 500, 200]
    steps = step({"status": 500}, method="GET"), step({"status": 503}, method="POST")
    with wire.service.faults(*steps):
        assert (upload(wire).status, wire.send("GET", FILES).status) == (503, 500)
    with wire.service.faults(*steps, in_order=True):
        statuses = upload(wire).status, wire.send("GET", FILES).status, upload(wire).status
    assert statuses == (200, 500, 503)


@pytest.mark.one_process("no request is in the process of the test")
@pytest.mark.parametrize(
    "way, policy, on_the_clock",
    [
        ("in-process", Policy(), True),
        ("in-process", Policy(fault_delay="sleep"), False),
        ("socket", Policy(), False),
        ("socket", Policy(fault_delay="clock"), True),
    ],
)
def test_a_delay_moves_a_virtual_clock_or_is_real_time(policy: Policy, wire: Wire, on_the_clock: bool) -> None:
    wire.service.clock.advance(0)  # from here on it is virtual
    before, started = wire.service.clock.now(), time.monotonic()

    with wire.service.faults(step({"delay": 0.125})):
        wire.send("GET", FILES)

    moved = wire.service.clock.now() - before
    assert moved == timedelta(seconds=0.125 if on_the_clock else 0)
    assert on_the_clock or time.monotonic() - started >= 0.125


@pytest.mark.parametrize(
    "action, fault, decided",
    [
        ({"status": 503}, "status 503", True),
        ({"reset": "before"}, "reset before", True),
        ({"reset": "after"}, "reset after", True),
        ({"delay": 0.125}, "delay 0.125", False),
    ],
)
def test_the_journal_names_the_fault_and_says_whether_it_decided(wire, action, fault, decided):
    with wire.service.faults(step({"status": 500}, method="DELETE", times=1), step(action)):
        with cut() if "reset" in action else nullcontext():
            wire.send("GET", FILES)
        wire.send("DELETE", f"{FILES}/x")

    row = wire.service.journal()[-2]
    plan = row["fault"].partition("/")[0]
    assert row["fault"] == f"{plan}/1: {fault}"
    assert (row["decided_by"] == f"fault {plan}/1") is decided


INVALID = ["", "503", "cut_request_after=" + "9" * 400, '{"status": 503, "body": "\\ud800"}', "status=99",
           "status=503=", "{", "[503]", "delay=61", "nap=1"]  # fmt: skip


def test_a_fault_in_a_header_is_for_this_request_alone(wire: Wire) -> None:
    for text in ("status=503", '{"status": 503}', " status = 503 "):
        assert wire.send("GET", FILES, headers={"X-Svc-Fault": text}).status == 503
        assert wire.send("GET", FILES).status == 200
    for text in INVALID:
        answer = wire.send("GET", FILES, headers={"X-Svc-Fault": text})
        assert (answer.status, answer.error["location"]) == (400, "X-Svc-Fault")


@pytest.mark.parametrize("text", ["status=503", "reset=before", "no fault"])
def test_a_fault_in_a_header_is_ignored_without_a_valid_token(wire: Wire, text: str) -> None:
    headers = {"X-Svc-Fault": text}

    for token in (None, "unknown"):
        assert wire.send("GET", FILES, headers=headers, token=token).status == 401
        assert wire.send("GET", "/openapi.json", headers=headers, token=token).status == 200
        assert [row["fault"] for row in wire.service.journal()[-2:]] == [None, None]


@pytest.mark.policy(fault_header=False)
@pytest.mark.parametrize("way", ["in-process"])
def test_a_fault_in_a_header_can_be_forbidden(wire: Wire) -> None:
    assert wire.send("GET", FILES, headers={"X-Svc-Fault": "status=503"}).status == 200


def test_a_fault_that_happens_too_rarely_is_an_error(wire: Wire) -> None:
    with never(wire, step({"cut_response_after": 0})):
        assert wire.send("HEAD", FILES).status == 200  # without a byte to cut
    happened = r"happened 1 of 2 times.*: step 0 of faults-\d+ \(returns 503\)"
    with pytest.raises(AssertionError, match=happened), wire.service.faults(step({"status": 503}, times=2)):
        wire.send("GET", FILES)


@pytest.mark.parametrize("probability, hits", [(0, 0), (0.5, 9), (1, 20)])
def test_a_fault_with_a_probability_happens_to_the_same_requests_in_every_run(wire, probability, hits):
    statuses = []
    for _ in range(2):
        with wire.service.faults(step({"status": 503}, times=20, probability=probability, seed=1)):
            statuses.append([wire.send("GET", FILES).status for _ in range(20)])

    assert statuses[0] == statuses[1]
    assert statuses[0].count(503) == hits


def test_a_change_is_notified_although_its_response_is_lost(wire: Wire) -> None:
    """The after-commit hook wakes the thread that delivers."""
    states: Queue[str] = Queue()

    def receive(request: Request) -> Response:
        states.put(request.headers["X-Svc-Resource-State"])
        return Response(200)

    wire.service.register_domain("hooks.example")
    wire.service.receive_at("https://hooks.example/", receive)
    channel = {"id": "c", "type": "web_hook", "address": "https://hooks.example/"}
    assert wire.post_json("/storage/v3/changes/watch", channel).status == 200
    assert states.get(timeout=PATIENCE) == "sync"

    with wire.service.faults(step({"reset": "after"})), cut():
        upload(wire)

    assert states.get(timeout=PATIENCE) == "change"


@pytest.mark.one_process("the test changes the code of its own process")
def test_a_plan_may_be_added_during_a_request(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    look = ArmedPlan.steps_for

    def added_meanwhile(plan: ArmedPlan, target: Any) -> Any:
        monkeypatch.undo()
        wire.service.add_faults({"steps": [step({"status": 500})]})
        return look(plan, target)

    wire.service.add_faults({"steps": [step({"status": 503}, method="DELETE")]})
    monkeypatch.setattr(ArmedPlan, "steps_for", added_meanwhile)

    assert [wire.send("GET", FILES).status for _ in range(3)] == [200, 500, 200]


@pytest.mark.parametrize("size", [10, 2 * 1024 * 1024])
def test_a_connection_after_a_fault_is_usable_or_closed(service: Service, base_url: str, size: int) -> None:
    """A fault answers before the body is read, and the body must not be read as the next request."""
    token = service.sign_in()
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=PATIENCE)
    with service.faults(step({"status": 503})):
        connection.request("POST", MEDIA, b"x" * size, {"Authorization": f"Bearer {token}"})
        first = connection.getresponse()
        assert (first.status, json.loads(first.read())["error"]["code"]) == (503, 503)

    connection.request("GET", FILES, headers={"Authorization": f"Bearer {token}"})  # http.client opens another if told
    second = connection.getresponse()
    assert (second.status, json.loads(second.read())["files"]) == (200, [])
    connection.close()


def test_a_reset_closes_only_its_own_connection(service: Service, base_url: str) -> None:
    parts, token = urlsplit(base_url), service.sign_in()
    ask = f"GET {FILES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    with (
        socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as struck,
        socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as other,
    ):
        with service.faults(step({"reset": "before"})):
            struck.sendall(ask)
            assert struck.recv(100) == b""
        other.sendall(ask)
        assert other.recv(100).startswith(b"HTTP/1.1 200 ")
