"""What went over the wire, kept for looking at (D-04).

Recording costs a few microseconds, because only references are kept; text is made when an exchange is looked
at. Secrets are the exception: they are taken out when a message is over, so that no record holds one (T-05). Until
then the beginning of a body is kept as it comes, because a secret may be cut in two between blocks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from threading import Lock
from typing import NamedTuple, overload

from ...core.http.messages import Body, Headers, Request, Response
from ...core.http.redaction import may_contain_secret, redacted_headers, redacted_text, redacted_url, without_secret
from ...core.process_fork import after_fork
from .in_process import closing_body

KEPT = 2048
"""So many bytes of a text body are kept, of either direction."""

MIB = 1024 * 1024

_SCANNED_BYTES = KEPT + 8192
"""So many bytes are looked through for secrets: more than the longest one that may begin in what is kept."""

_TEXT = ("text/", "application/json", "application/xml", "application/x-www-form-urlencoded", "multipart/")
_BASE_SIZE = 1000
"""About so many bytes an exchange takes beside its texts."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response.

    `sent` and `received` count bytes of the bodies, `seconds` run until the last of them; bodies are texts
    of at most 2 KiB, None where they are empty or binary; `status` is None and `error` says why when no
    answer came.
    """

    n: int
    time: datetime
    method: str
    url: str
    status: int | None
    request_headers: tuple[tuple[str, str], ...]
    response_headers: tuple[tuple[str, str], ...]
    sent: int
    received: int
    request_body: str | None
    response_body: str | None
    seconds: float
    error: str | None


class RecordedExchange:
    """An exchange while it happens; `secret` is the session's own, forgotten when it is over."""

    __slots__ = (
        "_secret", "error", "n", "received", "request", "response", "seconds", "sent", "time", "url", "weight",
    )  # fmt: skip

    def __init__(self, n: int, time: datetime, request: Request, heading: _RecordedHeaders, secret: str) -> None:
        self.n = n
        self.time = time
        self.url = without_secret(redacted_url(request.url), secret)
        self.request = _RecordedMessage(request.method, heading)
        self.response: _RecordedMessage | None = None
        self.seconds = 0.0
        self.sent = 0
        self.received = 0
        self.error: str | None = None
        self.weight = 0
        self._secret = secret

    def sent_more(self, data: bytes) -> None:
        """So many more bytes of the request's body have left."""
        if data:
            self.sent += len(data)
            self.request.keep(data)

    def answer(self, response: Response, seconds: float) -> None:
        """The response's status and headers have come."""
        self.response = _RecordedMessage(response.status, _heading(response.headers, self._secret))
        self.seconds = seconds

    def received_more(self, data: bytes) -> None:
        """So many more bytes of the response's body have come."""
        self.received += len(data)
        if self.response is not None:
            self.response.keep(data)

    def end(self, seconds: float, error: BaseException | None = None) -> None:
        """The exchange is over, well or not: from here on there is no secret in it."""
        self.seconds = seconds
        if error is not None:
            self.error = without_secret(redacted_text(str(error) or type(error).__name__), self._secret)
        for side in (self.request, self.response):
            if side is not None and side.head:
                side.head = _redacted_head(side.head, self._secret, self.url)
        self._secret = ""

    def body_of(self, side: _RecordedMessage | None) -> str | None:
        """The text of a body as far as it is kept; None: there is none."""
        return _readable(_redacted_head(side.head, self._secret, self.url)) or None if side else None

    def estimate_size(self) -> int:
        """About how many bytes it takes, as far as it has come."""
        request, answer = self.request, self.response
        self.weight = _BASE_SIZE + len(self.url) + request.size + len(request.head)
        if answer is not None:
            self.weight += answer.size + len(answer.head)
        return self.weight


class _RecordedHeaders(NamedTuple):
    """Headers without secrets, how many letters they have, and whether a text follows."""

    pairs: tuple[tuple[str, str], ...]
    size: int
    text: bool


def _heading(headers: Headers, secret: str) -> _RecordedHeaders:
    pairs = redacted_headers(headers.pairs)
    texts = "".join(chain.from_iterable(pairs))
    if secret and secret in texts:
        pairs = tuple((name, without_secret(value, secret)) for name, value in pairs)
    return _RecordedHeaders(pairs, len(texts), is_text(headers.get("Content-Type", "")))


class _RecordedMessage:
    """The lasting half of a request or a response: start line, headers, the first of the body."""

    __slots__ = ("_text", "head", "pairs", "size", "start")

    def __init__(self, start: str | int, heading: _RecordedHeaders) -> None:
        self.start = start
        self.pairs, self.size, self._text = heading
        self.head = b""

    def keep(self, data: bytes) -> None:
        """Add to the beginning of the body, if it is a text and that is short still."""
        if self._text and len(self.head) < _SCANNED_BYTES:
            self.head += data[: _SCANNED_BYTES - len(self.head)]


def _redacted_head(head: bytes, secret: str, url: str) -> bytes:
    """The beginning of a body without secrets, no longer than what is kept."""
    text = _readable(head)
    if not may_contain_secret(text) and not (secret and secret in text):
        return head[:KEPT]
    if len(head) >= _SCANNED_BYTES and secret:
        text = text[: -len(secret)]  # where the secret itself may be cut in two
    return without_secret(redacted_text(text, url), secret).encode()[:KEPT]


class Recorder(Sequence[Exchange]):
    """The last exchanges, oldest first; safe to use from several threads.

    It holds `limit` of them and, those aside that are under way, at most `most_bytes` of memory.

    >>> len(Recorder(limit=100, most_bytes=1_000_000))
    0
    """

    def __init__(self, limit: int = 1000, most_bytes: int = 8 * MIB) -> None:
        self._limit, self._max_bytes = limit, most_bytes
        self._entries: deque[RecordedExchange] = deque()
        self._count = 0
        self._bytes = 0
        self._lock = Lock()
        self._headers = Headers()
        self._heading = _heading(self._headers, "")
        after_fork(self, Recorder._renew_lock)

    def _renew_lock(self) -> None:
        self._lock = Lock()

    @overload
    def __getitem__(self, index: int) -> Exchange: ...
    @overload
    def __getitem__(self, index: slice) -> list[Exchange]: ...
    def __getitem__(self, index: int | slice) -> Exchange | list[Exchange]:
        entries = self._snapshot()
        if isinstance(index, slice):
            return [_shown(entry) for entry in entries[index]]
        return _shown(entries[index])

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self[:])

    def __repr__(self) -> str:
        return f"<{len(self)} exchanges>"

    @property
    def last(self) -> int:
        """The number of the last one, which counts those that are forgotten, too."""
        return self._count

    def clear(self) -> None:
        """Forget them; the numbers go on."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def begin(self, request: Request, time: datetime, secret: str = "") -> RecordedExchange:
        """A request is about to leave; `secret` is the word that its Authorization carries."""
        with self._lock:
            self._count += 1
            if request.headers is not self._headers:  # a session sends most of its requests with the very same ones
                self._headers, self._heading = request.headers, _heading(request.headers, secret)
            entry = RecordedExchange(self._count, time, request, self._heading, secret)
            self._make_room()
            self._entries.append(entry)
        return entry

    def _make_room(self) -> None:
        """Weigh the newest, which has its texts now, and let go of the oldest."""
        entries = self._entries
        if entries:
            self._bytes += entries[-1].estimate_size()
        while entries and (self._bytes > self._max_bytes or len(entries) >= self._limit):
            self._bytes -= entries.popleft().weight

    def _snapshot(self) -> list[RecordedExchange]:
        with self._lock:
            return list(self._entries)


class RecordedBody:
    """A request's body that is counted as it leaves."""

    __slots__ = ("_body", "_entry")

    def __init__(self, body: Body, entry: RecordedExchange) -> None:
        self._body, self._entry = body, entry

    def read(self, size: int = -1, /) -> bytes:
        """As the body inside."""
        data = self._body.read(size)
        self._entry.sent_more(data)
        return data


class RecordedStream:
    """A response's body that is counted as it comes."""

    __slots__ = ("_blocks", "_elapsed", "_entry")

    def __init__(self, blocks: Iterable[bytes], entry: RecordedExchange, elapsed: Callable[[], float]) -> None:
        self._blocks, self._entry, self._elapsed = blocks, entry, elapsed

    def __iter__(self) -> Iterator[bytes]:
        error: BaseException | None = None
        try:
            with closing_body(self._blocks):
                for block in self._blocks:
                    self._entry.received_more(block)
                    yield block
        except BaseException as failure:
            error = None if isinstance(failure, GeneratorExit) else failure
            raise
        finally:
            self._entry.end(self._elapsed(), error)


def is_text(content_type: str) -> bool:
    """Whether a body of this type can be shown."""
    return content_type.lower().startswith(_TEXT)


def _readable(head: bytes) -> str:
    """The text up to where it turns binary, as in the second part of a multipart body."""
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        return head[: error.start].decode()


def _shown(entry: RecordedExchange) -> Exchange:
    request, answer = entry.request, entry.response
    return Exchange(
        n=entry.n,
        time=entry.time,
        method=str(request.start),
        url=entry.url,
        status=int(answer.start) if answer else None,
        request_headers=request.pairs,
        response_headers=answer.pairs if answer else (),
        sent=entry.sent,
        received=entry.received,
        request_body=entry.body_of(request),
        response_body=entry.body_of(answer),
        seconds=entry.seconds,
        error=entry.error,
    )
