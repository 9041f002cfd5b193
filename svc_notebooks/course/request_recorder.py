"""Records the requests of a student and the responses of the service.

The journal of the service has one row for each request; the recorder adds what the journal leaves out (headers and
bodies), and is a second count of the requests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..core.http.messages import Body, Disconnected, Headers, Query, Request, Response, abort_body
from ..core.process_fork import after_fork

if TYPE_CHECKING:
    from ..server.service import Service

MAX_REQUESTS = 2000
"""Nobody needs more; whoever sends more is cut off, so that an endless loop fills no memory."""

_MAX_BODY = 64 * 1024
_MAX_RECORDED = 16 * 1024 * 1024
_RECORDED_HEADERS = ("Content-Range", "Content-Type", "Range", "User-Agent")


@dataclass(slots=True)
class ExerciseExchange:
    """One request and its answer, as far as checks ask for them."""

    method: str
    path: str
    query: Query
    headers: dict[str, str]
    request_body: bytearray = field(default_factory=bytearray)
    status: int | None = None
    response_body: bytes = b""
    response_headers: Headers = field(default_factory=Headers)


class RequestRecorder:
    """Hands every request on to a service, one at a time, and records it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = Lock()
        self._recorded_bytes = 0
        self.records: list[ExerciseExchange] = []
        self.over_limit = False
        after_fork(self, RequestRecorder._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = Lock()

    def handle(self, request: Request) -> Response:
        """The service's answer. Raises Disconnected where a fault cuts the line, and beyond the last request."""
        with self._lock:
            record = self._new_record(request)
            response = self._service.handle(_with_recorded_body(request, record.request_body))
            record.status, record.response_headers = response.status, response.headers
            if isinstance(response.body, bytes):
                record.response_body = response.body[:_MAX_BODY]
            self._recorded_bytes += len(record.request_body) + len(record.response_body)
            return response

    def _new_record(self, request: Request) -> ExerciseExchange:
        if len(self.records) >= MAX_REQUESTS or self._recorded_bytes > _MAX_RECORDED:
            self.over_limit = True
            raise Disconnected("there were too many requests for one exercise")
        headers = {name: request.headers[name] for name in _RECORDED_HEADERS if name in request.headers}
        record = ExerciseExchange(request.method, request.path, request.query, headers)
        self.records.append(record)
        return record


def _with_recorded_body(request: Request, buffer: bytearray) -> Request:
    """The same request; what is read of its body is kept, up to a bound."""
    if isinstance(request.body, bytes):
        buffer += request.body[:_MAX_BODY]
        return request
    return Request(request.method, request.url, request.headers, _RecordingBody(request.body, buffer))


class _RecordingBody:
    """A body whose beginning is kept while it is read."""

    __slots__ = ("_body", "_buffer")

    def __init__(self, body: Body, buffer: bytearray) -> None:
        self._body, self._buffer = body, buffer

    def abort(self) -> None:
        """Stop the other side, where there is one that can be stopped."""
        abort_body(self._body)

    def read(self, size: int = -1, /) -> bytes:
        """As the body's own."""
        block = self._body.read(size)
        if len(self._buffer) < _MAX_BODY:
            self._buffer += block[: _MAX_BODY - len(self._buffer)]
        return block


def as_object(content: bytes | bytearray) -> dict[str, Any]:
    """A JSON object, or an empty one where there is none."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
