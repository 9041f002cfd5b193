"""Sends requests over open connections, and reads responses within limits of their heads (RFC 9112).

urllib3 opens the connections. Its own exchanges take three times as long for a chunk of an upload, because of the
e-mail parser, and http.client accepts any number of responses that are not final.
"""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Callable, Iterator
from http.client import BadStatusLine, HTTPException, LineTooLong, RemoteDisconnected
from io import BufferedIOBase
from typing import NamedTuple
from urllib.parse import urlsplit

from ...core.http.messages import Body, Headers, Request, read_headers
from .bounds import content_length
from .in_process import BLOCK

SENT_AT_ONCE = 256 * 1024
"""The block size of request bodies that are read, in bytes. With 1 MiB an upload takes a tenth longer, measured."""

_MAX_LINE = 65_536
_MAX_HEADERS = 100
_MAX_HEAD = 262_144
_MAX_INTERIM = 10
"""The most responses before the final one, such as 100 Continue and 103 Early Hints."""

_MAX_OVERHEAD = 16_384
"""The most bytes of extensions of chunks, beyond the size of their content and 16 bytes for each."""

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) (\d{3})(?: .*)?\r?\n", re.DOTALL)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)
_BODILESS = frozenset({"GET", "HEAD", "DELETE"})
_CLOSED_EARLY = frozenset({errno.EPIPE, errno.ECONNRESET, errno.EPROTOTYPE})


class Answer(NamedTuple):
    """A response whose body is not read yet. `keeps_open` is True if the connection can be used again after it.

    `size` is the size of the body in bytes. None means that the body has chunks, or ends with the connection.
    """

    status: int
    headers: Headers
    size: int | None
    keeps_open: bool
    source: BufferedIOBase

    def blocks(self) -> Iterator[bytes]:
        """Yield the blocks of the body. Raises OSError or HTTPException if it is not complete or not valid."""
        if self.size is not None:
            return _counted(self.source.read, self.size)
        return _chunks(self.source) if _is_chunked(self.headers) else iter(lambda: self.source.read1(BLOCK), b"")


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


def exchange(sock: socket.socket, head: bytes, body: Body | bytes, method: str) -> Answer:
    """Send a request over an open connection, and return the response.

    Raises OSError or HTTPException without a response, and the errors of the body.
    """
    all_sent = True
    try:
        sock.sendall(head)  # apart from the body, so that the service can already begin
        for block in [body] if isinstance(body, bytes) else iter(lambda: body.read(SENT_AT_ONCE), b""):
            sock.sendall(block)
    except OSError as error:
        if error.errno not in _CLOSED_EARLY:  # after an early response the service may close the connection
            raise
        all_sent = False
    source = sock.makefile("rb")
    try:
        answer = read_answer(source, method)
    except BaseException:
        source.close()
        raise
    return answer._replace(keeps_open=answer.keeps_open and all_sent)


def read_answer(source: BufferedIOBase, method: str) -> Answer:
    """Read the head of the final response to a request with this method. Raises HTTPException if it is not valid."""
    for _ in range(_MAX_INTERIM):
        line = source.readline(_MAX_LINE + 1)
        if not line:
            raise RemoteDisconnected("Remote end closed connection without response")
        if len(line) > _MAX_LINE:
            raise LineTooLong("status line")
        match = _STATUS_LINE.fullmatch(line)
        if match is None:
            raise BadStatusLine(line.decode("latin-1")[:1000])
        headers, status = _read_headers(source), int(match[2])
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
    return Answer(status, headers, size, keeps_open and not ends_with_connection, source)


def _is_chunked(headers: Headers) -> bool:
    return bool(headers.get("Transfer-Encoding", "").lower() == "chunked")


def _read_headers(source: BufferedIOBase) -> Headers:
    """Read header lines up to an empty line. A line that begins with a space continues the line before it."""
    lines: list[bytes] = []
    size = 0
    while (line := source.readline(_MAX_LINE + 1)) not in (b"\r\n", b"\n"):
        if not line:
            raise RemoteDisconnected("Remote end closed connection in the headers of its response")
        if len(line) > _MAX_LINE:
            raise LineTooLong("header line")
        lines.append(line.rstrip(b"\r\n"))
        size += len(line)
        if len(lines) > _MAX_HEADERS or size > _MAX_HEAD:
            raise HTTPException(f"got more than {_MAX_HEADERS} headers, or {_MAX_HEAD:,} bytes of them")
    block = b"".join(b"%s\r\n" % line for line in lines)
    try:
        return read_headers(re.sub(rb"\r\n[ \t]+", b" ", block))
    except ValueError as error:
        raise HTTPException(f"the response has an invalid header: {error}") from None


def _counted(read: Callable[[int], bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        block = read(min(BLOCK, left))
        if not block:
            raise HTTPException(f"the response breaks off: {size - left} bytes read, {left} more expected")
        left -= len(block)
        yield block


def _chunks(source: BufferedIOBase) -> Iterator[bytes]:
    overhead = 0
    while True:
        line = source.readline(_MAX_LINE + 1)
        match = _CHUNK_SIZE.fullmatch(line)
        if match is None:
            raise HTTPException("the size of a chunk of the response is not valid")
        if not (size := int(match[1], 16)):
            break
        overhead = max(0, overhead + len(line) - 16 - size)
        if overhead > _MAX_OVERHEAD:
            raise HTTPException(f"the chunks of the response have {_MAX_OVERHEAD:,} bytes that are not content")
        yield from _counted(source.read1, size)  # what has arrived, so that a bound is noticed early
        source.readline(3)  # the end of the chunk
    _read_headers(source)  # those after the last chunk, whose number is limited
