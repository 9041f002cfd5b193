"""Slow or closed clients do not keep a thread that another client needs."""

import json
import select
import socket
import time
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from svc_notebooks.convert.pool.converter import Abandoned, Client, Converted, Converter, TooManyWaiting
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import OverSocket, Q
from tests.contract.transport.test_connections import FILES, connected
from tests.contract.wire import read_to_end
from tests.patience import PATIENCE, until

HASTY = Policy(body_timeout=0.3, head_timeout=0.3, least_rate=1e9)
"""Whoever sends or reads a gigabyte in a second may be silent for 0.3 s."""


@pytest.fixture
def policy() -> Policy:
    return HASTY


@pytest.fixture
def served(service: Service) -> Iterator[SocketServer]:
    with SocketServer(service, threads=2) as server:
        yield server


@pytest.fixture
def over(service: Service, served: SocketServer) -> OverSocket:
    return OverSocket(service, served.base_url)


def drip(connection: socket.socket) -> None:
    """Send a byte now and then, until a response comes or the connection is closed."""
    end = time.monotonic() + PATIENCE
    try:
        while not select.select([connection], [], [], 0.05)[0]:
            assert time.monotonic() < end
            connection.sendall(b"a")
    except (BrokenPipeError, ConnectionResetError):
        pass


@pytest.mark.choice("head_timeout")
def test_a_head_that_drips_gets_408_at_its_deadline(over: OverSocket) -> None:
    with connected(over, f"GET {FILES} HTTP/1.1\r\nHost: x\r\nX-Slow: ") as connection:
        drip(connection)

        answer = read_to_end(connection)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["errors"][0]["reason"] == "requestTimeout"


@pytest.mark.spec("A3-12")
@pytest.mark.choice("least_rate")
def test_a_body_that_drips_is_cut_off_and_what_came_before_is_kept(over: OverSocket) -> None:
    uri = over.begin()
    head = f"PUT {over.address(uri)} HTTP/1.1\r\nHost: x\r\n{{token}}Content-Length: {4 * Q}\r\n"
    with connected(over, f"{head}Content-Range: bytes 0-{4 * Q - 1}/{4 * Q}\r\n\r\n") as connection:
        connection.sendall(bytes(2 * Q))
        drip(connection)

    assert over.put(uri, b"", "bytes */*").headers["range"] == f"bytes=0-{2 * Q - 1}"


@pytest.mark.choice("least_rate")
def test_a_client_that_reads_nothing_is_cut_off(over: OverSocket, served: SocketServer) -> None:
    size = 32 * 1024 * 1024
    file = over.create(bytes(size))["id"]
    until(lambda: served.responses == 1)
    with connected(over, f"GET {FILES}/{file}?alt=media HTTP/1.1\r\nHost: x\r\n{{token}}\r\n") as connection:
        until(lambda: served.responses == 2)

        assert len(read_to_end(connection)) < size


def export_of_a_document(over: OverSocket) -> str:
    file = over.post_json(FILES, {"name": "x", "mimeType": "application/vnd.svc-apps.document"}).json["id"]
    return f"{FILES}/{file}/export?mimeType=text/plain"


@pytest.mark.one_process("the test changes the code of its own process")
def test_a_conversion_ends_when_its_client_closes_the_connection(over, monkeypatch):
    begun, ended = Event(), Event()

    def write(self: Converter, body: bytes, native: str, target: str, client: Client, **options: Any) -> Converted:
        begun.set()
        until(client.is_gone)
        ended.set()
        raise Abandoned

    monkeypatch.setattr(Converter, "write", write)
    with connected(over, f"GET {export_of_a_document(over)} HTTP/1.1\r\nHost: x\r\n{{token}}\r\n"):
        assert begun.wait(PATIENCE)
        assert not ended.is_set()

    assert ended.wait(PATIENCE)
    until(lambda: over.service.journal()[-1]["status"] == 499)


@pytest.mark.one_process("the test changes the code of its own process")
def test_too_many_waiting_conversions_are_a_rate_limit_error(over: OverSocket, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*arguments: Any, **options: Any) -> Converted:
        raise TooManyWaiting

    monkeypatch.setattr(Converter, "write", write)

    answer = over.send("GET", export_of_a_document(over))

    assert (answer.status, answer.error["reason"]) == (403, "userRateLimitExceeded")
    assert answer.headers["retry-after"] == "1"
    assert over.service.journal()[-1]["decided_by"] == "max_waiting_conversions"
