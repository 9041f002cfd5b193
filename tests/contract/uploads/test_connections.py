import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from tests.contract.conftest import Answer, OverSocket, Q
from tests.contract.differences import choice

N = 4 * Q
CONTENT = bytes(range(256)) * (N // 256)


@pytest.fixture
def way() -> str:
    return "socket"


@contextmanager
def raw_put(wire: OverSocket, uri: str, content_range: str, length: int) -> Iterator[socket.socket]:
    head = (
        f"PUT {wire.address(uri)} HTTP/1.1\r\nHost: {urlsplit(wire.base_url).netloc}\r\n"
        f"Authorization: Bearer {wire.token}\r\nContent-Length: {length}\r\nContent-Range: {content_range}\r\n"
        "Expect: 100-continue\r\n\r\n"
    )
    with wire.dial() as connection:
        connection.sendall(head.encode())
        _be_asked_for_the_body(connection)
        yield connection


def _be_asked_for_the_body(connection: socket.socket) -> None:
    """So that it is under way there, whatever is sent beside it. A service that does not ask is given some time."""
    patience = connection.gettimeout()
    connection.settimeout(5)
    with suppress(TimeoutError):
        connection.recv(1000)
    connection.settimeout(patience)


@pytest.mark.spec("A3-12")
@pytest.mark.parametrize("sent, kept", [(100_000, 0), (Q, Q), (2 * Q + 100_000, 2 * Q)])
def test_a_cut_connection_keeps_whole_multiples(wire: OverSocket, sent: int, kept: int) -> None:
    uri = wire.begin()
    with raw_put(wire, uri, f"bytes 0-{N - 1}/{N}", N) as connection:
        connection.sendall(CONTENT[:sent])
        connection.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            connection.recv(1000)

    size = wire.stored(uri)
    assert (size % Q, size <= kept) == (0, True)
    with choice("body_timeout"):
        assert size == kept
    assert wire.finish(uri, CONTENT) == CONTENT


@pytest.mark.spec("A3-17")
@pytest.mark.choice("takeover_after")
def test_a_status_query_interrupts_a_silent_upload(wire: OverSocket) -> None:
    """34: the first connection still hangs, and its late bytes are never stored"""
    uri = wire.begin()
    with raw_put(wire, uri, f"bytes 0-{N - 1}/{N}", N) as silent:
        silent.sendall(CONTENT[: 2 * Q + 5])
        at = wire.stored(uri)
        assert at % Q == 0
        with suppress(OSError):
            silent.sendall(b"late" * Q)

        assert wire.stored(uri) == at
        assert wire.finish(uri, CONTENT) == CONTENT


@pytest.mark.spec("A3-17")
def test_a_chunk_sent_by_four_clients_is_stored_once(wire: OverSocket) -> None:
    with ThreadPoolExecutor(4) as pool:
        for _ in range(50):
            uri = wire.begin()
            answers = list(pool.map(lambda _, uri=uri: wire.put(uri, CONTENT[:Q], f"bytes 0-{Q - 1}/{N}"), range(4)))
            assert (308, f"bytes=0-{Q - 1}") in {(a.status, a.headers.get("range")) for a in answers}
            with choice("Bytes sent again"):
                assert {(a.status, a.headers["range"]) for a in answers} == {(308, f"bytes=0-{Q - 1}")}
    assert wire.finish(uri, CONTENT) == CONTENT


@pytest.mark.spec("A3-17", "A3-18")
def test_two_last_chunks_make_one_file(wire: OverSocket) -> None:
    for round_ in range(20):
        uri = wire.begin({"name": f"file {round_}"})
        together = threading.Barrier(2)

        def last(_: int, uri: str = uri, together: threading.Barrier = together) -> Answer:
            together.wait()
            return wire.put(uri, CONTENT[:Q], f"bytes 0-{Q - 1}/{Q}")

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(last, range(2)))
        with choice("takeover_after"):
            assert len({(answer.status, answer.body) for answer in answers}) == 1
    assert len(wire.names()) == 20


def test_an_upload_raced_with_its_cancellation_is_whole_or_gone(wire: OverSocket) -> None:
    for _ in range(20):
        uri = wire.begin()
        with ThreadPoolExecutor(2) as pool:
            sent = pool.submit(wire.put, uri, CONTENT)
            cancelled = pool.submit(wire.send, "DELETE", uri)
        cut_off = isinstance(sent.exception(), OSError)  # of a refused body the rest is not read without end
        assert cut_off or sent.result().status in (200, 308, 499)
        assert cancelled.result().status in (200, 499)
        for file in wire.send("GET", "/storage/v3/files?fields=*").json["files"]:
            assert file["size"] == str(N)


@pytest.mark.spec("A2-02", "A2-02b")
@pytest.mark.parametrize("kind", ["media", "multipart"])
def test_a_cut_simple_or_multipart_upload_stores_nothing(wire: OverSocket, kind: str) -> None:
    body = '--b\r\nContent-Type: application/json\r\n\r\n{"name":"x"}\r\n--b\r\nContent-Type: a/b\r\n\r\nhalf'
    content_type = "text/plain" if kind == "media" else "multipart/related; boundary=b"
    target = wire.address(f"/upload/storage/v3/files?uploadType={kind}")
    head = f"POST {target} HTTP/1.1\r\nHost: {urlsplit(wire.base_url).netloc}\r\nContent-Type: {content_type}\r\n"
    with wire.dial() as connection:
        token = f"Authorization: Bearer {wire.token}\r\n"
        connection.sendall(f"{head}{token}Content-Length: 1000\r\n\r\n{body}".encode())
        connection.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            connection.recv(1000)

    assert wire.names() == []
