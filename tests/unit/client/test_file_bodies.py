"""Request bodies that are sent from a file without reading it."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from svc_notebooks.client.transport.http1 import exchange
from svc_notebooks.client.transport.in_process import BLOCK, OutgoingBody
from svc_notebooks.client.transport.recorder import Recorder
from svc_notebooks.client.uploads.source_stream import SourceStream
from svc_notebooks.client.uploads.sources import PathSource
from svc_notebooks.core.errors.errors import SourceChanged
from svc_notebooks.core.http.messages import Disconnected, Headers
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(not hasattr(os, "sendfile"), reason="needs sendfile")

CONTENT = os.urandom(2 * BLOCK)
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

Sockets = tuple[socket.socket, socket.socket]


@pytest.fixture
def sockets() -> Iterator[Sockets]:
    """Two connected sockets, whose buffers take less than a body."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(PATIENCE)
        theirs.settimeout(PATIENCE)
        yield ours, theirs


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return path


class Chunk:
    """The body of the first half of a file, with its exchange record and the offsets of its progress function."""

    def __init__(self, path: Path, media_type: str = "application/octet-stream", first: int = 0) -> None:
        self.offsets: list[int] = []
        self.source = PathSource(path)
        headers = Headers([("Content-Type", media_type)])
        self.record = Recorder().begin("PUT", "http://x/", headers, datetime(2026, 11, 2, tzinfo=UTC))
        stream = SourceStream(self.source, first, BLOCK, lambda offset, total: self.offsets.append(offset))
        self.body = OutgoingBody(stream, lambda: self.record)


@pytest.fixture
def chunk(path: Path) -> Iterator[Chunk]:
    chunk = Chunk(path)
    with closing(chunk.source):
        yield chunk


def received(theirs: socket.socket) -> bytes:
    """Receive a body and send a response."""
    data = b""
    while len(data) < BLOCK and (block := theirs.recv(65_536)):
        data += block
    theirs.sendall(RESPONSE)
    return data


def sent(sockets: Sockets, chunk: Chunk) -> bytes:
    """Return what the service receives."""
    with ThreadPoolExecutor(1) as pool:
        body = pool.submit(received, sockets[1])
        assert exchange(sockets[0], b"", chunk.body, "PUT").status == 200
        return body.result()


def test_a_chunk_is_sent_without_reading_it(sockets, chunk, monkeypatch) -> None:
    monkeypatch.setattr(PathSource, "read", lambda *_: pytest.fail("the file was read"))

    assert sent(sockets, chunk) == CONTENT[:BLOCK]

    assert (chunk.record.sent, chunk.offsets) == (BLOCK, [BLOCK])


def test_a_file_that_becomes_shorter_is_a_changed_source(sockets, chunk, path, monkeypatch) -> None:
    send = os.sendfile

    def shorten(out: int, file: int, offset: int, size: int) -> int:
        os.truncate(path, 10_000)
        return send(out, file, offset, size)

    monkeypatch.setattr(os, "sendfile", shorten)

    with pytest.raises(Disconnected):
        exchange(sockets[0], b"", chunk.body, "PUT")

    assert isinstance(chunk.body.error, SourceChanged)
    assert chunk.record.sent <= 10_000


def test_a_change_of_a_file_after_a_part_was_sent_is_noticed_before_the_end(sockets, chunk, path) -> None:
    sent(sockets, chunk)
    with path.open("r+b") as file:
        file.write(b"other bytes")
    last = SourceStream(chunk.source, BLOCK, BLOCK)

    assert last.file_part(BLOCK) is None
    with pytest.raises(SourceChanged):
        last.read(BLOCK)


def test_a_response_is_read_although_the_service_closed_the_connection(sockets, chunk, monkeypatch) -> None:
    def cut(*_: int) -> int:
        raise BrokenPipeError(errno.EPIPE, "")

    monkeypatch.setattr(os, "sendfile", cut)
    sockets[1].sendall(RESPONSE)

    assert exchange(sockets[0], b"", chunk.body, "PUT").status == 200


def test_a_service_that_receives_nothing_is_a_timeout(sockets, chunk) -> None:
    sockets[0].settimeout(0.01)

    with pytest.raises(TimeoutError):
        exchange(sockets[0], b"", chunk.body, "PUT")


def test_an_error_of_the_progress_function_is_that_of_the_body(sockets, chunk) -> None:
    error = KeyboardInterrupt()

    def interrupt(offset: int, total: int | None) -> None:
        raise error

    body = OutgoingBody(SourceStream(chunk.source, 0, BLOCK, interrupt), lambda: chunk.record)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(received, sockets[1])
        with pytest.raises(Disconnected):
            exchange(sockets[0], b"", body, "PUT")

    assert body.error is error
