"""Sends requests over sockets, with the connection pools of the library `requests`.

Requests are not repeated here (see retry.py), and redirects not followed, because a 308 answers an upload (A3).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from http.client import BadStatusLine, HTTPException, HTTPResponse, RemoteDisconnected
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPHeaderDict, Timeout, exceptions
from urllib3.exceptions import ProxyError

from ...core.http.messages import Body, Headers, Request, Response
from ...core.http.redaction import redact_text, redact_url
from ...core.platform import capabilities
from ...core.printable_text import printable
from ...core.processes import after_fork
from .bounds import declared_size
from .http_options import certificates_of, needs_no_proxy, proxies_of, proxy_advice
from .in_process import BLOCK, TransportError

ERRORS = (requests.RequestException, exceptions.HTTPError, HTTPException, exceptions.ProxySchemeUnsupported, OSError)
"""The base classes of the errors of requests, urllib3, http.client and sockets. A test checks that none is missing."""


def transport_error(error: Exception, url: str = "", own_proxies: object = None) -> TransportError:
    """Return the TransportError for an error of requests, urllib3 or a socket.

    The message names the host of `url`. `own_proxies` is the argument `proxies`, or None.
    """
    layers = list(_layers(error))
    hopeless = any(isinstance(layer, _HOPELESS) for layer in layers)
    early = any(isinstance(layer, _NOT_SENT) for layer in layers)
    message = _unreachable(layers, url, own_proxies) if early or hopeless else ""
    _forget_frames(error)
    return TransportError(
        message or _message(layers[-1]), sent=not (early or hopeless), hopeless=hopeless, unreachable=bool(message)
    )


def _unreachable(layers: list[BaseException], url: str, own_proxies: object) -> str:
    """Return advice with the address that could not be reached, or "" for any other error."""
    parts, inner = urlsplit(url), layers[-1]
    host, origin = parts.hostname, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if any(isinstance(layer, exceptions.ProxyError) for layer in layers):
        advice = proxy_advice(url, own_proxies)
        return f"the proxy for {origin} cannot be reached, or refused ({_message(inner)}); {advice}"
    if isinstance(inner, exceptions.NameResolutionError):
        return f"the host {host} of {origin} was not found; check the host name in base_url, and the network"
    if isinstance(inner, exceptions.NewConnectionError) and isinstance(inner.__cause__, ConnectionRefusedError):
        return f"nothing listens at {origin}; check the port in base_url, and that the service runs"
    if isinstance(inner, exceptions.NewConnectionError):
        return f"{origin} cannot be reached ({_message(inner)}); check base_url, and the network"
    if isinstance(inner, exceptions.ConnectTimeoutError):
        return f"{origin} did not accept the connection in time; check base_url, and the network"
    return ""


def safe_cause(error: Exception) -> BaseException | None:
    """Return the innermost error, as outer errors show the URL (T-05), or None if the innermost shows a secret."""
    inner = list(_layers(error))[-1]
    return inner if redact_text(str(inner)) == str(inner) else None


_NOT_SENT = (exceptions.ConnectTimeoutError, exceptions.NewConnectionError, exceptions.ProxyError)


_HOPELESS = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidProxyURL,
    exceptions.InvalidHeader,
    exceptions.LocationValueError,
    exceptions.NameResolutionError,
    exceptions.ProxySchemeUnsupported,
    exceptions.SSLError,
)


def _layers(error: BaseException) -> Iterator[BaseException]:
    yield error
    for inner in (getattr(error, "reason", None), *error.args):
        if isinstance(inner, BaseException):
            yield from _layers(inner)
            return


def _forget_frames(error: BaseException) -> None:
    """Remove the tracebacks of an error and its causes, whose frames contain the access token (T-05)."""
    error.__traceback__ = None
    for before in (error.__cause__, error.__context__):
        if before is not None and before.__traceback__ is not None:
            _forget_frames(before)


def _message(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, BadStatusLine) and not isinstance(error, RemoteDisconnected):
        return (
            f"the response is not HTTP; check base_url. The response begins with '{printable(redact_text(text), 60)}'"
        )
    if "WRONG_VERSION_NUMBER" in text:
        return "the server does not use TLS; check the scheme (https or http) and the port in base_url"
    return printable(redact_text(_CONNECTION.sub("", text)))


_CONNECTION = re.compile(r"<.*?>: |\w+\(host=.*?\): ")
"""The object with which urllib3 begins its messages."""


_BLOCKED = (
    "the browser blocked the request to {host}: the host cannot be reached, or does not allow requests from this page"
    " (CORS). The service must allow the page's origin, and expose the headers Location, Range and ETag"
)

SENT_AT_ONCE = 256 * 1024
"""The block size of request bodies that are read, in bytes. With 1 MiB an upload takes a tenth longer, measured."""

_MAX_HEAD, _MAX_OVERHEAD = 262_144, 16_384
"""The most bytes before a body, and the most of extensions of chunks and trailers, beyond the size of the content."""

_OF_CODED_BODY = frozenset({"content-encoding", "content-length"})
_READ_AT_ONCE = 65_536
"""The maximum response size in bytes that is read at once, which frees the connection."""

_MAX_ORIGINS = 8
"""The maximum number of origins with open connections."""

MAX_CONNECTIONS = 64
"""The maximum number of connections to an origin that are kept open, and the most threads that a session is for."""


class _Route(NamedTuple):
    """The connections to an origin, and the proxies through which they go."""

    pool: HTTPConnectionPool
    proxies: dict[str, str]


class HttpTransport:
    """A transport that sends requests over sockets, and keeps connections open for further requests.

    `verify` is True, False or a file or folder of certificates, `proxies` maps schemes to proxy URLs. If None, the
    environment variables apply, except that requests to this machine use no proxy. `timeout` has the seconds to
    connect and to read.
    """

    def __init__(
        self,
        *,
        verify: bool | str | Path | None = None,
        proxies: Mapping[str, str] | None = None,
        timeout: tuple[float, float] = (10.0, 60.0),
    ) -> None:
        self._verify = certificates_of(verify)
        self._own_proxies = proxies_of(proxies)
        self._timeout = timeout
        self._adapter = _adapter()
        self._routes: dict[tuple[str, str], _Route] = {}
        for name in ("connection", "connectionpool"):
            logging.getLogger(f"urllib3.{name}").addFilter(_redact_log)  # a filter is added only once
        after_fork(self, HttpTransport._renew_in_child)

    def send(self, request: Request) -> Response:
        """Send a request and return the response. Raises TransportError if no response arrives."""
        route = self._route_of(request.url)
        try:
            return self._send(request, route)
        except ERRORS as error:
            if capabilities().sockets:
                raise transport_error(error, request.url, self._own_proxies) from safe_cause(error)
            # A browser gives no reason for a failed request, and another try would not help.
            host = urlsplit(request.url).netloc.rpartition("@")[2]
            raise TransportError(_BLOCKED.format(host=host), hopeless=True) from safe_cause(error)

    def close(self) -> None:
        """Close all connections."""
        self._routes.clear()
        self._adapter.close()

    def _renew_in_child(self) -> None:
        # kept, because a thread of the parent may have held the locks of its pools
        self._of_parent = self._adapter, self._routes
        self._adapter, self._routes = _adapter(), {}

    def _route_of(self, url: str) -> _Route:
        parts = urlsplit(url)
        key = parts.scheme, parts.netloc
        if (route := self._routes.get(key)) is None:
            if len(self._routes) == _MAX_ORIGINS:
                self._routes.clear()
            route = self._routes.setdefault(key, self._new_route(url))  # another thread may have been faster
        return route

    def _new_route(self, url: str) -> _Route:
        """Return how the origin of a URL is reached. Raises TransportError for a wrong URL, proxy or certificate."""
        proxies = self._proxies_for(url)
        proxy = select_proxy(url, proxies)
        prepared = requests.PreparedRequest()
        prepared.url = url
        adapter: Any = self._adapter  # its stubs are not complete
        try:
            pool = adapter.get_connection_with_tls_context(prepared, self._verify, proxies=proxies)
            adapter.cert_verify(pool, url, self._verify, None)
        except ERRORS as error:
            advice = proxy_advice(url, self._own_proxies) if proxy else "check base_url"
            if type(error) is OSError:
                advice = "check REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or verify="
            raise TransportError(f"{error}; {advice}", sent=False, hopeless=True) from error
        return _Route(pool, proxies)

    def _proxies_for(self, url: str) -> dict[str, str]:
        if self._own_proxies is not None:
            return self._own_proxies
        return {} if needs_no_proxy(url) else get_environ_proxies(url)

    def _send(self, request: Request, route: _Route) -> Response:
        prepared = requests.PreparedRequest()
        prepared.url, body = request.url, request.body
        raw = route.pool.urlopen(
            request.method,
            self._adapter.request_url(prepared, route.proxies),
            # An iterable, because urllib3 reads file objects in blocks of 16 KiB.
            (body or None) if isinstance(body, bytes) else _blocks(body),
            HTTPHeaderDict(request.headers.pairs),
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=Timeout(connect=self._timeout[0], read=self._timeout[1]),
            preload_content=False,
            decode_content=False,
        )
        if raw.status == 407 and route.proxies:
            raise ProxyError("", OSError("407 Proxy Authentication Required"))
        return _response(raw, request.method)


def _response(raw: BaseHTTPResponse, method: str) -> Response:
    """Return a response with its body if that is short, which frees the connection."""
    pairs: Iterable[tuple[str, str]] = raw.headers.iteritems()
    if not capabilities().sockets:  # the browser has decoded the body
        pairs = ((name, value) for name, value in pairs if name.lower() not in _OF_CODED_BODY)
    headers = Headers(pairs)
    size = 0 if method == "HEAD" else declared_size(headers)
    block_size = _READ_AT_ONCE if size is None else BLOCK  # small, so that a bound is noticed early
    blocks = _streamed(raw, block_size)
    is_short = size is not None and size <= _READ_AT_ONCE and "Content-Encoding" not in headers
    return Response(raw.status, headers, b"".join(blocks) if is_short else blocks)


class _BoundedReader(BufferedReader):
    """Reads a response, whose lines may have `left` more bytes. The bytes of the body allow as many bytes of lines."""

    left = _MAX_HEAD
    line = b""
    """The last line."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = self.line = super().readline(size)
        self.left -= len(line)
        if self.left < 0:
            raise HTTPException("got too many bytes before the body of the response, or between its chunks")
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.left = min(_MAX_OVERHEAD, self.left + len(data))
        return data


class _BoundedResponse(HTTPResponse):
    """A response of http.client, which by itself accepts a cut head, and any number of interim responses."""

    def begin(self) -> None:
        reader = self.fp = _BoundedReader(self.fp.detach())
        super().begin()
        if reader.line not in (b"\r\n", b"\n"):
            raise HTTPException("the response ended before the end of its headers")
        reader.left = _MAX_OVERHEAD


class _Adapter(HTTPAdapter):
    """Sends requests with connections whose responses have bounded heads, also through a proxy."""

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        own = pool.ConnectionCls
        if capabilities().sockets and own.response_class is not _BoundedResponse:
            pool.ConnectionCls = type(own.__name__, (own,), {"response_class": _BoundedResponse})
        return pool


def _adapter() -> HTTPAdapter:
    return _Adapter(pool_connections=2 * _MAX_ORIGINS, pool_maxsize=MAX_CONNECTIONS, max_retries=0)


def _redact_log(record: logging.LogRecord) -> bool:
    """Redact the URLs that urllib3 logs, which may contain a token (T-05)."""
    if isinstance(record.args, tuple):
        record.args = tuple(redact_url(argument) if isinstance(argument, str) else argument for argument in record.args)
    return True


def _blocks(body: Body) -> Iterator[bytes]:
    while block := body.read(SENT_AT_ONCE):
        yield block


def _streamed(raw: BaseHTTPResponse, size: int) -> Iterator[bytes]:
    """Yield the blocks of a body as received, of at most `size` bytes."""
    complete = False
    try:
        while block := raw.read(size, decode_content=False):
            yield block
        complete = True
    except ERRORS as error:
        raise transport_error(error) from safe_cause(error)
    finally:
        raw.release_conn() if complete else raw.close()
