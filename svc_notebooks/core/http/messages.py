"""Requests and responses as values, the same on both sides of the wire.

The service is a function from `Request` to `Response`; the client is something that has such a function.
Bodies are bytes, or stream: towards the service as an object with `read`, back as an iterable of bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from .redaction import redacted_headers, redacted_text, redacted_url

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
JSONObject: TypeAlias = "dict[str, JSON]"

_REASONS = {status.value: status.phrase for status in HTTPStatus} | {
    308: "Resume Incomplete",
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
    499: "Client Closed Request",
}
"""The interface's own phrases, and those that the versions of Python do not agree on, as RFC 9110 has them."""


def reason(status: int) -> str:
    """What stands behind a status; "" for a number that means nothing.

    >>> reason(308), reason(200), reason(599)
    ('Resume Incomplete', 'OK', '')
    """
    return _REASONS.get(status, "")


class Disconnected(Exception):
    """The peer went away before the body's declared end."""


class Body(Protocol):
    """A body that is read once, forwards."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, b"" at the end. Raises Disconnected when the peer is gone before it."""


class Headers(Mapping[str, str]):
    """Header fields: names without regard to case, in order, repeats kept.

    >>> h = Headers([("Content-Type", "text/csv")]); h["content-type"], h.get("range")
    ('text/csv', None)
    """

    __slots__ = ("_first", "pairs")

    def __init__(self, pairs: Iterable[tuple[str, str]] | Mapping[str, str] = ()) -> None:
        items = pairs.items() if isinstance(pairs, Mapping) else pairs
        self.pairs: tuple[tuple[str, str], ...] = tuple(items)
        self._first: dict[str, str] | None = None

    def _index(self) -> dict[str, str]:
        if self._first is None:
            self._first = {name.lower(): value for name, value in reversed(self.pairs)}
        return self._first

    def __getitem__(self, name: str) -> str:
        return self._index()[name.lower()]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the first value of this name. It is called often, so no exception is raised on the way."""
        return (self._first or self._index()).get(name.lower(), default)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self.pairs))

    def __len__(self) -> int:
        return len(self._index())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in (self._first or self._index())

    def all(self, name: str) -> list[str]:
        """Every value sent under this name, in order."""
        return [value for key, value in self.pairs if key.lower() == name.lower()]

    def plus(self, *pairs: tuple[str, str]) -> Headers:
        """These headers with others added or, where the name is there already, put in their place."""
        new = {name.lower() for name, _ in pairs}
        return Headers([*(p for p in self.pairs if p[0].lower() not in new), *pairs])

    def __repr__(self) -> str:
        return f"Headers({[(name, redacted_text(value)) for name, value in redacted_headers(self.pairs)]!r})"


class Query:
    """Query parameters in order, repeats kept; the first of a repeated name counts.

    >>> str(Query.parse("a=1&b=x%20y").plus(c="2")), Query.parse("a=1").get("a")
    ('a=1&b=x%20y&c=2', '1')
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self.pairs = tuple(pairs)

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read the part of a URL behind its question mark."""
        return cls(parse_qsl(text, keep_blank_values=True)) if text else cls()

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first value of this name."""
        for key, value in self.pairs:
            if key == name:
                return value
        return default

    def all(self, name: str) -> list[str]:
        """Every value of this name, in order."""
        return [value for key, value in self.pairs if key == name]

    def plus(self, **values: str) -> Query:
        """These parameters and more behind them."""
        return Query([*self.pairs, *values.items()])

    def __contains__(self, name: object) -> bool:
        return self.get(str(name)) is not None

    def __str__(self) -> str:
        return urlencode(self.pairs, quote_via=quote, safe="/*,()")


@dataclass(frozen=True, slots=True)
class Request:
    """One request: a method, an absolute URL, headers, a body."""

    method: str
    url: str
    headers: Headers = field(default_factory=Headers)
    body: Body | bytes = b""

    def __repr__(self) -> str:
        """Neither token nor body: requests lie in the frames that a traceback may show (T-05)."""
        return f"<Request {self.method} {redacted_url(self.url)}>"

    @property
    def origin(self) -> str:
        """Scheme and authority, without a slash behind them."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def path(self) -> str:
        """The path as it was sent, percent-encoding kept."""
        return urlsplit(self.url).path

    @property
    def query(self) -> Query:
        """The query parameters."""
        return Query.parse(urlsplit(self.url).query)


@dataclass(frozen=True, slots=True)
class Response:
    """One response: a status, headers, a body of bytes or a stream of them."""

    status: int
    headers: Headers = field(default_factory=Headers)
    body: bytes | Iterable[bytes] = b""

    def __repr__(self) -> str:
        """Not what a service said, which may be a token (T-05)."""
        return f"<Response {self.status}>"

    def content(self) -> bytes:
        """The whole body; a streamed one is read to its end, once."""
        return self.body if isinstance(self.body, bytes) else b"".join(self.body)


class BytesBody:
    """Bytes at hand, read as a body."""

    __slots__ = ("_at", "_view")

    def __init__(self, content: bytes) -> None:
        self._view = memoryview(content)
        self._at = 0

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, all that is left when it is negative."""
        end = len(self._view) if size < 0 else min(self._at + size, len(self._view))
        piece = bytes(self._view[self._at : end])
        self._at = end
        return piece


def as_body(body: Body | bytes) -> Body:
    """The same body, in the form that is read."""
    return BytesBody(body) if isinstance(body, bytes) else body


def close_body(blocks: object) -> None:
    """Tell what streams that nobody reads it any further, where it wants to know."""
    close = getattr(blocks, "close", None)
    if close is not None:
        close()


def abort_body(body: object) -> None:
    """Stop the sender of a body, where there is one that can be stopped."""
    abort = getattr(body, "abort", None)
    if abort is not None:
        abort()


def is_gone(body: object) -> bool:
    """Whether the sender of a body has closed its connection, where that can be seen."""
    check = getattr(body, "gone", None)
    return check is not None and bool(check())


def join_url(base: str, path: str, query: Query | None = None) -> str:
    """A base address, a path below it and a query as one URL.

    >>> join_url("https://api.example/", "/storage/v3/files", Query([("alt", "media")]))
    'https://api.example/storage/v3/files?alt=media'
    """
    text = str(query) if query else ""
    return base.rstrip("/") + path + ("?" + text if text else "")


def segment(text: str) -> str:
    """A value made safe to stand between two slashes of a path."""
    return quote(text, safe="")


def plain_segment(text: str) -> str:
    """The value of a path segment as it was before `segment`."""
    return unquote(text)
