"""Slow or closed clients do not keep a thread that another client needs."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from queue import Queue
from threading import Event, current_thread
from typing import Any, cast

import pytest

from svc_notebooks.convert.pool.converter import Abandoned, Client, Converted, Converter
from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports import socket_server
from svc_notebooks.server.transports.client_connection import ServerConnection
from svc_notebooks.server.transports.connection_queue import ReadyQueue
from svc_notebooks.server.transports.socket_server import SocketServer
from svc_notebooks.server.transports.transfer_rate import peer_has_closed
from tests.contract.conftest import OverSocket, Q
from tests.contract.transport.test_connections import FILES, connected, everything
from tests.patience import PATIENCE

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


def becomes(condition: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


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

        answer = everything(connection)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["errors"][0]["reason"] == "requestTimeout"


def test_a_dripping_head_occupies_no_thread(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_server, "MAX_THREADS", 1)
    with SocketServer(open_service(seed=0), threads=1) as server, ExitStack() as stack:
        wire = OverSocket(service, server.base_url)
        for text in ["", "G", f"GET {FILES} HTTP/1.1\r\nHost"] * 20:
            stack.enter_context(connected(wire, text))

        assert wire.send("GET", FILES, token="nobody's").status == 401


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
    becomes(lambda: served.responses == 1)
    with connected(over, f"GET {FILES}/{file}?alt=media HTTP/1.1\r\nHost: x\r\n{{token}}\r\n") as connection:
        becomes(lambda: served.responses == 2)

        assert len(everything(connection)) < size


class Held:
    """A service that delays its responses to one user."""

    policy = Policy()
    provider = None

    def __init__(self) -> None:
        self.begun = 0
        self.release = Event()

    def user_of(self, token: str) -> str | None:
        return token

    def handle(self, request: Request) -> Response:
        if request.headers["authorization"] == "Bearer greedy":
            self.begun += 1
            assert self.release.wait(PATIENCE)
        return Response(200, Headers([("Content-Length", "0")]))


def test_one_user_gets_only_a_share_of_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_server, "MAX_THREADS", 8)
    held = Held()
    with SocketServer(cast(Service, held), threads=8) as server, ExitStack() as stack:
        address = ("127.0.0.1", int(server.base_url.rpartition(":")[2]))

        def ask(token: str) -> socket.socket:
            connection = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))
            connection.sendall(f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            return connection

        greedy = [ask("greedy") for _ in range(30)]
        becomes(lambda: held.begun == 2)

        assert ask("modest").recv(1000).startswith(b"HTTP/1.1 200 ")
        assert held.begun == 2
        held.release.set()
        assert all(connection.recv(1000).startswith(b"HTTP/1.1 200 ") for connection in greedy)


def test_a_connection_that_is_queued_while_the_server_stops_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    put, queued = ReadyQueue.put, Queue[ServerConnection]()

    def put_after_close(queue: ReadyQueue[ServerConnection], connection: ServerConnection) -> None:
        if current_thread().name == "svc-request":  # which found the token's user, so that the lane is another one
            queued.put(connection)
            becomes(lambda: queue._closed)
        put(queue, connection)

    monkeypatch.setattr(ReadyQueue, "put", put_after_close)
    with SocketServer(cast(Service, Held()), threads=1) as server:
        address = ("127.0.0.1", int(server.base_url.rpartition(":")[2]))
        with socket.create_connection(address, timeout=PATIENCE) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer modest\r\n\r\n")
            connection = queued.get(timeout=PATIENCE)
            server.stop()

    assert connection.socket.fileno() == -1


@pytest.mark.one_process("the test changes the code of its own process")
def test_a_conversion_ends_when_its_client_closes_the_connection(
    over: OverSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = Event(), Event()

    def write(self: Converter, body: bytes, native: str, target: str, client: Client, **options: Any) -> Converted:
        begun.set()
        becomes(client.is_gone)
        ended.set()
        raise Abandoned

    file = over.post_json(FILES, {"name": "x", "mimeType": "application/vnd.svc-apps.document"}).json["id"]
    monkeypatch.setattr(Converter, "write", write)
    address = f"{FILES}/{file}/export?mimeType=text/plain"
    with connected(over, f"GET {address} HTTP/1.1\r\nHost: x\r\n{{token}}\r\n"):
        assert begun.wait(PATIENCE)
        assert not ended.is_set()

    assert ended.wait(PATIENCE)
    becomes(lambda: over.service.journal()[-1]["status"] == 499)


@pytest.mark.one_process("the test changes the code of its own process")
def test_too_many_waiting_conversions_are_a_rate_limit_error(over: OverSocket, monkeypatch: pytest.MonkeyPatch) -> None:
    from svc_notebooks.convert.pool.converter import TooManyWaiting

    def write(*arguments: Any, **options: Any) -> Converted:
        raise TooManyWaiting

    file = over.post_json(FILES, {"name": "x", "mimeType": "application/vnd.svc-apps.document"}).json["id"]
    monkeypatch.setattr(Converter, "write", write)

    answer = over.send("GET", f"{FILES}/{file}/export?mimeType=text/plain", token=over.token)

    assert (answer.status, answer.error["reason"]) == (403, "userRateLimitExceeded")
    assert answer.headers["retry-after"] == "1"
    assert over.service.journal()[-1]["decided_by"] == "max_waiting_conversions"


@pytest.mark.parametrize("unread", [b"", b"something"])
def test_a_closed_peer_is_detected_before_unread_bytes(unread: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(unread)
        assert not peer_has_closed(ours)
        theirs.close()
        assert peer_has_closed(ours)
    assert peer_has_closed(ours)
