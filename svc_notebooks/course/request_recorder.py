"""What stands between a student and the service, and writes down what is asked, header by header.

The journal of the service has one row for each request; a witness adds what the journal leaves out, and is a second
account of how many there were.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..core.fork import after_fork
from ..core.http.messages import Body, Disconnected, Headers, Query, Request, Response, abort_body

if TYPE_CHECKING:
    from ..server.service import Service

MOST_REQUESTS = 2000
"""Nobody needs more; whoever sends more is cut off, so that an endless loop fills no memory."""

_MOST_KEPT = 64 * 1024
_MOST_IN_ALL = 16 * 1024 * 1024
_HEADERS = ("Content-Range", "Content-Type", "Range", "User-Agent")


@dataclass(slots=True)
class Note:
    """One request and its answer, as far as checks ask for them."""

    method: str
    path: str
    query: Query
    headers: dict[str, str]
    asked: bytearray = field(default_factory=bytearray)
    status: int | None = None
    answer: bytes = b""
    told: Headers = field(default_factory=Headers)


class RequestRecorder:
    """Hands every request on to a service, one at a time, and keeps a note of it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = Lock()
        self._kept = 0
        self.notes: list[Note] = []
        self.flooded = False
        after_fork(self, RequestRecorder._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = Lock()

    def handle(self, request: Request) -> Response:
        """The service's answer. Raises Disconnected where a fault cuts the line, and beyond the last request."""
        with self._lock:
            note = self._noted(request)
            response = self._service.handle(_heard(request, note.asked))
            note.status, note.told = response.status, response.headers
            if isinstance(response.body, bytes):
                note.answer = response.body[:_MOST_KEPT]
            self._kept += len(note.asked) + len(note.answer)
            return response

    def _noted(self, request: Request) -> Note:
        if len(self.notes) >= MOST_REQUESTS or self._kept > _MOST_IN_ALL:
            self.flooded = True
            raise Disconnected("there were too many requests for one exercise")
        kept = {name: request.headers[name] for name in _HEADERS if name in request.headers}
        note = Note(request.method, request.path, request.query, kept)
        self.notes.append(note)
        return note


def _heard(request: Request, kept: bytearray) -> Request:
    """The same request; what is read of its body is kept, up to a bound."""
    if isinstance(request.body, bytes):
        kept += request.body[:_MOST_KEPT]
        return request
    return Request(request.method, request.url, request.headers, _Tee(request.body, kept))


class _Tee:
    """A body whose beginning is kept while it is read."""

    __slots__ = ("_body", "_kept")

    def __init__(self, body: Body, kept: bytearray) -> None:
        self._body, self._kept = body, kept

    def abort(self) -> None:
        """Stop the other side, where there is one that can be stopped."""
        abort_body(self._body)

    def read(self, size: int = -1, /) -> bytes:
        """As the body's own."""
        block = self._body.read(size)
        if len(self._kept) < _MOST_KEPT:
            self._kept += block[: _MOST_KEPT - len(self._kept)]
        return block


def as_object(content: bytes | bytearray) -> dict[str, Any]:
    """A JSON object, or an empty one where there is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
