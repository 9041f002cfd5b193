"""Accepts connections and answers requests with cheroot: the one module that imports it.

cheroot accepts connections, watches those that wait for a request, and has the threads. A connection gets a thread
when the head of a request is there, and users get threads in turn (connection_queue.py). Requests are read and answered
here, because cheroot's own way folds repeated headers into one, answers 100-continue to what will be refused, buffers
in pure Python, and says in plain text what we say in our envelope.
"""

from __future__ import annotations

import errno
import logging
import selectors
import socket
import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakSet

from cheroot.connections import ConnectionManager
from cheroot.server import Gateway, HTTPConnection, HTTPRequest, HTTPServer

from ...core.errors.catalogue import refuse
from ...core.http.messages import Disconnected, Headers, Request, Response, close_body
from ...core.policy import Policy
from ..context.responses import error_response
from .connection_queue import LaneTable, ReadyQueue
from .http1 import (
    HTTP_1_0,
    UNREADABLE_REASONS,
    ChunkedBody,
    ContentLengthReader,
    address,
    check_framing,
    connection_header,
    framing,
    head,
    read_headers,
)
from .idle_connections import WaitingConnection, overdue, unreadable_response
from .request_head import RequestReader
from .transfer_rate import TransferBudget, peer_has_closed, send_all

_log = logging.getLogger(__name__)

MAX_WAITING_CONNECTIONS = 1000
_MAX_DRAIN, _DRAIN_SECONDS = 1024 * 1024, 1.0


class _Connection(WaitingConnection, HTTPConnection):
    """A connection: without a thread while it waits for the head of a request, with one while that is answered."""

    server: CherootServer

    def __init__(self, server: CherootServer, sock: socket.socket, makefile: object) -> None:
        HTTPConnection.__init__(self, server, sock, lambda sock, mode, _: RequestReader(sock) if "r" in mode else None)
        WaitingConnection.__init__(self, server.tls)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.open.add(self)

    def communicate(self) -> bool:
        lane = self.lane
        try:
            if self.handshake:
                self.end_handshake()
                return False
            self.server.users.look_up(self.token)
            return self.lane_of_request() != lane or self._serve_requests(lane)
        finally:
            self.server.queue.done(lane)

    def _serve_requests(self, lane: str) -> bool:
        """Stay with this thread while requests of the same lane follow at once; whether the connection stays."""
        # Once the server stops, who is still in line gets no thread: each could hold it for `IDLE_SECONDS`.
        while not self.server.stopping:
            self.socket.settimeout(self.server.timeout)
            if not HTTPConnection.communicate(self):  # type: ignore[no-untyped-call]
                return False
            self.wait_for_request()
            is_free = not self.server.queue.qsize()
            if not (self.collect() or (is_free and self.has_more_soon() and self.collect())) or self.lane != lane:
                return True
        return False

    def close(self) -> None:
        """Close it, even where the peer or a failed handshake has done so already."""
        self.shut_down_tls()
        with suppress(OSError):
            HTTPConnection.close(self)


class _Connections(ConnectionManager):
    """The connections that wait for a request, each until its deadline."""

    _selector: Any

    def wait_for(self, conn: _Connection) -> None:
        """Watch a connection."""
        self._selector.register(conn.socket.fileno(), selectors.EVENT_READ, data=conn)

    def _expire(self, threshold: float) -> None:
        """Close those whose deadline is over, and the next ones where there are too many."""
        self._close_all(overdue(self._waiting(), MAX_WAITING_CONNECTIONS))

    def _from_server_socket(self, server_socket: socket.socket) -> object:
        """Accept a connection; where no more files may be open, another one is closed for the next."""
        try:
            return super()._from_server_socket(server_socket)  # type: ignore[misc]
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self._close_all(overdue(self._waiting(), len(self._waiting()) - 1))
            return None

    def _waiting(self) -> list[WaitingConnection]:
        return [conn for _, conn in self._selector.connections if conn is not self.server]

    def _close_all(self, connections: list[WaitingConnection]) -> None:
        for conn in connections:
            self._selector.unregister(conn.socket.fileno())
            conn.expire()


class _Request(HTTPRequest):
    """One request and its answer."""

    server: CherootServer
    pairs: list[tuple[str, str]]
    expects_continue = in_headers = False

    def __init__(self, server: CherootServer, conn: _Connection) -> None:
        super().__init__(server, conn, proxy_mode=True)  # takes http://host/path too
        self.budget = TransferBudget(server.policy.body_timeout, server.policy.least_rate)

    def read_request_line(self) -> bool:
        """As cheroot reads it; an address that cannot be taken apart is the client's mistake, not ours."""
        try:
            return bool(super().read_request_line())  # type: ignore[no-untyped-call]
        except ValueError:
            self.simple_response(400)
            return False

    def header_reader(self, rfile: Any, headers: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Every header as it was sent; `headers` gets what cheroot itself looks at."""
        self.in_headers = True
        self.pairs = read_headers(rfile)
        values_by_name = framing(self.pairs)
        check_framing(values_by_name, self.response_protocol)
        headers |= {
            name.title().encode(): values[-1].encode("latin-1") for name, values in values_by_name.items() if values
        }
        expected = headers.pop(b"Expect", b"").lower()
        self.expects_continue = expected == b"100-continue" and self.response_protocol != HTTP_1_0
        headers[b"Connection"] = connection_header(values_by_name["connection"])
        return headers

    def respond(self) -> None:
        """Hand the request to the service and send what it answers."""
        self.sent_headers = True  # cheroot shall send none of its own
        body = self._body()
        self.server.bodies.add(body)
        try:
            self._send(self._respond(body), body)
        except (Disconnected, OSError) as error:
            _log.debug("connection cut: %s", error)
            self.close_connection = True
        finally:
            self.server.bodies.discard(body)
            self.server.responses += 1  # a hint for `PoolMonitor`: whether two threads count as one does not matter

    def _respond(self, body: ContentLengthReader) -> Response:
        url, pairs = address(self.uri.decode("latin-1"), self.pairs, self.server.base_url)
        response = self.server.handle(Request(self.method.decode("latin-1"), url, Headers(pairs), body))
        if body.aborted and self.server.stopping:
            return error_response(refuse("unavailable"))
        return response

    def _body(self) -> ContentLengthReader:
        sock = self.conn.socket

        def begin() -> None:
            self.conn.rfile.set_budget(self.budget)
            if self.expects_continue:
                sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

        def cut() -> None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RD)

        has_closed = partial(peer_has_closed, sock)
        if self.chunked_read:
            return ChunkedBody(self.conn.rfile, begin, cut, has_closed)
        return ContentLengthReader(
            self.conn.rfile, int(self.inheaders.get(b"Content-Length", 0)), begin, cut, has_closed
        )

    def _send(self, response: Response, body: ContentLengthReader) -> None:
        promised = self.expects_continue and body.unread()
        if not body.over() and (body.aborted or promised or not self._drain_rest(body)):
            self.close_connection = True
        if not isinstance(response.body, bytes) and "Content-Length" not in response.headers:
            self.close_connection = True  # its end is the connection's
        self._write(head(response, connection=self._connection_header()), response.body)
        if self.close_connection and not body.over():
            self.conn.lingering_close()

    def _drain_rest(self, body: ContentLengthReader) -> bool:
        """Read a rest that nobody wants, if it is small and comes at once: the answer waits for no other."""
        self.budget = TransferBudget(_DRAIN_SECONDS, self.server.policy.least_rate)
        self.conn.rfile.set_budget(self.budget)
        return body.drain(_MAX_DRAIN, _DRAIN_SECONDS)

    def _connection_header(self) -> str | None:
        if self.close_connection:
            return "close"
        return "keep-alive" if self.response_protocol == "HTTP/1.0" else None  # what HTTP/1.1 does anyway

    def _write(self, start: bytes, content: bytes | Iterable[bytes]) -> None:
        sock, budget = (
            self.conn.socket,
            TransferBudget(self.server.policy.body_timeout, self.server.policy.least_rate),
        )
        if isinstance(content, bytes):
            send_all(sock, start + content, budget)
            return
        try:
            send_all(sock, start, budget)
            for block in content:
                send_all(sock, block, budget)
        finally:
            close_body(content)

    def simple_response(self, status: object, msg: object = "") -> None:
        """What cheroot refuses before there is a request, in our envelope; of headers `header_reader` says why."""
        self.close_connection = True
        code = int(str(status)[:3])
        reason = msg if code == 400 and self.in_headers else UNREADABLE_REASONS.get(code, status)
        with suppress(OSError):
            self.conn.socket.sendall(unreadable_response(code, str(reason)))


class CherootServer(HTTPServer):
    """The server of cheroot with our connections, requests and queue."""

    ConnectionClass = _Connection
    handle: Callable[[Request], Response]
    base_url: str
    policy: Policy
    users: LaneTable
    bodies: set[ContentLengthReader]
    open: WeakSet[_Connection]
    tls: ssl.SSLContext | None
    responses = 0
    stopping = False

    def __init__(self, address: tuple[str, int], *, threads: int, most: int) -> None:
        super().__init__(address, Gateway, minthreads=threads, maxthreads=most, server_name="svc")
        self.queue = ReadyQueue(share=max(1, most // 4))
        self.requests._queue, self.requests.get = self.queue, self.queue.get

    def prepare(self) -> None:
        """Listen, and have threads."""
        super().prepare()
        self._connections = _Connections(self)

    def process_conn(self, conn: _Connection) -> None:
        """Something has come over a connection, or it is new: it gets a thread, or waits for more."""
        (self.requests.put if conn.collect() else self._connections.wait_for)(conn)

    def put_conn(self, conn: _Connection) -> None:
        """A thread has answered what there was of a connection."""
        (self.process_conn if self.ready else _Connection.close)(conn)

    def error_log(self, msg: str = "", level: int = 20, traceback: bool = False) -> None:
        _log.log(level, "%s", msg, exc_info=traceback)

    def clear_stats(self) -> None:
        """Begin to count; without an entry in cheroot's table of all servers, which would never let go of one."""
        super().clear_stats()  # type: ignore[no-untyped-call]
        vars(logging)["statistics"].pop(f"Cheroot HTTPServer {id(self)}", None)


_Connection.RequestHandlerClass = _Request
