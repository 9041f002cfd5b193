"""The way to a service as a protocol, and the shortest one: a call in the caller's own thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol, TypeAlias

from ...core.http.messages import Body, Disconnected, Request, Response, close_body

Handler: TypeAlias = Callable[[Request], Response]
"""A service: a function from a request to its response."""

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

BLOCK = 1024 * 1024
"""Bodies move in blocks of so many bytes, both ways."""


class TransportError(Exception):
    """No answer came, or not all of it; for the client's own use, people see core.errors.

    `sent` is False when surely nothing reached the service. `hopeless` says that trying again cannot
    help: no such host, a certificate that is not trusted, a proxy that refuses. `unreachable` says that no connection
    came about.
    """

    def __init__(self, message: str, *, sent: bool = True, hopeless: bool = False, unreachable: bool = False) -> None:
        super().__init__(message)
        self.sent = sent
        self.hopeless = hopeless
        self.unreachable = unreachable


class Transport(Protocol):
    """What carries a request to a service and its response back."""

    def send(self, request: Request) -> Response:
        """One exchange. Raises Broken, here or while the response's body is read."""

    def close(self) -> None:
        """Let connections go."""


class DirectTransport:
    """Calls the service as a function: no socket and no thread.

    >>> DirectTransport(lambda request: Response(204)).send(Request("GET", "https://x/")).status
    204
    """

    __slots__ = ("_handler",)

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def send(self, request: Request) -> Response:
        """Call the handler; Disconnected becomes Broken, the body's own errors stay what they are."""
        if isinstance(request.body, bytes):
            return self._answer(_with_length(request, len(request.body)))
        guard = GuardedBody(request.body)
        try:
            return self._answer(Request(request.method, request.url, request.headers, guard))
        finally:
            guard.release()

    def _answer(self, request: Request) -> Response:
        try:
            response = self._handler(request)
        except Disconnected as error:
            raise TransportError(str(error) or "the connection was cut") from error
        if isinstance(response.body, bytes):
            return response
        return Response(response.status, response.headers, _unbroken(response.body))

    def close(self) -> None:
        """Nothing is open."""


def _with_length(request: Request, length: int) -> Request:
    """The request with the length of its body, which an HTTP client adds where the method expects a body."""
    if request.method not in _WITH_BODY or "Content-Length" in request.headers:
        return request
    return replace(request, headers=request.headers.plus(("Content-Length", str(length))))


def _unbroken(blocks: Iterable[bytes]) -> Iterator[bytes]:
    with closing_body(blocks):
        try:
            yield from blocks
        except Disconnected as error:
            raise TransportError(str(error) or "the connection was cut") from error


@contextmanager
def closing_body(blocks: Iterable[bytes]) -> Iterator[None]:
    """Tell a streamed body that nobody reads it any further, as WSGI servers do."""
    try:
        yield
    finally:
        close_body(blocks)


class GuardedBody:
    """A body whose failure looks to the service like a client that went away.

    A source that cannot be read, or a person who presses stop, must not surface inside the service, which
    would take it for its own failure. So the service sees Disconnected, keeps what has come, and
    `release` lets the error out on the client's side.
    """

    __slots__ = ("_body", "_error")

    def __init__(self, body: Body) -> None:
        self._body = body
        self._error: BaseException | None = None

    def read(self, size: int = -1, /) -> bytes:
        """As the body inside. Raises Disconnected for whatever that raises."""
        try:
            return self._body.read(size)
        except BaseException as error:
            self._error = error
            raise Disconnected(str(error)) from error

    def release(self) -> None:
        """Raise what the body raised, if it did."""
        if self._error is not None:
            raise self._error
