"""Receives notifications over HTTPS in a thread, and passes each message to an inbox (A11).

The TLS handshake runs in the connection's thread, so that a silent client does not block other clients. The server has
only a weak reference to the inbox, and ends when the inbox is garbage-collected.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any
from weakref import ref

from ...core.http.messages import Headers, Request
from ...core.platform import after_fork, close_copies
from .inbox import Inbox

_HANDSHAKE_SECONDS = 10.0
_IDLE_SECONDS = 120.0
_MAX_BODY, _MAX_HEAD = 64 * 1024, 16 * 1024
_MAX_CONNECTIONS = 256
_MAX_DIGITS = 9
_POLL_SECONDS = 0.1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "svc-notebooks", ""
    server: _Server

    def setup(self) -> None:
        connection: ssl.SSLSocket = self.request
        connection.settimeout(_HANDSHAKE_SECONDS)
        connection.do_handshake()
        connection.settimeout(_IDLE_SECONDS)
        super().setup()

    def handle(self) -> None:
        with suppress(OSError):
            super().handle()

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def do_POST(self) -> None:
        length = self._length()
        if isinstance(length, HTTPStatus):
            self._refuse(length)
            return
        body = self.rfile.read(length)
        inbox = self.server.inbox()
        if len(body) < length or inbox is None:
            self.close_connection = True
        elif self.path.partition("?")[0] != self.server.path:
            self._send(HTTPStatus.NOT_FOUND)
        else:
            headers = Headers(list(self.headers.items()))
            response, delay = inbox.receive(Request("POST", self.path, headers, body))
            try:
                if self.server.closing.wait(delay):  # the delay that `answer_with` sets
                    self.close_connection = True
                else:
                    self._send(response.status)
            finally:
                inbox.notify()

    def _length(self) -> int | HTTPStatus:
        """Return the body length in bytes, or the HTTP error status for a missing, invalid or too large length."""
        if sum(len(name) + len(value) for name, value in self.headers.items()) > _MAX_HEAD:
            return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        if self.headers.get("Transfer-Encoding"):
            return HTTPStatus.LENGTH_REQUIRED
        text = self.headers.get("Content-Length", "0").strip()
        if not (text.isascii() and text.isdigit()):
            return HTTPStatus.BAD_REQUEST
        return int(text) if len(text) <= _MAX_DIGITS and int(text) <= _MAX_BODY else HTTPStatus.REQUEST_ENTITY_TOO_LARGE

    def _refuse(self, status: int = HTTPStatus.METHOD_NOT_ALLOWED) -> None:
        self.close_connection = True  # the rest of the request is not read
        self._send(status)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse

    def _send(self, status: int) -> None:
        self.send_response_only(status)
        if status == HTTPStatus.PROCESSING:
            self.close_connection = True  # because a 102 is not final, and no final status follows it here
        elif status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", "0")
        if self.close_connection and status != HTTPStatus.PROCESSING:
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    timeout = _POLL_SECONDS

    def __init__(self, address: tuple[str, int], inbox: Inbox, context: ssl.SSLContext, path: str) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, _Handler)
        self.inbox, self.path, self.closing = ref(inbox), path, Event()
        self._context = context
        self._open: set[socket.socket] = set()
        self._lock = Lock()

    def get_request(self) -> tuple[socket.socket, Any]:
        raw, address = super().get_request()
        if len(self._open) >= _MAX_CONNECTIONS:
            raw.close()
            raise OSError("too many connections")  # which the server ignores
        connection = self._context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def run(self) -> None:
        """Listen until the receiver is closed or its inbox is garbage-collected, then close every connection."""
        with self:
            while not self.closing.is_set() and self.inbox():
                self.handle_request()
        self.closing.set()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)  # SSLSocket.shutdown would end TLS

    def close_in_child(self) -> None:
        """Close the sockets in a forked child process, because connections would otherwise outlive the parent."""
        self.closing, self._lock = Event(), Lock()
        close_copies([self.socket, *self._open])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connection errors, such as a failed handshake, to keep the notebook's output clean."""


class HttpsReceiver:
    """An HTTPS server thread that passes messages to an inbox until `close`, or until the inbox is garbage-collected.

    Raises OSError if the port is in use.
    """

    def __init__(self, inbox: Inbox, context: ssl.SSLContext, *, host: str, port: int, path: str) -> None:
        self._server = _Server((host, port), inbox, context, path)
        self._thread = Thread(target=self._server.run, name="svc-receiver", daemon=True)
        self._thread.start()
        after_fork(self._server, _Server.close_in_child)

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop the server and close its connections, without sending delayed responses."""
        self._server.closing.set()
        self._thread.join()
