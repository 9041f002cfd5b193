"""The class Exercise, which students use to read the task, take hints, and begin, check and reset an exercise."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from ..client.session import Session, make_current, reset_current
from ..client.transport.bounds import EXPORT
from ..client.transport.in_process import TransportError
from ..core.brand_names import IN_PROCESS_URL
from ..core.errors.errors import BadRequest
from ..core.errors.public_calls import public_methods
from ..core.http.messages import JSON, Headers, Request
from ..core.time_arguments import Duration, parse_duration
from ..core.times import parse_time
from .definition import GRADER, KEY, SEED, ExerciseDefinition, ExerciseOutcome, Value, Verdict, list_text
from .exercise_service import ExerciseService

if TYPE_CHECKING:
    from ..client.transport.http import HttpTransport


_MAX_WIDTH = 60
_FAILED_CHECKS = 2


@dataclass(frozen=True, slots=True)
class ExerciseResponse:
    """A response with `status` (int), `headers` (names are not case-sensitive) and `body` (bytes)."""

    status: int
    headers: Headers
    body: bytes

    def json(self) -> Any:
        """Parse the body as JSON and return the value. Raises ValueError if the body is not JSON."""
        return json.loads(self.body)


class ExerciseClock:
    """The virtual clock of an exercise. Only `advance` and waits of the client move the clock."""

    def __init__(self, environment: ExerciseEnvironment) -> None:
        self._environment = environment

    def now(self) -> datetime:
        """Return the current time of the exercise's clock as an aware datetime."""
        return self._environment.now()

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move the clock forward by a number of seconds or by a text such as "50m", and return the new time.

        Raises ValueError if the duration is not valid.
        """
        return self._environment.advance(duration)


class Given:
    """The values of an exercise as attributes, with a `session` and a `clock`. `print(given)` lists the values.

    >>> from svc_notebooks import course
    >>> given = course.exercise("upload-with-a-name", seed=0).begin()
    given.name       'ponds-760.csv'
    given.content    b'pond,species,count\\nmill,moorhen,75\\nabbey,... (1,878 bytes)
    >>> given.send("GET", "/storage/v3/files").json()["files"]
    []
    """

    def __init__(self, environment: ExerciseEnvironment) -> None:
        self._environment = environment
        self._values = {name: copy(value) for name, value in environment.values.items()}
        self.session: Session = environment.session()
        self.clock = ExerciseClock(environment)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        known = ", ".join([*values, "session", "clock"])
        raise AttributeError(f"this exercise has no attribute {name!r}; the attributes are {known}")

    def __repr__(self) -> str:
        width = max(map(len, self._values), default=0)
        return "\n".join(f"given.{name:{width}}    {_short(value)}" for name, value in self._values.items())

    def send(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> ExerciseResponse:
        """Send one HTTP request and return the response. The request is not retried.

        Only your token, Content-Length and a User-Agent are added to the headers.

        Args:
            method: The HTTP method, such as GET, POST or PUT.
            url: A complete URL, or a path of the service such as "/upload/storage/v3/files?uploadType=media".
            headers: A dict from header names to values.
            body: The body as bytes.

        Returns:
            An `ExerciseResponse` with `status`, `headers`, `body` and `json()`. A status of 400 or more is no error.

        Raises:
            TypeError: The body is not bytes.
            ConnectionError: The connection broke before the response was complete. The service may have processed the
                request.
        """
        if not isinstance(body, bytes | bytearray | memoryview):
            raise TypeError(f"body must be bytes, such as json.dumps(value).encode(), not {type(body).__name__}")
        address = f"{self.session.base_url}{url}" if url.startswith("/") else url
        fields = Headers({"User-Agent": "by hand", **(headers or {})}).plus(("Content-Length", str(len(body))))
        try:
            self.session.throttle.until = 0.0  # only the student waits
            response = self.session.send(Request(method, address, fields, bytes(body)), EXPORT)
            return ExerciseResponse(response.status, response.headers, response.content())
        except TransportError as error:
            raise ConnectionError(str(error)) from None

    def chance(self) -> float:
        """Return a random number from 0 to 1, a new one in each call. The check of an exercise knows the numbers."""
        return self.session.random.random()

    def sign_in(self, program: str, scopes: Sequence[str]) -> Session:
        """Sign in with one of your programs, and return a new session that has only these scopes.

        Args:
            program: The id of the program's OAuth client.
            scopes: A list of scopes, such as ["storage.metadata.readonly"].

        Raises:
            ValueError: A scope does not exist, or `scopes` is not a list with at least one scope.
        """
        if not isinstance(scopes, list | tuple) or not scopes:
            raise ValueError('scopes must be a list of at least one scope, such as ["storage.metadata.readonly"]')
        return self._environment.sign_in(program, list(scopes))

    def deliver_to(self, handle: Callable[[Headers], object]) -> None:
        """Call your receiver function once for each message of the exercise.

        Args:
            handle: A function that is called with the headers of a message, and returns a status such as 200 or 403.

        Raises:
            ValueError: The messages were delivered too often. Call `begin()`, which creates new messages.
        """
        messages = self._environment.messages()
        for number, message in enumerate(messages):
            self._environment.record_outcome(number, _receiver_outcome(handle, message))
        print(f"{len(messages)} messages were delivered")


def _receiver_outcome(handle: Callable[[Headers], object], message: Mapping[str, str]) -> int | str:
    """Return the status that a receiver function returns for a message, or a text that describes its error."""
    try:
        status = handle(Headers(message))
    except Exception as error:
        return f"raised {type(error).__name__}"
    if isinstance(status, bool) or not isinstance(status, int):
        return f"returned a {type(status).__name__} instead of a status"
    return status


def _short(value: object) -> str:
    if isinstance(value, list | dict):
        return f"{type(value).__name__} of {list_text(value, 2)}"
    if not isinstance(value, bytes):
        return repr(value)
    size, text = f"{len(value):,} bytes", repr(value)
    if not value[:_MAX_WIDTH].isascii():
        return size
    return f"{text if len(text) <= _MAX_WIDTH else f'{text[: _MAX_WIDTH - 15]}...'} ({size})"


# The session that was current before the first exercise. It becomes current again when an exercise ends.
_outer_sessions: dict[str, Session | None] = {}


class SolutionClosedError(Exception):
    """Raised by `Exercise.solution()` before two checks have said "not yet"."""


class Said(str):
    """A str that a notebook displays as Markdown, and that other front ends display as plain text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    _repr_markdown_ = __repr__


@public_methods
class Exercise:
    """An exercise of the course, with `task`, `hint()`, `begin()`, `check()`, `solution()` and `reset()`.

    `points` are those of the best check.

    >>> from svc_notebooks import course
    >>> named = course.exercise("upload-with-a-name", seed=1)
    >>> named.check()
    not tried: Begin first: given = course.exercise("upload-with-a-name").begin()
    """

    def __init__(self, definition: ExerciseDefinition, seed: str | None = None) -> None:
        self._definition = definition
        self._seed = seed
        self._environment: ExerciseEnvironment | None = None
        self._session: Session | None = None
        self._last_result: Verdict | None = None
        self.hints_taken = self.failed_checks = self.points = 0
        # The outcome of the last `check()`. Once the outcome is CORRECT, further checks do not change it.
        self.outcome = ExerciseOutcome.NOT_TRIED

    @property
    def name(self) -> str:
        """The name of the exercise."""
        return self._definition.name

    @property
    def task(self) -> Said:
        """The text of the task as Markdown."""
        return Said(f"**Task:** {self._definition.text.task}")

    def __repr__(self) -> str:
        return f"<Exercise {self.name}: {self.outcome}>"

    def _repr_markdown_(self) -> str:
        return self.task

    def begin(self) -> Given:
        """Start a new service for the exercise, make its session the current session, and return the values.

        Earlier requests no longer count, so `begin()` is the first line of an answer.

        Returns:
            A `Given` object with the values as attributes, `session`, `clock` and `send()`.
        """
        self._end()
        if GRADER in os.environ:
            self._environment = RemoteEnvironment(self._definition, os.environ[GRADER], os.environ.get(KEY, ""))
        else:
            default = os.environ.get(SEED) or os.environ.get("JUPYTERHUB_USER") or "0"
            self._environment = LocalEnvironment(self._definition, default if self._seed is None else self._seed)
        workspace = Given(self._environment)
        self._session = workspace.session
        self._session.owner = _outer_sessions
        previous = make_current(self._session)
        if previous is None or previous.owner is not _outer_sessions:
            _outer_sessions["outside"] = previous
        print(workspace)
        return workspace

    def check(self) -> Verdict:
        """Check the requests since `begin()`, and return the outcome (correct, not yet, not tried) with a message."""
        if self._environment is None:
            message = f'Begin first: given = course.exercise("{self.name}").begin()'
            return Verdict(ExerciseOutcome.NOT_TRIED, message)
        result = self._environment.result()
        self.failed_checks += result.outcome is ExerciseOutcome.NOT_YET and result is not self._last_result
        self._last_result, self.points = result, max(self.points, result.points)
        if self.outcome is not ExerciseOutcome.CORRECT:
            self.outcome = result.outcome
        return result

    def hint(self) -> Said:
        """Return the next hint as text. If all hints were taken, return the last hint again."""
        hints = self._definition.text.hints
        self.hints_taken = min(self.hints_taken + 1, len(hints))
        return Said(f"**Hint {self.hints_taken} of {len(hints)}.** {hints[self.hints_taken - 1]}")

    def solution(self) -> Said:
        """Return the solution with the reason for each line, and the answers to the questions of the notebook.

        Raises:
            SolutionClosedError: Fewer than two checks of different attempts were "not yet", and none was "correct".
        """
        if GRADER in os.environ:
            raise SolutionClosedError("there are no solutions during grading")
        if self.failed_checks < _FAILED_CHECKS and self.outcome is not ExerciseOutcome.CORRECT:
            left = f"{_FAILED_CHECKS - self.failed_checks} more; hint() shows the next hint"
            raise SolutionClosedError(f"the solution opens after two checks that say 'not yet'; {left}")
        return Said(self._definition.text.solution)

    def reset(self) -> None:
        """End the exercise, and reset its outcome, its points and the hints taken. Notebooks are not changed."""
        self._end()
        self.hints_taken = self.failed_checks = self.points = 0
        self.outcome = ExerciseOutcome.NOT_TRIED

    def _end(self) -> None:
        if self._environment is not None and self._session is not None:
            reset_current(self._session, _outer_sessions.get("outside"))
            self._environment.close()
        self._environment = self._session = None


# -- the way from the code of a student to the service of an exercise, in this kernel or in the process of the teacher


# The prefix of the paths of the grading service. All other paths belong to the services of the exercises.
COURSE_PATH = "/_course"


class LocalEnvironment:
    """The way from a student's code to an exercise service in this kernel.

    `session` and `sign_in` return sessions that are signed in as the student, `sign_in` for an OAuth client and scopes.
    `advance` moves the exercise's clock and returns the new time. `messages` are the headers of the messages for the
    student's receiver, and `record_outcome` records the status that the receiver returned, or an error description.
    """

    def __init__(self, definition: ExerciseDefinition, seed: str) -> None:
        self.exercise = ExerciseService(definition, seed)
        self.values: Mapping[str, Value] = self.exercise.values
        self.now = self.exercise.clock.now
        self.advance = self.exercise.clock.advance
        self.messages = self.exercise.messages
        self.record_outcome = self.exercise.record_outcome
        self.result = self.exercise.result
        self.close = self.exercise.close

    def session(self) -> Session:
        return self._session(self.exercise.token)

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        return self._session(self.exercise.sign_in(client, scopes))

    def _session(self, token: str) -> Session:
        clock, random = self.exercise.clock, Random(self.exercise.chance_seed)
        handler = self.exercise.recorder.handle
        return Session(IN_PROCESS_URL, token, handler=handler, clock=clock, sleep=clock.wait, random=random)


class RemoteEnvironment:
    """The way to an exercise service in the teacher's process, with the methods of LocalEnvironment."""

    def __init__(self, definition: ExerciseDefinition, base_url: str, key: str) -> None:
        self._name, self._base_url = definition.name, base_url
        self._grader = Session(base_url, key, transport=_connections())
        response = self._call("begin")
        self.values: Mapping[str, Value] = values_from_json(response["given"].replace(IN_PROCESS_URL, base_url))
        self._token, self._chance_seed = str(response["token"]), int(response["chance"])
        self._now = parse_time(str(response["now"]))

    def _call(self, action: str, **fields: JSON) -> dict[str, Any]:
        return self._grader.call("POST", f"{COURSE_PATH}/{action}", body={"exercise": self._name, **fields})

    def session(self) -> Session:
        return self._session(self._token)

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        try:
            return self._session(str(self._call("sign_in", client=client, scopes=list(scopes or []))["token"]))
        except BadRequest as error:
            raise ValueError(error.message) from None

    def _session(self, token: str) -> Session:
        random = Random(self._chance_seed)
        return Session(self._base_url, token, clock=self, sleep=self._sleep, random=random, transport=_connections())

    def _sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def now(self) -> datetime:
        """Return the last known time of the exercise's clock, which only `advance` changes."""
        return self._now

    def advance(self, duration: Duration) -> datetime:
        seconds = parse_duration(duration).total_seconds()
        self._now = parse_time(str(self._call("advance", seconds=seconds)["now"]))
        return self._now

    def messages(self) -> list[dict[str, str]]:
        messages: list[dict[str, str]] = self._call("messages")["messages"]
        return messages

    def record_outcome(self, number: int, outcome: int | str) -> None:
        self._call("answered", number=number, answer=outcome)

    def result(self) -> Verdict:
        return Verdict.from_json(self._call("verdict"))

    def close(self) -> None:
        """Keep the connections for other exercises. The grading service keeps the requests and results."""


ExerciseEnvironment: TypeAlias = LocalEnvironment | RemoteEnvironment


@cache
def _connections() -> HttpTransport:
    """Return the connections to the grading service, which all exercises of this process share."""
    from ..client.transport.http import HttpTransport

    return HttpTransport()


def values_as_json(values: Mapping[str, Value]) -> str:
    """Return the values of an exercise as JSON text. Bytes become an object with base64 text.

    >>> values_from_json(values_as_json({"files": {"a.txt": b"duck"}, "name": "duck"}))
    {'files': {'a.txt': b'duck'}, 'name': 'duck'}
    """
    return json.dumps(values, default=lambda content: {"base64": b64encode(content).decode()})


def values_from_json(text: str) -> dict[str, Value]:
    """Return the values of an exercise from the text of `values_as_json`."""
    values: dict[str, Value] = json.loads(
        text, object_hook=lambda each: b64decode(each["base64"]) if "base64" in each else each
    )
    return values
