"""Limits what the client receives: each kind of answer has a bound, and one reader applies it to every response body.

The bound of a stored file's content is the size in its metadata. The number and the size of header lines are limited in
http1.py, and redirects are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...core.errors.errors import ContentMismatch, ServiceFailed, SvcError
from ...core.http.content_coding import decode, read_codings
from ...core.http.messages import Headers, Response
from .in_process import closing_body
from .recorder import Exchange
from .urls import host_of

_MIB = 1024 * 1024
_MAX_DIGITS = 18


class Bound(NamedTuple):
    """The most bytes of an answer, after its content coding is removed. `name` is for the error message.

    A longer answer raises `error`, or is cut at the bound if `error` is None.
    """

    most: int
    name: str
    error: type[SvcError] | None = ServiceFailed


JSON_ANSWER = Bound(16 * _MIB, "a JSON answer")
ERROR_TEXT = Bound(_MIB, "the text of an error", None)
EXPORT = Bound(64 * _MIB, "an export, or content of unknown size,", ContentMismatch)
WHOLE_RESPONSE = Bound(1024 * _MIB, "a response")

# The most bytes of memory for reading a JSON answer, which can take a hundred times the size of its text.
MAX_JSON_MEMORY = 80_000_000

MAX_PAGES = 10_000

# The most pages of a list, and the most of them in succession that are empty.
MAX_EMPTY_PAGES = 100


def content_length(values: Sequence[str]) -> int | None:
    """Return the number of bytes that the values of Content-Length declare, or None if missing or invalid.

    >>> content_length(["5"]), content_length(["5", "6"]), content_length(["-5"]), content_length(["9" * 5000])
    (5, None, None, None)
    """
    text = values[0] if len(values) == 1 else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None


def declared_size(headers: Headers) -> int | None:
    """Return the size of a response's content that its headers declare, or None without a valid or decoded size."""
    return None if "Content-Encoding" in headers else content_length(headers.all("Content-Length"))


class PageTokens:
    """The tokens of the pages of a list so far, which shows lists that do not end."""

    def __init__(self) -> None:
        self._seen: set[object] = set()
        self._empty = 0

    def problem(self, token: object, items: Collection[object]) -> str:
        """Return why a list cannot continue with this token after a page with these objects, or ""."""
        self._empty = 0 if items else self._empty + 1
        if token in self._seen:
            return "The service returned the same page token twice."
        self._seen.add(token)
        if len(self._seen) > MAX_PAGES or self._empty > MAX_EMPTY_PAGES:
            return (
                f"The list of the service does not end: it has {len(self._seen):,} pages, the last {self._empty} empty."
            )
        return ""


class BoundedBody:
    """An iterable over the decoded blocks of a response body within a bound, which adds each to the exchange record.

    Iterating raises the error of the bound before a block exceeds it, and ServiceFailed for a body that cannot be
    decoded.
    """

    __slots__ = ("_bound", "_elapsed", "_entry", "_response", "_url")

    def __init__(
        self, response: Response, bound: Bound, url: str, entry: Exchange, elapsed: Callable[[], float]
    ) -> None:
        self._response, self._bound, self._url = response, bound, url
        self._entry, self._elapsed = entry, elapsed

    def __iter__(self) -> Iterator[bytes]:
        error: BaseException | None = None
        body, received = self._response.body, 0
        try:
            blocks = [body] if isinstance(body, bytes) else body
            with closing_body(blocks):
                if self._bound.error is not None:
                    self._check(declared_size(self._response.headers) or 0)
                for block in self._decoded(blocks):
                    left = self._bound.most - received
                    received += len(block)
                    if len(block) > left:
                        if self._bound.error is not None:
                            self._check(received, "at least ")
                        block = block[:left]
                    self._entry.record_received(block)
                    yield block
                    if received > self._bound.most:
                        return
        except BaseException as failure:
            error = None if isinstance(failure, GeneratorExit) else failure
            raise
        finally:
            self._entry.end(self._elapsed(), error)

    def _check(self, size: int, least: str = "") -> None:
        if size > self._bound.most:
            raise (self._bound.error or ServiceFailed)(
                f"{host_of(self._url)} sends {least}{size:,} bytes, but {self._bound.name} has at most"
                f" {self._bound.most:,}.",
                advice="Check base_url and the proxy. The content may have changed: read the metadata again.",
            )

    def _decoded(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        try:
            for coding in reversed(read_codings(self._response.headers.all("Content-Encoding"))):
                # a piece that is cut at the bound may exceed it, but a body of empty parts must end, too
                blocks = decode(self._within(blocks), coding, lambda size: self._check(size - _MIB, "at least "))
            yield from blocks
        except (LookupError, ValueError) as error:
            raise ServiceFailed(f"The response cannot be decoded: {error}", location="Content-Encoding") from None

    def _within(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield coded blocks, which may have a hundredth and 64 KiB more than the bound."""
        size = -(self._bound.most // 100 + 64 * 1024)
        for block in blocks:
            size += len(block)
            self._check(size, "at least ")
            yield block
