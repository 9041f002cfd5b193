"""Tests that any fault at any byte has the same effect in-process and over a socket, with two services of one seed."""

import http.client
from io import BytesIO
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.core.http.messages import Disconnected, Headers, Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.examples import examples
from tests.patience import PATIENCE

pytestmark = pytest.mark.spec("X-05", "X-05a", "X-05b")

Q = 262_144
FILES = "/storage/v3/files"
UPLOAD = "/upload/storage/v3/files?uploadType="

Seen = tuple[int, bytes] | str


@pytest.fixture(scope="module")
def stage():
    """The service of the current example, behind one socket."""
    with open_service(seed=0) as first:
        stage = SimpleNamespace(service=first, policy=first.policy, provider=None)
        stage.handle = lambda request: stage.service.handle(request)
        stage.user_of = lambda token: stage.service.user_of(token)
        with SocketServer(stage, threads=4) as server:
            yield stage, server.base_url


class Caller:
    """Sends requests to a function or to a socket, and returns the result, also of a cut connection."""

    def __init__(self, service: Service, address: str | None) -> None:
        self.service, self.address = service, address
        self.token = service.sign_in()
        self.uri = self.file = ""

    def send(self, method: str, target: str, body: bytes = b"", *, chunked: bool = False, **headers: str) -> Seen:
        pairs = [("Authorization", f"Bearer {self.token}"), ("Host", "svc.test")]
        pairs += [(name.replace("_", "-"), value) for name, value in headers.items()]
        pairs += [("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(len(body)))]
        try:
            if self.address is None:
                return self._call(method, target, body, pairs, chunked=chunked)
            return self._speak(method, target, body, pairs, chunked=chunked)
        except (Disconnected, http.client.HTTPException, OSError):
            return "cut"

    def _call(self, method: str, target: str, body: bytes, pairs: list[tuple[str, str]], *, chunked: bool) -> Seen:
        request = Request(method, f"http://svc.test{target}", Headers(pairs), BytesIO(body) if chunked else body)
        response = self.service.handle(request)
        content = response.content()
        self.uri = response.headers.get("Location", self.uri)
        return response.status, content

    def _speak(self, method: str, target: str, body: bytes, pairs: list[tuple[str, str]], *, chunked: bool) -> Seen:
        connection = http.client.HTTPConnection(self.address or "", timeout=PATIENCE)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for pair in pairs:
                connection.putheader(*pair)
            connection.endheaders(iter([body]) if chunked else body or None, encode_chunked=chunked)
            response = connection.getresponse()
            content = response.read()
            self.uri = response.getheader("Location", self.uri)
            return response.status, content
        finally:
            connection.close()


def target(uri: str) -> str:
    parts = urlsplit(uri)
    return f"{parts.path}?{parts.query}"


ON_THE_CLOCK = Policy(fault_delay="clock")
SIZES = st.sampled_from([0, 1, 1000, Q - 1, Q, Q + 1, 300_000, 3 * Q])
KINDS = st.sampled_from(["simple", "chunk", "ask", "begin", "download", "head", "list", "delete"])
REQUESTS = st.tuples(KINDS, SIZES, st.booleans())
BYTES = st.one_of(st.sampled_from([0, 1, 999, 1000, Q - 1, Q, Q + 1, 2 * Q]), st.integers(0, 4 * Q))
ACTIONS: Any = st.one_of(
    st.builds(lambda status: {"status": status}, st.sampled_from([200, 204, 304, 308, 400, 403, 404, 429, 500, 503])),
    st.builds(lambda body: {"status": 502, "body": body, "headers": {"X-Why": "x"}}, st.sampled_from(["a", {"a": 1}])),
    st.sampled_from([{"reset": "before"}, {"reset": "after"}, {"expire": "session"}, {"delay": 30}]),
    st.builds(lambda most: {"cut_request_after": most}, BYTES),
    st.builds(lambda most: {"cut_response_after": most}, BYTES),
)
STEPS = st.lists(
    st.builds(lambda action, nth, times: {"match": {"nth": nth}, "times": times, "action": action},
              ACTIONS, st.integers(1, 4), st.integers(1, 2)),
    min_size=1, max_size=4,
)  # fmt: skip


def do(caller: Caller, kind: str, size: int, flag: bool) -> Seen:
    """A request. `flag` sends it chunked, or asks for a part of a file; some kinds have neither a size nor a flag."""
    body = bytes(range(256)) * (size // 256 + 1)
    if kind == "simple":
        return caller.send("POST", UPLOAD + "media", body[:size], chunked=flag, Content_Type="text/plain")
    if kind == "chunk":
        return caller.send("PUT", target(caller.uri), body[:size], chunked=flag)
    if kind == "ask":
        return caller.send("PUT", target(caller.uri), Content_Range="bytes */*")
    if kind == "begin":
        return caller.send("POST", UPLOAD + "resumable")
    if kind == "download":
        part = {"Range": f"bytes=0-{size}"} if flag else {}
        return caller.send("GET", f"{FILES}/{caller.file}?alt=media", **part)
    if kind == "head":
        return caller.send("HEAD", f"{FILES}/{caller.file}")
    return caller.send("GET", FILES) if kind == "list" else caller.send("DELETE", f"{FILES}/{caller.file}")


def prepared(caller: Caller) -> Caller:
    """Return a service with a file and an open upload session."""
    caller.send("POST", UPLOAD + "media", b"x" * 2 * Q, Content_Type="text/plain")
    caller.file = next(row[1] for row in dict(caller.service._context.store.rows())["files"] if row[3] is not None)
    caller.send("POST", UPLOAD + "resumable")
    return caller


def state(service: Service) -> Any:
    context = service._context
    rows = {name: list(table_rows) for name, table_rows in context.store.rows() if name != "rope"}
    stored = set(context.store.contents.parts())
    contents = sorted(b"".join(service._context.content.parts.read(part, 0, part.size)) for part in stored)
    plans = [[(step["seen"], step["fired"]) for step in plan["steps"]] for plan in service.fault_plans()]
    return rows, contents, context.clock.now(), plans


def journal_rows(service: Service) -> list[Any]:
    """Return the journal without the fields that differ for a broken connection."""
    keys = ("operation", "method", "status", "offset_before", "offset_after", "fault", "decided_by")
    return [tuple(row[key] for key in keys) for row in service.journal()]


@examples(0.4)
@given(steps=STEPS, requests=st.lists(REQUESTS, min_size=1, max_size=6), in_order=st.booleans())
def test_faults_have_the_same_effect_in_process_and_over_a_socket(stage, steps, requests, in_order):
    with open_service(seed=0, policy=ON_THE_CLOCK) as first, open_service(seed=0, policy=ON_THE_CLOCK) as second:
        stage[0].service = second
        near, far = prepared(Caller(first, None)), prepared(Caller(second, urlsplit(stage[1]).netloc))
        for service in (first, second):
            service.add_faults({"steps": steps, "in_order": in_order})

        for request in requests:
            assert do(near, *request) == do(far, *request)
            assert state(first) == state(second)
        assert journal_rows(first) == journal_rows(second)
