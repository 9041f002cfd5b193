"""HTTP/1.1 framing, which reads the heads and bodies of requests and writes the heads of responses.

The parser is stricter than HTTP requires. If two servers could read a request in two ways, one request could hide
another (request smuggling). Such a request is refused (RFC 9112, 3.2 and 6.3).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from email.utils import formatdate
from functools import lru_cache
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit, urlunsplit

from ...core.errors.catalogue import ApiError, Row, refuse
from ...core.http.messages import Disconnected, Headers, Response, read_headers, reason
from ..dispatch.requests_and_responses import error_response
from ..store.blob_store import BLOCK

MAX_HEAD_SIZE = 65_536
_MAX_HEADERS = 200
_MAX_TRAILER_SIZE = 65_536
_MAX_LINE = 256

_REQUEST_LINE = re.compile(rb"([A-Z][A-Z0-9_-]*) ([^ \r\n#]+) HTTP/(\d)\.(\d)")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_LINE_BREAKS = re.compile(r"[\r\n\0]+")

_REASONS = {
    400: "the first line must have a method in capital letters, an address and a version, such as "
    "GET /storage/v3/files HTTP/1.1, and end with CR LF",
    408: "the request did not arrive in time",
    431: f"the first line and the headers have more than {MAX_HEAD_SIZE} bytes",
    414: f"the first line has more than {MAX_HEAD_SIZE} bytes",
    505: "the version must be HTTP/1.1 or HTTP/1.0",
}
_ERROR_KEYS = {408: "requestTimeout", 414: "uriTooLong", 431: "headersTooLarge", 501: "notImplemented"}


class UnreadableError(Exception):
    """Raised for a request that cannot be parsed, with the HTTP status of the response."""

    def __init__(self, status: int, reason: str = "") -> None:
        super().__init__(reason or _REASONS[status])
        self.status = status

    def response(self) -> bytes:
        """Return the bytes of the complete error response."""
        reason, rule = _ERROR_KEYS.get(self.status, "badRequest"), "Invalid parameters and headers"
        row = Row(self.status, reason, rule, f"The request cannot be read: {self}.")
        refusal = error_response(ApiError([row]))
        return head_bytes(refusal, connection="close") + refusal.content()


class HeaderBlock(NamedTuple):
    """The headers of a request, with the body framing and the connection options that they declare."""

    headers: Headers
    length: int
    is_chunked: bool
    expects_continue: bool
    # True if the client may send another request on the connection.
    stays: bool


class RequestHead(NamedTuple):
    """The parsed head of a request."""

    method: str
    target: str
    # True for HTTP/1.0.
    is_old: bool
    block: HeaderBlock

    def url(self, base_url: str) -> tuple[str, Headers]:
        """Return the URL of the request, which begins with `base_url`, and the headers with the valid Host.

        If the request target is a full URL, the host of that URL replaces the Host header (RFC 9112, 3.2.2).

        >>> head = read_head(b"GET http://files.example/x?a=1 HTTP/1.1\\r\\nHost: other.example\\r\\n\\r\\n")
        >>> head.url("http://127.0.0.1:8080")
        ('http://127.0.0.1:8080/x?a=1', Headers([('Host', 'files.example')]))
        """
        target = self.target
        if not target.lower().startswith(("http://", "https://")):
            return base_url + (target if target.startswith("/") else f"/{target}"), self.block.headers
        try:
            parts = urlsplit(target)
        except ValueError:
            raise UnreadableError(400) from None
        others = [pair for pair in self.block.headers.pairs if pair[0].lower() != "host"]
        path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        return base_url + path, Headers([("Host", parts.netloc), *others])


def read_head(data: bytes) -> RequestHead:
    """Parse the head of a request, including the blank line at its end. Raises UnreadableError for an invalid head."""
    data = data.removeprefix(b"\r\n")  # RFC 9112, 2.2
    first, _, rest = data.partition(b"\r\n")
    if len(first) > MAX_HEAD_SIZE:
        raise UnreadableError(414)
    if len(data) > MAX_HEAD_SIZE:
        raise UnreadableError(431)
    match = _REQUEST_LINE.fullmatch(first)
    if not match:
        raise UnreadableError(400)
    if match[3] != b"1":
        raise UnreadableError(505)
    if not data.endswith(b"\r\n\r\n"):
        raise UnreadableError(400, "each header line must end with CR LF, and a blank line must follow the headers")
    is_old = match[4] == b"0"
    block = _read_header_block(rest.removesuffix(b"\r\n"), is_old=is_old)
    return RequestHead(match[1].decode(), match[2].decode("latin-1"), is_old, block)


@lru_cache(maxsize=64)  # a client sends the same headers with many requests
def _read_header_block(lines: bytes, *, is_old: bool) -> HeaderBlock:
    """Parse the header lines of a request. Raises UnreadableError for invalid lines."""
    try:
        headers = read_headers(lines)
    except ValueError as error:
        raise UnreadableError(400, str(error)) from None
    if len(headers.pairs) > _MAX_HEADERS:
        raise UnreadableError(431, f"there are more than {_MAX_HEADERS} headers")
    values = headers.by_name()
    length, is_chunked = _read_framing(values, is_old=is_old)
    expects_continue = not is_old and "expect" in values and values["expect"][-1].lower() == "100-continue"
    stays = not is_old
    if "connection" in values:
        options = {word.strip() for word in ",".join(values["connection"]).lower().split(",")}
        stays = "close" not in options and (stays or "keep-alive" in options)
    return HeaderBlock(headers, length, is_chunked, expects_continue, stays)


def _read_framing(headers: Mapping[str, list[str]], *, is_old: bool) -> tuple[int, bool]:
    """Return the body length in bytes and whether the body is chunked. Raises UnreadableError for invalid headers."""
    lengths = headers.get("content-length", ["0"])
    length = lengths[0]
    if lengths.count(length) < len(lengths) or not (length.isascii() and length.isdigit() and len(length) <= 18):
        raise UnreadableError(400, "Content-Length must be one number of bytes")
    coding = [value.lower() for value in headers.get("transfer-encoding", ())]
    if coding and (coding != ["chunked"] or "content-length" in headers):
        *others, last = ",".join(coding).replace(" ", "").split(",")
        status = 501 if last == "chunked" not in others and "content-length" not in headers else 400
        raise UnreadableError(status, "Transfer-Encoding must be chunked, without other codings and Content-Length")
    if coding and is_old:
        raise UnreadableError(400, "Transfer-Encoding is not allowed in HTTP/1.0")
    hosts = headers.get("host", ())
    if len(hosts) > 1 or not (hosts or is_old):
        raise UnreadableError(400, "the request must have exactly one Host header")
    return int(length), bool(coding)


class BodySource(Protocol):
    """The protocol of the connection from which a body is read."""

    def read1(self, size: int, /) -> bytes:
        """Wait until bytes arrive and return at most `size` of them, or b"" at the end of the connection."""

    def readline(self, size: int, /) -> bytes:
        """Return a line, or the bytes before `size` or before the end of the connection if its end is missing."""


class LengthBody:
    """The body of a request with a declared length.

    `begin` is called before the first byte is read. `cut` shuts down the receiving side of the connection. `gone`
    returns True if the client has closed the connection.
    """

    def __init__(
        self,
        source: BodySource,
        size: int,
        begin: Callable[[], None],
        cut: Callable[[], None],
        gone: Callable[[], bool],
    ) -> None:
        self._source = source
        self._begin: Callable[[], None] | None = begin
        self._cut = cut
        self.gone = gone
        self._left = size
        self.aborted = False
        self.is_broken = False  # true if the chunked coding is invalid. The rest of the connection then cannot be read.

    def read(self, size: int = -1, /) -> bytes:
        """Wait until bytes arrive and return at most `size` of them. Without a size, return the whole body."""
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if not (length := min(size, self._left)):
            return b""
        block = self._receive(self._source.read1, length)
        self._left -= len(block)
        return block

    def _receive(self, read: Callable[[int], bytes], size: int) -> bytes:
        begin, self._begin = self._begin, None
        try:
            if begin:
                begin()
            block = read(size)
        except (OSError, ValueError) as error:  # cut off, silent for too long, or closed meanwhile
            raise Disconnected(str(error)) from None
        if not block:
            raise Disconnected("the connection was closed before the end of the body")
        return block

    def abort(self) -> None:
        """Stop reading at once, because the server stops or another request takes over the upload."""
        self.aborted = True
        self._cut()

    @property
    def is_unread(self) -> bool:
        """True until the first byte is read."""
        return self._begin is not None

    @property
    def is_over(self) -> bool:
        """True after the end of the body has been read."""
        return self._left == 0

    def drain(self, size: int, seconds: float) -> bool:
        """Read at most `size` more bytes for at most `seconds`. Return True if the end of the body was reached."""
        end = time.monotonic() + seconds
        try:
            while not (self.is_over or self.is_broken) and size > 0 and time.monotonic() < end:
                size -= len(self.read(min(BLOCK, size)))
        except Exception:  # an error in a body that is not needed does not matter
            return False
        return self.is_over


class ChunkedBody(LengthBody):
    """The body of a request in the chunked transfer coding (RFC 9112, 7.1)."""

    _ended = False

    def read(self, size: int = -1, /) -> bytes:
        """Wait until bytes arrive and return at most `size` of them. Without a size, return the whole body.

        Raises ApiError (400) if the chunked coding is invalid.
        """
        if size < 0:
            return super().read(size)
        if self._ended or not size or not (self._left or self._begin_chunk()):
            return b""
        block = super().read(size)
        if not self._left and self._line() != b"\r\n":
            raise self._coding_error("a chunk of the body is longer than its declared size.")
        return block

    def _begin_chunk(self) -> bool:
        """Read the size line of the next chunk and return True, or read the trailers at the end and return False."""
        match = _CHUNK_SIZE.fullmatch(self._line())
        if not match:
            raise self._coding_error("a chunk of the body has no valid size.")
        self._left = int(match[1], 16)
        if self._left:
            return True
        # A trailer line may arrive in pieces, and no piece may be mistaken for the blank line at the end.
        left = _MAX_TRAILER_SIZE
        while (line := self._line(left)) != b"\r\n":
            left -= len(line)
            if not line.endswith(b"\r\n") or left <= 0:
                raise self._coding_error("the trailers of the body are too long or are not header lines.")
        self._ended = True
        return False

    def _coding_error(self, message: str) -> ApiError:
        self.is_broken = True
        return refuse("badRequest", message=message)

    def _line(self, size: int = _MAX_LINE) -> bytes:
        return self._receive(self._source.readline, size)

    @property
    def is_over(self) -> bool:
        return self._ended


def head_bytes(response: Response, *, connection: str | None = None) -> bytes:
    """Return the status line and the headers of a response, with a Connection header if `connection` is given."""
    return _head_of(response.status, response.headers.pairs, connection, int(time.time()))


@lru_cache(maxsize=64)  # many responses have the same headers
def _head_of(status: int, pairs: tuple[tuple[str, str], ...], connection: str | None, second: int) -> bytes:
    lines = [f"HTTP/1.1 {status} {reason(status) or 'Unknown'}"]
    lines += [f"{name}: {value if value.isprintable() else _LINE_BREAKS.sub(' ', value)}" for name, value in pairs]
    lines += [f"Date: {_date(second)}", "Server: svc"]
    if connection:
        lines.append(f"Connection: {connection}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
