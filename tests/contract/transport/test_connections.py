"""Connections of unusual clients, such as old, impatient, silent and many at once."""

import json
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from threading import Thread, main_thread

import pytest

from svc_notebooks.server.service import Service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import OverSocket
from tests.contract.wire import read_to_end

FILES = "/storage/v3/files"
UPLOAD = "/upload/storage/v3/files?uploadType="


@pytest.fixture
def way() -> str:
    return "socket"


@contextmanager
def connected(wire: OverSocket, text: str) -> Iterator[socket.socket]:
    """Open a connection and send a text, in which {token} is replaced by a valid token."""
    with wire.dial() as connection:
        connection.sendall(text.replace("{token}", f"Authorization: Bearer {wire.token}\r\n").encode("latin-1"))
        yield connection


@pytest.mark.spec("T-01", "T-01a")
@pytest.mark.choice("body_timeout")
@pytest.mark.parametrize("framing", ["Content-Length: 500", "Content-Length: 50000000", "Transfer-Encoding: chunked"])
def test_a_refusal_does_not_wait_for_a_body_that_never_comes(wire: OverSocket, framing: str) -> None:
    with connected(wire, f"POST {UPLOAD}media HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n") as connection:
        assert read_to_end(connection).startswith(b"HTTP/1.1 401 ")


def test_a_refusal_is_read_by_a_client_that_goes_on_sending(wire: OverSocket) -> None:
    start = f"POST {UPLOAD}media HTTP/1.1\r\nHost: x\r\n{{token}}Transfer-Encoding: chunked\r\n\r\nno size\r\n"
    with connected(wire, start) as connection:
        for _ in range(50):
            connection.sendall(b"more" * 10_000)

        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_an_absolute_target_replaces_the_host_header(wire: OverSocket) -> None:
    """A server accepts the absolute form, and its host counts before the header (RFC 9112, 3.2.2)."""
    ask = f"POST http://files.example:8080{UPLOAD}resumable HTTP/1.1\r\nHost: other.example\r\n{{token}}"

    with connected(wire, f"{ask}Content-Length: 0\r\nConnection: close\r\n\r\n") as connection:
        answer = read_to_end(connection)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nLocation: http://files.example:8080/upload/storage/v3/files?" in answer


@pytest.mark.parametrize(
    "start, status, word",
    [
        (f"get {FILES} HTTP/1.1\r\nHost: x\r\n\r\n", 400, "a method in capital letters"),
        (f"GET {FILES}\r\n\r\n", 400, "such as GET /storage/v3/files HTTP/1.1"),
        (f"GET {FILES} HTTP/1.1\n", 400, "end with CR LF"),
        (f"GET {FILES} HTTP/2.0\r\nHost: x\r\n\r\n", 505, "HTTP/1.1 or HTTP/1.0"),
        (f"GET {FILES} HTTP/0.9\r\nHost: x\r\n\r\n", 505, "HTTP/1.1 or HTTP/1.0"),
        (f"GET /{'x' * 70_000} HTTP/1.1\r\n", 414, "65536 bytes"),
        (f"GET {FILES} HTTP/1.1\r\nX: {'x' * 70_000}\r\n", 431, "65536 bytes"),
        (f"GET {FILES} HTTP/1.1\r\n" + "X: y\r\n" * 201 + "\r\n", 431, "200 headers"),
        (f"GET {FILES} HTTP/1.1\r\nno header\r\n\r\n", 400, "is not a header line"),
        (f"GET {FILES} HTTP/1.1\r\n\r\n", 400, "one Host header"),
    ],
    ids=["letters", "version", "LF", "2.0", "0.9", "address", "long header", "many headers", "no colon", "no host"],
)
def test_an_unreadable_request_gets_an_error_that_names_the_problem(wire, start, status, word):
    with connected(wire, start) as connection:
        head, _, body = read_to_end(connection).partition(b"\r\n\r\n")

    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    error = json.loads(body)["error"]
    assert (error["code"], error["message"].count(word), "RFC" in error["message"]) == (status, 1, False)


DOUBTFUL = {
    "an odd blank before chunked": "Transfer-Encoding: \x0bchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "an odd blank behind a length": "Content-Length: 5\xa0\r\n\r\nhello",
    "a line end of its own in a value": "X-Note: a\rContent-Length: 5\r\n\r\n",
    "a zero byte in a value": "X-Note: a\0b\r\nContent-Length: 5\r\n\r\nhello",
    "a blank in a name": "Content Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "two hosts": "Host: y\r\nContent-Length: 5\r\n\r\nhello",
    "two lengths": "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "a negative length": "Content-Length: -1\r\n\r\n",
    "a length and chunks": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("rest", DOUBTFUL.values(), ids=DOUBTFUL)
def test_an_ambiguous_request_is_refused(wire: OverSocket, rest: str) -> None:
    """A request that can be read in two ways can hide another one (RFC 9110, 5.5, and RFC 9112, 3.2 and 6.3)."""
    with connected(wire, f"POST {UPLOAD}media HTTP/1.1\r\nHost: x\r\n{{token}}{rest}") as connection:
        answer = read_to_end(connection)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nConnection: close\r\n" in answer
    assert wire.names() == []


def test_another_form_of_target_is_refused_and_http_1_1_needs_a_host_header(wire: OverSocket) -> None:
    targets = ("//storage/v3/files", "http://x", "http://[x/", "x:1", "*", "ftp://x/storage/v3/files")
    for method, target in product(("GET", "CONNECT", "OPTIONS"), targets):
        with connected(wire, f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as connection:
            assert read_to_end(connection)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 404", b"HTTP/1.1 405")
    for version, status in (("1.1", b"400"), ("1.0", b"200")):
        with connected(wire, f"GET {FILES} HTTP/{version}\r\n{{token}}Connection: close\r\n\r\n") as connection:
            assert read_to_end(connection).startswith(b"HTTP/1.1 " + status)


CHUNKED = f"POST {UPLOAD}media HTTP/1.1\r\nHost: x\r\n{{token}}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
ABOUT = "GET /storage/v3/about?fields=kind HTTP/1.1\r\nHost: x\r\n{token}Connection: close\r\n\r\n"


def test_trailers_end_at_their_blank_line_or_are_refused(wire: OverSocket) -> None:
    for trailers in ("X: y\r\n" * 20_000, "X: " + "y" * 100_000 + "\r\n", "X: y\n\r\n"):
        with connected(wire, f"{CHUNKED}{trailers}\r\n") as connection:
            assert read_to_end(connection).startswith(b"HTTP/1.1 400 ")
    assert wire.names() == []
    for size in (0, 251, 252, 253, 254, 255, 256, 509, 4000):
        with connected(wire, f"{CHUNKED}X: {'a' * size}\r\nY: b\r\n\r\n{ABOUT}") as connection:
            answer = read_to_end(connection)
        assert answer.count(b"HTTP/1.1 200 ") == 2
        assert b'"kind": "svc#about"' in answer


@pytest.mark.parametrize(
    "silent", [f"GET {FILES} HTT", f"POST {UPLOAD}media HTTP/1.1\r\nHost: x\r\n{{token}}Content-Length: 9\r\n\r\n"]
)
def test_silent_clients_do_not_block_other_clients(service: Service, silent: str) -> None:
    with SocketServer(service, threads=2) as server, ExitStack() as stack:
        wire = OverSocket(service, server.base_url)
        for _ in range(20):
            stack.enter_context(connected(wire, silent))

        assert wire.send("GET", FILES).status == 200


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a thread")
def test_the_server_accepts_connections_until_it_is_stopped_after_an_interrupt(service: Service) -> None:
    with SocketServer(service) as server:
        interrupt = Thread(target=signal.pthread_kill, args=(main_thread().ident, signal.SIGINT))
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores SIGINT
        try:
            with pytest.raises(KeyboardInterrupt):  # noqa: PT012
                interrupt.start()
                server.serve_forever()
        finally:
            signal.signal(signal.SIGINT, before)
        interrupt.join()

        assert server._acceptor is not None
        assert server._acceptor.is_alive()
        assert OverSocket(service, server.base_url).send("GET", FILES).status == 200
    assert not server._acceptor.is_alive()
