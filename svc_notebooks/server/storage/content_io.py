"""Content on its way in and out: bodies become parts, parts become bodies, digests when somebody asks.

Parts that nothing refers to any more are deleted when the last download that reads them is over.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from ...core.process_fork import in_this_process
from ..blobs.blob_store import BlobStore, PartWriter
from ..blobs.damage import DamagedContent
from ..database.errors import FULL
from ..tables import Store
from ..tables.contents import Digests, PartRange

END = 2**62
"""Behind the last byte of any content."""

_CHECKED_AT_ONCE = 256 * 1024 * 1024
"""So many bytes are compared with their checksums before a response begins; of the rest each part when its turn comes.
A client waits for its first byte no longer than this takes, once for each content."""

_RECORDED_AT_ONCE = 256


class ContentWriter:
    """Writes the bytes of a content in parts of `part_size` bytes.

    A full part is passed to `keep` when more bytes come; `finish` returns the last one. `end` is the offset of the next
    byte.
    """

    def __init__(self, parts: BlobStore, part_size: int, start: int, keep: Callable[[PartRange], None]) -> None:
        self._parts = parts
        self._part_size = part_size
        self._keep = keep
        self._start = self.end = start
        self._writer: PartWriter | None = None

    def write(self, block: bytes) -> None:
        """Append a block."""
        while block:
            if self._writer and self._writer.size == self._part_size:
                piece = self._close(self._writer)
                try:
                    self._keep(piece)
                except BaseException:
                    self._parts.delete([piece.part])
                    raise
            self._writer = self._writer or self._parts.writer()
            room = self._part_size - self._writer.size
            self._writer.write(block[:room])
            self.end = self._start + self._writer.size
            block = block[room:]

    def finish(self, end: int) -> PartRange | None:
        """Cut the content off at `end` and return the last part; None if nothing is left of it."""
        if self._writer is None or end <= self._start:
            self.abort()
            return None
        if end < self.end:
            self._writer.truncate(end - self._start)
        return self._close(self._writer)

    def _close(self, writer: PartWriter) -> PartRange:
        piece = PartRange(self._start, self._start + writer.size, writer.commit(), writer.checksum)
        self._writer, self._start = None, piece.stop  # after the commit: what cannot be committed must be aborted
        return piece

    def abort(self) -> None:
        """Delete the part that is being written."""
        if self._writer:
            self._writer.abort()
            self._writer = None


class ContentReader:
    """A range of a content, in blocks; `close` ends it early.

    No block of a damaged part is ever given: the part is compared with its record first. Raises DamagedContent.
    """

    def __init__(
        self, parts: BlobStore, pieces: Sequence[PartRange], span: tuple[int, int], done: Callable[[], None]
    ) -> None:
        self._parts = parts
        self._pieces = pieces
        self._blocks = _blocks(parts, pieces, *span)
        self._done: Callable[[], None] | None = done

    def check(self) -> None:
        """Compare the length of every part, and the checksum of the first ones. Raises DamagedContent."""
        left = _CHECKED_AT_ONCE
        problems = dict[str, str]()
        for piece in self._pieces:
            if problem := self._parts.problem(piece.stored, contents=left > 0):
                problems[piece.part] = problem
            left -= piece.stop - piece.start
        if problems:
            self.close()
            raise DamagedContent(problems)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._blocks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the parts."""
        done, self._done = self._done, None
        if done:
            done()

    __del__ = close


class Content:
    """All bytes, by the numbers of their contents."""

    def __init__(self, store: Store, parts: BlobStore, part_size: int) -> None:
        self._store = store
        self._parts = parts
        self._part_size = part_size
        self._lock = Lock()
        self._readers: Counter[int] = Counter()
        self._pending_deletes: dict[int, list[str]] = {}

    def writer(self, start: int, keep: Callable[[PartRange], None]) -> ContentWriter:
        """Take bytes in, from this offset of a content on."""
        return ContentWriter(self._parts, self._part_size, start, keep)

    def read(self, content: int, first: int, last: int) -> ContentReader:
        """Bytes `first` to `last` (exclusive): as they are now, whatever happens to the file meanwhile."""
        with self._lock:
            self._readers[content] += 1
        pieces = self._store.contents.pieces(content, first, last)
        return ContentReader(self._parts, pieces, (first, last), in_this_process(lambda: self._release_reader(content)))

    def _release_reader(self, content: int) -> None:
        with self._lock:
            self._readers[content] -= 1
            if self._readers[content]:
                return
            del self._readers[content]
            doomed = self._pending_deletes.pop(content, [])
        self._delete(content, doomed)

    def discard(self, content: int, parts: list[str]) -> None:
        """Delete the parts of a content that is forgotten, now or when its last reader has left."""
        with self._lock:
            if self._readers[content]:
                self._pending_deletes[content] = parts
                return
            del self._readers[content]
        self._delete(content, parts)

    def _delete(self, content: int, parts: list[str]) -> None:
        if parts and not self._store.contents.is_there(content):  # a restore may have brought it back meanwhile
            self._parts.delete(parts)

    def read_all(self, pieces: Iterable[PartRange]) -> bytes:
        """All bytes of these parts, whether a content refers to them or not. Raises DamagedContent."""
        pieces = list(pieces)
        return b"".join(_blocks(self._parts, pieces, 0, pieces[-1].stop)) if pieces else b""

    def keep(self, body: bytes) -> list[PartRange]:
        """Parts that hold these bytes, to be appended to a content or removed."""
        pieces: list[PartRange] = []
        writer = self.writer(0, pieces.append)
        try:
            writer.write(body)
            last = writer.finish(len(body))
        except BaseException:
            writer.abort()
            self.remove(pieces)
            raise
        return [*pieces, last] if last else pieces

    def all_present(self, pieces: Iterable[PartRange]) -> bool:
        """Whether all of these are still there: a reset in the middle of an upload sweeps away what no row names."""
        return self._parts.has_all(piece.part for piece in pieces)

    def remove(self, pieces: Iterable[PartRange]) -> None:
        """Delete parts that never became content."""
        self._parts.delete([piece.part for piece in pieces])

    def digests(self, content: int, size: int) -> Digests:
        """md5, sha1 and sha256 of a content: computed when first asked for, then remembered. Raises DamagedContent."""
        digests = self._store.contents.digests(content)
        if digests is None:
            digests = _digests(self.read(content, 0, size))
            try:
                self._store.contents.keep_digests(content, digests)
            except OSError as error:  # on a full disk files can still be read
                if error.errno not in FULL:
                    raise
        return digests

    def record_checksums(self) -> None:
        """Record the checksums of parts that have none, as an older version wrote them: each is read, once.

        A part that is missing, or has another length, stays without one. In memory there are none at all.
        """
        rows = self._store.contents.without_checksum()
        for first in range(0, len(rows), _RECORDED_AT_ONCE):
            with self._store.transaction():
                for content, piece in rows[first : first + _RECORDED_AT_ONCE]:
                    checksum = self._parts.checksum(piece.stored)
                    self._store.contents.keep_checksum(content, piece._replace(checksum=checksum))

    @contextmanager
    def replacing(self) -> Iterator[None]:
        """A block that replaces what the store holds; the parts that no row names afterwards are deleted.

        Those are the parts that rows named before, and those of uploads in progress.
        """
        before = self._store.contents.known_parts()
        yield
        known = self._store.contents.known_parts()
        self._parts.delete(before - known)
        self._parts.sweep(known)


def _blocks(parts: BlobStore, pieces: Iterable[PartRange], first: int, last: int) -> Iterator[bytes]:
    for piece in pieces:
        if problem := parts.problem(piece.stored):
            raise DamagedContent({piece.part: problem})
        yield from parts.read(piece.part, max(first - piece.start, 0), min(last, piece.stop) - piece.start)


def _digests(blocks: Iterable[bytes]) -> Digests:
    hashes = [hashlib.md5(usedforsecurity=False), hashlib.sha1(usedforsecurity=False), hashlib.sha256()]
    for block in blocks:
        for hasher in hashes:
            hasher.update(block)
    return Digests(*(each.hexdigest() for each in hashes))
