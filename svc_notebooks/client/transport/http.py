"""Sends requests over sockets.

Requests to a service without a proxy use connections that urllib3 opens and http1.py uses. All others are sent by the
library `requests`: those through a proxy, in a browser, and with headers or bodies that need its care. Requests are
not repeated here (see retry.py), and redirects not followed, because a 308 is a response in an upload (A3).
"""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.client import BadStatusLine, HTTPException, HTTPResponse, RemoteDisconnected
from io import BufferedReader
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import finalize

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy
from urllib3 import BaseHTTPResponse, exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ProxyError, SSLError

from ...core.http.messages import Body, Headers, Request, Response
from ...core.http.redaction import redact_text, redact_url
from ...core.platform import after_fork, capabilities
from ...core.printable_text import printable
from .bounds import declared_size
from .http1 import MAX_HEAD, SENT_AT_ONCE, ReceivedResponse, exchange, plain_head
from .in_process import BLOCK, TransportError
from .urls import certificates_of, needs_no_proxy, proxies_of, proxy_advice

# The base classes of the errors of requests, urllib3, http.client and sockets. A test checks that none is missing.
ERRORS = (requests.RequestException, exceptions.HTTPError, HTTPException, exceptions.ProxySchemeUnsupported, OSError)


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


_CONNECTION = re.compile(r"<.*?>: |\w+\(host=.*?\): ")  # the object with which urllib3 begins its messages


_BLOCKED = (
    "the browser blocked the request to {host}: the host cannot be reached, or does not allow requests from this page"
    " (CORS). The service must allow the page's origin, and expose the headers Location, Range and ETag"
)

_OF_CODED_BODY = frozenset({"content-encoding", "content-length"})
_READ_AT_ONCE = 65_536  # the maximum response size in bytes that is read at once, which frees the connection

_MAX_ORIGINS = 8  # the maximum number of origins with open connections

# The maximum number of connections to an origin that are kept open, and the most threads that a session is for.
MAX_CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class _Origin:
    """How an origin is reached. `idle` has the open connections that no request uses.

    `proxies` are the proxies for `requests`, or None for a direct connection. `host` is the value of the Host header.
    """

    proxies: dict[str, str] | None
    host: str
    idle: list[HTTPConnection] = field(default_factory=list)

    def take(self) -> HTTPConnection | None:
        """Return an idle connection that the service has not closed, or None."""
        while self.idle:
            try:
                connection = self.idle.pop()
            except IndexError:  # another thread has taken it
                break
            if connection.is_connected:
                return connection
            connection.close()
        return None

    def release(self, connection: HTTPConnection) -> None:
        """Keep a connection for the next request."""
        if len(self.idle) < MAX_CONNECTIONS:
            self.idle.append(connection)
        else:
            connection.close()


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
        self._origins: dict[tuple[str, str], _Origin] = {}
        finalize(self, _close_all, self._origins)
        logging.getLogger("urllib3.connectionpool").addFilter(_redact_log)  # a filter is added only once
        after_fork(self, HttpTransport._close_in_child)

    def send(self, request: Request) -> Response:
        """Send a request and return the response. Raises TransportError if no response arrives."""
        origin = self._origin_of(request.url)
        try:
            return self._send(request, origin)
        except ERRORS as error:
            if capabilities().sockets:
                raise transport_error(error, request.url, self._own_proxies) from safe_cause(error)
            # A browser gives no reason for a failed request, and another try would not help.
            host = urlsplit(request.url).netloc.rpartition("@")[2]
            raise TransportError(_BLOCKED.format(host=host), hopeless=True) from safe_cause(error)

    def close(self) -> None:
        """Close all connections."""
        _close_all(self._origins)
        self._adapter.close()

    def _close_in_child(self) -> None:
        _close_all(self._origins)
        self._of_parent = self._adapter  # kept, because a thread of the parent may have held the locks of its pools
        self._adapter = _adapter()

    def _origin_of(self, url: str) -> _Origin:
        parts = urlsplit(url)
        key = parts.scheme, parts.netloc
        origin = self._origins.get(key)
        if origin is None:
            if len(self._origins) == _MAX_ORIGINS:
                _close_all(self._origins)
            origin = self._origins.setdefault(key, self._new_origin(url))  # another thread may have been faster
        return origin

    def _new_origin(self, url: str) -> _Origin:
        """Return how the origin of a URL is reached. Raises TransportError for a wrong URL, proxy or certificate."""
        proxies = self._proxies_for(url)
        proxy = select_proxy(url, proxies)
        prepared = requests.PreparedRequest()
        prepared.url = url
        try:
            self._adapter.get_connection_with_tls_context(prepared, self._verify, proxies=proxies)
            if isinstance(self._verify, str) and not Path(self._verify).exists():
                raise OSError(f"there are no certificates at {self._verify}")
        except ERRORS as error:
            advice = proxy_advice(url, self._own_proxies) if proxy else "check base_url"
            if type(error) is OSError:
                advice = "check REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE or verify="
            raise TransportError(f"{error}; {advice}", sent=False, hopeless=True) from error
        host = urlsplit(url).netloc.rpartition("@")[2]
        default_port = ":443" if url.startswith("https:") else ":80"
        is_direct = capabilities().sockets and not proxy
        return _Origin(None if is_direct else proxies, host.removesuffix(default_port))

    def _proxies_for(self, url: str) -> dict[str, str]:
        if self._own_proxies is not None:
            return self._own_proxies
        return {} if needs_no_proxy(url) else get_environ_proxies(url)

    def _send(self, request: Request, origin: _Origin) -> Response:
        head = plain_head(request, origin.host) if origin.proxies is None else None
        if head is None:
            return self._send_by_requests(request, origin)
        connection = origin.take() or self._connect(request.url)
        try:
            connection.sock.settimeout(self._timeout[1])
            answer = exchange(connection.sock, head, request.body, request.method)
            body = _streamed(answer.blocks(), partial(_end, answer, connection, origin))
            return Response(answer.status, answer.headers, _read_short(body, answer.size, answer.headers))
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):  # in the words of urllib3
                raise TimeoutError(f"Read timed out. (read timeout={self._timeout[1]})") from error
            raise

    def _connect(self, url: str) -> HTTPConnection:
        parts, seconds, verify = urlsplit(url), self._timeout[0], self._verify
        connection: HTTPConnection
        if parts.scheme == "http":
            connection = HTTPConnection(str(parts.hostname), parts.port, timeout=seconds)
        else:
            path = requests.utils.DEFAULT_CA_BUNDLE_PATH if verify is True else verify or None
            is_folder = path is not None and Path(path).is_dir()
            connection = HTTPSConnection(
                str(parts.hostname),
                parts.port,
                timeout=seconds,
                cert_reqs="CERT_REQUIRED" if verify else "CERT_NONE",
                ca_certs=None if is_folder else path,
                ca_cert_dir=path if is_folder else None,
            )
        try:
            connection.connect()
        except BaseException as error:
            connection.close()
            if isinstance(error, (ssl.SSLError, ValueError)):
                raise SSLError(error) from error
            raise
        return connection

    def _send_by_requests(self, request: Request, origin: _Origin) -> Response:
        prepared = requests.PreparedRequest()
        prepared.method, prepared.url = request.method, request.url
        prepared.headers = requests.structures.CaseInsensitiveDict(request.headers.pairs)
        prepared.headers.setdefault("Accept-Encoding", "identity")
        body = request.body
        # An iterable, because urllib3 reads file objects in blocks of 16 KiB.
        prepared.body = (body or None) if isinstance(body, bytes) else _blocks(body)  # type: ignore[assignment]
        proxies = origin.proxies or {}
        raw: BaseHTTPResponse = self._adapter.send(
            prepared, stream=True, timeout=self._timeout, verify=self._verify, proxies=proxies
        ).raw
        if raw.status == 407 and proxies:
            raise ProxyError("", OSError("407 Proxy Authentication Required"))
        pairs: Iterable[tuple[str, str]] = raw.headers.iteritems()
        if not capabilities().sockets:  # the browser has decoded the body
            pairs = ((name, value) for name, value in pairs if name.lower() not in _OF_CODED_BODY)
        headers = Headers(pairs)
        size = 0 if request.method == "HEAD" else declared_size(headers)
        block_size = _READ_AT_ONCE if size is None else BLOCK  # small, so that a bound is noticed early
        stream = _streamed(
            iter(lambda: raw.read(block_size, decode_content=False), b""),
            lambda complete: raw.release_conn() if complete else raw.close(),
        )
        return Response(raw.status, headers, _read_short(stream, size, headers))


class _HeadReader(BufferedReader):
    """Reads the lines before a body, of which all together have at most `left` bytes."""

    left: float = MAX_HEAD

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        self.left -= len(line)
        if self.left < 0:
            raise HTTPException(f"got more than {MAX_HEAD} bytes before the body of the response")
        return line


class _BoundedResponse(HTTPResponse):
    """A response of http.client, which by itself skips any number of responses with the status 100."""

    def begin(self) -> None:
        reader = self.fp = _HeadReader(self.fp.detach())
        super().begin()
        reader.left = inf


class _Adapter(HTTPAdapter):
    """Sends requests with connections whose responses have bounded heads, also through a proxy."""

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        own = pool.ConnectionCls
        if capabilities().sockets and own.response_class is not _BoundedResponse:
            pool.ConnectionCls = type(own.__name__, (own,), {"response_class": _BoundedResponse})
        return pool


def _adapter() -> HTTPAdapter:
    return _Adapter(pool_connections=_MAX_ORIGINS, pool_maxsize=MAX_CONNECTIONS, max_retries=0)


def _redact_log(record: logging.LogRecord) -> bool:
    """Redact the URLs that urllib3 logs, which may contain a token (T-05)."""
    if isinstance(record.args, tuple):
        record.args = tuple(redact_url(argument) if isinstance(argument, str) else argument for argument in record.args)
    return True


def _close_all(origins: dict[tuple[str, str], _Origin]) -> None:
    while origins:
        _, origin = origins.popitem()
        while origin.idle:
            origin.idle.pop().close()


def _blocks(body: Body) -> Iterator[bytes]:
    while block := body.read(SENT_AT_ONCE):
        yield block


def _read_short(blocks: Iterator[bytes], size: int | None, headers: Headers) -> bytes | Iterator[bytes]:
    """Return the bytes of a short body without a coding, which frees the connection, or else the body."""
    is_short = size is not None and size <= _READ_AT_ONCE and "Content-Encoding" not in headers
    return b"".join(blocks) if is_short else blocks


def _end(answer: ReceivedResponse, connection: HTTPConnection, origin: _Origin, complete: bool) -> None:
    if complete and answer.keeps_open and not answer.received.ahead:
        origin.release(connection)
    else:
        connection.close()


def _streamed(blocks: Iterable[bytes], end: Callable[[bool], None]) -> Iterator[bytes]:
    """Yield the blocks of a body as received. `end` is called with whether all of them were read."""
    complete = False
    try:
        yield from blocks
        complete = True
    except ERRORS as error:
        raise transport_error(error) from safe_cause(error)
    finally:
        end(complete)
