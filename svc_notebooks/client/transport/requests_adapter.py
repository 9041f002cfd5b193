"""An adapter that lets `requests` call an in-process service, without a socket or thread.

session = requests.Session()
session.mount("https://", DirectAdapter(service.handle))
session.get("https://api.example.org/storage/v3/files")
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import requests
from requests.adapters import BaseAdapter
from requests.cookies import extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPHeaderDict, HTTPResponse
from urllib3.exceptions import ProtocolError

from ...core.http.messages import Body, BytesBody, Disconnected, Headers, Request, Response, reason
from .in_process import BodyRecord, Handler, OutgoingBody, closing_body

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class DirectAdapter(BaseAdapter):
    """An adapter for a `requests.Session` that calls a service function in the caller's thread.

    >>> web = requests.Session()
    >>> web.mount("https://", DirectAdapter(lambda request: Response(200, body=b"hello")))
    >>> web.get("https://api.example.org/").text
    'hello'
    """

    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self._handler = handler

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: object = None,
        verify: bool | str = True,
        cert: object = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Call the service and return its response. Raises requests.ConnectionError if the service disconnects."""
        body: OutgoingBody[BodyRecord] = OutgoingBody(_body(request.body))
        try:
            response = self._handler(_request(request, body))
        except Disconnected as error:
            if body.error is None:
                raise requests.ConnectionError(error, request=request) from error
        if body.error is not None:
            raise body.error
        return self._answer(request, response)

    def close(self) -> None:
        """Do nothing, because this adapter has no connections."""

    def _answer(self, request: requests.PreparedRequest, response: Response) -> requests.Response:
        raw = _raw(response, request.method or "GET")
        answer = requests.Response()
        answer.status_code = response.status
        answer.headers = CaseInsensitiveDict(raw.headers)
        answer.encoding = requests.utils.get_encoding_from_headers(answer.headers)
        answer.raw = raw
        answer.reason = raw.reason or ""
        answer.url = request.url or ""
        answer.request = request
        answer.connection = self  # type: ignore[assignment]  # as requests' own adapter does
        extract_cookies_to_jar(answer.cookies, request, raw)  # type: ignore[no-untyped-call]
        return answer


def _request(request: requests.PreparedRequest, body: Body) -> Request:
    pairs = [(_latin(name), _latin(value)) for name, value in request.headers.items()]
    return Request(request.method or "GET", request.url or "", Headers(pairs), body)


def _latin(text: str | bytes) -> str:
    return text.decode("latin-1") if isinstance(text, bytes) else text


def _body(body: object) -> Body:
    if body is None or isinstance(body, (bytes, str)):
        return BytesBody(body.encode() if isinstance(body, str) else body or b"")
    if hasattr(body, "read"):
        return body
    if isinstance(body, Iterable):
        return IterableBody(body)
    raise TypeError(f"the type {type(body).__name__} is not supported as a request body")


class IterableBody:
    """A request body that reads from an iterable of blocks of any size."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rest = b""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or all remaining bytes if `size` is negative."""
        if size < 0:
            return self._rest + b"".join(self._blocks)
        self._rest = self._rest or next((block for block in self._blocks if block), b"")
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


class _Pipe(io.RawIOBase):
    """A file object that reads the blocks of a response body, for urllib3."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._body = blocks
        self._blocks: Iterator[bytes] = iter(blocks)
        self._rest = memoryview(b"")

    def close(self) -> None:
        with closing_body(self._body):
            super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer)
        while not self._rest:
            try:
                self._rest = memoryview(next(self._blocks))
            except StopIteration:
                return 0
            except Disconnected as error:
                raise ProtocolError(f"Connection broken: {error}", error) from error
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _raw(response: Response, method: str) -> HTTPResponse:
    blocks = [response.body] if isinstance(response.body, bytes) else response.body
    headers = HTTPHeaderDict()
    for name, value in response.headers.pairs:
        headers.add(name, value)
    return HTTPResponse(
        body=io.BufferedReader(_Pipe(blocks)) if method != "HEAD" else io.BytesIO(),
        headers=headers,
        status=response.status,
        reason=reason(response.status),
        preload_content=False,
        decode_content=False,
        request_method=method,
    )
