"""The WSGI application of the service (PEP 3333)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIEnvironment

from ...core.errors.catalogue import refuse
from ...core.http.messages import Disconnected, Headers, Request, Response, reason
from ..dispatch.responses import error_response


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
    url = f"{environ['wsgi.url_scheme']}://{authority}:{environ.get('SERVER_PORT', '80')}{_target(environ)}"
    headers = _headers(environ)
    has_body = "Content-Length" in headers or "Transfer-Encoding" in headers
    body = _Input(environ["wsgi.input"]) if has_body else b""
    return Request(environ["REQUEST_METHOD"], url, headers, body, environ.get("REMOTE_ADDR", ""))


def _target(environ: WSGIEnvironment) -> str:
    query = environ.get("QUERY_STRING", "")
    raw = str(environ.get("REQUEST_URI") or environ.get("RAW_URI") or "")
    path = quote(environ.get("PATH_INFO", "/").encode("latin-1"), safe="/:@!$&'()*+,;=~-._%")
    target = raw if raw.startswith("/") else path
    return f"{target}?{query}" if query and "?" not in target else target  # RAW_URI may have no query


def _headers(environ: WSGIEnvironment) -> Headers:
    pairs = [(key[5:].replace("_", "-").title(), value) for key, value in environ.items() if key.startswith("HTTP_")]
    for key, name in (("CONTENT_TYPE", "Content-Type"), ("CONTENT_LENGTH", "Content-Length")):
        if environ.get(key):
            pairs.append((name, environ[key]))
    return Headers(pairs)
