"""HTTP requests and responses as values that the client and the service share.

The service and client transports are functions from `Request` to `Response`. A body is bytes or a stream, which is an
object with `read` in a request and an iterable of bytes in a response.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from ..suggestions import missing_attribute
from .redaction import redact_headers, redact_text, redact_url

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
JSONObject: TypeAlias = "dict[str, JSON]"

# The reason phrases of the interface, and phrases of RFC 9110 that differ between Python versions.
_REASONS = {status.value: status.phrase for status in HTTPStatus} | {
    308: "Resume Incomplete",
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
    499: "Client Closed Request",
}


def reason(status: int) -> str:
    """Return the reason phrase of an HTTP status, or "" for an unknown status.

    >>> reason(308), reason(200), reason(599)
    ('Resume Incomplete', 'OK', '')
    """
    return _REASONS.get(status, "")


class Disconnected(Exception):
    """The peer closed the connection before the declared end of the body."""


class Body(Protocol):
    """A request body that can be read once, from beginning to end."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or b"" at the end. Raises Disconnected if the connection closes early."""


class Headers(Mapping[str, str]):
    """HTTP headers in order. A name may be repeated, and lookups ignore the case of names.

    >>> h = Headers([("Content-Type", "text/csv")]); h["content-type"], h.get("range")
    ('text/csv', None)
    """

    __slots__ = ("_values", "pairs")

    def __init__(self, pairs: Iterable[tuple[str, str]] | Mapping[str, str] = ()) -> None:
        # a tuple and a list first, because isinstance() with an abstract class is slow
        items = pairs if isinstance(pairs, (tuple, list)) or not isinstance(pairs, Mapping) else pairs.items()
        self.pairs: tuple[tuple[str, str], ...] = tuple(items)
        self._values: dict[str, list[str]] = {}  # by name in lower case, from the first look-up on

    def _index(self) -> dict[str, list[str]]:
        values: dict[str, list[str]] = {}
        for name, value in self.pairs:
            values.setdefault(name.lower(), []).append(value)
        self._values = values  # at once, because threads may share the headers
        return values

    def by_name(self) -> Mapping[str, list[str]]:
        """Return the values of each header by its name in lower case, for several look-ups."""
        return self._values or self._index()

    def __getitem__(self, name: str) -> str:
        return (self._values or self._index())[name.lower()][0]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the first value of a header, or the default if the header is missing."""
        # Mapping.get would cost another call and an exception
        values = (self._values or self._index()).get(name.lower())
        return values[0] if values else default

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self.pairs))

    def __len__(self) -> int:
        return len(self._values or self._index())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in (self._values or self._index())

    def all(self, name: str) -> list[str]:
        """Return all values of a header in order, empty if the header is missing."""
        return list((self._values or self._index()).get(name.lower(), ()))

    def plus(self, *pairs: tuple[str, str]) -> Headers:
        """Return a copy with additional headers, which replace existing headers of the same name."""
        new = {name.lower() for name, _ in pairs}
        return Headers([*(pair for pair in self.pairs if pair[0].lower() not in new), *pairs])

    def __repr__(self) -> str:
        return f"Headers({[(name, redact_text(value)) for name, value in redact_headers(self.pairs)]!r})"


class Query(dict[str, str]):
    """The query parameters of a URL: a dict of the first value of each name. `pairs` has all of them in order.

    >>> str(Query.parse("a=1&b=x%20y").plus(c="2")), Query.parse("a=1&a=2").get("a")
    ('a=1&b=x%20y&c=2', '1')
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self.pairs = tuple(pairs)
        super().__init__(reversed(self.pairs))

    @staticmethod
    @lru_cache(maxsize=32)  # the chunks of an upload have the same query
    def parse(text: str) -> Query:
        """Parse the query text of a URL, without its question mark."""
        return Query(parse_qsl(text, keep_blank_values=True))

    def all(self, name: str) -> list[str]:
        """Return all values of a parameter in order, empty if the parameter is missing."""
        return [value for key, value in self.pairs if key == name]

    def plus(self, **values: str) -> Query:
        """Return a copy with additional parameters at the end."""
        return Query([*self.pairs, *values.items()])

    def __str__(self) -> str:
        return query_text(self.pairs)

    def __repr__(self) -> str:
        """Return only the number of parameters, because they may contain a token (T-05)."""
        return f"<Query of {len(self.pairs)} parameters>"


def query_text(pairs: Sequence[tuple[str, str]]) -> str:
    """Return query parameters as the text of a URL, without its question mark."""
    return urlencode(pairs, quote_via=quote, safe="/*,()")


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request with an absolute URL."""

    method: str
    url: str
    headers: Headers = field(default_factory=Headers)
    body: Body | bytes = b""
    # The IP address of the connection's other end, which may be a proxy. Empty for a call in-process.
    client: str = ""

    def __repr__(self) -> str:
        """Return the method and the redacted URL, because a traceback may show the request (T-05)."""
        return f"<Request {self.method} {redact_url(self.url)}>"

    @property
    def origin(self) -> str:
        """The scheme and authority of the URL, such as "https://api.example:8443"."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def path(self) -> str:
        """The path of the URL with its percent-encoding, as the client sent it."""
        return urlsplit(self.url).path

    @property
    def query(self) -> Query:
        """The parsed query parameters of the URL."""
        return Query.parse(urlsplit(self.url).query)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, whose body is bytes or a stream."""

    status: int
    headers: Headers = field(default_factory=Headers)
    body: bytes | Iterable[bytes] = b""

    def __repr__(self) -> str:
        """Return only the status, because the body may be a token (T-05)."""
        return f"<Response {self.status}>"

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("a response", self, name)

    def content(self) -> bytes:
        """Return the whole body as bytes. Works only once for a stream, which is read to its end."""
        return self.body if isinstance(self.body, bytes) else b"".join(self.body)


def as_body(body: Body | bytes) -> Body:
    """Return a body as an object with a `read` method."""
    return BytesIO(body) if isinstance(body, bytes) else body


def close_body(blocks: object) -> None:
    """Close a response body that will not be read to its end, if the body has a `close` method."""
    if close := getattr(blocks, "close", None):
        close()


def abort_body(body: object) -> None:
    """Close the connection from which a body is read, if the body has a connection."""
    if abort := getattr(body, "abort", None):
        abort()


def is_gone(body: object) -> bool:
    """Return whether the sender of a body has closed the connection, or False if unknown."""
    check = getattr(body, "gone", None)
    return check is not None and bool(check())


def has_lone_surrogate(value: JSON) -> bool:
    """Return whether a JSON value contains a lone surrogate, which UTF-8 cannot encode."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


def merge_patch(old: Mapping[str, Any], patch: JSONObject) -> JSONObject:
    """Merge a patch into an object, member by member. A null value removes a member (RFC 7386).

    >>> merge_patch({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"c": 4}})
    {'b': {'c': 4, 'd': 3}}
    """
    fields = dict(old)
    for name, value in patch.items():
        before = fields.get(name)
        if value is None:
            fields.pop(name, None)
        elif isinstance(value, dict):
            fields[name] = merge_patch(before if isinstance(before, dict) else {}, value)
        else:
            fields[name] = value
    return fields


def join_url(base: str, path: str) -> str:
    """Return the URL of a path below a base URL.

    >>> join_url("https://api.example/", "/storage/v3/files")
    'https://api.example/storage/v3/files'
    """
    return base.rstrip("/") + path


def segment(text: str) -> str:
    """Percent-encode a value for use as one path segment."""
    return quote(text, safe="")


_LINE = re.compile(r"([0-9A-Za-z!#$%&'*+\-.^_`|~]+):[ \t]*([^\r\n\0]*)")


def read_headers(block: bytes) -> Headers:
    """Parse header lines, each of which ends with CR LF. Raises ValueError for an invalid line.

    >>> read_headers(b"Content-Type: text/csv \\r\\n")
    Headers([('Content-Type', 'text/csv')])
    """
    *lines, rest = block.split(b"\r\n")
    if rest:
        raise _invalid(rest)
    return Headers(map(_read, lines))


def _read(line: bytes) -> tuple[str, str]:
    match = _LINE.fullmatch(line.decode("latin-1"))
    if match is None:
        raise _invalid(line)
    return match[1], match[2].rstrip(" \t")


def _invalid(line: bytes) -> ValueError:
    return ValueError(f"{line[:40]!r} is not a header line")
