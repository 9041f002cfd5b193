"""Receives, verifies and decodes a whole request body before it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import datetime
from tempfile import SpooledTemporaryFile

from ...core.errors.catalogue import ApiError, refuse
from ...core.http.content_coding import BODY_DIGESTS, REPRESENTATION_DIGESTS, DigestVerifier, decode, read_codings
from ...core.http.messages import Headers, Request
from .journal import JournalEntry
from .requests_and_responses import RequestBody, content_length

# The headers whose requests have a `WholeBody`, in lower case.
WHOLE_BODY = frozenset(name.lower() for name in ("Content-Encoding", *BODY_DIGESTS, *REPRESENTATION_DIGESTS))

_BLOCK = 16 * 1024  # small, because the decoder copies the rest of a block for each decoded piece
_MAX_IN_MEMORY = 1024 * 1024
_MAX_DECODED = 128 * 1024 * 1024
# A decoded body can have `_MAX_DECODED` bytes, or `_MAX_RATIO` times the received bytes if that is more.
_MAX_RATIO = 100


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
            rule = "Codings and digests of a request body"
            raise refuse("invalidHeader", decided_by=rule, name=name, message=message) from None

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
    entry = JournalEntry(0, now, None, request.method, request.path, "")
    entry.declared = content_length(request)
    plain = RequestBody(request.body, entry)
    is_plain = WHOLE_BODY.isdisjoint(request.headers.by_name())
    with nullcontext(plain) if is_plain else closing(WholeBody(plain, entry, request.headers, limit)) as body:
        yield Request(request.method, request.url, request.headers, body)


def unsupported_coding(message: str, accepted: str) -> ApiError:
    """Return the error for a coding that this request cannot have. `accepted` lists the codings that it can have."""
    return refuse("unsupportedCoding", headers=[("Accept-Encoding", accepted)], message=message)
