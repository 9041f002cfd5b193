"""The service of one exercise: its set-up, its request recorder, and the result of its check."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from ..client.files import list_files
from ..client.session import Session
from ..core.brand_names import NOWHERE
from ..core.http.messages import Headers, Request, Response
from ..core.policy import Policy
from ..server.service import open_service
from ..server.storage.clock import VirtualClock
from .check_result import CheckFailedError, ExerciseOutcome, Verdict, require
from .definition import ExerciseDefinition
from .evidence import Evidence, RecordedRequest, recorded_request
from .request_recorder import RequestRecorder

if TYPE_CHECKING:
    from ..server.service import Service
    from .definition import Value

_MIB = 1024 * 1024
_POLICY = Policy(max_upload_size=32 * _MIB, storage_limit=128 * _MIB, journal_bytes=64 * _MIB)
"""A student's mistake shall not fill the memory of a teacher's machine."""

_MAX_DELIVERIES = 5

RECEIVER_DOMAIN = "hooks.svc.example"
"""The domain of the receivers that exercises bring along."""


@dataclass(slots=True)
class ReceiverCase:
    """One message for a student's receiver, whether it is genuine, and what the receiver did with it."""

    message: dict[str, str]
    genuine: bool
    description: str
    outcome: int | str | None = None


class ExerciseService:
    """Everything of one exercise that a student's code meets, and the `result` of its check."""

    def __init__(self, definition: ExerciseDefinition, seed: str) -> None:
        rng = Random(f"{seed}/{definition.name}")
        self.definition = definition
        self.clock = VirtualClock()
        self.service = open_service(seed=rng.getrandbits(32), clock=self.clock, policy=_POLICY, background=False)
        self.check_data: dict[str, Any] = {}
        self.receiver_cases: list[ReceiverCase] = []
        self.received: list[Request] = []
        self._deliveries = 0
        self.token = self.service.sign_in()
        self.values: Mapping[str, Value] = definition.set_up(self, rng)
        self._file_count = self._count_files()
        self._set_up_requests = len(self.service.journal())
        self.recorder = RequestRecorder(self.service)

    # -- for the set-up

    def session(self, user: str | None = None) -> Session:
        """A session that is not recorded."""
        token = self.token if user is None else self.service.sign_in(user)
        return Session(NOWHERE, token, handler=self.service.handle, clock=self.clock, sleep=self.clock.wait)

    def receiver(self, name: str) -> str:
        """The address of a receiver of this service, which always answers 200."""
        address = f"https://{RECEIVER_DOMAIN}/{name}"
        self.service.register_domain(RECEIVER_DOMAIN)
        self.service.receive_at(address, self._receive)
        return address

    def _receive(self, request: Request) -> Response:
        self.received.append(request)
        return Response(200, Headers([("Content-Length", "0")]))

    # -- for a student's code

    def sign_in(self, client: str, scopes: list[str] | None) -> str:
        """A token. Raises ValueError for a scope that does not exist."""
        return self.service.sign_in(client=client, scopes=scopes)

    def messages(self) -> list[dict[str, str]]:
        """The headers of the messages that a receiver of the student's shall answer, each of them once.

        Raises ValueError where they came so often that somebody may be guessing.
        """
        self._deliveries += 1
        if self._deliveries > _MAX_DELIVERIES:
            raise ValueError(f"these messages came {_MAX_DELIVERIES} times already; begin() brings new ones")
        for case in self.receiver_cases:
            case.outcome = None
        return [dict(case.message) for case in self.receiver_cases]

    def record_outcome(self, number: int, outcome: int | str) -> None:
        """What the student's receiver did with a message: its status, or the name of its exception."""
        if self.receiver_cases[number].outcome is None:
            self.receiver_cases[number].outcome = outcome

    # -- for a check

    def result(self) -> Verdict:
        """What became of the exercise so far."""
        try:
            return self._check()
        except CheckFailedError as missing:
            return Verdict(ExerciseOutcome.NOT_YET, str(missing))
        except Exception as error:
            return Verdict(ExerciseOutcome.NOT_YET, _UNREADABLE.format(kind=type(error).__name__))

    def _check(self) -> Verdict:
        require(not self.recorder.over_limit, _TOO_MANY_REQUESTS)
        requests = self._requests()
        if not requests and all(case.outcome is None for case in self.receiver_cases):
            return Verdict(
                ExerciseOutcome.NOT_TRIED, f"The service saw no request of yours yet.{self._changes_outside()}"
            )
        if self.definition.by_hand and not all(request.by_hand for request in requests):
            raise CheckFailedError(_NOT_BY_HAND)
        with closing(self.service.fork()) as fork:
            evidence = Evidence(requests, fork, self.values, self.check_data, self.receiver_cases, self.clock.now())
            return Verdict(ExerciseOutcome.CORRECT, self.definition.check(evidence))

    def _requests(self) -> list[RecordedRequest]:
        rows = self.service.journal()[self._set_up_requests :]
        exchanges = self.recorder.records
        require(
            len(rows) == len(exchanges),
            _JOURNAL_CHANGED.format(notes=_request_count(len(exchanges)), rows=_request_count(len(rows))),
        )
        return [recorded_request(note, row) for note, row in zip(exchanges, rows, strict=True)]

    def _changes_outside(self) -> str:
        """Something is there that nobody asked for."""
        with closing(self.service.fork()) as fork:
            return _CHANGED_OUTSIDE if self._count_files(fork) != self._file_count else ""

    def _count_files(self, service: Service | None = None) -> int:
        service = service or self.service
        session = Session(NOWHERE, service.sign_in(), handler=service.handle, clock=service.clock)
        return sum(1 for _ in list_files(session, fields="id"))

    def close(self) -> None:
        """Let go of the service."""
        self.service.close()


def _request_count(count: int) -> str:
    return f"{count} request{'' if count == 1 else 's'}"


_TOO_MANY_REQUESTS = "The service saw more than 2,000 requests and cut the line. Is there a loop without an end?"
_NOT_BY_HAND = (
    "The service saw requests of svc's own client, which waits, asks and repeats by itself. In this exercise the"
    " requests are yours to write: send them with given.send()."
)
_JOURNAL_CHANGED = (
    "The journal of the service has {rows}, and {notes} came in. It was changed, or somebody went round the wire; so it"
    " proves nothing. begin() starts again."
)
_UNREADABLE = (
    "The check found a state that it cannot read ({kind}). begin() starts again; if it comes back, show it to"
    " whoever teaches you."
)
_CHANGED_OUTSIDE = (
    " And yet its files are not as they were: something went round the wire. What counts is what was asked."
)
