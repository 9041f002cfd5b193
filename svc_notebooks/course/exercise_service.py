"""The service of one exercise: its own, with what was laid out, and with a witness before it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from ..client.files import list_files
from ..client.session import Session
from ..core.http.messages import Headers, Request, Response
from ..core.names import NOWHERE
from ..core.policy import Policy
from ..server.service import open_service
from ..server.storage.clock import VirtualClock
from .definition import Definition
from .evidence import Evidence, Seen, seen
from .request_recorder import RequestRecorder
from .verdict import ExerciseOutcome, NotYet, Verdict, need

if TYPE_CHECKING:
    from ..server.service import Service
    from .definition import Value

_MIB = 1024 * 1024
_POLICY = Policy(max_upload_size=32 * _MIB, storage_limit=128 * _MIB, journal_bytes=64 * _MIB)
"""A student's mistake shall not fill the memory of a teacher's machine."""

_MOST_DELIVERED = 5

HOOKS = "hooks.svc.example"
"""The domain of the receivers that exercises bring along."""


@dataclass(slots=True)
class Trial:
    """One message for a student's receiver, whether it is genuine, and what the receiver did with it."""

    message: dict[str, str]
    genuine: bool
    about: str
    answer: int | str | None = None


class ExerciseService:
    """Everything of one exercise that a student's code meets, and `verdict` on what it did."""

    def __init__(self, definition: Definition, seed: str) -> None:
        dice = Random(f"{seed}/{definition.name}")
        self.definition = definition
        self.clock = VirtualClock()
        self.service = open_service(seed=dice.getrandbits(32), clock=self.clock, policy=_POLICY, background=False)
        self.kept: dict[str, Any] = {}
        self.trials: list[Trial] = []
        self.received: list[Request] = []
        self._delivered = 0
        self.token = self.service.sign_in()
        self.given: Mapping[str, Value] = definition.lay_out(self, dice)
        self._files = self._count()
        self._arranged = len(self.service.journal())
        self.witness = RequestRecorder(self.service)

    # -- for laying out

    def session(self, user: str | None = None) -> Session:
        """A session that the witness does not see."""
        token = self.token if user is None else self.service.sign_in(user)
        return Session(NOWHERE, token, handler=self.service.handle, clock=self.clock, sleep=self.clock.wait)

    def receiver(self, name: str) -> str:
        """An address whose messages this world takes, and always answers 200."""
        address = f"https://{HOOKS}/{name}"
        self.service.register_domain(HOOKS)
        self.service.receive_at(address, self._take)
        return address

    def _take(self, request: Request) -> Response:
        self.received.append(request)
        return Response(200, Headers([("Content-Length", "0")]))

    # -- for a student's code

    def sign_in(self, client: str, scopes: list[str] | None) -> str:
        """A token. Raises ValueError for a scope that does not exist."""
        return self.service.sign_in(client=client, scopes=scopes)

    def messages(self) -> list[dict[str, str]]:
        """The headers of the messages that a receiver of the student's shall judge, each of them once.

        Raises ValueError where they came so often that somebody may be guessing.
        """
        self._delivered += 1
        if self._delivered > _MOST_DELIVERED:
            raise ValueError(f"these messages came {_MOST_DELIVERED} times already; begin() brings new ones")
        for one in self.trials:
            one.answer = None
        return [dict(one.message) for one in self.trials]

    def answered(self, number: int, answer: int | str) -> None:
        """What the student's receiver did with a message: its status, or the name of its exception."""
        if self.trials[number].answer is None:
            self.trials[number].answer = answer

    # -- for a check

    def verdict(self) -> Verdict:
        """What became of the exercise so far."""
        try:
            return self._judged()
        except NotYet as missing:
            return Verdict(ExerciseOutcome.NOT_YET, str(missing))
        except Exception as error:
            return Verdict(ExerciseOutcome.NOT_YET, _UNREADABLE.format(kind=type(error).__name__))

    def _judged(self) -> Verdict:
        need(not self.witness.flooded, _FLOODED)
        requests = self._requests()
        if not requests and all(one.answer is None for one in self.trials):
            return Verdict(ExerciseOutcome.NOT_TRIED, f"The service saw no request of yours yet.{self._beside()}")
        if self.definition.by_hand and not all(one.by_hand for one in requests):
            raise NotYet(_NOT_BY_HAND)
        with closing(self.service.fork()) as state:
            evidence = Evidence(requests, state, self.given, self.kept, self.trials, self.clock.now())
            return Verdict(ExerciseOutcome.CORRECT, self.definition.check(evidence))

    def _requests(self) -> list[Seen]:
        rows = self.service.journal()[self._arranged :]
        notes = self.witness.notes
        need(len(rows) == len(notes), _TOUCHED.format(notes=_times(len(notes)), rows=_times(len(rows))))
        return [seen(note, row) for note, row in zip(notes, rows, strict=True)]

    def _beside(self) -> str:
        """Something is there that nobody asked for."""
        with closing(self.service.fork()) as state:
            return _BESIDE if self._count(state) != self._files else ""

    def _count(self, service: Service | None = None) -> int:
        service = service or self.service
        session = Session(NOWHERE, service.sign_in(), handler=service.handle, clock=service.clock)
        return sum(1 for _ in list_files(session, fields="id"))

    def close(self) -> None:
        """Let go of the service."""
        self.service.close()


def _times(count: int) -> str:
    return f"{count} request{'' if count == 1 else 's'}"


_FLOODED = "The service saw more than 2,000 requests and cut the line. Is there a loop without an end?"
_NOT_BY_HAND = (
    "The service saw requests of svc's own client, which waits, asks and repeats by itself. In this exercise the"
    " requests are yours to write: send them with given.send()."
)
_TOUCHED = (
    "The journal of the service has {rows}, and {notes} came in. It was changed, or somebody went round the wire; so it"
    " proves nothing. begin() starts again."
)
_UNREADABLE = (
    "The check found a state that it cannot read ({kind}). begin() starts again; if it comes back, show it to"
    " whoever teaches you."
)
_BESIDE = " And yet its files are not as they were: something went round the wire. What counts is what was asked."
