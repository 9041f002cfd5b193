"""Where a student's code meets an exercise: in this kernel, or, while a teacher grades, at the teacher's process."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from ..client.session import Session
from ..core.clock import parse_duration, parse_time
from ..core.names import NOWHERE
from .exercise_service import ExerciseService
from .verdict import ExerciseOutcome, Verdict

if TYPE_CHECKING:
    from ..core.http.messages import JSON
    from .definition import Definition, Value

COURSE = "/_course"
"""The paths of a teacher's process that are no service's."""


class ExerciseEnvironment(Protocol):
    """One exercise that was begun."""

    @property
    def given(self) -> Mapping[str, Value]:
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

    def answered(self, number: int, answer: int | str) -> None:
        """What the receiver did with one of them."""

    def verdict(self) -> Verdict:
        """What became of it so far."""

    def close(self) -> None:
        """It is over."""


class LocalEnvironment:
    """An exercise in this kernel: the service is a function of it."""

    def __init__(self, definition: Definition, seed: str) -> None:
        self.world = ExerciseService(definition, seed)

    @property
    def given(self) -> Mapping[str, Value]:
        """What the student has, by name."""
        return self.world.given

    def session(self) -> Session:
        """A session of the student."""
        return self._session(self.world.token)

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        """A session of a program of the student."""
        return self._session(self.world.sign_in(client, scopes))

    def _session(self, token: str) -> Session:
        from random import Random

        clock = self.world.clock
        handler = self.world.witness.handle
        return Session(NOWHERE, token, handler=handler, clock=clock, sleep=clock.wait, random=Random(0))

    def now(self) -> datetime:
        """What the clock shows."""
        return self.world.clock.now()

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move the clock on."""
        return self.world.clock.advance(duration)

    def messages(self) -> list[dict[str, str]]:
        """The headers of the messages for a receiver."""
        return self.world.messages()

    def answered(self, number: int, answer: int | str) -> None:
        """What the receiver did with one of them."""
        self.world.answered(number, answer)

    def verdict(self) -> Verdict:
        """What became of it so far."""
        return self.world.verdict()

    def close(self) -> None:
        """It is over."""
        self.world.close()


class RemoteEnvironment:
    """An exercise at a judge: this process has its address and a key, and nothing to prove anything with."""

    def __init__(self, definition: Definition, base_url: str, key: str) -> None:
        self._name, self._base_url = definition.name, base_url
        self._line = Session(base_url, key)
        begun = self._ask("begin")
        self.given: Mapping[str, Value] = {name: self._here(unpacked(value)) for name, value in begun["given"].items()}
        self._token = str(begun["token"])
        self._now = parse_time(str(begun["now"]))

    def _here(self, value: Value) -> Value:
        """Addresses of the service lead to the judge."""
        return value.replace(NOWHERE, self._base_url) if isinstance(value, str) else value

    def _ask(self, what: str, **more: JSON) -> dict[str, Any]:
        return self._line.call("POST", f"{COURSE}/{what}", body={"exercise": self._name, **more})

    def session(self) -> Session:
        """A session of the student."""
        return self._session(self._token)

    def sign_in(self, client: str, scopes: list[str] | None) -> Session:
        """A session of a program of the student."""
        from ..core.errors.errors import BadRequest

        try:
            return self._session(str(self._ask("sign_in", client=client, scopes=list(scopes or []))["token"]))
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
        self._now = parse_time(str(self._ask("advance", seconds=seconds)["now"]))
        return self._now

    def messages(self) -> list[dict[str, str]]:
        """The headers of the messages for a receiver."""
        found: list[dict[str, str]] = self._ask("messages")["messages"]
        return found

    def answered(self, number: int, answer: int | str) -> None:
        """What the receiver did with one of them."""
        self._ask("answered", number=number, answer=answer)

    def verdict(self) -> Verdict:
        """What became of it so far."""
        found = self._ask("verdict")
        return Verdict(ExerciseOutcome(found["outcome"]), str(found["message"]))

    def close(self) -> None:
        """It is over here; the judge keeps what it has seen."""
        self._line.close()


def packed(value: Value) -> JSON:
    """A value that a student is given, as JSON.

    >>> unpacked(packed(b"duck")), packed("duck")
    (b'duck', 'duck')
    """
    if isinstance(value, bytes):
        return {"base64": b64encode(value).decode()}
    return list(value) if isinstance(value, list) else value


def unpacked(value: Any) -> Value:
    """The value that `packed` was given."""
    return b64decode(value["base64"]) if isinstance(value, dict) else value
