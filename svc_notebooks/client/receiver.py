"""A receiving URL on this machine: HTTPS in a thread, each message handed to a function (A11).

The standard library's server, with the handshake in the thread of the connection, so that nobody who connects
and says nothing holds up others.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from threading import Thread
from typing import Any

from ..core.wire import Headers, Request, Response

_HANDSHAKE_SECONDS = 10.0
_IDLE_SECONDS = 120.0
_MOST_BODY = 1024 * 1024
_IN_PROGRESS = 102

Receive = Callable[[Request], tuple[Response, float]]


class _Handler(BaseHTTPRequestHandler):
    """One connection; `receive` is set on a class of each server's own."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "svc-notebooks", ""
    receive: Receive
    path_there = "/"

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
        body = self._body()
        if body is None:
            self._send(413)
        elif self.path.partition("?")[0] != self.path_there:
            self._send(404)
        else:
            headers = Headers([(name, value) for name, value in self.headers.items()])
            response, delay = type(self).receive(Request("POST", self.path, headers, body))
            time.sleep(delay)  # a receiver that stalls, because somebody wants to see that
            self._send(response.status)

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or len(length) > 9 or int(length) > _MOST_BODY:
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def do_GET(self) -> None:
        self._send(405)

    def _send(self, status: int) -> None:
        """A 102 is no answer yet, and here no other follows: the connection ends with it."""
        self.send_response_only(status)
        if status == _IN_PROGRESS:
            self.close_connection = True
        elif status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, place: tuple[str, int], handler: type[_Handler], context: ssl.SSLContext) -> None:
        super().__init__(place, handler)
        self._context = context

    def get_request(self) -> tuple[socket, Any]:
        connection, address = super().get_request()
        return self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A handshake that failed is the sender's business, and no matter for a notebook's output."""


class HttpsReceiver:
    """Listens until it is closed. Raises OSError for an address that is in use."""

    def __init__(self, receive: Receive, context: ssl.SSLContext, *, host: str, port: int, path: str) -> None:
        handler = type("Handler", (_Handler,), {"receive": staticmethod(receive), "path_there": path})
        self._server = _Server((host, port), handler, context)
        self._thread = Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name="svc-receiver", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
