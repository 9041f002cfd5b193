"""Records the exchanges of a session (D-04).

Bodies are decoded only when an exchange is read, so that recording takes a few microseconds. Secrets are removed from
headers at once, and from bodies when the exchange ends (T-05), because a secret may be split between two blocks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from threading import Lock
from typing import TypeAlias, overload

from ...core.http.messages import Headers, Response
from ...core.http.redaction import may_contain_secret, redact_headers, redact_text, redact_url, remove_secret
from ...core.platform import after_fork

# The maximum number of bytes kept of a text body.
KEPT = 2048

MIB = 1024 * 1024

# The number of bytes of a body that are searched for secrets, enough for a long secret after the kept bytes.
_SCANNED_BYTES = KEPT + 8192

_TEXT = ("text/", "application/json", "application/xml", "application/x-www-form-urlencoded", "multipart/")
Pairs: TypeAlias = tuple[tuple[str, str], ...]
_BASE_SIZE = 1000  # the approximate memory in bytes for an exchange without its texts


def _is_text(headers: Pairs) -> bool:
    for name, value in headers:
        if len(name) == 12 and name.lower() == "content-type":
            return value.lower().startswith(_TEXT)
    return False


@dataclass(slots=True, eq=False)
class Exchange:
    """The record of a request and its response, which may be in progress. Its end removes the session's token.

    `n` is the number of the exchange. `sent` and `received` are body sizes in bytes. `seconds` is the duration until
    the last byte of the response. `request_body` and `response_body` have at most 2 KiB of text, and are None if empty
    or binary. Without a response, `status` is None and `error` is the reason.
    """

    n: int
    time: datetime
    method: str
    url: str
    request_headers: Pairs
    _secret: str = field(repr=False)
    status: int | None = None
    response_headers: Pairs = ()
    seconds: float = 0.0
    sent: int = 0
    received: int = 0
    error: str | None = None
    _request_head: bytes = field(default=b"", repr=False)
    _response_head: bytes = field(default=b"", repr=False)
    _weight: int = field(default=0, repr=False)  # the approximate memory of the record in bytes
    # The number of further bytes of the request body that the record keeps, 0 unless the body is text.
    _remaining: int = field(default=0, repr=False)

    @property
    def request_body(self) -> str | None:
        return _readable(_redact_head(self._request_head, self._secret, self.url)) or None

    @property
    def response_body(self) -> str | None:
        return _readable(_redact_head(self._response_head, self._secret, self.url)) or None

    def record_sent(self, data: bytes) -> None:
        """Add a sent block of the request body to the record."""
        if self._remaining:
            self._request_head += data[: self._remaining]
            self._remaining = max(0, self._remaining - len(data))
        self.sent += len(data)

    def answer(self, response: Response, seconds: float) -> None:
        """Add the status, the headers and the seconds since the request to the record. Bytes as the body end it."""
        self.status = response.status
        self.response_headers = redact_headers(response.headers.pairs, self._secret)
        self.seconds = seconds
        if isinstance(response.body, bytes):
            if response.body:
                self.record_received(response.body)
            if self._request_head or self._response_head:
                self.end(seconds)
            self._secret = ""

    def record_received(self, data: bytes) -> None:
        """Add a received block of the response body to the record."""
        head = self._response_head
        if len(head) < _SCANNED_BYTES and (head or (self.received == 0 and _is_text(self.response_headers))):
            self._response_head += data[: _SCANNED_BYTES - len(head)]
        self.received += len(data)

    def end(self, seconds: float, error: BaseException | None = None) -> None:
        """End the record after `seconds`, with the error of the exchange or None. Remove secrets from the bodies."""
        self.seconds = seconds
        if error is not None:
            self.error = remove_secret(redact_text(str(error) or type(error).__name__), self._secret)
        if self._request_head:
            self._request_head = _redact_head(self._request_head, self._secret, self.url)
        if self._response_head:
            self._response_head = _redact_head(self._response_head, self._secret, self.url)
        self._secret = ""


def _redact_head(head: bytes, secret: str, url: str) -> bytes:
    text = _readable(head)
    if not may_contain_secret(text) and not (secret and secret in text):
        return head[:KEPT]
    if len(head) >= _SCANNED_BYTES and secret:
        text = text[: -len(secret)]  # the end of the text may contain the first part of the secret
    return remove_secret(redact_text(text, url), secret).encode()[:KEPT]


class Recorder(Sequence[Exchange]):
    """A session's latest exchanges, at most `limit` in about `most_bytes` of memory, oldest first. Thread-safe.

    >>> len(Recorder(limit=100, most_bytes=1_000_000))
    0
    """

    def __init__(self, limit: int = 1000, most_bytes: int = 8 * MIB) -> None:
        self._limit, self._max_bytes = limit, most_bytes
        self._entries: deque[Exchange] = deque()
        self._count = 0
        self._bytes = 0
        self._lock = Lock()
        self._url, self._recorded_url = ("", ""), ""
        after_fork(self, Recorder._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = Lock()

    @overload
    def __getitem__(self, index: int) -> Exchange: ...
    @overload
    def __getitem__(self, index: slice) -> list[Exchange]: ...
    def __getitem__(self, index: int | slice) -> Exchange | list[Exchange]:
        with self._lock:
            return list(self._entries)[index]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self[:])

    def __repr__(self) -> str:
        return f"<{len(self)} exchanges>"

    @property
    def last(self) -> int:
        """The number of the latest exchange, counted from 1, including removed exchanges."""
        return self._count

    def clear(self) -> None:
        """Remove all exchanges. The numbers of later exchanges continue."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def begin(self, method: str, url: str, headers: Headers, time: datetime, secret: str = "") -> Exchange:
        """Return a new record for a request that is about to be sent. `secret` is the token in the request, or ""."""
        with self._lock:
            self._count += 1
            if (url, secret) != self._url:  # the chunks of an upload have the same URL
                self._url = (url, secret)
                self._recorded_url = remove_secret(redact_url(url), secret)
            pairs = redact_headers(headers.pairs, secret)
            # nobody finds secrets in a body with a coding
            remaining = _SCANNED_BYTES if _is_text(pairs) and "Content-Encoding" not in headers else 0
            entry = Exchange(self._count, time, method, self._recorded_url, pairs, secret, _remaining=remaining)
            entries = self._entries
            if entries:  # the previous exchange has its bodies now
                last = entries[-1]
                headers_size = len("".join(chain.from_iterable(last.request_headers + last.response_headers)))
                last._weight = (
                    _BASE_SIZE + len(last.url) + len(last._request_head) + len(last._response_head) + headers_size
                )
                self._bytes += last._weight
            while entries and (self._bytes > self._max_bytes or len(entries) >= self._limit):
                self._bytes -= entries.popleft()._weight
            entries.append(entry)
        return entry


def _readable(head: bytes) -> str:
    """Decode bytes as UTF-8 up to the first invalid byte, such as in the binary part of a multipart body."""
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        return head[: error.start].decode()
