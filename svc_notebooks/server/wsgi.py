"""The service for WSGI servers such as gunicorn, granian and uWSGI: `svc_notebooks.server.wsgi:app`.

Environment variables configure the service (docs/scale.md). Each process opens a service of its own, because neither
threads nor connections survive a fork. So the server may import this module before or after it starts its processes.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from threading import Lock
from typing import Any
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIEnvironment

from ..core.errors.catalogue import refuse
from ..core.http.messages import Disconnected, Headers, Request, Response, reason
from .dispatch.requests_and_responses import error_response

_log = logging.getLogger(__name__)


class _Input:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        try:
            block: bytes = self._stream.read(size)
        except (OSError, ValueError) as error:
            raise Disconnected(str(error)) from None
        return block


class WsgiApp:
    """A WSGI application that passes each request to the function `handle` and sends the returned response."""

    def __init__(self, handle: Callable[[Request], Response]) -> None:
        self._handle = handle

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Handle one WSGI request.

        Raises Disconnected if a fault cuts the connection, so that the server drops the connection.
        """
        # Without wsgi.input_terminated, the input stream of a chunked body has no end to read to.
        if "HTTP_TRANSFER_ENCODING" in environ and not environ.get("wsgi.input_terminated"):
            response = error_response(refuse("chunkedBody"))
        else:
            response = self._handle(_request(environ))
        start_response(f"{response.status} {reason(response.status) or 'Unknown'}", list(response.headers.pairs))
        return [response.body] if isinstance(response.body, bytes) else response.body


def _request(environ: WSGIEnvironment) -> Request:
    host = quote(environ.get("SERVER_NAME", "localhost"), safe=":")  # some servers put their software name here
    authority = f"[{host}]" if ":" in host else host
    query, raw = environ.get("QUERY_STRING", ""), str(environ.get("REQUEST_URI") or environ.get("RAW_URI") or "")
    path = quote(environ.get("PATH_INFO", "/").encode("latin-1"), safe="/:@!$&'()*+,;=~-._%")
    target = raw if raw.startswith("/") else path
    if query and "?" not in target:  # RAW_URI may have no query
        target += f"?{query}"
    url = f"{environ['wsgi.url_scheme']}://{authority}:{environ.get('SERVER_PORT', '80')}{target}"
    pairs = [(key[5:].replace("_", "-").title(), value) for key, value in environ.items() if key.startswith("HTTP_")]
    for key, name in (("CONTENT_TYPE", "Content-Type"), ("CONTENT_LENGTH", "Content-Length")):
        if environ.get(key):
            pairs.append((name, environ[key]))
    headers = Headers(pairs)
    has_body = "Content-Length" in headers or "Transfer-Encoding" in headers
    body = _Input(environ["wsgi.input"]) if has_body else b""
    return Request(environ["REQUEST_METHOD"], url, headers, body, environ.get("REMOTE_ADDR", ""))


_UNAVAILABLE = WsgiApp(lambda request: error_response(refuse("unavailable")))

# Opens a service, which the stack closes, and returns its handler.
OpenService = Callable[[ExitStack], Callable[[Request], Response]]


def _open(stack: ExitStack) -> Callable[[Request], Response]:
    from ..cli.serve import open_from_environment

    return open_from_environment(stack)


class ServiceApp:
    """A WSGI application that opens its service at the first request in each process, or with `start`."""

    def __init__(self, open_service: OpenService = _open) -> None:
        self._open_service = open_service
        self._opening = Lock()
        self._app: WsgiApp | None = None
        self._stack = ExitStack()
        os.register_at_fork(after_in_child=self._leave)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Handle one WSGI request. The response is 503 while the database or the contents cannot be reached.

        Raises ValueError or ImportError if the service cannot be opened with these variables.
        """
        try:
            app = self.start()
        except OSError as error:  # the next request tries again
            _log.error("the service cannot be opened: %s", error)
            app = _UNAVAILABLE
        return app(environ, start_response)

    def start(self) -> WsgiApp:
        """Open the service in this process, if it is not open. It is closed when the process exits.

        Call it in a hook of the server, so that a process with wrong variables does not start, and delivers messages
        before its first request. Raises ValueError, ImportError and OSError if the service cannot be opened.
        """
        if app := self._app:
            return app
        with self._opening:
            if self._app is None:
                with ExitStack() as stack:
                    handle = self._open_service(stack)
                    self._stack = stack.pop_all()
                atexit.register(self.close)
                self._app = WsgiApp(handle)
            return self._app

    def close(self) -> None:
        """Close the service of this process. Messages that wait are delivered by another process, or later."""
        atexit.unregister(self.close)
        with self._opening:
            self._app = None
            self._stack.close()

    def _leave(self) -> None:
        """Forget the service of the parent in a forked process, which opens its own."""
        atexit.unregister(self.close)
        self._opening = Lock()
        self._app, self._stack = None, ExitStack()


app = ServiceApp()
