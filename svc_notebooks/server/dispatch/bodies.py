"""Counts the bytes of request and response bodies, and decodes whole bodies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import datetime
from tempfile import SpooledTemporaryFile

from ...core.decision_ids import CODINGS
from ...core.errors.catalogue import ApiError, refuse
from ...core.http.content_coding import BODY_DIGESTS, REPRESENTATION_DIGESTS, DigestVerifier, decode, read_codings
from ...core.http.messages import Body, BytesBody, Disconnected, Headers, Request, abort_body, close_body, is_gone
from .journal import JournalEntry

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


WHOLE_BODY = frozenset(name.lower() for name in ("Content-Encoding", *BODY_DIGESTS, *REPRESENTATION_DIGESTS))
"""The headers whose requests have a `WholeBody`, in lower case."""

_BLOCK = 16 * 1024  # small, because the decoder copies the rest of a block for each decoded piece
_MAX_IN_MEMORY = 1024 * 1024
_MAX_DECODED = 128 * 1024 * 1024
_MAX_RATIO = 100
"""A decoded body can have `_MAX_DECODED` bytes, or `_MAX_RATIO` times the received bytes if that is more."""


class WholeBody(RequestBody):
    """A request body that is received, verified and decoded when it is first read, with at most `limit` bytes.

    Reading raises ApiError (400) for a wrong digest or invalid coded data, (413) for a body that is too large, and
    (415) for an unknown coding.
    """

    __slots__ = ("_file", "_headers", "_limit")

    def __init__(self, body: RequestBody, entry: JournalEntry, headers: Headers, limit: int) -> None:
        super().__init__(body, entry)
        self._headers, self._limit = headers, limit
        self._file: SpooledTemporaryFile[bytes] | None = None

    @property
    def codings(self) -> list[str]:
        """The codings of the body, in the order in which they were applied. Raises ApiError (415) for another."""
        try:
            return read_codings(self._headers.all("Content-Encoding"))
        except LookupError as error:
            raise unsupported_coding(str(error), "gzip, deflate") from None

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes of the decoded body, or b"" at the end."""
        return self._open().read(size)

    def length(self) -> int:
        """Return the number of bytes of the decoded body, of which nothing was read yet."""
        size = self._open().seek(0, 2)
        self._open().seek(0)
        return size

    def close(self) -> None:
        """Delete the temporary file."""
        if self._file:
            self._file.close()

    def _open(self) -> SpooledTemporaryFile[bytes]:
        if self._file is None:
            self._file = SpooledTemporaryFile(_MAX_IN_MEMORY)  # noqa: SIM115 -- closed by `close`
            for block in self._receive():
                self._file.write(block)
            self._file.seek(0)
        return self._file

    def _receive(self) -> Iterator[bytes]:
        """Yield the decoded bytes of the body. Raises ApiError, at the end for a wrong digest."""
        names = BODY_DIGESTS if "Content-Range" in self._headers else BODY_DIGESTS + REPRESENTATION_DIGESTS
        try:
            digests = DigestVerifier(self._headers, names)
            blocks = self._blocks(digests)
            for coding in reversed(self.codings):
                blocks = decode(blocks, coding, self._check)
            yield from blocks
            digests.verify()
        except ValueError as error:
            name, _, message = str(error).partition(": ")
            raise refuse("invalidHeader", decided_by=CODINGS, name=name, message=message) from None

    def _blocks(self, digests: DigestVerifier) -> Iterator[bytes]:
        while block := self._read(_BLOCK):
            self._check(self._entry.received)
            digests.update(block)
            yield block

    def _check(self, size: int) -> None:
        """Raise ApiError (413) if `size` bytes are too many."""
        limit = min(self._limit, max(_MAX_DECODED, _MAX_RATIO * self._entry.received))
        if size > limit:
            raise refuse("decodedTooLarge", limit=limit)


@contextmanager
def decoded_request(request: Request, now: datetime, limit: int) -> Iterator[Request]:
    """Yield a request outside of the journal with its body verified and decoded, which ends at its Content-Length."""
    entry = JournalEntry(0, now, request.method, request.path, "")
    entry.declared = content_length(request)
    plain = RequestBody(request.body, entry)
    is_plain = WHOLE_BODY.isdisjoint(request.headers.by_name())
    with nullcontext(plain) if is_plain else closing(WholeBody(plain, entry, request.headers, limit)) as body:
        yield Request(request.method, request.url, request.headers, body)


def unsupported_coding(message: str, accepted: str) -> ApiError:
    """Return the error for a coding that this request cannot have. `accepted` lists the codings that it can have."""
    return ApiError(refuse("unsupportedCoding", message=message).rows, [("Accept-Encoding", accepted)])
