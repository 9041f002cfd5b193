"""The environments of an exercise: in this kernel, or, while a teacher grades, in the teacher's process."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from ..client.session import Session
from ..core.brand_names import NOWHERE
from ..core.clock import parse_duration, parse_time
from .check_result import ExerciseOutcome, Verdict
from .exercise_service import ExerciseService

if TYPE_CHECKING:
    from ..core.http.messages import JSON
    from .definition import ExerciseDefinition, Value

COURSE_PATH = "/_course"
"""The paths of a teacher's process that are no service's."""


class ExerciseEnvironment(Protocol):
    """One exercise that was begun."""

    @property
    def values(self) -> Mapping[str, Value]:
        """What the student has, by name."""

    def session(self) -> Session:
        """A session of the student."""

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        """A session of a program of the student. Raises ValueError for a scope that does not exist."""

    def now(self) -> datetime:
        """What the clock shows."""

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move the clock on. Raises ValueError."""

    def messages(self) -> list[dict[str, str]]:
        """The headers of the messages for a receiver."""

    def record_outcome(self, number: int, outcome: int | str) -> None:
        """What the receiver did with one of them."""

    def result(self) -> Verdict:
        """What became of it so far."""

    def close(self) -> None:
        """It is over."""


class LocalEnvironment:
    """An exercise in this kernel: the service is a function of it."""

    def __init__(self, definition: ExerciseDefinition, seed: str) -> None:
        self.exercise = ExerciseService(definition, seed)

    @property
    def values(self) -> Mapping[str, Value]:
        """What the student has, by name."""
        return self.exercise.values

    def session(self) -> Session:
        """A session of the student."""
        return self._session(self.exercise.token)

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        """A session of a program of the student."""
        return self._session(self.exercise.sign_in(client, scopes))

    def _session(self, token: str) -> Session:
        from random import Random

        clock = self.exercise.clock
        handler = self.exercise.recorder.handle
        return Session(NOWHERE, token, handler=handler, clock=clock, sleep=clock.wait, random=Random(0))

    def now(self) -> datetime:
        """What the clock shows."""
        return self.exercise.clock.now()

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move the clock on."""
        return self.exercise.clock.advance(duration)

    def messages(self) -> list[dict[str, str]]:
        """The headers of the messages for a receiver."""
        return self.exercise.messages()

    def record_outcome(self, number: int, outcome: int | str) -> None:
        """What the receiver did with one of them."""
        self.exercise.record_outcome(number, outcome)

    def result(self) -> Verdict:
        """What became of it so far."""
        return self.exercise.result()

    def close(self) -> None:
        """It is over."""
        self.exercise.close()


class RemoteEnvironment:
    """An exercise at a grading service: this process has only its address and a key."""

    def __init__(self, definition: ExerciseDefinition, base_url: str, key: str) -> None:
        self._name, self._base_url = definition.name, base_url
        self._grader = Session(base_url, key)
        response = self._call("begin")
        self.values: Mapping[str, Value] = {
            name: self._with_base_url(from_json(value)) for name, value in response["given"].items()
        }
        self._token = str(response["token"])
        self._now = parse_time(str(response["now"]))

    def _with_base_url(self, value: Value) -> Value:
        """Replace the address of the service by that of the grading service."""
        return value.replace(NOWHERE, self._base_url) if isinstance(value, str) else value

    def _call(self, action: str, **fields: JSON) -> dict[str, Any]:
        return self._grader.call("POST", f"{COURSE_PATH}/{action}", body={"exercise": self._name, **fields})

    def session(self) -> Session:
        """A session of the student."""
        return self._session(self._token)

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        """A session of a program of the student."""
        from ..core.errors.errors import BadRequest

        try:
            return self._session(str(self._call("sign_in", client=client, scopes=list(scopes or []))["token"]))
        except BadRequest as error:
            raise ValueError(error.message) from None

    def _session(self, token: str) -> Session:
        return Session(self._base_url, token, clock=self, sleep=self._wait)

    def _wait(self, seconds: float) -> None:
        self.advance(seconds)

    def now(self) -> datetime:
        """What the clock shows: nobody else moves it."""
        return self._now

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move the clock on."""
        seconds = parse_duration(duration).total_seconds()
        self._now = parse_time(str(self._call("advance", seconds=seconds)["now"]))
        return self._now

    def messages(self) -> list[dict[str, str]]:
        """The headers of the messages for a receiver."""
        messages: list[dict[str, str]] = self._call("messages")["messages"]
        return messages

    def record_outcome(self, number: int, outcome: int | str) -> None:
        """What the receiver did with one of them."""
        self._call("answered", number=number, answer=outcome)

    def result(self) -> Verdict:
        """What became of it so far."""
        response = self._call("verdict")
        return Verdict(ExerciseOutcome(response["outcome"]), str(response["message"]))

    def close(self) -> None:
        """It is over here; the grading service keeps its records."""
        self._grader.close()


def to_json(value: Value) -> JSON:
    """A value that a student is given, as JSON.

    >>> from_json(to_json(b"duck")), to_json("duck")
    (b'duck', 'duck')
    """
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    return list(value) if isinstance(value, list) else value


def from_json(value: Any) -> Value:
    """The value that `packed` was given."""
    return b64decode(value["base64"]) if isinstance(value, dict) else value
