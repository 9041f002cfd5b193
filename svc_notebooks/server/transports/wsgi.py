"""The service under any WSGI server (PEP 3333)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from ...core.errors.catalogue import refuse
from ...core.http.messages import Disconnected, Headers, Request, Response, reason
from ..context.responses import error_response


class _Input:
    """The server's input stream as a body."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        try:
            block: bytes = self._stream.read(size)
        except (OSError, ValueError) as error:
            raise Disconnected(str(error)) from None
        return block


class WsgiApp:
    """A WSGI application around a function from a request to a response."""

    def __init__(self, handle: Callable[[Request], Response]) -> None:
        self._handle = handle

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request. A connection that a fault cuts is an exception: the server drops it."""
        response = self._handle(_request(environ)) if _is_delimited(environ) else error_response(refuse("chunkedBody"))
        start_response(f"{response.status} {reason(response.status) or 'Unknown'}", list(response.headers.pairs))
        return [response.body] if isinstance(response.body, bytes) else response.body


def _is_delimited(environ: dict[str, Any]) -> bool:
    """Whether the body ends where its bytes do: a server that does not say so hands over the chunked coding itself."""
    return "HTTP_TRANSFER_ENCODING" not in environ or bool(environ.get("wsgi.input_terminated"))


def _request(environ: dict[str, Any]) -> Request:
    host = quote(environ.get("SERVER_NAME", "localhost"), safe=":")  # cheroot's own is "Cheroot/11.1.2"
    authority = f"[{host}]" if ":" in host else host
    url = f"{environ['wsgi.url_scheme']}://{authority}:{environ.get('SERVER_PORT', '80')}{_target(environ)}"
    headers = _headers(environ)
    has_body = "Content-Length" in headers or "Transfer-Encoding" in headers
    return Request(environ["REQUEST_METHOD"], url, headers, _Input(environ["wsgi.input"]) if has_body else b"")


def _target(environ: dict[str, Any]) -> str:
    """Path and query; the path's encoding is that of the client where the server tells it."""
    query = environ.get("QUERY_STRING", "")
    raw = str(environ.get("REQUEST_URI") or environ.get("RAW_URI") or "")
    path = quote(environ.get("PATH_INFO", "/").encode("latin-1"), safe="/:@!$&'()*+,;=~-._%")
    target = raw if raw.startswith("/") else path
    return f"{target}?{query}" if query and "?" not in target else target  # some give the raw path alone


def _headers(environ: dict[str, Any]) -> Headers:
    pairs = [(key[5:].replace("_", "-").title(), value) for key, value in environ.items() if key.startswith("HTTP_")]
    for key, name in (("CONTENT_TYPE", "Content-Type"), ("CONTENT_LENGTH", "Content-Length")):
        if environ.get(key):
            pairs.append((name, environ[key]))
    return Headers(pairs)
