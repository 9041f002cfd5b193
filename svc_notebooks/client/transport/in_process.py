"""The protocol of a transport, and the transport that calls a service in the caller's own thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from ...core.http.messages import Body, Disconnected, Request, Response, close_body

Handler: TypeAlias = Callable[[Request], Response]
"""A service: a function from a request to its response."""

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

BLOCK = 1024 * 1024
"""Bodies move in blocks of so many bytes, both ways."""


class TransportError(Exception):
    """A missing or incomplete response, inside the client. Users get the errors of core.errors.

    `sent` is False when nothing reached the service. `hopeless` means that another try cannot help: no such host, a
    certificate that is not trusted, a proxy that refuses. `unreachable` means that there was no connection.
    """

    def __init__(self, message: str, *, sent: bool = True, hopeless: bool = False, unreachable: bool = False) -> None:
        super().__init__(message)
        self.sent = sent
        self.hopeless = hopeless
        self.unreachable = unreachable


class Transport(Protocol):
    """Sends requests to a service."""

    def send(self, request: Request) -> Response:
        """Send a request and return the response. Raises TransportError, here or while the body is read."""

    def close(self) -> None:
        """Close the connections."""


class DirectTransport:
    """Calls the service as a function, without a socket or thread.

    >>> DirectTransport(lambda request: Response(204)).send(Request("GET", "https://x/")).status
    204
    """

    __slots__ = ("_handler",)

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def send(self, request: Request) -> Response:
        """Call the handler. Raises TransportError where the handler raises Disconnected."""
        body, headers = request.body, request.headers
        if isinstance(body, bytes) and request.method in _WITH_BODY and "Content-Length" not in headers:
            # An HTTP client adds the length of a body where the method expects one.
            request = replace(request, headers=headers.plus(("Content-Length", str(len(body)))))
        try:
            response = self._handler(request)
        except Disconnected as error:
            raise TransportError(str(error) or "the connection was cut") from error
        if isinstance(response.body, bytes):
            return response
        return Response(response.status, response.headers, _read_blocks(response.body))

    def close(self) -> None:
        """Do nothing, because nothing is open."""


def _read_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    with closing_body(blocks):
        try:
            yield from blocks
        except Disconnected as error:
            raise TransportError(str(error) or "the connection was cut") from error


@contextmanager
def closing_body(blocks: Iterable[bytes]) -> Iterator[None]:
    """Close a streamed body at the end of the block, as WSGI servers do."""
    try:
        yield
    finally:
        close_body(blocks)


@dataclass(slots=True, eq=False, repr=False)
class OutgoingBody:
    """Wraps the body of a request to count its bytes and to turn its errors into a client that disconnects.

    A source that cannot be read, or a KeyboardInterrupt, must not surface inside the service or the HTTP library,
    which would take it for an error of their own. They see Disconnected, and the service keeps the bytes that came;
    the client raises `error` afterwards. `record` is called with each block.
    """

    body: Body
    record: Callable[[bytes], None] | None = None
    error: BaseException | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Read from the body. Raises Disconnected for every error of it."""
        try:
            data = self.body.read(size)
        except BaseException as error:
            self.error = error
            raise Disconnected(str(error)) from error
        if self.record is not None:
            self.record(data)
        return data
