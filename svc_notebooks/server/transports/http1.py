"""HTTP/1.1 as bytes: bodies read from a connection, heads written to one. What carries them is cheroot_server.py's."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from ...core.errors.catalogue import refuse
from ...core.http.messages import Disconnected, Response, reason
from ..blobs.blob_store import BLOCK

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_LINE = 256
_MOST_TRAILER_BYTES = 65_536
_LINE_BREAKS = re.compile(r"[\r\n\0]+")


class ContentLengthReader:
    """A body of a declared length.

    `begin` is called before the first byte is read, `cut` stops the peer's side of the connection, and `gone` says
    whether the peer has closed it.
    """

    def __init__(
        self,
        source: io.BufferedReader,
        size: int,
        begin: Callable[[], None],
        cut: Callable[[], None],
        gone: Callable[[], bool],
    ) -> None:
        self._source = source
        self._begin: Callable[[], None] | None = begin
        self._cut_off = cut
        self.gone = gone
        self._left = size
        self.aborted = False
        self.broken = False  # nothing that follows on this connection can be understood

    def read(self, size: int = -1, /) -> bytes:
        """What has come, at most `size` bytes; all of it without one."""
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if not (length := min(size, self._left)):
            return b""
        block = self._receive(length)
        self._left -= len(block)
        return block

    def _receive(self, size: int) -> bytes:
        self._start()
        try:
            block = self._source.read1(size)
        except (OSError, ValueError) as error:  # cut off, silent for too long, or closed under us
            raise Disconnected(str(error)) from None
        if not block:
            raise Disconnected("the connection ended before the body did")
        return block

    def _start(self) -> None:
        begin, self._begin = self._begin, None
        if begin:
            begin()

    def abort(self) -> None:
        """Stop reading, now: another request takes over."""
        self.aborted = True
        self._cut_off()

    def unread(self) -> bool:
        """Whether nobody has asked for a byte of it."""
        return self._begin is not None

    def over(self) -> bool:
        """Whether its end has been read."""
        return self._left == 0

    def drain(self, most: int, seconds: float) -> bool:
        """Read what is left, up to so many bytes and for so long; whether that was all."""
        end = time.monotonic() + seconds
        try:
            while not (self.over() or self.broken) and most > 0 and time.monotonic() < end:
                most -= len(self.read(min(BLOCK, most)))
        except Exception:  # what is wrong with a body that nobody wants does not matter
            return False
        return self.over()


class ChunkedBody(ContentLengthReader):
    """A body in the chunked transfer coding."""

    def __init__(
        self, source: io.BufferedReader, begin: Callable[[], None], cut: Callable[[], None], gone: Callable[[], bool]
    ) -> None:
        super().__init__(source, 0, begin, cut, gone)
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """What has come, at most `size` bytes. Raises ApiError (400) where the coding is broken."""
        if size < 0:
            return super().read(size)
        if self._ended or not size:
            return b""
        if not self._left and not self._next_chunk():
            return b""
        block = super().read(size)
        if not self._left and self._line() != b"\r\n":
            raise self._bad_request("a chunk of the body is longer than it says.")
        return block

    def _next_chunk(self) -> bool:
        match = _SIZE.fullmatch(self._line())
        if not match:
            raise self._bad_request("a chunk of the body has no readable size.")
        self._left = int(match[1], 16)
        if not self._left:
            self._pass_trailers()
            self._ended = True
        return not self._ended

    def _pass_trailers(self) -> None:
        """They say nothing here. Of a line that is read in pieces no piece may pass for the blank one at the end."""
        left = _MOST_TRAILER_BYTES
        while (line := self._line(left)) != b"\r\n":
            left -= len(line)
            if not line.endswith(b"\r\n") or left <= 0:
                raise self._bad_request("the trailers of the body are no header lines, or too many.")

    def _bad_request(self, message: str) -> Exception:
        self.broken = True
        return refuse("badRequest", message=message)

    def _line(self, most: int = _LINE) -> bytes:
        self._start()
        try:
            line = self._source.readline(most)
        except (OSError, ValueError) as error:
            raise Disconnected(str(error)) from None
        if not line:
            raise Disconnected("the connection ended before the body did")
        return line

    def over(self) -> bool:
        return self._ended


def head(response: Response, *, connection: str | None = None) -> bytes:
    """The status line and the headers of a response; `connection`: what becomes of it, where that must be said."""
    lines = [f"HTTP/1.1 {response.status} {reason(response.status) or 'Unknown'}"]
    lines += [f"{name}: {_one_line(value)}" for name, value in response.headers.pairs]
    lines += [f"Date: {_date(int(time.time()))}", "Server: svc"]
    if connection:
        lines.append(f"Connection: {connection}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _one_line(value: str) -> str:
    return _LINE_BREAKS.sub(" ", value)


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


HTTP_1_0 = "HTTP/1.0"
MOST_HEADER_BYTES = 65_536
MOST_HEADERS = 200

UNREADABLE_REASONS = {
    400: "its first line must be a method in capital letters, an address and a version, like "
    "GET /storage/v3/files HTTP/1.1, and end with CR LF",
    408: "it did not come in time",
    413: f"its first line and its headers have more than {MOST_HEADER_BYTES} bytes",
    414: f"its first line has more than {MOST_HEADER_BYTES} bytes",
    500: "something failed inside the service",
    503: "too many others wait; try again later",
    505: f"its version must be HTTP/1.1 or {HTTP_1_0}",
}
"""Why there is no request to be answered, by the status that says so."""


class SupportsReadline(Protocol):
    """What lines are read from."""

    def readline(self) -> bytes: ...


_NAME = re.compile(r"[0-9A-Za-z!#$%&'*+\-.^_`|~]+")
_NAMES = ("connection", "content-length", "expect", "host", "transfer-encoding")
_NOT_IN_A_VALUE = re.compile(r"[\r\n\0]")


def framing(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    """What was sent under each name that says how the connection is used."""
    values_by_name: dict[str, list[str]] = {name: [] for name in _NAMES}
    for name, value in pairs:
        values = values_by_name.get(name.lower())
        if values is not None:
            values.append(value)
    return values_by_name


def check_framing(values_by_name: dict[str, list[str]], version: str) -> None:
    """Where a body ends, and for whom it is, must not be open to doubt: two readings are a way to smuggle a request."""
    lengths = set(values_by_name["content-length"])
    if len(lengths) > 1 or any(not (text.isascii() and text.isdigit() and len(text) <= 18) for text in lengths):
        raise ValueError("Content-Length must be one number of bytes")
    coding = [value.lower() for value in values_by_name["transfer-encoding"]]
    if coding and (coding != ["chunked"] or lengths):
        raise ValueError("Transfer-Encoding must be chunked alone, without a Content-Length")
    if coding and version == HTTP_1_0:
        raise ValueError(f"{HTTP_1_0} has no Transfer-Encoding")
    if len(values_by_name["host"]) > 1 or not (values_by_name["host"] or version == HTTP_1_0):
        raise ValueError("there must be one Host header")


def connection_header(values: list[str]) -> bytes:
    """What the client wants of the connection, as cheroot spells it: close goes before all else."""
    options = {word.strip() for word in ",".join(values).lower().split(",")}
    return b"close" if "close" in options else b"Keep-Alive" if "keep-alive" in options else b""


def read_headers(file: SupportsReadline) -> list[tuple[str, str]]:
    """Every header as it was sent, up to the blank line. Raises ValueError."""
    pairs: list[tuple[str, str]] = []
    while (line := file.readline()) != b"\r\n":
        pairs.append(header(line))
        if len(pairs) > MOST_HEADERS:
            raise ValueError(f"there are more than {MOST_HEADERS} headers")
    return pairs


def header(line: bytes) -> tuple[str, str]:
    """The name and the value in a line. Raises ValueError."""
    name, colon, value = line.decode("latin-1").partition(":")
    value = value.removesuffix("\r\n")
    if not line.endswith(b"\r\n") or not colon or not _NAME.fullmatch(name) or _NOT_IN_A_VALUE.search(value):
        raise ValueError(f"{line[:40]!r} is no header line")
    return name, value.strip(" \t")


def address(target: str, pairs: list[tuple[str, str]], base_url: str) -> tuple[str, list[tuple[str, str]]]:
    """The URL, which always begins with the address that we listen at, and the headers with the host that counts.

    That is the host of a target in absolute form, where there is one (RFC 9112, 3.2.2).

    >>> address("http://files.example/x?a=1", [("Host", "other.example")], "http://127.0.0.1:8080")
    ('http://127.0.0.1:8080/x?a=1', [('Host', 'files.example')])
    """
    if not target.lower().startswith(("http://", "https://")):
        return base_url + (target if target.startswith("/") else f"/{target}"), pairs
    parts, others = urlsplit(target), [pair for pair in pairs if pair[0].lower() != "host"]
    return base_url + urlunsplit(("", "", parts.path or "/", parts.query, "")), [("Host", parts.netloc), *others]
