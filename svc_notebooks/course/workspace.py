"""The workspace of a student during an exercise, with its values, a session, a clock, and `send` for requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..client.transport.in_process import TransportError
from ..core.http.messages import Headers, Request

if TYPE_CHECKING:
    from ..client.session import Session
    from .environment import ExerciseEnvironment

_MAX_WIDTH = 60


@dataclass(frozen=True, slots=True)
class ExerciseResponse:
    """The response of the service, with `status`, `headers` (names ignore case) and `body`."""

    status: int
    headers: Headers
    body: bytes

    def json(self) -> Any:
        """Parse the body as JSON. Raises ValueError."""
        import json

        return json.loads(self.body)


class ExerciseClock:
    """The clock of an exercise, which changes only by `advance`."""

    def __init__(self, environment: ExerciseEnvironment) -> None:
        self._environment = environment

    def now(self) -> datetime:
        """Return the time of the clock."""
        return self._environment.now()

    def advance(self, duration: str | float | timedelta) -> datetime:
        """Move the clock forward by seconds or a text like "50m", and return its time. Raises ValueError."""
        return self._environment.advance(duration)


class Given:
    """The `session`, `clock` and values of an exercise. `print(given)` lists the values.

    >>> from svc_notebooks import course
    >>> given = course.exercise("upload-with-a-name", seed=0).begin()
    given.name       'ponds-760.csv'
    given.content    b'pond,species,count\\nmill,moorhen,75\\nabbey,... (1,878 bytes)
    >>> given.send("GET", "/storage/v3/files").json()["files"]
    []
    """

    def __init__(self, environment: ExerciseEnvironment) -> None:
        self._environment = environment
        self._values = dict(environment.values)
        self.session: Session = environment.session()
        self.clock = ExerciseClock(environment)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"this exercise has no {name!r}; it has {', '.join([*values, 'session', 'clock'])}")

    def __repr__(self) -> str:
        width = max(map(len, self._values), default=0)
        return "\n".join(f"given.{name:{width}}    {_short(value)}" for name, value in self._values.items())

    def send(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> ExerciseResponse:
        """Send one request as given, with your token and the length of the body, and no other header.

        Args:
            method: GET, POST, PUT ...
            url: A whole address, or a path of the service ("/upload/storage/v3/files?uploadType=media").
            headers: Header fields by their names.
            body: Bytes.

        Raises:
            ConnectionError: The connection broke before the whole response; the request may have been processed or not.
        """
        address = f"{self.session.base_url}{url}" if url.startswith("/") else url
        fields = Headers({"User-Agent": "by hand", **(headers or {})}).plus(("Content-Length", str(len(body))))
        try:
            response = self.session.send(Request(method, address, fields, bytes(body)))
            return ExerciseResponse(response.status, response.headers, response.content())
        except TransportError as error:
            raise ConnectionError(str(error)) from None

    def sign_in(self, program: str, scopes: Sequence[str]) -> Session:
        """Return a session for one of your programs, with these scopes and no others.

        Raises:
            ValueError: There is no such scope, or `scopes` is not a list with at least one.
        """
        if not isinstance(scopes, list | tuple) or not scopes:
            raise ValueError('scopes must be a list of at least one scope, such as ["storage.metadata.readonly"]')
        return self._environment.sign_in(program, list(scopes))

    def deliver_to(self, handle: Callable[[Headers], object]) -> None:
        """Call your receiver with every message. `handle(headers)` returns a status such as 200 or 403.

        Raises ValueError after too many calls; `begin()` creates new messages.
        """
        messages = self._environment.messages()
        for number, message in enumerate(messages):
            self._environment.record_outcome(number, _receiver_outcome(handle, message))
        print(f"{len(messages)} messages were delivered")


def _receiver_outcome(handle: Callable[[Headers], object], message: Mapping[str, str]) -> int | str:
    """Return the status that the handler returned, or a description of its error."""
    try:
        status = handle(Headers(message))
    except Exception as error:
        return f"raised {type(error).__name__}"
    if isinstance(status, bool) or not isinstance(status, int):
        return f"returned a {type(status).__name__} instead of a status"
    return status


def _short(value: object) -> str:
    size = f" ({len(value):,} bytes)" if isinstance(value, bytes) else ""
    if isinstance(value, bytes) and not value[:_MAX_WIDTH].isascii():
        return f"{len(value):,} bytes"
    text = repr(value)
    return (text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 15]}...") + size
