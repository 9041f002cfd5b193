"""The evidence for an exercise check: the student's requests and a fork of the service; and shared requirements."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from textwrap import shorten
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..client.events.events import list_access_rules, list_calendars, list_events, list_instances
from ..client.files import file_path, list_files
from ..client.session import USER_AGENT, Session
from ..client.transport.bounds import EXPORT
from ..core.http.messages import Body, Disconnected, Headers, Query, Request, Response, abort_body
from ..core.platform import after_fork
from ..core.times import parse_time
from .definition import Part, list_text, quantity, require

if TYPE_CHECKING:
    from ..core.resources.events import Event
    from ..core.resources.files import File
    from ..server.service import Service
    from .exercise_service import ReceiverCase


# The largest number of recorded requests. Further requests are disconnected, so that an endless loop does not fill the
# memory.
MAX_REQUESTS = 2000

_MAX_BODY = 64 * 1024
_MAX_RECORDED = 16 * 1024 * 1024
_RECORDED_HEADERS = ("Content-Length", "Content-Range", "Content-Type", "If-Match", "Range", "User-Agent")


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

    `react` is called with each record after the response. `alter` returns the request that the service gets.
    """

    def __init__(
        self,
        service: Service,
        react: Callable[[ExerciseExchange], None] | None = None,
        alter: Callable[[Request], Request] | None = None,
    ) -> None:
        self._service, self._react, self._alter = service, react, alter
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
            if self._alter:
                request = self._alter(request)
            if isinstance(request.body, bytes):
                record.request_body += request.body[:_MAX_BODY]
            else:
                body = _RecordingBody(request.body, record.request_body)
                request = Request(request.method, request.url, request.headers, body)
            response = self._service.handle(request)
            record.status, record.response_headers = response.status, response.headers
            if isinstance(response.body, bytes):
                record.response_body = response.body[:_MAX_BODY]
            self._recorded_bytes += len(record.request_body) + len(record.response_body)
            if self._react:
                self._react(record)
            return response


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


@dataclass(slots=True, kw_only=True)
class RecordedRequest(ExerciseExchange):
    """A student's request from journal and recorder. `answered` is True if the response reached the student."""

    n: int
    time: datetime
    operation: str | None
    answered: bool
    client: str | None
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
    def session_id(self) -> str | None:
        """The id of the upload session that the request uses, or that it has opened."""
        location = self.response_headers.get("Location") or ""
        return self.query.get("upload_id") or Query.parse(urlsplit(location).query).get("upload_id")

    @property
    def content_range(self) -> str:
        return self.headers.get("Content-Range", "")

    @property
    def is_status_query(self) -> bool:
        """True if the request asks an upload session for the number of stored bytes."""
        asks = self.content_range.replace(" ", "").lower().startswith("bytes*/")
        return self.operation == "upload.session" and self.method in ("PUT", "POST") and asks and not self._has_body

    @property
    def sends_bytes(self) -> bool:
        """True if the request sent content to an upload session, with any method."""
        return "upload_id" in self.query and self._has_body and not self.is_status_query

    @property
    def _has_body(self) -> bool:
        """True if the request has content. Over a socket, the service may refuse a request before it reads its body."""
        return bool(self.request_body) or self.headers.get("Content-Length", "0") != "0"

    @property
    def refused(self) -> bool:
        """True if the student got a response with a status of 400 or more."""
        return self.answered and (self.status or 0) >= 400

    @property
    def refusal(self) -> str:
        """The request with the status and the text of its response, for a message about a refused request."""
        error = self.response_json.get("error")
        text = error.get("message") if isinstance(error, dict) else self.response_body.decode("utf-8", "replace")
        return f"{self.method} {self.path} got the status {self.status}: {shorten(str(text or 'no text'), 200)}"

    @property
    def by_hand(self) -> bool:
        """True if the request was not sent by the client of this package."""
        return self.headers.get("User-Agent") != USER_AGENT

    @property
    def is_download(self) -> bool:
        """True if the request asks for content, and not only for its headers."""
        return self.method == "GET" and self.query.get("alt") == "media"

    @property
    def request_json(self) -> dict[str, Any]:
        """The request body as a dict, which is empty if the body is not a JSON object."""
        return as_object(self.request_body)

    @property
    def response_json(self) -> dict[str, Any]:
        """The response body as a dict, which is empty if the body is not a JSON object."""
        return as_object(self.response_body)


_JOURNAL_FIELDS = (
    "n", "operation", "status", "client", "received", "sent", "offset_before", "offset_after", "fault",
)  # fmt: skip


def join_records(exchange: ExerciseExchange, row: Mapping[str, Any]) -> RecordedRequest:
    """Return a request with its record and its row of the journal."""
    values = {each.name: getattr(exchange, each.name) for each in fields(exchange)}
    values |= {name: row[name] for name in _JOURNAL_FIELDS}
    return RecordedRequest(**values, time=parse_time(row["time"]), answered=exchange.status is not None)


# The fields that change with every change or every read of a file or event, or together with another field.
_VOLATILE = frozenset({
    "capabilities", "etag", "explicitlyTrashed", "headRevisionId", "lastModifyingUser", "modifiedByMe",
    "modifiedByMeTime", "modifiedTime", "quotaBytesUsed", "sequence", "sha1Checksum", "sha256Checksum", "size",
    "trashedTime", "trashingUser", "updated", "version", "viewedByMe", "viewedByMeTime",
})  # fmt: skip


def resources(session: Session) -> dict[str, dict[str, Any]]:
    """Return the user's files, and all calendars with their access rules and events, without the volatile fields.

    Files in the trash are included. The key of a file is its id. The other keys begin with the id of the calendar.
    """
    rows: dict[str, Any] = {file["id"]: file for file in list_files(session, fields="*")}
    for calendar in list_calendars(session):
        key = calendar["id"]
        rows[key] = calendar
        for rule in list_access_rules(session, key):
            rows[f"{key}/acl/{rule['id']}"] = {**rule, "summary": f"access of {rule['id']} to {key}"}
        rows |= {f"{key}/{event['id']}": event for event in list_events(session, key, {})}
    return {key: {name: row[name] for name in row if name not in _VOLATILE} for key, row in rows.items()}


@dataclass
class Evidence:
    """The student's requests, the service state and the set-up results, for an exercise check.

    The student sees the set-up's `values`, but not its `check_data`. `sign_ins` are the clients and scopes of the
    tokens that the student requested. `now` is the time of the exercise's clock. `state` is a session that is signed in
    to the fork as the student.
    """

    requests: list[RecordedRequest]
    state: Session
    values: Mapping[str, Any]
    check_data: Mapping[str, Any]
    receiver_cases: list[ReceiverCase]
    sign_ins: list[tuple[str, list[str]]]
    now: datetime

    # -- the requests

    def requests_of(self, *operations: str) -> list[RecordedRequest]:
        """Return the requests with one of these operations, such as "files.create", in the order of arrival."""
        return [request for request in self.requests if request.operation in operations]

    def succeeded(self, *operations: str) -> list[RecordedRequest]:
        """Return the requests with one of these operations that succeeded."""
        return [request for request in self.requests_of(*operations) if request.succeeded]

    def creations_of(self, file_id: str) -> list[RecordedRequest]:
        """Return the requests that may have created the file with this id.

        Such a request succeeded or was hit by a fault, and its response has the id of the file or no id.
        """
        requests = self.requests_of("files.create", "files.copy", "upload.session")
        possible = (request for request in requests if request.succeeded or request.fault)
        return [request for request in possible if request.response_json.get("id", file_id) == file_id]

    def updates_of(self, file_id: str) -> list[RecordedRequest]:
        """Return the requests that succeeded in changing the file with this id."""
        return [request for request in self.succeeded("files.update") if request.path.endswith(f"/{file_id}")]

    # -- the state of the service

    @cached_property
    def files(self) -> list[File]:
        """The files that the student can see, with all their fields, including those in the trash."""
        return list(list_files(self.state, fields="*"))

    @property
    def live_files(self) -> list[File]:
        """The files that are not in the trash."""
        return [file for file in self.files if not file.get("trashed")]

    def content(self, file_id: str) -> bytes:
        """Return the content of a file, which is empty for a native document."""
        url = self.state.url(file_path(self.state, file_id), {"alt": "media"})
        response = self.state.send(Request("GET", url), EXPORT)
        content = response.content()
        return content if response.status == 200 else b""

    def events(self) -> list[Event]:
        """Return the events of the primary calendar, without cancelled events. A recurring event is returned once."""
        events = list_events(self.state, "primary", {}, limit=2000)
        return [event for event in events if "recurringEventId" not in event and event.get("status") != "cancelled"]

    def instances(self, event_id: str) -> list[Event]:
        """Return the instances of a recurring event, without cancelled instances."""
        return list(list_instances(self.state, "primary", event_id, {}, limit=2000))


# -- requirements that several exercise checks share


def length(number: float, unit: str) -> str:
    """Return a number with three digits and its unit in the singular or plural.

    >>> length(1, "second"), length(1.25, "second"), length(39, "hour")
    ('1 second', '1.25 seconds', '39 hours')
    """
    return f"{number:.3g} {unit if number == 1 else f'{unit}s'}"


def require_any(evidence: Evidence, requests: list[RecordedRequest], does: str) -> list[RecordedRequest]:
    """Return the requests. Raises CheckFailedError if there is none. `does` is what one of them must do."""
    require(requests, f"The service received {quantity(len(evidence.requests), 'request')}, and none of them {does}")
    return requests


def require_file(evidence: Evidence, name: str, *, native: str = "") -> File:
    """Return the file with this name. Raises CheckFailedError unless the student created exactly one such file.

    The file must not be in the trash and not be shared. It must be a file with content, or a native document whose
    media type ends in `native`.
    """
    creates = evidence.requests_of("files.create", "files.copy", "upload.session")
    require_any(evidence, creates, "creates a file. Look at svc.exchanges(): an upload is a POST request.")
    live, named = evidence.live_files, [file for file in evidence.files if file["name"] == name]
    files = [file for file in named if file in live]
    seen = f"Its files are called {list_text(file['name'] for file in live)}." if live else "It has no files."
    why = " The file of this name is in the trash." if named else _unfinished_upload(evidence)
    require(files, f"The service has no file named {name!r}.{why} {seen}")
    require(len(files) == 1, f"The service has {len(files)} files called {name!r} instead of one. Look at svc.files().")
    file = files[0]
    was_created = evidence.creations_of(file["id"])
    require(was_created, f"The service has a file called {name!r}, but no recorded request created it.")
    media_type = file["mimeType"]
    kind = f"a {native} of the service" if native else "a file with content"
    right = media_type.endswith(f".{native}") if native else ".svc-apps." not in media_type
    require(right, f"The file {name!r} has the type {media_type}, which is not {kind}.")
    require(not file.get("shared"), f"The file {name!r} is shared, and the task does not ask you to share it.")
    return file


def _unfinished_upload(evidence: Evidence) -> str:
    """Return a sentence about the last upload session of the student if it was cancelled or not finished, else ""."""
    sessions = [request for request in evidence.succeeded("files.create") if request.upload_type == "resumable"]
    if not sessions:
        return ""
    session_id = sessions[-1].session_id
    requests = [request for request in evidence.requests_of("upload.session") if request.session_id == session_id]
    if any(request.method == "DELETE" for request in requests):
        return " The upload session was cancelled with DELETE."
    finished = any(request.status in (200, 201) for request in requests)
    return "" if finished else " An upload session was opened and not finished: it has no file before its last byte."


def read_object(evidence: Evidence, name: str, members: str) -> dict[str, Any]:
    """Return the JSON object in the file of this name. Raises CheckFailedError as `require_file`, and for others."""
    content = as_object(evidence.content(require_file(evidence, name)["id"]))
    require(content, f"{name} is not a JSON object {members}.")
    return content


def named_file(evidence: Evidence) -> File:
    """Return the file called given.name. Raises CheckFailedError as `require_file` does."""
    return require_file(evidence, evidence.values["name"])


def require_same_content(evidence: Evidence, file: File, content: bytes, owner: str = "given.content") -> None:
    """Raise CheckFailedError unless the file has this content. `owner` is the name of the content in the message."""
    stored = evidence.content(file["id"])
    seen = f"The content of the file {file['name']!r} ({quantity(len(stored), 'byte')})"
    require(stored == content, f"{seen} differs from {owner}. Compare them with svc.read.")


def require_no_updates(evidence: Evidence, file: File, advice: str) -> None:
    """Raise CheckFailedError if a request changed the file, or it is a copy. `advice` says what to do."""
    copied = any(request.operation == "files.copy" for request in evidence.creations_of(file["id"]))
    require(not copied, f"The file is a copy of another file: {advice}.")
    count = len(evidence.updates_of(file["id"]))
    seen = f"The file was changed after its creation ({quantity(count, 'update')})"
    require(not count, f"{seen}: {advice}. Look at svc.exchanges().")


_UPLOAD = ("files.create", "upload.session")
NAME = Part("a file called given.name", named_file, operations=_UPLOAD)

# The parts of every exercise that ends with a file `given.name` with the content `given.content`.
CONTENT = Part(
    "the content of given.content",
    lambda evidence: require_same_content(evidence, named_file(evidence), evidence.values["content"]),
    operations=_UPLOAD,
)
