"""The exchanges that a test had in-process, sent again over a socket: every request and response arrives unchanged.

No service stands behind the socket: the response is the one that the service gave in-process. So an exchange can be
repeated whatever state it left behind.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from svc_notebooks.core.http.messages import Headers, Request, Response
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.wire import Exchange, OverSocket

PER_CONNECTION = {"host", "connection", "date", "server", "content-length", "transfer-encoding"}
"""Fields that one connection adds: the length of a body is compared with the body."""


class Stage:
    """The handler of the one socket that all tests share: a service, or a function in its place."""

    policy = Policy()
    provider = None

    def __init__(self) -> None:
        self.service: Service | None = None
        self.answer: Callable[[Request], Response] | None = None

    def handle(self, request: Request) -> Response:
        if self.answer:
            return self.answer(request)
        assert self.service
        return self.service.handle(request)

    def user_of(self, token: str) -> str | None:
        return self.service.user_of(token) if self.service else None


@contextmanager
def staged() -> Iterator[tuple[Stage, str]]:
    stage = Stage()
    with SocketServer(cast(Service, stage)) as server:
        yield stage, server.base_url


class Replay(OverSocket):
    def __init__(self, stage: Stage, base_url: str) -> None:
        self.stage = stage
        self.base_url = base_url

    def send_again(self, exchange: Exchange) -> None:
        """Send a request and its response again; each must arrive as it was in-process."""
        received = []
        answer = exchange.answer

        def reply(request: Request) -> Response:
            body = request.body if isinstance(request.body, bytes) else request.body.read()
            received.append((request.method, request.url, fields(request.headers), body))
            is_streamed = answer.body and "Content-Length" not in answer.headers
            return Response(answer.status, answer.headers, [answer.body] if is_streamed else answer.body)

        self.stage.answer = reply
        try:
            got = self._exchange(exchange.method, exchange.target, exchange.body, exchange.pairs)
        finally:
            self.stage.answer = None
        body = exchange.body if isinstance(exchange.body, bytes) else b"".join(exchange.body or ())
        assert received == [(exchange.method, self.base_url + exchange.target, fields(Headers(exchange.pairs)), body)]
        assert (got.status, fields(got.headers), got.body) == (answer.status, fields(answer.headers), answer.body)


def fields(headers: Headers) -> list[tuple[str, str]]:
    """The fields that the two ends see alike; HTTP drops white space around a value."""
    return [(name.lower(), value.strip()) for name, value in headers.pairs if name.lower() not in PER_CONNECTION]
