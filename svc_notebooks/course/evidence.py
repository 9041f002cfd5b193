"""The evidence for a check: the requests of a student, and the state of the service.

The journal of the service and the request recorder both have a record of each request; they are joined row by
row. The state is read in a fork, so that looking changes nothing: neither the journal, nor a limit, nor the
clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..client.files import file_path, file_permissions, list_files, pages
from ..client.session import USER_AGENT, Session
from ..core.brand_names import NOWHERE
from ..core.clock import parse_time
from ..core.http.messages import Request, segment
from .request_recorder import as_object

if TYPE_CHECKING:
    from ..core.http.messages import Headers, JSONObject, Query
    from ..core.resources.files import File, Permission
    from ..server.service import Service
    from .definition import Value
    from .exercise_service import ReceiverCase
    from .request_recorder import ExerciseExchange

_FILE_FIELDS = "id,name,mimeType,size,description,starred,trashed,parents,properties"


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request as the service saw it: a row of its journal, and a record of the request recorder."""

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
        """Whether it was answered with success, and the answer arrived."""
        return self.answered and self.status is not None and self.status < 300

    @property
    def upload_type(self) -> str | None:
        """media, multipart, resumable; None: it was no upload."""
        return self.query.get("uploadType") if self.path.startswith("/upload") else None

    @property
    def content_range(self) -> str:
        """The Content-Range of a part of an upload."""
        return self.headers.get("Content-Range", "")

    @property
    def is_status_query(self) -> bool:
        """Whether it is a status query: a part of an upload that has no bytes."""
        return self.operation == "upload.session" and self.content_range.replace(" ", "").startswith("bytes*/")

    @property
    def by_hand(self) -> bool:
        """Whether the client of this package had no part in it."""
        return self.headers.get("User-Agent") != USER_AGENT

    @property
    def request_json(self) -> dict[str, Any]:
        """What was asked, where that is a JSON object."""
        return as_object(self.request_body)

    @property
    def response_json(self) -> dict[str, Any]:
        """What was answered, where that is a JSON object."""
        return as_object(self.response_body)


def recorded_request(exchange: ExerciseExchange, row: Mapping[str, Any]) -> RecordedRequest:
    """Join the two records of one request."""
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
    """The requests, the state and the set-up: `values` for the student, `check_data` for checks only."""

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
        """The requests of some operations, in their order."""
        return [request for request in self.requests if request.operation in operations]

    def creations_of(self, file_id: str) -> list[RecordedRequest]:
        """The requests that could have made a file: those whose answer names it, or got lost, or names nothing."""
        return [
            request
            for request in self.requests_of("files.create", "files.copy", "upload.session")
            if request.response_json.get("id", file_id) == file_id and (request.succeeded or request.fault)
        ]

    # -- the state of the service

    def files(self, q: str | None = None) -> list[File]:
        """The first user's files that match."""
        return list(list_files(self._state, q=q, fields=_FILE_FIELDS))

    def file(self, file_id: str) -> dict[str, Any]:
        """One file of the first user. Raises SvcError."""
        return self._call(file_path(self._state, file_id), fields=_FILE_FIELDS)

    def files_named(self, name: str) -> list[File]:
        """The files of this name that are not in the trash."""
        return [file for file in self.files() if file["name"] == name and not file.get("trashed")]

    def content(self, file_id: str) -> bytes:
        """The bytes of a file; of a native document there are none."""
        url = self._state.url(file_path(self._state, file_id), {"alt": "media"})
        response = self._state.send(Request("GET", url))
        content = response.content()
        return content if response.status == 200 else b""

    def permissions(self, file_id: str) -> list[Permission]:
        """Who has which role on a file."""
        return file_permissions(self._state, file_id)

    def events(self) -> list[dict[str, Any]]:
        """The events of the first user's calendar: a series is one, whatever became of its instances."""
        events = self._events(self._calendar(), {})
        return [event for event in events if "recurringEventId" not in event and event.get("status") != "cancelled"]

    def instances(self, event_id: str) -> list[dict[str, Any]]:
        """The instances of a series, the cancelled ones among them."""
        return list(self._events(f"{self._calendar()}/{segment(event_id)}/instances", {"showDeleted": True}))

    def _calendar(self) -> str:
        return self._state.names.calendar_path("calendars", "primary", "events")

    def _events(self, path: str, query: dict[str, object]) -> Iterator[dict[str, Any]]:
        return pages(self._state, path, query, "items", limit=2000)

    def _call(self, path: str, **query: object) -> JSONObject:
        return self._state.call("GET", path, query=query)
