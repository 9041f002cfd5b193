"""Reads the requests of a multipart/mixed batch, and writes the responses as another multipart/mixed body.

Each part has the media type application/http and contains a request line, headers, a blank line and a body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from .messages import Headers, reason
from .multipart import (
    MediaType,
    MultipartDecoder,
    MultipartError,
    MultipartEvent,
    PartBegins,
    PartData,
    boundary_of,
    parse_headers,
)

_REQUEST_LINE = re.compile(rb"(?P<method>[A-Z]{1,20}) (?P<target>[!-~]{1,8192})(?: HTTP/1\.[01])?")
_CONTENT_ID = re.compile(r"[ -~]{1,1000}")


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A request in a batch. `target` is a path with an optional query, `content_id` is None without a Content-ID."""

    content_id: str | None
    method: str
    target: str
    headers: Headers
    body: bytes


class BatchResponse(NamedTuple):
    """The response to a request in a batch, with the Content-ID of that request."""

    content_id: str | None
    status: int
    headers: Headers
    body: bytes


def read_batch(content_type: str, blocks: Iterable[bytes], most: int) -> list[BatchRequest]:
    """Return the requests of a batch in their order. Raises MultipartError if a part is malformed.

    A batch has 1 to `most` requests. `blocks` are the blocks of its body.

    >>> body = b"--b\\r\\nContent-Type: application/http\\r\\n\\r\\nGET /storage/v3/about?fields=user\\r\\n--b--\\r\\n"
    >>> [request.target for request in read_batch("multipart/mixed; boundary=b", [body], most=10)]
    ['/storage/v3/about?fields=user']
    """
    if MediaType.parse(content_type).essence != "multipart/mixed":
        raise MultipartError("the Content-Type must be multipart/mixed.")
    requests = []
    for number, (headers, content) in enumerate(_parts(boundary_of(content_type), blocks), start=1):
        if number > most:
            raise MultipartError(f"it has more than {most} requests.")
        try:
            requests.append(_read_request(headers, content))
        except MultipartError as error:
            raise MultipartError(f"part {number}: {error}") from None
    if not requests:
        raise MultipartError("it has no requests.")
    return requests


def _parts(boundary: str, blocks: Iterable[bytes]) -> Iterator[tuple[Headers, bytes]]:
    """Yield the headers and the content of each part."""
    headers, data = Headers(), list[bytes]()
    for event in _events(MultipartDecoder(boundary), blocks):
        if isinstance(event, PartBegins):
            headers, data = event.headers, []
        elif isinstance(event, PartData):
            data.append(event.data)
        else:
            yield headers, b"".join(data)


def _events(decoder: MultipartDecoder, blocks: Iterable[bytes]) -> Iterator[MultipartEvent]:
    for block in blocks:
        yield from decoder.feed(block)
    yield from decoder.close()


def _read_request(part_headers: Headers, content: bytes) -> BatchRequest:
    if MediaType.parse(part_headers.get("Content-Type", "")).essence != "application/http":
        raise MultipartError("the Content-Type must be application/http.")
    content_id = part_headers.get("Content-ID")
    if content_id is not None and not _CONTENT_ID.fullmatch(content_id):
        raise MultipartError("the Content-ID must have 1 to 1000 printable ASCII characters.")
    line, _, rest = content.lstrip(b"\r\n").partition(b"\n")
    newline = b"\r\n" if line.endswith(b"\r") else b"\n"
    match = _REQUEST_LINE.fullmatch(line.rstrip(b"\r"))
    if not match:
        raise MultipartError(f"{line[:80].decode('latin-1')!r} is not a request line such as 'GET /path HTTP/1.1'.")
    block, _, body = (newline + rest).partition(newline * 2)
    url = urlsplit(match["target"].decode())
    target = url.path + (f"?{url.query}" if url.query else "")
    return BatchRequest(content_id, match["method"].decode(), target, _headers(block, newline), body)


def _headers(block: bytes, newline: bytes) -> Headers:
    stripped = block.strip(newline)
    return parse_headers(stripped, newline) if stripped else Headers()


def write_batch(responses: Iterable[BatchResponse], boundary: str) -> Iterator[bytes]:
    """Yield the body with these responses in their order. The Content-IDs begin with `response-`.

    >>> body = b"".join(write_batch([BatchResponse("<a + 1>", 204, Headers(), b"")], "b"))
    >>> body.splitlines()[2:5]
    [b'Content-ID: <response-a + 1>', b'', b'HTTP/1.1 204 No Content']
    """
    delimiter = f"--{boundary}".encode()
    for response in responses:
        yield delimiter + b"\r\n" + _head(response)
        yield response.body
        yield b"\r\n"
    yield delimiter + b"--\r\n"


def _head(response: BatchResponse) -> bytes:
    lines = ["Content-Type: application/http"]
    if response.content_id is not None:
        opening = "<" if response.content_id.startswith("<") else ""
        lines.append(f"Content-ID: {opening}response-{response.content_id.removeprefix('<')}")
    status_line = f"HTTP/1.1 {response.status} {reason(response.status)}"
    headers = response.headers.pairs or [("Cache-Control", "no-store")]  # stock parsers need a header in each response
    lines += ["", status_line, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
