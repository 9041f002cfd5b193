"""The control API over raw HTTP on a socket, as a program in any language uses it."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.clock import SystemClock
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket, Q
from tests.patience import PATIENCE


@pytest.fixture
def service() -> Iterator[Service]:
    """A seeded service on the system's clock."""
    with open_service(seed=0, clock=SystemClock()) as service:
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with SocketServer(service, control=True, threads=4) as server:
        yield OverSocket(service, server.base_url)


def tell(wire: OverSocket, name: str, body: dict[str, Any]) -> Answer:
    return wire.post_json(f"/_control/{name}", body, token=None)


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"Content-Encoding": "gzip"}, 200),
        ({"Content-Encoding": "gzip", "Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}, 400),
        ({"Content-Encoding": "br"}, 415),
    ],
)
def test_a_body_with_a_coding_is_decoded_or_refused(wire: OverSocket, headers: dict[str, str], status: int) -> None:
    body = gzip.compress(b'{"user": "eve@svc.example"}')
    state = wire.send("GET", "/_control/state", token=None).body

    assert wire.send("POST", "/_control/tokens", body, headers, token=None).status == status
    copied = wire.send("PUT", "/_control/state", gzip.compress(state), headers, token=None)
    assert copied.status == (204 if status == 200 else status)


def raw(wire: OverSocket, text: str) -> bytes:
    """Return everything until the service closes the connection."""
    parts = urlsplit(wire.base_url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        connection.sendall(text.encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"advance": "soon"},
        {"advance": "99999999999999w"},
        {"advance": 1e300},
        {"now": "yesterday"},
        {"now": "0001-01-01T00:00:00+14:00"},
        {"now": 5},
        {"freeze": "yes"},
        {"freeze": False},
        {"advance": "1d", "now": "2030-01-01T00:00:00Z"},
        {"advanced": "1d"},
    ],
)
def test_a_refused_move_leaves_the_clock_running(wire: OverSocket, service: Service, body: dict[str, Any]) -> None:
    answer = tell(wire, "clock", body)

    assert (answer.status, answer.error["reason"]) == (400, "badRequest")
    assert isinstance(service.clock, SystemClock)


MISUNDERSTOOD = [
    ("tokens", {"user": "bob@svc.example", "scope": ["storage.readonly"]}, "scope"),
    ("tokens", {"user": "bob@svc.example", "service_account": "yes"}, "service_account"),
    ("tokens", {"user": "bob"}, "user"),
    ("clients", {"name": "app", "public": "yes"}, "public"),
    ("clients", {"name": "app", "redirect_uri": "http://127.0.0.1/cb"}, "redirect_uri"),
    ("service_accounts", {"name": "robot", "scopes": ["calendar"]}, "scopes"),
    ("limits", {"user": "bob@svc.example", "limit": 5}, "limit"),
    ("domains", {"domain": "hooks.example", "port": 443}, "port"),
    ("restore", {"snapshot": "snapshot-1"}, "snapshot"),
    ("faults", {"steps": [{"match": {"operation": "file.create"}, "action": {"status": 503}}]}, "files.create"),
]


@pytest.mark.parametrize("name, body, named", MISUNDERSTOOD)
def test_an_invalid_body_is_refused(wire: OverSocket, name: str, body: dict[str, Any], named: str) -> None:
    """A misspelt `scopes` must not give a token for all scopes."""
    answer = tell(wire, name, body)

    assert (answer.status, answer.error["reason"]) == (400, "badRequest")
    assert named in answer.error["message"]
    assert wire.service.limits() == wire.service.fault_plans() == []


def test_a_clock_cannot_leave_the_range_of_dates(wire: OverSocket) -> None:
    before = tell(wire, "clock", {"advance": 0}).json

    assert tell(wire, "clock", {"advance": "500000w"}).error["reason"] == "badRequest"
    assert tell(wire, "clock", {"advance": 0}).json == before


@pytest.mark.spec("A3-13", "A3-13b")
def test_a_running_request_switches_to_the_virtual_clock(wire: OverSocket) -> None:
    """A chunk renews its session by the clock of its end, even if that clock was started during the chunk."""
    uri = wire.begin()
    parts = urlsplit(uri)
    head = (
        f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {wire.token}\r\n"
        f"Content-Length: {Q}\r\nContent-Range: bytes 0-{Q - 1}/{2 * Q}\r\n\r\n"
    )
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        connection.sendall(head.encode() + b"x" * 1000)
        while not any(row["received"] for row in wire.service.journal()):
            threading.Event().wait(0.01)
        assert tell(wire, "clock", {"advance": "8d"}).status == 200
        connection.sendall(b"x" * (Q - 1000))
        assert connection.recv(1000).startswith(b"HTTP/1.1 308")

    assert wire.put(uri, b"", "bytes */*").status == 308


def test_the_response_to_a_head_has_no_body(wire: OverSocket) -> None:
    answers = raw(wire, "HEAD /_control/clock HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    assert answers.startswith(b"HTTP/1.1 404 ")
    assert answers.endswith(b"\r\n\r\n")
