"""A process that opens a shared service for each test, serves it on a socket, and runs what the test asks of it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import reduce
from multiprocessing.connection import Connection
from typing import Any

from svc_notebooks.core.errors.catalogue import ApiError, Row
from svc_notebooks.core.http.messages import Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.dispatch.service_context import ServiceContext
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.clock import VirtualClock
from svc_notebooks.server.transports.socket_server import SocketServer

HOST = "svc.test"
"""The host of requests that tests make in-process, without a header Host. Over a socket they need one."""


class TestedWorker:
    """The service of one process, whose public methods the tests call over a pipe."""

    def __init__(self) -> None:
        self._service: Service | None = None
        self._server: SocketServer | None = None
        self._blocks: dict[int, AbstractContextManager[Any]] = {}

    def open(self, address: str, content: str, policy: Policy) -> str:
        """Open the service on a virtual clock, and return the address of its socket."""
        self._service = open_service(
            address,
            content=content,
            shared=True,
            journal=10_000,
            clock=VirtualClock(),
            policy=replace(policy, host_names=(*policy.host_names, HOST)),
        )
        self._server = SocketServer(self._service, threads=8)
        self._server.handle = self._service.handle  # the pages of a server are those of the one that a test starts
        self._server.start()
        return self._server.base_url

    def close(self) -> None:
        """Close the service, if there is one."""
        if self._server:
            self._server.stop()
        if self._service:
            self._service.close()
        self._server = self._service = None

    def get(self, path: str) -> Any:
        """Return the value of an attribute such as "clock.is_virtual"."""
        return reduce(getattr, path.split("."), self._service)

    def call(self, path: str, *args: Any, **options: Any) -> Any:
        """Call a method such as "clock.advance", and return its result."""
        result = self.get(path)(*args, **options)
        if isinstance(result, Service) or path == "virtual_clock":
            return None
        return result

    def enter(self, number: int, path: str, *args: Any, **options: Any) -> None:
        """Begin the `with` block of a method such as "faults"."""
        block = self.get(path)(*args, **options)
        block.__enter__()
        self._blocks[number] = block

    def leave(self, number: int) -> None:
        """End a `with` block."""
        self._blocks.pop(number).__exit__(None, None, None)

    def refuse(self, request: Request, rows: Sequence[Row], headers: Sequence[tuple[str, str]], operation: str) -> Any:
        """Write an error response to the journal, and return it."""

        def check(request: Request, context: ServiceContext) -> None:
            raise ApiError(rows, headers)

        assert self._service
        return self._service.refusal(request, check, operation)


def run_worker(connection: Connection) -> None:
    """Answer the calls that arrive over a pipe, until the pipe is closed."""
    worker = TestedWorker()
    while True:
        try:
            name, args, options = connection.recv()
        except EOFError:
            return worker.close()
        connection.send(_outcome(getattr(worker, name), args, options))


def _outcome(function: Callable[..., Any], args: Any, options: Any) -> tuple[Any, BaseException | None]:
    try:
        return function(*args, **options), None
    except Exception as error:
        return None, error
