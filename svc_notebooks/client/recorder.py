"""What went over the wire, kept for looking at (D-04).

Recording costs a few microseconds, because only references are kept; text is made when an exchange is looked
at. Secrets are the exception: they are taken out when recorded, so that no record ever holds one (T-05).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import overload

from ..core.wire import Body, Headers, Request, Response
from .transport import closed

KEPT = 2048
"""So many bytes of a text body are kept, of either direction."""

HIDDEN = "[redacted]"
"""What stands in place of a secret."""

_SECRETS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_TEXT = ("text/", "application/json", "application/xml", "multipart/")


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


class Entry:
    """An exchange while it happens."""

    __slots__ = ("error", "n", "received", "request", "response", "seconds", "sent", "time")

    def __init__(self, n: int, time: datetime, request: _Side) -> None:
        self.n = n
        self.time = time
        self.request = request
        self.response: _Side | None = None
        self.seconds = 0.0
        self.sent = 0
        self.received = 0
        self.error: str | None = None

    def sent_more(self, data: bytes, secret: bytes) -> None:
        """So many more bytes of the request's body have left."""
        self.sent += len(data)
        self.request.keep(data, secret)

    def answer(self, response: Response, seconds: float) -> None:
        """The response's status and headers have come."""
        self.response = _Side(response.status, response.headers)
        self.seconds = seconds

    def received_more(self, data: bytes, secret: bytes) -> None:
        """So many more bytes of the response's body have come."""
        self.received += len(data)
        if self.response is not None:
            self.response.keep(data, secret)

    def end(self, seconds: float, error: BaseException | None) -> None:
        """The exchange is over, well or not."""
        self.seconds = seconds
        self.error = None if error is None else str(error) or type(error).__name__


class _Side:
    """The lasting half of a request or a response: start line, headers, the first of the body."""

    __slots__ = ("head", "pairs", "start", "text")

    def __init__(self, start: tuple[str, str] | int, headers: Headers) -> None:
        self.start = start
        self.pairs = redacted(headers.pairs)
        self.text = is_text(headers.get("Content-Type", ""))
        self.head = b""

    def keep(self, data: bytes, secret: bytes) -> None:
        if self.text and len(self.head) < KEPT:
            # Cut after hiding: a secret across the cut must not survive by half.
            self.head = hide(self.head + data[: KEPT + len(secret)], secret)[:KEPT]

    def body(self) -> str | None:
        return _readable(self.head) if self.head else None


class Recorder(Sequence[Exchange]):
    """The last exchanges, oldest first; safe to use from several threads.

    >>> len(Recorder(limit=100))
    0
    """

    def __init__(self, limit: int = 1000) -> None:
        self._entries: deque[Entry] = deque(maxlen=limit)
        self._count = 0
        self._lock = Lock()

    @overload
    def __getitem__(self, index: int) -> Exchange: ...
    @overload
    def __getitem__(self, index: slice) -> list[Exchange]: ...
    def __getitem__(self, index: int | slice) -> Exchange | list[Exchange]:
        entries = self._now()
        if isinstance(index, slice):
            return [_shown(entry) for entry in entries[index]]
        return _shown(entries[index])

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Exchange]:
        return iter(self[:])

    def __repr__(self) -> str:
        return f"<{len(self)} exchanges>"

    def clear(self) -> None:
        """Forget them; the numbers go on."""
        with self._lock:
            self._entries.clear()

    def begin(self, request: Request, time: datetime) -> Entry:
        """A request is about to leave."""
        side = _Side((request.method, request.url), request.headers)
        with self._lock:
            self._count += 1
            entry = Entry(self._count, time, side)
            self._entries.append(entry)
        return entry

    def _now(self) -> list[Entry]:
        with self._lock:
            return list(self._entries)


class RecordedBody:
    """A request's body that is counted as it leaves."""

    __slots__ = ("_body", "_entry", "_secret")

    def __init__(self, body: Body, entry: Entry, secret: bytes) -> None:
        self._body, self._entry, self._secret = body, entry, secret

    def read(self, size: int = -1, /) -> bytes:
        """As the body inside."""
        data = self._body.read(size)
        self._entry.sent_more(data, self._secret)
        return data


class RecordedStream:
    """A response's body that is counted as it comes."""

    __slots__ = ("_blocks", "_elapsed", "_entry", "_secret")

    def __init__(self, blocks: Iterable[bytes], entry: Entry, secret: bytes, elapsed: Callable[[], float]) -> None:
        self._blocks, self._entry, self._secret, self._elapsed = blocks, entry, secret, elapsed

    def __iter__(self) -> Iterator[bytes]:
        error: BaseException | None = None
        try:
            with closed(self._blocks):
                for block in self._blocks:
                    self._entry.received_more(block, self._secret)
                    yield block
        except BaseException as failure:
            error = None if isinstance(failure, GeneratorExit) else failure
            raise
        finally:
            self._entry.end(self._elapsed(), error)


def redacted(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Headers without secrets.

    >>> redacted([("Authorization", "Bearer abc"), ("Range", "bytes=0-9")])
    (('Authorization', 'Bearer [redacted]'), ('Range', 'bytes=0-9'))
    """
    return tuple((n, _hidden(v)) if n.lower() in _SECRETS else (n, v) for n, v in pairs)


def _hidden(value: str) -> str:
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {HIDDEN}" if space and "=" not in scheme else HIDDEN


def hide(data: bytes, secret: bytes) -> bytes:
    """The data with the secret taken out."""
    return data.replace(secret, HIDDEN.encode()) if secret and secret in data else data


def is_text(content_type: str) -> bool:
    """Whether a body of this type can be shown."""
    return content_type.lower().startswith(_TEXT)


def _readable(head: bytes) -> str:
    """The text up to where it turns binary, as in the second part of a multipart body."""
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        return head[: error.start].decode()


def _shown(entry: Entry) -> Exchange:
    method, url = entry.request.start if isinstance(entry.request.start, tuple) else ("", "")
    answer = entry.response
    return Exchange(
        n=entry.n,
        time=entry.time,
        method=method,
        url=url,
        status=answer.start if answer and isinstance(answer.start, int) else None,
        request_headers=entry.request.pairs,
        response_headers=answer.pairs if answer else (),
        sent=entry.sent,
        received=entry.received,
        request_body=entry.request.body(),
        response_body=answer.body() if answer else None,
        seconds=entry.seconds,
        error=entry.error,
    )
