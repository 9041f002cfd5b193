"""What a check may look at: the requests of a student, and what the service holds now.

Of the requests there are two accounts, the journal of the service and the notes of a witness; they are put together
row by row. The state is read in a fork, so that looking changes nothing: neither the journal, nor a limit, nor the
clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..client.files import file_path, file_permissions, list_files, pages
from ..client.session import USER_AGENT, Session
from ..core.clock import parse_time
from ..core.http.messages import Request, segment
from ..core.names import NOWHERE
from .request_recorder import as_object

if TYPE_CHECKING:
    from ..core.http.messages import Headers, JSONObject, Query
    from ..server.service import Service
    from .definition import Value
    from .exercise_service import Trial
    from .request_recorder import Note

_FILE = "id,name,mimeType,size,description,starred,trashed,parents,properties"


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as the service saw it: what its journal says, and what a witness noted."""

    n: int
    time: datetime
    operation: str | None
    method: str
    path: str
    query: Query
    headers: Mapping[str, str]
    asked: bytes
    status: int | None
    answered: bool
    told: Headers
    answer: bytes
    client: str | None
    user: str | None
    scopes: frozenset[str]
    received: int
    sent: int
    before: int | None
    after: int | None
    fault: str | None

    @property
    def worked(self) -> bool:
        """Whether it was answered with success, and the answer arrived."""
        return self.answered and self.status is not None and self.status < 300

    @property
    def upload_type(self) -> str | None:
        """media, multipart, resumable; None: it was no upload."""
        return self.query.get("uploadType") if self.path.startswith("/upload") else None

    @property
    def content_range(self) -> str:
        """What a part of an upload said about its place."""
        return self.headers.get("Content-Range", "")

    @property
    def asks_where(self) -> bool:
        """Whether it is a status query: a part of an upload that has no bytes."""
        return self.operation == "upload.session" and self.content_range.replace(" ", "").startswith("bytes*/")

    @property
    def by_hand(self) -> bool:
        """Whether the client of this package had no part in it."""
        return self.headers.get("User-Agent") != USER_AGENT

    @property
    def body(self) -> dict[str, Any]:
        """What was asked, where that is a JSON object."""
        return as_object(self.asked)

    @property
    def result(self) -> dict[str, Any]:
        """What was answered, where that is a JSON object."""
        return as_object(self.answer)


def seen(note: Note, row: Mapping[str, Any]) -> Seen:
    """Both accounts of one request."""
    return Seen(
        n=row["n"],
        time=parse_time(row["time"]),
        operation=row["operation"],
        method=note.method,
        path=note.path,
        query=note.query,
        headers=note.headers,
        asked=bytes(note.asked),
        status=row["status"],
        answered=note.status is not None,
        told=note.told,
        answer=note.answer,
        client=row["client"],
        user=row["user"],
        scopes=frozenset(row["scopes"]),
        received=row["received"],
        sent=row["sent"],
        before=row["offset_before"],
        after=row["offset_after"],
        fault=row["fault"],
    )


class Evidence:
    """The requests, the state, and what was laid out; `given` is what the student has, `kept` what only checks know."""

    def __init__(
        self,
        requests: list[Seen],
        state: Service,
        given: Mapping[str, Value],
        kept: Mapping[str, Any],
        trials: list[Trial],
        now: datetime,
    ) -> None:
        self.requests = requests
        self.given: Mapping[str, Any] = given
        self.kept = kept
        self.trials = trials
        self.now = now
        self._state = Session(
            NOWHERE, state.sign_in(), handler=state.handle, clock=state.clock, sleep=state.clock.wait, random=None
        )

    # -- what was asked

    def of(self, *operations: str) -> list[Seen]:
        """The requests of some operations, in their order."""
        return [one for one in self.requests if one.operation in operations]

    def made(self, file_id: str) -> list[Seen]:
        """The requests that could have made a file: those whose answer names it, or got lost, or names nothing."""
        return [
            one
            for one in self.of("files.create", "files.copy", "upload.session")
            if one.result.get("id", file_id) == file_id and (one.worked or one.fault)
        ]

    # -- what there is

    def files(self, q: str | None = None) -> list[dict[str, Any]]:
        """The first user's files that match."""
        return list(list_files(self._state, q=q, fields=_FILE))

    def file(self, file_id: str) -> dict[str, Any]:
        """One file of the first user. Raises SvcError."""
        return self._call(file_path(self._state, file_id), fields=_FILE)

    def named(self, name: str) -> list[dict[str, Any]]:
        """The files of this name that are not in the trash."""
        return [one for one in self.files() if one["name"] == name and not one.get("trashed")]

    def content(self, file_id: str) -> bytes:
        """The bytes of a file; of a native document there are none."""
        url = self._state.url(file_path(self._state, file_id), {"alt": "media"})
        response = self._state.send(Request("GET", url))
        content = response.content()
        return content if response.status == 200 else b""

    def permissions(self, file_id: str) -> list[JSONObject]:
        """Who has which role on a file."""
        return file_permissions(self._state, file_id)

    def events(self) -> list[dict[str, Any]]:
        """The events of the first user's calendar: a series is one, whatever became of its instances."""
        every = self._events(self._calendar(), {})
        return [one for one in every if "recurringEventId" not in one and one.get("status") != "cancelled"]

    def instances(self, event_id: str) -> list[dict[str, Any]]:
        """The instances of a series, the cancelled ones among them."""
        return list(self._events(f"{self._calendar()}/{segment(event_id)}/instances", {"showDeleted": True}))

    def _calendar(self) -> str:
        return self._state.names.calendar_path("calendars", "primary", "events")

    def _events(self, path: str, query: dict[str, object]) -> Iterator[dict[str, Any]]:
        return pages(self._state, path, query, "items", limit=2000)

    def _call(self, path: str, **query: object) -> JSONObject:
        return self._state.call("GET", path, query=query)
