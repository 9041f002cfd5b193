"""The way to a service over HTTP: the one file that sends with `requests`.

Requests are prepared by hand and given to the adapter directly, which costs a fraction of `Session.get`;
proxies and certificates are looked up once for each host. Nothing is retried and no redirect is followed
here: a 308 is an answer (A3), and when to try again is decided in one place (attempts.py, core.resume).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError, NameResolutionError, NewConnectionError, ProxySchemeUnsupported

from ..core.wire import Body, Headers, Request, Response
from .transport import BLOCK, Broken

ERRORS = (requests.RequestException, HTTPError, ProxySchemeUnsupported, OSError)
"""Whatever requests, urllib3 and sockets raise is one of these; a test compares them with the modules."""

_WHOLE = 65_536
"""Answers up to this size are read at once, so that their connection is free again."""


class HttpTransport:
    """Carries requests over sockets, which are kept open between them.

    `verify` is True, False or a file or folder of certificates; `proxies` maps a scheme to a proxy's URL;
    None for either: what the environment says. `timeout` is (to connect, to read) in seconds.
    """

    def __init__(
        self,
        *,
        verify: bool | str | Path | None = None,
        proxies: Mapping[str, str] | None = None,
        timeout: tuple[float, float] = (10.0, 60.0),
    ) -> None:
        self._verify = _certificates(verify)
        self._given = None if proxies is None else dict(proxies)
        self._proxies: dict[str, dict[str, str]] = {}
        self._timeout = timeout
        self._adapter = HTTPAdapter(pool_connections=8, pool_maxsize=16, max_retries=0)

    def send(self, request: Request) -> Response:
        """One exchange. Raises Broken."""
        try:
            answer = self._adapter.send(
                _prepare(request),
                stream=True,
                timeout=self._timeout,
                verify=self._verify,
                proxies=self._proxies_for(request.url),
            )
        except ERRORS as error:
            raise broken(error) from error
        return _read(answer.raw, request.method)

    def close(self) -> None:
        """Close every connection."""
        self._adapter.close()

    def _proxies_for(self, url: str) -> dict[str, str]:
        if self._given is not None:
            return self._given
        host = urlsplit(url).netloc
        if host not in self._proxies:
            self._proxies[host] = get_environ_proxies(url)
        return self._proxies[host]


def _certificates(verify: bool | str | Path | None) -> bool | str:
    if isinstance(verify, (str, Path)):
        return str(verify)
    if verify is None:
        named = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
        return named or True
    return verify


def _prepare(request: Request) -> requests.PreparedRequest:
    prepared = requests.PreparedRequest()
    prepared.method = request.method
    prepared.url = request.url
    prepared.headers = CaseInsensitiveDict(request.headers.pairs)
    body = request.body
    # An iterable, not a file: requests reads files in blocks of 16 KiB.
    prepared.body = body or None if isinstance(body, bytes) else cast(bytes, _blocks(body))
    return prepared


def _blocks(body: Body) -> Iterator[bytes]:
    while block := body.read(BLOCK):
        yield block


def _read(raw: urllib3.BaseHTTPResponse, method: str) -> Response:
    headers = Headers(raw.headers.items())
    length = headers.get("Content-Length", "")
    if method == "HEAD" or (length.isdecimal() and int(length) <= _WHOLE):
        return Response(raw.status, headers, b"".join(Stream(raw)))
    return Response(raw.status, headers, Stream(raw))


class Stream:
    """A response's body in blocks; reading it to the end frees the connection, stopping early closes it."""

    __slots__ = ("_raw",)

    def __init__(self, raw: urllib3.BaseHTTPResponse) -> None:
        self._raw = raw

    def __iter__(self) -> Iterator[bytes]:
        raw, encoded = self._raw, "Content-Encoding" in self._raw.headers
        try:
            # Without decoding, urllib3 hands its blocks on; with it they are copied through a buffer.
            while block := raw.read(BLOCK, decode_content=encoded):
                yield block
            raw.release_conn()
        except ERRORS as error:
            raise broken(error) from error
        finally:
            raw.close()


def broken(error: Exception) -> Broken:
    """Any failure of requests, urllib3 or the socket, as the one that the client knows."""
    cause = _innermost(error)
    early = isinstance(cause, NewConnectionError | urllib3.exceptions.ConnectTimeoutError)
    hopeless = isinstance(error, _HOPELESS) or isinstance(cause, NameResolutionError)
    return Broken(_words(cause), sent=not (early or hopeless), hopeless=hopeless)


_HOPELESS = (
    requests.exceptions.SSLError,
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidProxyURL,
    requests.exceptions.InvalidHeader,
    ProxySchemeUnsupported,
)


def _innermost(error: BaseException) -> BaseException:
    """What urllib3 said inside of what requests says."""
    inner = getattr(error, "reason", None) or (error.args[0] if error.args else None)
    return _innermost(inner) if isinstance(inner, BaseException) else error


def _words(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    # urllib3 begins with the object's repr, which has an address in it that differs at every run
    return text.partition(">: ")[2] or text if text.startswith("<") else text
