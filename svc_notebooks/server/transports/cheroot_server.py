"""Accepts connections and answers requests with cheroot: the one module that imports it.

cheroot accepts connections, watches those that wait for a request, and has the threads. A connection gets a thread
when the head of a request is there, and users get threads in turn (ready_queue.py). Requests are read and answered
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
from .http1 import (
    OLD,
    WHY_UNREADABLE,
    ChunkedBody,
    ContentLengthReader,
    address,
    check_framing,
    connection_header,
    framing,
    head,
    read_headers,
)
from .idle_connections import WaitingConnection, overdue, unreadable
from .ready_queue import ReadyQueue, Users
from .request_head import Incoming
from .transfer_pace import TransferBudget, peer_has_closed, send_all

_log = logging.getLogger(__name__)

KEPT_CONNECTIONS = 1000
_SMALL_REST, _REST_SECONDS = 1024 * 1024, 1.0


class _Connection(WaitingConnection, HTTPConnection):
    """A connection: without a thread while it waits for the head of a request, with one while that is answered."""

    server: CherootServer

    def __init__(self, server: CherootServer, sock: socket.socket, makefile: object) -> None:
        HTTPConnection.__init__(self, server, sock, lambda sock, mode, _: Incoming(sock) if "r" in mode else None)
        WaitingConnection.__init__(self, server.tls)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.open.add(self)

    def communicate(self) -> bool:
        lane = self.lane
        try:
            if self.handshake:
                self.end_handshake()
                return False
            self.server.users.meet(self.token)
            return self.belongs_to() != lane or self._answer_requests(lane)
        finally:
            self.server.queue.done(lane)

    def _answer_requests(self, lane: str) -> bool:
        """Stay with this thread while requests of the same lane follow at once; whether the connection stays."""
        # Once the server stops, who is still in line gets no thread: each could hold it for `IDLE_SECONDS`.
        while not self.server.stopping:
            self.socket.settimeout(self.server.timeout)
            if not HTTPConnection.communicate(self):  # type: ignore[no-untyped-call]
                return False
            self.be_idle()
            is_free = not self.server.queue.qsize()
            if not (self.collect() or (is_free and self.more_soon() and self.collect())) or self.lane != lane:
                return True
        return False

    def close(self) -> None:
        """Close it, even where the peer or a failed handshake has done so already."""
        self.say_goodbye()
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
        self._end(overdue(self._waiting(), KEPT_CONNECTIONS))

    def _from_server_socket(self, server_socket: socket.socket) -> object:
        """Accept a connection; where no more files may be open, another one is closed for the next."""
        try:
            return super()._from_server_socket(server_socket)  # type: ignore[misc]
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self._end(overdue(self._waiting(), len(self._waiting()) - 1))
            return None

    def _waiting(self) -> list[WaitingConnection]:
        return [conn for _, conn in self._selector.connections if conn is not self.server]

    def _end(self, connections: list[WaitingConnection]) -> None:
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
        self.patience = TransferBudget(server.policy.body_timeout, server.policy.least_rate)

    def read_request_line(self) -> bool:
        """As cheroot reads it; an address that cannot be taken apart is the client's mistake, not ours."""
        try:
            return bool(super().read_request_line())  # type: ignore[no-untyped-call]
        except ValueError:
            self.simple_response(400)
            return False

    def header_reader(self, rfile: Any, found: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Every header as it was sent; `found` gets what cheroot itself looks at."""
        self.in_headers = True
        self.pairs = read_headers(rfile)
        said = framing(self.pairs)
        check_framing(said, self.response_protocol)
        found |= {name.title().encode(): values[-1].encode("latin-1") for name, values in said.items() if values}
        expected = found.pop(b"Expect", b"").lower()
        self.expects_continue = expected == b"100-continue" and self.response_protocol != OLD
        found[b"Connection"] = connection_header(said["connection"])
        return found

    def respond(self) -> None:
        """Hand the request to the service and send what it answers."""
        self.sent_headers = True  # cheroot shall send none of its own
        body = self._body()
        self.server.bodies.add(body)
        try:
            self._send(self._answer(body), body)
        except (Disconnected, OSError) as error:
            _log.debug("connection cut: %s", error)
            self.close_connection = True
        finally:
            self.server.bodies.discard(body)
            self.server.answered += 1  # a hint for `PoolMonitor`: whether two threads count as one does not matter

    def _answer(self, body: ContentLengthReader) -> Response:
        url, pairs = address(self.uri.decode("latin-1"), self.pairs, self.server.base_url)
        response = self.server.handle(Request(self.method.decode("latin-1"), url, Headers(pairs), body))
        if body.aborted and self.server.stopping:
            return error_response(refuse("unavailable"))
        return response

    def _body(self) -> ContentLengthReader:
        sock = self.conn.socket

        def begin() -> None:
            self.conn.rfile.be_patient(self.patience)
            if self.expects_continue:
                sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

        def cut() -> None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RD)

        gone = partial(peer_has_closed, sock)
        if self.chunked_read:
            return ChunkedBody(self.conn.rfile, begin, cut, gone)
        return ContentLengthReader(self.conn.rfile, int(self.inheaders.get(b"Content-Length", 0)), begin, cut, gone)

    def _send(self, response: Response, body: ContentLengthReader) -> None:
        promised = self.expects_continue and body.unread()
        if not body.over() and (body.aborted or promised or not self._rest_is_here(body)):
            self.close_connection = True
        if not isinstance(response.body, bytes) and "Content-Length" not in response.headers:
            self.close_connection = True  # its end is the connection's
        self._write(head(response, connection=self._connection_fate()), response.body)
        if self.close_connection and not body.over():
            self.conn.linger_on()

    def _rest_is_here(self, body: ContentLengthReader) -> bool:
        """Read a rest that nobody wants, if it is small and comes at once: the answer waits for no other."""
        self.patience = TransferBudget(_REST_SECONDS, self.server.policy.least_rate)
        self.conn.rfile.be_patient(self.patience)
        return body.drain(_SMALL_REST, _REST_SECONDS)

    def _connection_fate(self) -> str | None:
        if self.close_connection:
            return "close"
        return "keep-alive" if self.response_protocol == "HTTP/1.0" else None  # what HTTP/1.1 does anyway

    def _write(self, start: bytes, content: bytes | Iterable[bytes]) -> None:
        sock, patience = (
            self.conn.socket,
            TransferBudget(self.server.policy.body_timeout, self.server.policy.least_rate),
        )
        if isinstance(content, bytes):
            send_all(sock, start + content, patience)
            return
        try:
            send_all(sock, start, patience)
            for block in content:
                send_all(sock, block, patience)
        finally:
            close_body(content)

    def simple_response(self, status: object, msg: object = "") -> None:
        """What cheroot refuses before there is a request, in our envelope; of headers `header_reader` says why."""
        self.close_connection = True
        code = int(str(status)[:3])
        why = msg if code == 400 and self.in_headers else WHY_UNREADABLE.get(code, status)
        with suppress(OSError):
            self.conn.socket.sendall(unreadable(code, str(why)))


class CherootServer(HTTPServer):
    """The server of cheroot with our connections, requests and queue."""

    ConnectionClass = _Connection
    handle: Callable[[Request], Response]
    base_url: str
    policy: Policy
    users: Users
    bodies: set[ContentLengthReader]
    open: WeakSet[_Connection]
    tls: ssl.SSLContext | None
    answered = 0
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
