"""The evidence for an exercise check, which is the student's requests and a fork of the service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..client.events.events import list_events, list_instances
from ..client.files import file_path, file_permissions, list_files
from ..client.session import USER_AGENT, Session
from ..client.transport.bounds import EXPORT
from ..core.brand_names import NOWHERE
from ..core.clock import parse_time
from ..core.http.content_coding import decode, read_codings
from ..core.http.messages import Body, Disconnected, Headers, Query, Request, Response, abort_body
from ..core.processes import after_fork

if TYPE_CHECKING:
    from ..core.resources.events import Event
    from ..core.resources.files import File, Permission
    from ..server.service import Service
    from .definition import Value
    from .exercise_service import ReceiverCase


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


_FILE_FIELDS = "id,name,mimeType,size,description,starred,trashed,parents,properties"


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A student's request from journal and recorder. `answered` is True if the response reached the student."""

    n: int
    time: datetime
    operation: str | None
    method: str
    path: str
    query: Query
    headers: Mapping[str, str]
    request_body: bytes
    status: int | None
    answered: bool
    response_headers: Headers
    response_body: bytes
    client: str | None
    user: str | None
    scopes: frozenset[str]
    received: int
    sent: int
    offset_before: int | None
    offset_after: int | None
    fault: str | None

    @property
    def succeeded(self) -> bool:
        """True if the response has a status below 300 and reached the student."""
        return self.answered and self.status is not None and self.status < 300

    @property
    def upload_type(self) -> str | None:
        """The upload type (media, multipart or resumable), or None if the request is not an upload."""
        return self.query.get("uploadType") if self.path.startswith("/upload") else None

    @property
    def content_range(self) -> str:
        return self.headers.get("Content-Range", "")

    @property
    def is_status_query(self) -> bool:
        """True if the request asks an upload session for the number of stored bytes."""
        return self.operation == "upload.session" and self.content_range.replace(" ", "").startswith("bytes*/")

    @property
    def by_hand(self) -> bool:
        """True if the request was not sent by the client of this package."""
        return self.headers.get("User-Agent") != USER_AGENT

    @property
    def request_json(self) -> dict[str, Any]:
        """The request body as a dict, which is empty if the body is not a JSON object."""
        return as_object(self.request_body)

    @property
    def response_json(self) -> dict[str, Any]:
        """The response body as a dict, which is empty if the body is not a JSON object."""
        return as_object(self.response_body)


def join_records(exchange: ExerciseExchange, row: Mapping[str, Any]) -> RecordedRequest:
    return RecordedRequest(
        n=row["n"],
        time=parse_time(row["time"]),
        operation=row["operation"],
        method=exchange.method,
        path=exchange.path,
        query=exchange.query,
        headers=exchange.headers,
        request_body=bytes(exchange.request_body),
        status=row["status"],
        answered=exchange.status is not None,
        response_headers=exchange.response_headers,
        response_body=exchange.response_body,
        client=row["client"],
        user=row["user"],
        scopes=frozenset(row["scopes"]),
        received=row["received"],
        sent=row["sent"],
        offset_before=row["offset_before"],
        offset_after=row["offset_after"],
        fault=row["fault"],
    )


class Evidence:
    """The student's requests, the service state and the set-up results, for an exercise check.

    The student sees the set-up's `values`, but not its `check_data`. `now` is the time of the exercise's clock.
    """

    def __init__(
        self,
        requests: list[RecordedRequest],
        state: Service,
        values: Mapping[str, Value],
        check_data: Mapping[str, Any],
        receiver_cases: list[ReceiverCase],
        now: datetime,
    ) -> None:
        self.requests = requests
        self.values: Mapping[str, Any] = values
        self.check_data = check_data
        self.receiver_cases = receiver_cases
        self.now = now
        self._state = Session(
            NOWHERE, state.sign_in(), handler=state.handle, clock=state.clock, sleep=state.clock.wait, random=None
        )

    # -- the requests

    def requests_of(self, *operations: str) -> list[RecordedRequest]:
        """Return the requests with one of these operations, such as "files.create", in the order of arrival."""
        return [request for request in self.requests if request.operation in operations]

    def creations_of(self, file_id: str) -> list[RecordedRequest]:
        """Return the requests that may have created the file with this id.

        Such a request succeeded or was hit by a fault, and its response has the id of the file or no id.
        """
        return [
            request
            for request in self.requests_of("files.create", "files.copy", "upload.session")
            if request.response_json.get("id", file_id) == file_id and (request.succeeded or request.fault)
        ]

    # -- the state of the service

    def files(self, q: str | None = None) -> list[File]:
        """Return the student's files that match the search query `q`, or all files if `q` is None."""
        return list(list_files(self._state, q=q, fields=_FILE_FIELDS))

    def files_with_name(self, name: str) -> list[File]:
        """Return the student's files with this name that are not in the trash."""
        return [file for file in self.files() if file["name"] == name and not file.get("trashed")]

    def content(self, file_id: str) -> bytes:
        """Return the content of a file, which is empty for a native document."""
        url = self._state.url(file_path(self._state, file_id), {"alt": "media"})
        response = self._state.send(Request("GET", url), EXPORT)
        content = response.content()
        return content if response.status == 200 else b""

    def permissions(self, file_id: str) -> list[Permission]:
        return file_permissions(self._state, file_id)

    def events(self) -> list[Event]:
        """Return the events of the primary calendar, without cancelled events. A recurring event is returned once."""
        events = list_events(self._state, "primary", {}, limit=2000)
        return [event for event in events if "recurringEventId" not in event and event.get("status") != "cancelled"]

    def instances(self, event_id: str) -> list[Event]:
        """Return the instances of a recurring event, including cancelled instances."""
        return list(list_instances(self._state, "primary", event_id, {"showDeleted": True}, limit=2000))
