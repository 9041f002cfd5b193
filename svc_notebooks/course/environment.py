"""Connects a student's code to an exercise service in this kernel, or in the teacher's process during grading."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from ..client.session import Session
from ..core.brand_names import NOWHERE
from ..core.clock import parse_time
from ..core.durations import Duration, parse_duration
from .definition import Verdict
from .exercise_service import ExerciseService

if TYPE_CHECKING:
    from ..client.transport.http import HttpTransport
    from ..core.http.messages import JSON
    from .definition import ExerciseDefinition, Value

COURSE_PATH = "/_course"
"""The prefix of the paths of the grading service. All other paths belong to the services of the exercises."""


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
        return Session(NOWHERE, token, handler=handler, clock=clock, sleep=clock.wait, random=random)


class RemoteEnvironment:
    """The way to an exercise service in the teacher's process, with the methods of LocalEnvironment."""

    def __init__(self, definition: ExerciseDefinition, base_url: str, key: str) -> None:
        self._name, self._base_url = definition.name, base_url
        self._grader = Session(base_url, key, transport=_connections())
        response = self._call("begin")
        self.values: Mapping[str, Value] = values_from_json(response["given"].replace(NOWHERE, base_url))
        self._token, self._chance_seed = str(response["token"]), int(response["chance"])
        self._now = parse_time(str(response["now"]))

    def _call(self, action: str, **fields: JSON) -> dict[str, Any]:
        return self._grader.call("POST", f"{COURSE_PATH}/{action}", body={"exercise": self._name, **fields})

    def session(self) -> Session:
        return self._session(self._token)

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        from ..core.errors.errors import BadRequest

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
