"""The service of the contract tests as two processes that share a store on PostgreSQL.

Consecutive requests, and consecutive calls of the service's methods, reach different processes. What a process keeps
for itself cannot be tested so: such a test is skipped, with the reason.
"""

import http.client
import multiprocessing
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import count, cycle
from types import SimpleNamespace
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest

from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.errors.catalogue import ApiError
from svc_notebooks.core.http.messages import Disconnected, Headers, Request, Response, as_body
from svc_notebooks.core.policy import Policy
from tests.patience import PATIENCE
from tests.scale.tested_worker import run_worker

REFUSED = "several processes share this store"
"""What the error of a refused call says."""

_BLOCK = 65_536
_CONTINUE = b"HTTP/1.1 100"
_INCOMPLETE = "the connection was closed in the middle of the response"
_OF_A_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "date", "server"}
_VALUES = {"seed", "folder", "notes", "requests_served", "user_backups"}
_BLOCKS = {"faults"}
_numbers = count(1)


def _skip(reason: str) -> NoReturn:
    """Skip the test, whose thread must call this function."""
    if threading.current_thread() is not threading.main_thread():
        raise AttributeError(reason)
    pytest.skip(reason)


class _Process:
    """One of the two processes. Threads may call it, one at a time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=run_worker, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._lock = threading.Lock()

    def ask(self, name: str, *args: Any, **options: Any) -> Any:
        """Return the result of a call, or raise its exception. Skips the test if a value is of one process only."""
        with self._lock:
            try:
                self._pipe.send((name, args, options))
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                _skip(f"passes what only the process of the test has: {error}")
            result, error = self._pipe.recv()
        if error and REFUSED in str(error):
            _skip(str(error))
        if error:
            raise error
        return result


_processes: list[_Process] = []


class TwoWorkers:
    """Two processes in the place of a `Service`."""

    def __init__(self, address: str, content: str, policy: Policy) -> None:
        self.policy, self.names, self.provider = policy, Names(), None
        while len(_processes) < 2:
            _processes.append(_Process())
        self._workers = cycle(_processes)
        self._addresses = cycle([process.ask("open", address, content, policy) for process in _processes])
        self._lock = threading.Lock()
        self.clock = _Clock(self)
        self.class_view = SimpleNamespace(accounts=None, is_open=False)

    def close(self) -> None:
        for process in _processes:
            process.ask("close")

    def _next(self) -> _Process:
        with self._lock:
            return next(self._workers)

    def call(self, path: str, *args: Any, **options: Any) -> Any:
        return self._next().ask("call", path, *args, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            _skip(f"uses {name}, which is of one process")
        if name in _VALUES:
            return self._next().ask("get", name)
        return partial(self._during if name in _BLOCKS else self.call, name)

    @contextmanager
    def _during(self, path: str, *args: Any, **options: Any) -> Iterator[None]:
        process, number = self._next(), next(_numbers)
        process.ask("enter", number, path, *args, **options)
        try:
            yield
        except BaseException:
            with suppress(AssertionError):
                process.ask("leave", number)
            raise
        process.ask("leave", number)

    def refusal(
        self, request: Request, check: Callable[[Request, Any], None], operation: str = "control"
    ) -> Response | None:
        """Return the error response to a request that `check` refuses, or None."""
        try:
            check(request, SimpleNamespace(policy=self.policy, names=self.names, base_url=None))
        except ApiError as error:
            bare = Request(request.method, request.url, request.headers)
            response: Response = self._next().ask("refuse", bare, error.rows, error.headers, operation)
            return response
        return None

    @property
    def base_url(self) -> str:
        with self._lock:
            return next(self._addresses)

    def handle(self, request: Request) -> Response:
        """Send a request to the next process, and return its response. Raises Disconnected as a service does."""
        connection = http.client.HTTPConnection(urlsplit(self.base_url).netloc, timeout=PATIENCE)
        try:
            _send(connection, request)
            response = connection.getresponse()
            headers = [(name, text) for name, text in response.getheaders() if name.lower() not in _OF_A_CONNECTION]
            return Response(response.status, Headers(headers), _body(connection, response))
        except BaseException as error:
            connection.close()
            if isinstance(error, http.client.HTTPException | OSError):
                raise Disconnected(str(error)) from None
            raise


class _Clock:
    """The clock of the service, which is in its database."""

    def __init__(self, workers: TwoWorkers) -> None:
        self._workers = workers

    @property
    def is_virtual(self) -> Any:
        return self._workers._next().ask("get", "clock.is_virtual")

    def __getattr__(self, name: str) -> Any:
        return partial(self._workers.call, f"clock.{name}")


def _body(connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> bytes | Iterator[bytes]:
    """Return the body of a response. The connection is closed at its end, or when nobody has it any more."""
    if (response.length or 0) > _BLOCK:
        blocks = _blocks(connection, response)
        next(blocks)
        return blocks
    with closing(connection):
        try:
            return response.read()
        except http.client.IncompleteRead as error:
            return _cut(error.partial)


def _cut(content: bytes) -> Iterator[bytes]:
    yield content
    raise Disconnected(_INCOMPLETE)


def _blocks(connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the body of a response after an empty block. Raises Disconnected if the body is not complete."""
    with closing(connection):
        yield b""  # so that the connection is closed even if nobody reads a block
        while block := response.read(_BLOCK):
            yield block
        if response.length:
            raise Disconnected(_INCOMPLETE)


def _send(connection: http.client.HTTPConnection, request: Request) -> None:
    parts, headers = urlsplit(request.url), request.headers
    target = parts.path + (f"?{parts.query}" if parts.query or request.url.endswith("?") else "")
    connection.putrequest(request.method, target or "/", skip_host=True, skip_accept_encoding=True)
    if "Host" not in headers:
        connection.putheader("Host", parts.netloc)
    for name, value in headers.pairs:
        if name.lower() != "connection":
            connection.putheader(name, value)
    is_chunked = "Transfer-Encoding" in headers
    body = as_body(request.body) if is_chunked or "Content-Length" in headers else None
    connection.endheaders()
    if body and ("Expect" not in request.headers or _asks_for_the_body(connection.sock)):
        with suppress(BrokenPipeError, ConnectionResetError):  # the process has responded before the end
            _send_body(connection, body, is_chunked=is_chunked)


def _asks_for_the_body(connection: socket.socket) -> bool:
    """Wait for the response 100, which stays to be read, or for another one."""
    return connection.recv(len(_CONTINUE), socket.MSG_PEEK) == _CONTINUE


def _send_body(connection: http.client.HTTPConnection, body: Any, *, is_chunked: bool) -> None:
    try:
        while block := body.read(_BLOCK):
            connection.send(b"%x\r\n%b\r\n" % (len(block), block) if is_chunked else block)
        if is_chunked:
            connection.send(b"0\r\n\r\n")
    except Disconnected:
        connection.sock.shutdown(socket.SHUT_WR)
