import json
from collections.abc import Iterator
from typing import Any

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.clock import SystemClock
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.contract.control_calls import CALLS, control_state
from tests.contract.wire import served

TOKEN = "the-control-token"

ORIGINS = ["https://evil.example", "null", "", "http://[x", "https://", "http://127.0.0.1:1",
           "http://127.0.0.1.evil.example"]  # fmt: skip
FOREIGN = [
    *({"Origin": origin} for origin in ORIGINS),
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    {"Origin": "https://evil.example", "X-Forwarded-Host": "127.0.0.1"},
    *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")),
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
]

FOREIGN_HOSTS = [
    "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example:80", "192.0.2.1",
    "0.0.0.0:80", "[2001:db8::1]:80", "[x", "127.0.0.1@evil.example",
]  # fmt: skip


@pytest.fixture
def service(policy: Policy) -> Iterator[Service]:
    with open_service(seed=0, clock=SystemClock(), policy=policy) as service:
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with served(service, control=True, threads=4) as wire:
        yield wire


def call(wire: OverSocket, method: str, name: str, body: dict[str, Any] | None, headers: dict[str, str]) -> Answer:
    content = None if body is None else json.dumps(body).encode()
    kind = {"Content-Type": "text/plain"}  # what a form of another site can send
    return wire.send(method, f"/_control/{name}", content, {**kind, **headers}, token=None)


@pytest.mark.parametrize("method, name, body", CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_pages_of_other_origins_are_refused(wire, method, name, body):
    wire.create(b"kept")
    before = control_state(wire.service)

    for headers in FOREIGN:
        answer = call(wire, method, name, body, headers)
        assert (answer.status, answer.error["reason"]) == (403, "originNotAllowed"), headers
        assert not [header for header in answer.headers if header.lower().startswith("access-control-")]

    assert control_state(wire.service) == before
    assert wire.names() == ["Untitled"]


def assert_host_is_refused(wire: OverSocket, lines: list[str]) -> None:
    head, _, body = wire.raw("\r\n".join([*lines, "Connection: close", "", ""])).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 ")
    assert json.loads(body)["error"]["errors"][0]["reason"] == "hostNotAllowed"


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_host_is_refused(wire: OverSocket, host: str) -> None:
    """With DNS rebinding the page and this service are one origin for the browser, and only the Host differs."""
    rebound = {"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin", "X-Forwarded-Host": "127.0.0.1"}
    wire.create(b"kept")

    lines = [f"POST /_control/reset HTTP/1.1\r\nHost: {host}", *(f"{name}: {value}" for name, value in rebound.items())]
    assert_host_is_refused(wire, [*lines, "Content-Length: 0"])
    assert wire.names() == ["Untitled"]


def status_of_host(wire: OverSocket, host: str) -> int:
    return wire.send("GET", "/_control/clock", headers={"Host": host}, token=None).status


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "localhost.", "127.0.0.2"])
def test_names_of_the_loopback_are_accepted_with_any_port(wire: OverSocket, host: str) -> None:
    """A browser may see a forwarded port."""
    assert [status_of_host(wire, host + port) for port in ("", ":1", ":8080")] == [200] * 3


def test_programs_and_own_pages_are_accepted(wire: OverSocket) -> None:
    for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Mode": "cors"}):
        assert call(wire, "GET", "clock", None, headers).status == 200
        assert call(wire, "GET", "clock", None, {**headers, "Origin": wire.base_url}).status == 200


@pytest.mark.policy(host_names=("Files.example.org", "192.0.2.1"))
def test_host_names_of_the_policy_and_of_the_loopback_are_accepted(wire: OverSocket) -> None:
    for host in ("files.example.org", "FILES.EXAMPLE.ORG:8443", "192.0.2.1", "localhost"):
        assert status_of_host(wire, host) == 200
    assert [status_of_host(wire, host) for host in ("x.files.example.org", "192.0.2.2")] == [403, 403]


def test_a_server_on_all_addresses_accepts_every_address_and_no_foreign_name(service: Service) -> None:
    with SocketServer(service, "0.0.0.0", control=True, threads=2) as server:
        wire = OverSocket(service, server.base_url.replace("0.0.0.0", "127.0.0.1"))
        for host, status in (("192.0.2.1:80", 200), ("localhost", 200), ("evil.example", 403)):
            assert status_of_host(wire, host) == status


class TestTheControlToken:
    @pytest.fixture
    def wire(self, service: Service) -> Iterator[OverSocket]:
        with served(service, control=True, control_token=TOKEN, threads=4) as wire:
            yield wire

    @pytest.mark.parametrize("method, name, body", CALLS, ids=lambda value: value if isinstance(value, str) else "")
    def test_each_call_needs_it(self, wire: OverSocket, method: str, name: str, body: dict[str, Any] | None) -> None:
        before = control_state(wire.service)

        for shown in (None, "Bearer wrong", f"Bearer {wire.token}", f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x"):
            answer = call(wire, method, name, body, {} if shown is None else {"Authorization": shown})
            assert (answer.status, answer.error["location"]) == (401, "Authorization"), shown
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="svc control"'
        assert call(wire, method, f"{name}?access_token={TOKEN}", body, {}).status == 401

        assert control_state(wire.service) == before
        assert call(wire, "GET", "clock", None, {"Authorization": f"Bearer {TOKEN}"}).status == 200


@pytest.mark.parametrize("token", ["", "two words", "\u00fcber", "a\nb"])
def test_a_token_that_a_header_cannot_carry_is_refused(service: Service, token: str) -> None:
    with pytest.raises(ValueError, match="control token must be printable ASCII"):
        SocketServer(service, control=True, control_token=token)
