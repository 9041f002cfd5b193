"""Sends requests over HTTP with the connection pools of the library `requests`, which only this folder uses.

`requests` finds the connection pool, certificates and proxies of each origin once. Later requests use an open
connection directly, because finding the pool again takes as long as a small exchange. urllib3 sends the first request
of a connection, and http1.py the others. Requests are not repeated here (see retry.py), and redirects not followed,
because a 308 is a response in an upload (A3).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import LifoQueue
from typing import cast
from urllib.parse import urlsplit
from weakref import finalize

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy, urldefragauth
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ProxyError, ReadTimeoutError

from ...core.http.messages import Body, Headers, Request, Response
from ...core.http.redaction import redact_url
from ...core.platform import capabilities
from ...core.processes import after_fork
from .bounds import declared_size
from .http1 import SENT_AT_ONCE, QuickResponse, exchange, plain_head, request_target
from .http_errors import ERRORS, safe_cause, transport_error
from .http_options import certificates_of, needs_no_proxy, proxies_of, proxy_advice
from .in_process import BLOCK, TransportError

_BLOCKED = (
    "the browser blocked the request to {host}: the host cannot be reached, or does not allow requests from this page"
    " (CORS). The service must allow the page's origin, and expose the headers Location, Range and ETag"
)

_OF_CODED_BODY = frozenset({"content-encoding", "content-length"})
_READ_AT_ONCE = 65_536
"""The maximum response size in bytes that is read at once, which frees the connection."""


class _HttpConnection(HTTPConnection):
    response_class = QuickResponse


class _HttpsConnection(HTTPSConnection):
    response_class = QuickResponse


_QUICK: dict[type[object], type[HTTPConnection]] = {HTTPConnection: _HttpConnection, HTTPSConnection: _HttpsConnection}
"""The connection classes of urllib3, and those that replace them. In a browser urllib3 has other classes."""

_MAX_ORIGINS = 8
"""The maximum number of origins with open connections."""

MAX_CONNECTIONS = 64
"""The maximum number of connections to an origin that are kept open, and the most threads that a session is for."""


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
        self._timeout = urllib3.Timeout(connect=timeout[0], read=timeout[1])
        self._adapter = _adapter()
        self._pools: dict[tuple[str, str], _OriginPool] = {}
        logging.getLogger("urllib3.connectionpool").addFilter(_redact_log)  # a filter is added only once
        after_fork(self, HttpTransport._close_in_child)

    def send(self, request: Request) -> Response:
        """Send a request and return the response. Raises TransportError if no response arrives."""
        pool = self._pool_for(request.url)
        try:
            received = pool.send(request, self._timeout)
            response = received if isinstance(received, Response) else _read(received, request.method)
            if response.status == 407 and pool.behind_proxy:
                raise ProxyError("", OSError("407 Proxy Authentication Required"))
        except ERRORS as error:
            if capabilities().sockets:
                raise transport_error(error, request.url, self._own_proxies) from safe_cause(error)
            # A browser gives no reason for a failed request, and another try would not help.
            host = urlsplit(request.url).netloc.rpartition("@")[2]
            raise TransportError(_BLOCKED.format(host=host), hopeless=True) from safe_cause(error)
        return response

    def close(self) -> None:
        """Close all connections."""
        self._pools.clear()
        self._adapter.close()

    def _close_in_child(self) -> None:
        for pool in self._pools.values():
            pool.close_in_child()
        self._pools, self._adapter = {}, _adapter()

    def _pool_for(self, url: str) -> _OriginPool:
        origin = urlsplit(url)[:2]
        pool = self._pools.get(origin)
        if pool is None:
            if len(self._pools) == _MAX_ORIGINS:  # the adapter closes the oldest connections
                self._pools.clear()
            try:
                pool = self._pools[origin] = self._new_pool(url)
            except ERRORS as error:
                # The URL, the proxy URL or the certificate path is wrong, so nothing was sent and a retry cannot help.
                has_proxy = select_proxy(url, self._proxies_for(url))
                advice = proxy_advice(url, self._own_proxies) if has_proxy else "check base_url"
                if type(error) is OSError:
                    advice = "check REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or verify="
                raise TransportError(f"{error}; {advice}", sent=False, hopeless=True) from error
        return pool

    def _new_pool(self, url: str) -> _OriginPool:
        prepared, proxies = requests.PreparedRequest(), self._proxies_for(url)
        prepared.url = url
        adapter = self._adapter
        pool = cast(
            urllib3.HTTPConnectionPool,
            adapter.get_connection_with_tls_context(prepared, self._verify, proxies=proxies),
        )
        adapter.cert_verify(pool, url, self._verify, None)  # type: ignore[no-untyped-call]
        behind_proxy = not adapter.request_url(prepared, proxies).startswith("/")
        pool.ConnectionCls = _QUICK.get(pool.ConnectionCls, pool.ConnectionCls)
        host = f"[{pool.host}]" if ":" in pool.host else pool.host
        port = "" if pool.port in (None, pool.ConnectionCls.default_port) else f":{pool.port}"
        origin = _OriginPool(pool, adapter.max_retries, behind_proxy, host + port)
        finalize(origin, _close_all, origin.idle)
        return origin

    def _proxies_for(self, url: str) -> dict[str, str]:
        if self._own_proxies is not None:
            return self._own_proxies
        return {} if needs_no_proxy(url) else get_environ_proxies(url)


def _adapter() -> HTTPAdapter:
    return HTTPAdapter(pool_connections=_MAX_ORIGINS, pool_maxsize=MAX_CONNECTIONS, max_retries=0)


def _redact_log(record: logging.LogRecord) -> bool:
    """Redact the URLs that urllib3 logs, which may contain a token (T-05)."""
    if isinstance(record.args, tuple):
        record.args = tuple(redact_url(argument) if isinstance(argument, str) else argument for argument in record.args)
    return True


def _close_all(connections: list[HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _OriginPool:
    """The connection pool for one origin.

    If `behind_proxy` is True, requests have the whole URL, for an HTTP proxy. `host` is the value of the Host header.
    Connections that are open stay in `idle`, because taking them from the pool of urllib3 takes longer.
    """

    pool: urllib3.HTTPConnectionPool
    retries: urllib3.Retry
    behind_proxy: bool
    host: str
    idle: list[HTTPConnection] = field(default_factory=list)

    def send(self, request: Request, timeout: urllib3.Timeout) -> urllib3.BaseHTTPResponse | Response:
        """Send a request and return the response, as a response of urllib3 if it has an unread body.

        Raises an error of `ERRORS`.
        """
        head = None if self.behind_proxy else plain_head(request, self.host)
        connection = self._open_connection() if head else None
        if head and connection:
            return self._exchange(connection, head, request, timeout)
        body = request.body
        return self.pool.urlopen(
            request.method,
            urldefragauth(request.url) if self.behind_proxy else request_target(request.url),
            # An iterable, because urllib3 reads file objects in blocks of 16 KiB.
            body=(body or None) if isinstance(body, bytes) else _blocks(body),
            headers=dict(request.headers.pairs),
            retries=self.retries,
            redirect=False,
            assert_same_host=False,
            timeout=timeout,
            chunked=not isinstance(body, bytes) and "Content-Length" not in request.headers,
            preload_content=False,
            decode_content=False,
        )

    def _open_connection(self) -> HTTPConnection | None:
        """Take an open connection from the pool. Returns None if there is none, and urllib3 must connect."""
        try:
            connection = self.idle.pop()
        except IndexError:
            connection = cast(HTTPConnection, self.pool._get_conn())
            if not isinstance(connection, (_HttpConnection, _HttpsConnection)) or connection.is_closed:
                self.pool._put_conn(connection)
                return None
        if connection.is_connected:
            return connection
        connection.close()
        return self._open_connection()

    def _exchange(
        self, connection: HTTPConnection, head: bytes, request: Request, timeout: urllib3.Timeout
    ) -> urllib3.BaseHTTPResponse | Response:
        seconds = timeout.read_timeout
        try:
            if connection.sock.gettimeout() != seconds:
                connection.sock.settimeout(seconds)
            response = exchange(connection.sock, head, request.body, request.method)
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):  # in the words of urllib3
                raise ReadTimeoutError(self.pool, "", f"Read timed out. (read timeout={seconds})") from error
            raise
        if isinstance(response, Response):
            self._release(connection)
            return response
        if response.will_close:
            connection.close()  # the response can still be read
        if response.length == 0 and not response.chunked:
            response.close()
            if not response.will_close:
                self._release(connection)
            return Response(response.status, Headers(response.msg.items()))
        return urllib3.HTTPResponse(
            response,
            urllib3.HTTPHeaderDict(response.msg.items()),
            response.status,
            response.version,
            preload_content=False,
            decode_content=False,
            original_response=response,
            pool=self.pool,
            connection=connection,
            request_method=request.method,
        )

    def _release(self, connection: HTTPConnection) -> None:
        """Keep a connection for the next request."""
        if len(self.idle) < MAX_CONNECTIONS:
            self.idle.append(connection)
        else:
            connection.close()

    def close_in_child(self) -> None:
        """Close the connections in a forked child and replace the pool's locks, which parent threads may have held."""
        _close_all(self.idle)
        if connections := self.pool.pool:
            for connection in filter(None, connections.queue):
                connection.close()
            LifoQueue.__init__(connections, connections.maxsize)  # the pool's finalizer takes connections from it


def _blocks(body: Body) -> Iterator[bytes]:
    while block := body.read(SENT_AT_ONCE):
        yield block


def _read(raw: urllib3.BaseHTTPResponse, method: str) -> Response:
    pairs = raw.headers.iteritems()
    if not capabilities().sockets:  # the browser has decoded the body
        pairs = ((name, value) for name, value in pairs if name.lower() not in _OF_CODED_BODY)
    headers = Headers(pairs)
    size = declared_size(headers)
    if method == "HEAD" or size == 0:  # such as the 308 response to a chunk
        raw.release_conn()
        raw.close()
        return Response(raw.status, headers)
    if size is not None and size <= _READ_AT_ONCE:
        return Response(raw.status, headers, b"".join(Stream(raw)))
    return Response(raw.status, headers, Stream(raw))


class Stream:
    """An iterable over the blocks of a body as received, which closes the connection if the iteration stops early."""

    __slots__ = ("_raw",)

    def __init__(self, raw: urllib3.BaseHTTPResponse) -> None:
        self._raw = raw

    def __iter__(self) -> Iterator[bytes]:
        raw = self._raw
        try:
            while block := raw.read(BLOCK, decode_content=False):
                yield block
            raw.release_conn()
        except ERRORS as error:
            raise transport_error(error) from safe_cause(error)
        finally:
            raw.close()
