"""Receives a whole request body, verifies its digests and decodes its content codings (RFC 9110, 8.4).

A handler reads a body without codings and digests directly from the connection. Another body is first received into a
temporary file, so that no handler sees a byte of a body that is damaged, incomplete or too large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from tempfile import SpooledTemporaryFile
from types import TracebackType

from ...core.errors.catalogue import ApiError, refuse
from ...core.errors.decision_ids import CODINGS
from ...core.http.content_coding import ACCEPTED_CODINGS, decode, read_codings
from ...core.http.digests import BODY_DIGESTS, REPRESENTATION_DIGESTS, DigestVerifier
from ...core.http.ranges import ContentRange
from ..blobs.blob_store import BLOCK
from .bodies import RequestBody
from .request_journal import JournalEntry

Headers = Mapping[str, list[str]]

WHOLE_BODY = frozenset(name.lower() for name in ("Content-Encoding", *BODY_DIGESTS, *REPRESENTATION_DIGESTS))
"""The headers whose requests have a `WholeBody`, in lower case."""

_CODED_BLOCK = 16 * 1024  # the decoder copies the rest of a block for each piece
_MAX_IN_MEMORY = 1024 * 1024
_MAX_DECODED = 128 * 1024 * 1024
_MAX_RATIO = 100
"""A decoded body can have `_MAX_DECODED` bytes, or `_MAX_RATIO` times the received bytes if that is more."""


class WholeBody(RequestBody):
    """A request body that is received, verified and decoded when it is first read, with at most `limit` bytes.

    Reading raises ApiError (400) for a wrong digest or invalid coded data, (413) for a body that is too large, and
    (415) for an unknown coding. A context manager, which deletes the temporary file.
    """

    __slots__ = ("_file", "_headers", "_limit")

    def __init__(self, body: RequestBody, entry: JournalEntry, headers: Headers, limit: int) -> None:
        super().__init__(body, entry)
        self._headers, self._limit = headers, limit
        self._file: SpooledTemporaryFile[bytes] | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Return at most `size` bytes of the decoded body, or b"" at the end."""
        return self._open().read(size)

    def length(self) -> int:
        """Return the number of bytes of the decoded body that were not read."""
        file = self._open()
        position = file.tell()
        end = file.seek(0, 2)
        file.seek(position)
        return end - position

    @property
    def codings(self) -> list[str]:
        """The codings of the body, in the order in which they were applied. Raises ApiError (415) for another."""
        try:
            return read_codings(self._headers.get("content-encoding", ()))
        except LookupError as error:
            raise unsupported_coding(str(error), ACCEPTED_CODINGS) from None

    def _open(self) -> SpooledTemporaryFile[bytes]:
        if self._file is None:
            self._file = SpooledTemporaryFile(_MAX_IN_MEMORY)  # noqa: SIM115 -- closed by __exit__
            self._receive(self._file)
            self._file.seek(0)
        return self._file

    def _receive(self, file: SpooledTemporaryFile[bytes]) -> None:
        codings = self.codings
        names = BODY_DIGESTS + REPRESENTATION_DIGESTS if self._is_whole() else BODY_DIGESTS
        try:
            digests = DigestVerifier(self._headers, names)
            blocks = self._blocks(digests, _CODED_BLOCK if codings else BLOCK)
            for coding in reversed(codings):
                blocks = decode(blocks, coding, self._check)
            for block in blocks:
                file.write(block)
            digests.verify()
        except ValueError as error:
            name, _, message = str(error).partition(": ")
            raise refuse("invalidHeader", decided_by=CODINGS, name=name, message=message) from None

    def _is_whole(self) -> bool:
        """Return False if the body is a part of a content, whose digest is not that of the body."""
        try:
            return all(ContentRange.parse(text).is_whole for text in self._headers.get("content-range", ()))
        except ValueError:
            return False

    def _blocks(self, digests: DigestVerifier, size: int) -> Iterator[bytes]:
        while block := self._read(size):
            self._check(self._entry.received)
            digests.update(block)
            yield block

    def _check(self, size: int) -> None:
        """Raise ApiError (413) if `size` bytes are too many."""
        limit = min(self._limit, max(_MAX_DECODED, _MAX_RATIO * self._entry.received))
        if size > limit:
            raise refuse("decodedTooLarge", limit=limit)

    def __enter__(self) -> WholeBody:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()


def unsupported_coding(message: str, accepted: str) -> ApiError:
    """Return the error for a coding that this request cannot have. `accepted` lists the codings that it can have."""
    refused = refuse("unsupportedCoding", message=message)
    return ApiError(refused.rows, [("Accept-Encoding", accepted)])
