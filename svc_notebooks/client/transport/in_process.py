"""The Transport protocol, and the transport that calls an in-process service in the caller's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from ...core.http.messages import Body, Disconnected, Request, Response, close_body
from .recorder import Exchange

# A service in this process, which is a function from request to response.
Handler: TypeAlias = Callable[[Request], Response]

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

# The block size in bytes of streamed request and response bodies.
BLOCK = 1024 * 1024


class TransportError(Exception):
    """The internal error for a missing or incomplete response, which the client converts to an error of core.errors.

    `sent` is False if the service received nothing. `hopeless` is True if another try cannot succeed, for example
    because the host does not exist. `unreachable` is True if no connection was made.
    """

    def __init__(self, message: str, *, sent: bool = True, hopeless: bool = False, unreachable: bool = False) -> None:
        super().__init__(message)
        self.sent = sent
        self.hopeless = hopeless
        self.unreachable = unreachable


class Transport(Protocol):
    """The protocol of objects that send requests to a service."""

    def send(self, request: Request) -> Response:
        """Send a request and return the response.

        Raises TransportError if no response arrives, or later, while an incomplete response body is read.
        """

    def close(self) -> None:
        """Close all connections."""


class DirectTransport:
    """A transport that calls a service function in the caller's thread, without a socket.

    >>> DirectTransport(lambda request: Response(204)).send(Request("GET", "https://x/")).status
    204
    """

    __slots__ = ("_handler",)

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def send(self, request: Request) -> Response:
        """Call the handler and return its response. Raises TransportError if the handler raises Disconnected."""
        body, headers = request.body, request.headers
        if isinstance(body, bytes) and request.method in _WITH_BODY and "Content-Length" not in headers:
            # An HTTP client adds Content-Length if the method expects a body.
            request = replace(request, headers=headers.plus(("Content-Length", str(len(body)))))
        try:
            response = self._handler(request)
        except Disconnected as error:
            raise TransportError(str(error) or "the connection was cut") from error
        if isinstance(response.body, bytes):
            return response
        return Response(response.status, response.headers, _read_blocks(response.body))

    def close(self) -> None:
        """Do nothing, because this transport has no connections."""


def _read_blocks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    with closing_body(blocks):
        try:
            yield from blocks
        except Disconnected as error:
            raise TransportError(str(error) or "the connection was cut") from error


@contextmanager
def closing_body(blocks: Iterable[bytes]) -> Iterator[None]:
    """Close a streamed response body at the end of the `with` block, as a WSGI server does."""
    try:
        yield
    finally:
        close_body(blocks)


@dataclass(slots=True, eq=False, repr=False)
class OutgoingBody:
    """A wrapper for a request body that converts every error of the body to Disconnected.

    The service then keeps the bytes that it has received. The client raises the original `error` afterwards, so that an
    unreadable source or KeyboardInterrupt does not look like an error of the service. Each block is added to `record`.
    """

    body: Body
    record: Exchange
    error: BaseException | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Read bytes from the body. Raises Disconnected if the body raises any error."""
        try:
            data = self.body.read(size)
        except BaseException as error:
            self.error = error
            raise Disconnected(str(error)) from error
        self.record.record_sent(data)
        return data
