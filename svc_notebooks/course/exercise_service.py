"""The class ExerciseService, which runs the service of an exercise, records its requests and checks the exercise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from ..client.files import list_files
from ..client.session import Session
from ..core.brand_names import NOWHERE
from ..core.http.messages import Headers, Request, Response
from ..core.policy import Policy
from ..server.store.clock import VirtualClock
from .definition import CheckFailedError, ExerciseDefinition, ExerciseOutcome, Verdict, require
from .evidence import Evidence, ExerciseExchange, RecordedRequest, RequestRecorder, join_records

if TYPE_CHECKING:
    from ..server.service import Service
    from .definition import Value

_MIB = 1024 * 1024
_POLICY = Policy(max_upload_size=32 * _MIB, storage_limit=128 * _MIB, journal_bytes=64 * _MIB)
"""The policy with size limits, so that a student's mistake does not fill the memory of a teacher's machine."""

_MAX_DELIVERIES = 5

RECEIVER_DOMAIN = "hooks.svc.example"
"""The domain of the receiving URLs that exercises provide."""


@dataclass(slots=True)
class ReceiverCase:
    """A genuine or forged message for a student's receiver, as a dict of headers.

    `outcome` is the status that the receiver returned, a description of its error, or None before the delivery.
    """

    message: dict[str, str]
    genuine: bool
    description: str
    outcome: int | str | None = None


def start_converter() -> None:
    """Start a process for conversions in exercises, so that the first conversion need not wait for it."""
    from ..server.files.conversion import converter_of

    with suppress(OSError):  # the conversion tries it again
        converter_of(_POLICY).start()


class ExerciseService:
    """The service of a begun exercise. `received` are the requests to the receivers of `receiver`."""

    def __init__(self, definition: ExerciseDefinition, seed: str) -> None:
        # Not at the top of the module: the process of a submission, whose exercises are elsewhere, does not need it.
        from ..server.service import open_service

        rng = Random(f"{seed}/{definition.name}")
        self.definition = definition
        self.clock = VirtualClock()
        self.service = open_service(seed=rng.getrandbits(32), clock=self.clock, policy=_POLICY, background=False)
        self.check_data: dict[str, Any] = {}
        self.receiver_cases: list[ReceiverCase] = []
        self.received: list[Request] = []
        self._deliveries = 0
        self._last_result: tuple[object, Verdict] | None = None
        self._reaction: Callable[[ExerciseExchange], None] | None = None
        self.token = self.service.sign_in()
        self.values: Mapping[str, Value] = definition.set_up(self, rng)
        self._file_ids = self._list_files()
        self._other_rows = set(range(len(self.service.journal())))
        self.recorder = RequestRecorder(self.service, self._react if self._reaction else None)

    # -- for the set-up

    def session(self, user: str | None = None) -> Session:
        """Return a session for the set-up, signed in as the student or as `user`. Its requests are not recorded."""
        token = self.token if user is None else self.service.sign_in(user)
        return Session(NOWHERE, token, handler=self.service.handle, clock=self.clock, sleep=self.clock.wait)

    def receiver(self, name: str) -> str:
        """Open a receiver that returns 200 and adds each request to `received`. Return its address."""

        def receive(request: Request) -> Response:
            self.received.append(request)
            return Response(200, Headers([("Content-Length", "0")]))

        address = f"https://{RECEIVER_DOMAIN}/{name}"
        self.service.register_domain(RECEIVER_DOMAIN)
        self.service.receive_at(address, receive)
        return address

    def react(self, reaction: Callable[[ExerciseExchange], None]) -> None:
        """Call `reaction` after each request of the student. Its own requests are those of another program."""
        self._reaction = reaction

    def _react(self, exchange: ExerciseExchange) -> None:
        if self._reaction:
            before = len(self.service.journal())
            self._reaction(exchange)
            self._other_rows.update(range(before, len(self.service.journal())))

    # -- for a student's code

    def sign_in(self, client: str, scopes: list[str] | None) -> str:
        """Return an access token of the student for a client and scopes. Raises ValueError for an unknown scope."""
        return self.service.sign_in(client=client, scopes=scopes)

    def messages(self) -> list[dict[str, str]]:
        """Return the headers of each message for the student's receiver. Raises ValueError after five calls."""
        self._deliveries += 1
        if self._deliveries > _MAX_DELIVERIES:
            raise ValueError(
                f"the messages were delivered {_MAX_DELIVERIES} times already; call begin() for new messages"
            )
        for case in self.receiver_cases:
            case.outcome = None
        return [dict(case.message) for case in self.receiver_cases]

    def record_outcome(self, number: int, outcome: int | str) -> None:
        """Record the receiver's status or error description for a message. Only the first outcome counts."""
        if self.receiver_cases[number].outcome is None:
            self.receiver_cases[number].outcome = outcome

    # -- for a check

    def result(self) -> Verdict:
        """Check the exercise and return the result, which is "not yet" if the check itself raises an error.

        If nothing has happened since the last check, its result is returned again.
        """
        outcomes = [case.outcome for case in self.receiver_cases]
        state = len(self.service.journal()), len(self.recorder.records), self.clock.now(), outcomes
        if self._last_result is None or self._last_result[0] != state:
            self._last_result = state, self._new_result()
        return self._last_result[1]

    def _new_result(self) -> Verdict:
        try:
            return self._check()
        except CheckFailedError as missing:
            return Verdict(ExerciseOutcome.NOT_YET, str(missing))
        except Exception as error:
            return Verdict(ExerciseOutcome.NOT_YET, _UNREADABLE.format(kind=type(error).__name__))

    def _check(self) -> Verdict:
        require(not self.recorder.over_limit, _TOO_MANY_REQUESTS)
        rows = [row for n, row in enumerate(self.service.journal()) if n not in self._other_rows]
        records = self.recorder.records
        counts = {"notes": _request_count(len(records)), "rows": _request_count(len(rows))}
        require(len(rows) == len(records), _JOURNAL_CHANGED.format(**counts))
        requests = [join_records(record, row) for record, row in zip(records, rows, strict=True)]
        if not requests and all(case.outcome is None for case in self.receiver_cases):
            with closing(self.service.fork()) as fork:
                changed = self._list_files(fork) != self._file_ids
            message = f"The service has received no request from you yet.{_CHANGED_OUTSIDE if changed else ''}"
            return Verdict(ExerciseOutcome.NOT_TRIED, message)
        if self.definition.by_hand and not all(request.by_hand for request in requests):
            raise CheckFailedError(_NOT_BY_HAND)
        with closing(self.service.fork()) as fork:
            evidence = Evidence(requests, fork, self.values, self.check_data, self.receiver_cases, self.clock.now())
            message = self.definition.check(evidence)
        self._require_other_files_unchanged(requests)
        return Verdict(ExerciseOutcome.CORRECT, message)

    def _require_other_files_unchanged(self, requests: list[RecordedRequest]) -> None:
        """Raise CheckFailedError if a request changed a file of the set-up in a way that the task does not ask for."""
        for request in requests:
            of_set_up = request.operation == "files.emptyTrash" or not self._file_ids.isdisjoint(
                request.path.split("/")
            )
            allowed = request.operation in (*_READING, *self.definition.changes)
            require(
                not of_set_up or allowed or request.method == "GET" or (request.status or 0) >= 300,
                _OTHER_FILE_CHANGED.format(method=request.method, path=request.path),
            )

    def _list_files(self, service: Service | None = None) -> set[str]:
        service = service or self.service
        session = Session(NOWHERE, service.sign_in(), handler=service.handle, clock=service.clock)
        return {file["id"] for file in list_files(session, fields="id")}

    def close(self) -> None:
        self.service.close()


def _request_count(count: int) -> str:
    return f"{count} request{'' if count == 1 else 's'}"


_READING = ("files.copy", "files.watch")
"""The operations that send POST requests to a file, and do not change it."""

_OTHER_FILE_CHANGED = (
    "A request changed a file that the task does not ask you to change: {method} {path}. begin() starts again."
)
_TOO_MANY_REQUESTS = "The service saw more than 2,000 requests and cut the connection. Is there an endless loop?"
_NOT_BY_HAND = (
    "The service saw requests of the client of svc_notebooks, which waits, queries and retries by itself. In this"
    " exercise you write the requests yourself: send them with given.send()."
)
_JOURNAL_CHANGED = (
    "The journal of the service has {rows}, but the service received {notes}. The journal was changed, or the service"
    " was called without HTTP, so the journal proves nothing. begin() starts again."
)
_UNREADABLE = (
    "The check failed with an error of its own ({kind}). begin() starts again; if that does not help, show it to your"
    " teacher."
)
_CHANGED_OUTSIDE = " But its files have changed without a request. Only requests count."
