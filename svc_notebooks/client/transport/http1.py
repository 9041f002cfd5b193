"""Sends requests over open connections, and reads responses within limits of their heads (RFC 9112).

urllib3 opens the connections. Its own exchanges take three times as long for a chunk of an upload, because of the
e-mail parser, and http.client accepts any number of responses that are not final.
"""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterator
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from typing import NamedTuple
from urllib.parse import urlsplit

from ...core.http.messages import Body, Headers, Request, read_headers
from .bounds import content_length
from .in_process import BLOCK

# The block size of request bodies that are read, in bytes. With 1 MiB an upload takes a tenth longer, measured.
SENT_AT_ONCE = 256 * 1024

_AT_ONCE = 16_384
MAX_HEAD = 262_144
MAX_HEADERS = 100
_MAX_LINE = 65_536
_MAX_INTERIM = 10  # the most responses before the final one, such as 100 Continue and 103 Early Hints

_MAX_OVERHEAD = 16_384  # the most bytes of extensions of chunks, beyond the size of their content and 16 bytes for each

_LINE_END = re.compile(rb"\n")
_HEAD_END = re.compile(rb"(?:\A|\n)\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) (\d{3})(?: .*)?\r?\n", re.DOTALL)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)
_BODILESS = frozenset({"GET", "HEAD", "DELETE"})
_CLOSED_EARLY = frozenset({errno.EPIPE, errno.ECONNRESET, errno.EPROTOTYPE})


class Received:
    """The bytes that arrive on a connection. `ahead` has those that were received and not read yet."""

    __slots__ = ("_sock", "ahead")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.ahead = bytearray()

    def read(self, size: int) -> bytes:
        """Return at least one byte and at most `size` bytes, as they arrive, or b"" at the end of the connection."""
        if not self.ahead:
            return self._sock.recv(size)
        data = bytes(self.ahead[:size])
        del self.ahead[:size]
        return data

    def read_to(self, end: re.Pattern[bytes], most: int) -> bytes:
        """Return the bytes up to the first match of `end`, which has at most three bytes, or to the connection's end.

        Raises HTTPException if these are more than `most` bytes.
        """
        searched, data = 0, b"-"
        while data and not (found := end.search(self.ahead, searched)) and len(self.ahead) <= most:
            searched = max(0, len(self.ahead) - 2)
            data = self._sock.recv(_AT_ONCE)
            self.ahead += data
        size = found.end() if found else len(self.ahead)
        if size > most:
            raise HTTPException(f"got more than {most} bytes when reading a line or the headers")
        return self.read(size) if size else b""


class ReceivedResponse(NamedTuple):
    """A response whose body is not read yet. `keeps_open` is True if the connection can be used again after it.

    `size` is the size of the body in bytes. None means that the body has chunks, or ends with the connection.
    """

    status: int
    headers: Headers
    size: int | None
    keeps_open: bool
    received: Received

    def blocks(self) -> Iterator[bytes]:
        """Yield the blocks of the body. Raises OSError or HTTPException if it is not complete or not valid."""
        if self.size is not None:
            return _counted(self.received, self.size)
        return _chunks(self.received) if _is_chunked(self.headers) else iter(lambda: self.received.read(BLOCK), b"")


def plain_head(request: Request, host: str) -> bytes | None:
    """Return the head of a request, or None if the request needs urllib3.

    urllib3 escapes or refuses characters that are not printable ASCII, and sends bodies of unknown length in chunks.
    """
    if "Content-Length" not in request.headers and (request.body != b"" or request.method not in _BODILESS):
        return None
    parts = urlsplit(request.url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    lines = [f"{request.method} {target} HTTP/1.1", f"Host: {host}", "Accept-Encoding: identity"]
    lines += [f"{name}: {value}" for name, value in request.headers.pairs]
    text = "".join(lines)
    if not (text.isascii() and text.isprintable()) or " " in target:
        return None
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def exchange(sock: socket.socket, head: bytes, body: Body | bytes, method: str) -> ReceivedResponse:
    """Send a request over an open connection, and return the response.

    Raises OSError or HTTPException without a response, and the errors of the body.
    """
    all_sent = True
    try:
        sock.sendall(head)  # apart from the body, so that the service can already begin
        if isinstance(body, bytes):
            sock.sendall(body)
        else:
            while block := body.read(SENT_AT_ONCE):
                sock.sendall(block)
    except OSError as error:
        if error.errno not in _CLOSED_EARLY:  # after an early response the service may close the connection
            raise
        all_sent = False
    answer = read_response(Received(sock), method)
    return answer._replace(keeps_open=answer.keeps_open and all_sent)


def read_response(received: Received, method: str) -> ReceivedResponse:
    """Read the head of the final response to a request with this method. Raises HTTPException if it is not valid."""
    for _ in range(_MAX_INTERIM):
        line = received.read_to(_LINE_END, _MAX_LINE)
        match = _STATUS_LINE.fullmatch(line)
        if not line:
            raise RemoteDisconnected("Remote end closed connection without response")
        if match is None:
            raise BadStatusLine(line.decode("latin-1")[:1000])
        block, status = received.read_to(_HEAD_END, MAX_HEAD), int(match[2])
        if not _HEAD_END.search(block, max(0, len(block) - 3)):
            raise RemoteDisconnected("Remote end closed connection in the headers of its response")
        headers = _parse_headers(block)
        if status >= 200:
            break
    else:
        raise HTTPException(f"got {_MAX_INTERIM} responses that are not final")
    connection = headers.get("Connection", "").lower()
    keeps_open = "close" not in connection if match[1] == b"1" else "keep-alive" in connection
    size = None if _is_chunked(headers) else content_length(headers.all("Content-Length")[:1])
    if method == "HEAD" or status in (204, 304):
        size = 0
    ends_with_connection = size is None and not _is_chunked(headers)
    return ReceivedResponse(status, headers, size, keeps_open and not ends_with_connection, received)


def _is_chunked(headers: Headers) -> bool:
    return bool(headers.get("Transfer-Encoding", "").lower() == "chunked")


def _parse_headers(block: bytes) -> Headers:
    """Parse header lines with an empty line at their end. A line that begins with a space continues the line before."""
    if block.count(b"\n") > MAX_HEADERS + 1:
        raise HTTPException(f"got more than {MAX_HEADERS} headers")
    if block.count(b"\r\n") < block.count(b"\n"):
        block = re.sub(rb"\r?\n", b"\r\n", block)
    try:
        return read_headers(re.sub(rb"\r\n[ \t]+", b" ", block.removesuffix(b"\r\n")))
    except ValueError as error:
        raise HTTPException(f"the response has an invalid header: {error}") from None


def _counted(received: Received, size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = received.read(min(BLOCK, left))
        if not block:
            raise HTTPException(f"the response breaks off: {size - left} bytes read, {left} more expected")
        left -= len(block)
        yield block


def _chunks(received: Received) -> Iterator[bytes]:
    overhead = 0
    while True:
        line = received.read_to(_LINE_END, _MAX_LINE)
        match = _CHUNK_SIZE.fullmatch(line)
        if match is None:
            raise HTTPException("the size of a chunk of the response is not valid")
        if not (size := int(match[1], 16)):
            break
        overhead = max(0, overhead + len(line) - 16 - size)
        if overhead > _MAX_OVERHEAD:
            raise HTTPException(f"the chunks of the response have {_MAX_OVERHEAD:,} bytes that are not content")
        yield from _counted(received, size)
        received.read_to(_LINE_END, 2)  # the end of the chunk
    for _ in range(MAX_HEADERS + 1):
        if received.read_to(_LINE_END, _MAX_LINE) in (b"\r\n", b"\n"):
            return
    raise HTTPException(f"got more than {MAX_HEADERS} headers after the body")
