"""Wraps request and response bodies: counts their bytes and checks the declared length."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ...core.errors.catalogue import refuse
from ...core.http.messages import Body, Disconnected, Request, abort_body, as_body, close_body, is_gone
from .request_journal import JournalEntry

_log = logging.getLogger(__name__)

_MOST_DIGITS = 18


class RequestBody:
    """A body that raises Disconnected where the declared length is not reached, and never gives more."""

    __slots__ = ("_body", "_declared", "_entry")

    def __init__(self, body: Body | bytes, declared: int | None, entry: JournalEntry) -> None:
        self._body = as_body(body)
        self._declared = declared
        self._entry = entry

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, b"" at the end."""
        if self._declared is not None:
            remaining = self._declared - self._entry.received
            size = remaining if size < 0 else min(size, remaining)
        block = self._body.read(size) if size else b""
        if size and not block and self._declared is not None:
            raise Disconnected("the body ended before its declared length")
        self._entry.received += len(block)
        return block

    def abort(self) -> None:
        """Stop the other side, where there is one that can be stopped."""
        abort_body(self._body)

    def gone(self) -> bool:
        """Whether the other side has closed its connection."""
        return is_gone(self._body)


class CountedStream:
    """A streamed response that counts what was taken of it.

    Raises Disconnected where the body ends before its Content-Length or cannot be read: the connection is closed,
    and the client sees a cut instead of waiting for the rest.
    """

    __slots__ = ("_blocks", "_entry", "_length", "_source")

    def __init__(self, source: Iterable[bytes], entry: JournalEntry, length: int | None) -> None:
        self._source = source
        self._blocks = iter(source)
        self._entry = entry
        self._length = length

    def __iter__(self) -> CountedStream:
        return self

    def __next__(self) -> bytes:
        try:
            block = next(self._blocks)
        except StopIteration:
            if self._length is not None and self._entry.sent < self._length:
                raise Disconnected(f"the body ended after {self._entry.sent} of {self._length} bytes") from None
            raise
        except OSError as error:
            _log.error("a response was cut after %d bytes: %s", self._entry.sent, error)
            raise Disconnected(str(error)) from error
        self._entry.sent += len(block)
        return block

    def close(self) -> None:
        """Let go of what is behind it."""
        close_body(self._source)


def check_length(request: Request) -> None:
    """Whether an upload says where its body ends: by a length, or by the chunked coding. Raises ApiError (411)."""
    if not ("Content-Length" in request.headers or "Transfer-Encoding" in request.headers):
        raise refuse("lengthRequired")


def declared_length(request: Request) -> int | None:
    """How long the body says it is; None: until it ends. Raises ApiError (400)."""
    text = request.headers.get("Content-Length")
    if text is None or "Transfer-Encoding" in request.headers:
        return len(request.body) if isinstance(request.body, bytes) and text is None else None
    repeated = len(set(request.headers.all("Content-Length"))) > 1
    if repeated or not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise refuse("invalidHeader", name="Content-Length", message="expected one number of bytes.")
    return int(text)
