"""The classes for request and response bodies, which count their bytes and check the declared length."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from ...core.errors.catalogue import refuse
from ...core.http.messages import Body, BytesBody, Disconnected, Request, abort_body, close_body, is_gone
from .request_journal import JournalEntry

_log = logging.getLogger(__name__)

_MAX_DIGITS = 18


class RequestBody:
    """The body of a request, limited to the declared length. Adds the number of received bytes to the journal entry."""

    __slots__ = ("_body", "_entry", "_read")

    def __init__(self, body: Body | bytes, entry: JournalEntry) -> None:
        self._body = BytesBody(body) if isinstance(body, bytes) else body
        self._entry = entry
        self._read: Callable[[int], bytes] = self._body.read

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes, or b"" at the end. Raises Disconnected if the body is shorter than declared."""
        declared, entry = self._entry.declared, self._entry
        if declared is not None:
            remaining = declared - entry.received
            size = remaining if size < 0 else min(size, remaining)
        block = self._read(size) if size else b""
        if size and not block and declared is not None:
            raise Disconnected("the body ended before its declared length")
        entry.received += len(block)
        return block

    def abort(self) -> None:
        """Stop the transfer from the client, if the transport supports this."""
        abort_body(self._body)

    def gone(self) -> bool:
        """Return True if the client has closed its connection."""
        return is_gone(self._body)


class ResponseStream:
    """The blocks of a streamed response. Adds the number of sent bytes to the journal entry.

    Iteration raises Disconnected if the body ends before `length`, if the source fails, and after `cut_after` bytes.
    `on_end` is called when the body has ended or is closed.
    """

    __slots__ = ("_blocks", "_cut_after", "_entry", "_length", "_source", "on_end")

    def __init__(
        self, source: Iterable[bytes], entry: JournalEntry, *, length: int | None, cut_after: int | None = None
    ) -> None:
        self.on_end: Callable[[JournalEntry], None] | None = None
        self._source = source
        self._blocks = iter(source)
        self._entry = entry
        self._length = length
        self._cut_after = cut_after

    def __iter__(self) -> ResponseStream:
        return self

    def __next__(self) -> bytes:
        try:
            return self._next()
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        function, self.on_end = self.on_end, None
        if function:
            function(self._entry)

    def _next(self) -> bytes:
        sent, cut_after = self._entry.sent, self._cut_after
        if cut_after is not None and sent >= cut_after:
            raise Disconnected("a fault cut the response")
        try:
            block = next(self._blocks)
        except StopIteration:
            if self._length is not None and sent < self._length:
                raise Disconnected(f"the body ended after {sent} of {self._length} bytes") from None
            raise
        except OSError as error:
            _log.error("a response was cut after %d bytes: %s", sent, error)
            raise Disconnected(str(error)) from error
        if cut_after is not None:
            block = block[: cut_after - sent]
        self._entry.sent = sent + len(block)
        if self._entry.sent == self._length:
            self._end()  # before the client can have the whole body
        return block

    def close(self) -> None:
        """Close the source of the blocks."""
        close_body(self._source)
        self._end()


def content_length(request: Request, *, required: bool = False) -> int | None:
    """Return the length of a request body in bytes, or None for a stream without a declared length.

    Raises ApiError (400) for an invalid Content-Length and ApiError (411) if a `required` length is missing.
    """
    headers = request.headers.by_name()
    texts, is_coded = headers.get("content-length"), "transfer-encoding" in headers
    if not texts and required and not is_coded:
        raise refuse("lengthRequired")
    if not texts or is_coded:
        return len(request.body) if isinstance(request.body, bytes) and not texts else None
    text = texts[0]
    if texts.count(text) < len(texts) or not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise refuse("invalidHeader", name="Content-Length", message="expected one number of bytes.")
    return int(text)
