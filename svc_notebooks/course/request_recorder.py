"""Records the requests of a student with headers and bodies, which the journal of the service does not contain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..core.http.content_coding import decode, read_codings
from ..core.http.messages import Body, Disconnected, Headers, Query, Request, Response, abort_body
from ..core.process_fork import after_fork

if TYPE_CHECKING:
    from ..server.service import Service

MAX_REQUESTS = 2000
"""The largest number of recorded requests. Further requests are disconnected, so that an endless loop does not fill the
memory."""

_MAX_BODY = 64 * 1024
_MAX_RECORDED = 16 * 1024 * 1024
_RECORDED_HEADERS = ("Content-Range", "Content-Type", "If-Match", "Range", "User-Agent")


@dataclass(slots=True)
class ExerciseExchange:
    """A request and its response, with bodies and the headers that checks use. `status` can be None (no response)."""

    method: str
    path: str
    query: Query
    headers: dict[str, str]
    request_body: bytearray = field(default_factory=bytearray)
    status: int | None = None
    response_body: bytes = b""
    response_headers: Headers = field(default_factory=Headers)


class RequestRecorder:
    """Forwards requests to a service, one at a time, and records each request with its response.

    `react` is called with each record after the response.
    """

    def __init__(self, service: Service, react: Callable[[ExerciseExchange], None] | None = None) -> None:
        self._service, self._react = service, react
        self._lock = Lock()
        self._recorded_bytes = 0
        self.records: list[ExerciseExchange] = []
        self.over_limit = False
        after_fork(self, RequestRecorder._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = Lock()

    def handle(self, request: Request) -> Response:
        """Record a request and return the service's response. Raises Disconnected for a fault or too many requests."""
        with self._lock:
            if len(self.records) >= MAX_REQUESTS or self._recorded_bytes > _MAX_RECORDED:
                self.over_limit = True
                raise Disconnected("there were too many requests for one exercise")
            headers = {name: request.headers[name] for name in _RECORDED_HEADERS if name in request.headers}
            record = ExerciseExchange(request.method, request.path, request.query, headers)
            self.records.append(record)
            if isinstance(request.body, bytes):
                record.request_body += request.body[:_MAX_BODY]
            else:
                body = _RecordingBody(request.body, record.request_body)
                request = Request(request.method, request.url, request.headers, body)
            response = self._service.handle(request)
            record.request_body = _without_codings(request.headers, record.request_body)
            record.status, record.response_headers = response.status, response.headers
            if isinstance(response.body, bytes):
                record.response_body = response.body[:_MAX_BODY]
            self._recorded_bytes += len(record.request_body) + len(record.response_body)
            if self._react:
                self._react(record)
            return response


def _without_codings(headers: Headers, body: bytearray) -> bytearray:
    """Return the first 64 KiB of a recorded body without its content codings, as far as it can be decoded."""
    blocks: Iterable[bytes] = [bytes(body)]
    content = bytearray()
    with suppress(ValueError, LookupError):
        for coding in reversed(read_codings(headers.all("Content-Encoding"))):
            blocks = decode(blocks, coding, lambda size: None)
        for block in blocks:
            content += block[: _MAX_BODY - len(content)]
            if len(content) == _MAX_BODY:
                break
    return content


class _RecordingBody:
    """A request body that copies the first 64 KiB to a buffer while the service reads the body."""

    __slots__ = ("_body", "_buffer")

    def __init__(self, body: Body, buffer: bytearray) -> None:
        self._body, self._buffer = body, buffer

    def abort(self) -> None:
        abort_body(self._body)

    def read(self, size: int = -1, /) -> bytes:
        block = self._body.read(size)
        if len(self._buffer) < _MAX_BODY:
            self._buffer += block[: _MAX_BODY - len(self._buffer)]
        return block


def as_object(content: bytes | bytearray) -> dict[str, Any]:
    """Parse content as a JSON object and return a dict. Return an empty dict for any other content."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
