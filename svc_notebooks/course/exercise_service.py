"""The class ExerciseService, which runs the service of an exercise, records its requests and checks the exercise."""

from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from mimetypes import guess_type
from random import Random
from typing import Any

from ..client.session import Session
from ..core.brand_names import IN_PROCESS_URL
from ..core.events.fields import EVENT_FIELDS
from ..core.files.fields import FILE_FIELDS
from ..core.http.messages import Headers, Request, Response
from ..core.policy import Policy
from ..core.resources.field import Write
from ..core.times import parse_time
from ..server.store.clock import VirtualClock
from .definition import (
    CheckFailedError,
    ExerciseDefinition,
    ExerciseOutcome,
    Part,
    PartResult,
    Value,
    Verdict,
    list_text,
    quantity,
    require,
)
from .evidence import Evidence, ExerciseExchange, RecordedRequest, RequestRecorder, join_records, resources

_MIB = 1024 * 1024
# The policy with size limits, so that a student's mistake does not fill the memory of a teacher's machine.
_POLICY = Policy(max_upload_size=32 * _MIB, storage_limit=128 * _MIB, journal_bytes=64 * _MIB)

_MAX_DELIVERIES = 5
# The statuses for a file that exists already and for a cancelled upload, which say what the student wanted.
_EXPECTED = (409, 499)

# The domain of the receiving URLs that exercises provide.
RECEIVER_DOMAIN = "hooks.svc.example"


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
    """The service of a begun exercise. `received` are the requests to the receivers of `receiver`.

    `chance_seed` is the seed of the random numbers that the exercise provides to the student.
    """

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
        self.sign_ins: list[tuple[str, list[str]]] = []
        self._deliveries = 0
        self._last_result: tuple[object, Verdict] | None = None
        self._reaction: Callable[[ExerciseExchange], None] | None = None
        self._is_reacting = False
        self._before: dict[str, dict[str, Any]] = {}  # the files and events before the first request of a reaction
        # A function of the set-up that returns the request that the service gets in place of the student's.
        self.alter: Callable[[Request], Request] | None = None
        self.token = self.service.sign_in()
        self.values: Mapping[str, Value] = definition.set_up(self, rng)
        self.check_data["chance"] = self.chance_seed = rng.getrandbits(32)
        self._expected, self._begun = resources(self.session()), self.clock.now()
        self._other_rows = set(range(len(self.service.journal())))
        self.recorder = RequestRecorder(self.service, self._react if self._reaction else None, self.alter)

    # -- for the set-up

    def session(self, user: str | None = None) -> Session:
        """Return a session for the set-up, signed in as the student or as `user`. Its requests are not recorded."""
        token = self.token if user is None else self.service.sign_in(user)
        return Session(IN_PROCESS_URL, token, handler=self._handle_other, clock=self.clock, sleep=self.clock.wait)

    def _handle_other(self, request: Request) -> Response:
        """Return the response to a request of the set-up, or of another program that reacts to the student."""
        if self._is_reacting:
            self._is_reacting = False  # before `resources`, which sends requests
            self._before = resources(self.session())
        return self.service.handle(request)

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
        """Call `reaction` after each request of the student. Its own requests are those of another program.

        What it changes is expected in the end, like the files and events of the set-up.
        """
        self._reaction = reaction

    def _react(self, exchange: ExerciseExchange) -> None:
        if self._reaction:
            rows, self._is_reacting = len(self.service.journal()), True
            self._reaction(exchange)
            if not self._is_reacting:
                old, new = self._before, resources(self.session())
                for key in old.keys() - new.keys():
                    self._expected.pop(key, None)
                for key, row in new.items():
                    changed = {name for name in row if row[name] != old.get(key, {}).get(name)}
                    if changed:
                        self._expected[key] = self._expected.get(key, {}) | {name: row[name] for name in changed}
            self._is_reacting = False
            self._other_rows.update(range(rows, len(self.service.journal())))

    # -- for a student's code

    def sign_in(self, client: str, scopes: list[str] | None) -> str:
        """Return an access token of the student for a client and scopes. Raises ValueError for an unknown scope."""
        token = self.service.sign_in(client=client, scopes=scopes)
        self.sign_ins.append((client, scopes or []))
        return token

    def messages(self) -> list[dict[str, str]]:
        """Return the headers of each message for the student's receiver. Raises ValueError after five calls."""
        self._deliveries += 1
        if self._deliveries > _MAX_DELIVERIES:
            problem = f"the messages were delivered {_MAX_DELIVERIES} times already"
            raise ValueError(f"{problem}; call begin() for new messages")
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
        parts = (*self.definition.parts, Part("nothing else is changed", self._require_others_unchanged))
        unmet = tuple(PartResult(part.name, part.points, False) for part in parts)
        try:
            requests, now = self._requests(), self.clock.now()
            with closing(self.service.fork()) as fork:
                clock, token = fork.clock, fork.sign_in()
                state = Session(IN_PROCESS_URL, token, handler=fork.handle, clock=clock, sleep=clock.wait, random=None)
                values, data, cases = self.values, self.check_data, self.receiver_cases
                evidence = Evidence(requests, state, values, data, cases, self.sign_ins, now)
                if requests or any(case.outcome is not None for case in cases):
                    return _check_parts(parts, evidence)
                changed = resources(evidence.state) != self._expected
            message = f"The service has received no request from you yet.{_CHANGED_OUTSIDE if changed else ''}"
            return Verdict(ExerciseOutcome.NOT_TRIED, message)
        except CheckFailedError as failure:
            return Verdict(ExerciseOutcome.NOT_YET, str(failure), unmet)
        except Exception as error:
            return Verdict(ExerciseOutcome.NOT_YET, _UNREADABLE.format(kind=type(error).__name__), unmet)

    def _requests(self) -> list[RecordedRequest]:
        """Return the student's requests. Raises CheckFailedError if they prove nothing."""
        require(not self.recorder.over_limit, _TOO_MANY_REQUESTS)
        rows = [row for n, row in enumerate(self.service.journal()) if n not in self._other_rows]
        records = self.recorder.records
        require(not any(record.path.startswith("/batch/") for record in records), _BATCH)
        counts = {"notes": quantity(len(records), "request"), "rows": quantity(len(rows), "request")}
        require(len(rows) == len(records), _JOURNAL_CHANGED.format(**counts))
        requests = [join_records(record, row) for record, row in zip(records, rows, strict=True)]
        changes = [request for request in requests if request.method != "GET" or request.is_download]  # no mere looks
        by_package = [request for request in changes if not request.by_hand]
        require(not (self.definition.by_hand and by_package), _NOT_BY_HAND)
        return requests

    def _require_others_unchanged(self, evidence: Evidence) -> None:
        """Raise CheckFailedError if something has changed, or is new, that no part of the task asks for."""
        now = resources(evidence.state)
        for key, before in self._expected.items():
            name = _title(before)
            require(key in now, _GONE.format(name=name))
            fields = sorted(before.keys() | now[key].keys())
            changed = [each for each in fields if before.get(each) != now[key].get(each)]
            others = [each for each in changed if each not in self.definition.changes]
            require(not others, _CHANGED.format(name=name, fields=" and ".join(map(repr, others[:3]))))
        new = {key: row for key, row in now.items() if key not in self._expected}
        created = [row for row in new.values() if row["kind"].endswith(("#file", "#event"))]
        others = [_title(row) for row in new.values() if row not in created]
        require(not others, _NEW.format(names=list_text(others)))
        counted = {row["id"] for row in created}
        asks_for_copies = any("files.copy" in part.operations for part in self.definition.parts)
        copies = evidence.succeeded("files.copy") if asks_for_copies else []
        sources = {request.path.split("/")[-2] for request in copies}
        names = [
            _title(row)
            for row in created
            if row.get("recurringEventId") not in counted  # an instance of a new series
            and (row["id"] not in sources or ".svc-apps." in row["mimeType"])  # content that a copy has converted
        ]
        most = self.definition.creates
        count = most if isinstance(most, int) else len(evidence.values[most])
        require(len(names) <= count, _TOO_MANY.format(names=list_text(names), expected=count or "none"))
        for row in created:
            set_fields = _fields_set(row, self._begun, evidence.now)
            fields = [field for field in set_fields if field not in self.definition.sets]
            require(not fields, _SET.format(name=_title(row), fields=" and ".join(map(repr, fields[:3]))))

    def close(self) -> None:
        self.service.close()


def _title(row: Mapping[str, Any]) -> str:
    return str(row.get("name") or row.get("summary") or row["id"])


_DEFAULTS: Mapping[str, object] = {
    "reminders": {"useDefault": True}, "status": "confirmed", "eventType": "default", "writersCanShare": True,
}  # fmt: skip
# The writable fields that have a value in every new file or event, or that the parts of an exercise check.
_FREE = frozenset({
    "id", "name", "mimeType", "createdTime", "originalFilename", "parents", "fileExtension", "contentHints",
    "summary", "start", "end", "recurrence", "iCalUID", "originalStartTime", "recurringEventId",
})  # fmt: skip
_WRITABLE = {field.name for field in FILE_FIELDS if field.write is not Write.NEVER} | {
    field.path for field in EVENT_FIELDS if field.writable and "." not in field.path
}
_UNUSUAL_TYPES = ("image/", "audio/", "video/", "font/", "model/")


def _fields_set(row: Mapping[str, Any], begun: datetime, now: datetime) -> list[str]:
    """Return the fields that the creator of a new file or event has set to an unusual value."""
    defaults = {**_DEFAULTS, "status": "cancelled"} if row.get("status") == "cancelled" else _DEFAULTS
    checked = (_WRITABLE - _FREE) | {"shared"}
    fields = sorted(name for name in row if name in checked and row[name] and row[name] != defaults.get(name))
    fields += [name for name, value in _DEFAULTS.items() if value is True and row.get(name) is False]
    media_type = row.get("mimeType", "")
    usual = (guess_type(row.get("name", ""))[0] or "").partition("/")[0]
    if media_type.startswith(_UNUSUAL_TYPES) and media_type.partition("/")[0] != usual:
        fields.append("mimeType")
    if "createdTime" in row and not begun <= parse_time(row["createdTime"]) <= now:
        fields.append("createdTime")
    return fields


def _check_parts(parts: tuple[Part, ...], evidence: Evidence) -> Verdict:
    """Check all parts. The message is that of the first part that is not met, or else the sentences of the parts."""
    results, failures, sentences = list[PartResult](), list[str](), list[str]()
    for part in parts:
        failure = None
        try:
            sentence = part.check(evidence)
            sentences += [sentence] if isinstance(sentence, str) else []
        except CheckFailedError as error:
            last = next(iter(evidence.requests_of(*part.operations)[-1:]), None)
            blamed = last and last.refused and last.status not in _EXPECTED
            failure = f"{last.refusal.rstrip('.')}. {error}" if last and blamed else str(error)
            failures.append(failure)
        results.append(PartResult(part.name, part.points, failure is None))
    if not any(result.met for result in results[:-1]):  # who has done nothing has changed nothing
        results[-1] = replace(results[-1], met=False)
    if failures:
        return Verdict(ExerciseOutcome.NOT_YET, failures[0], tuple(results))
    return Verdict(ExerciseOutcome.CORRECT, " ".join(sentences), tuple(results))


_GONE = "The task does not ask you to delete {name!r}. begin() starts again."
_CHANGED = "The task does not ask you to change {fields} of {name!r}. Change it back, or start again with begin()."
_NEW = "The task does not ask you to create {names}. Delete it, or start again with begin()."
_TOO_MANY = "The new files and events are {names}, and the task asks for {expected}. Delete the others. Files in the trash count, too."
_SET = "The task does not ask you to set {fields} of {name!r}. Remove the value, or start again with begin()."
_TOO_MANY_REQUESTS = "The service saw more than 2,000 requests and cut the connection. Is there an endless loop?"
_NOT_BY_HAND = "The service saw requests of the client of svc_notebooks, which waits, queries and retries by itself. In this exercise you write the requests yourself: send them with given.send()."
_BATCH = "A batch does not show its requests one by one. Send single requests in this exercise. begin() starts again."
_JOURNAL_CHANGED = "The journal of the service has {rows}, but the service received {notes}. The journal was changed, or the service was called without HTTP, so the journal proves nothing. begin() starts again."
_UNREADABLE = "The check failed with an error of its own ({kind}). begin() starts again; if that does not help, show it to your teacher."
_CHANGED_OUTSIDE = " But its files have changed without a request. Only requests count."
