"""Stores contents: the rows of their parts and digests, and their bytes, which are in blobs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ...core.platform import in_this_process
from .blob_store import BlobStore, DamagedContent, PartWriter, StoredPart
from .engine import TableGroup, column_names, inserting
from .errors import FULL, on_error
from .schema import ranges

if TYPE_CHECKING:
    from .store import Store


class PartRange(NamedTuple):
    """The key of the part with the bytes `start` to `stop` (exclusive) of a content, and the part's CRC-32 or None."""

    start: int
    stop: int
    part: str
    checksum: int | None = None

    @property
    def stored(self) -> StoredPart:
        """The key, size and checksum of the part, without its position in the content."""
        return StoredPart(self.part, self.stop - self.start, self.checksum)


class Digests(NamedTuple):
    """The digests of a content, as hexadecimal strings."""

    md5: str
    sha1: str
    sha256: str


_COLUMNS = column_names(PartRange._fields)
_BEGIN = "INSERT INTO contents DEFAULT VALUES RETURNING id"
_APPEND = inserting(ranges, ("content", *PartRange._fields))
_EXTEND = """UPDATE rope SET stop = :stop, checksum = :checksum
    WHERE content = :content AND start = :start AND part = :part"""
_PIECES = f"""SELECT {_COLUMNS} FROM rope
    WHERE content = :content AND start < :last AND stop > :first ORDER BY start"""
_STORED = "SELECT part, stop - start, checksum FROM rope ORDER BY part"
_WITHOUT_CHECKSUM = "SELECT content, start, stop, part FROM rope WHERE checksum IS NULL"
_KEEP_CHECKSUM = "UPDATE rope SET checksum = :checksum WHERE content = :content AND start = :start"
_DIGESTS = f"SELECT {column_names(Digests._fields)} FROM contents WHERE id = :content"
_KEEP_DIGESTS = "UPDATE contents SET md5 = :md5, sha1 = :sha1, sha256 = :sha256 WHERE id = :content"


class Contents(TableGroup):
    """The table of contents, each of which is a sequence of parts and has a number."""

    def begin(self) -> int:
        """Add an empty content and return its number."""
        return int(self._database.change_all(_BEGIN, {})[0][0])

    def is_there(self, content: int) -> bool:
        """Return whether a content exists."""
        return self._database.fetch_one("SELECT id FROM contents WHERE id = :id", {"id": content}) is not None

    def append(self, content: int, piece: PartRange) -> None:
        """Add a part to the end of a content."""
        self._database.queue_change(_APPEND, {"content": content, **piece._asdict()})

    def extend(self, content: int, piece: PartRange) -> bool:
        """Store the new end of the last part of a content. Returns False, and stores nothing, if it is another part."""
        return self._database.change(_EXTEND, {"content": content, **piece._asdict()}) == 1

    def pieces(self, content: int, first: int, last: int) -> list[PartRange]:
        """Return the parts that contain bytes `first` to `last` (exclusive) of a content, in order."""
        values = {"content": content, "first": first, "last": last}
        return list(map(PartRange._make, self._database.run(_PIECES, values)))

    def drop(self, content: int) -> list[str]:
        """Delete a content, and return the keys of its parts, which no row names any more."""
        parts = [
            part
            for (part,) in self._database.run("SELECT part FROM rope WHERE content = :content", {"content": content})
        ]
        self._database.queue_change("DELETE FROM rope WHERE content = :content", {"content": content})
        self._database.queue_change("DELETE FROM contents WHERE id = :content", {"content": content})
        return parts

    def parts(self) -> list[StoredPart]:
        """Return the parts of all contents, in the order of their keys."""
        return [StoredPart._make(row) for row in self._database.run(_STORED, {})]

    def known_parts(self) -> set[str]:
        """Return the keys of all parts of all contents."""
        return {part for (part,) in self._database.run("SELECT part FROM rope", {})}

    def digests(self, content: int) -> Digests | None:
        """Return the stored digests of a content, or None if they have not been computed yet."""
        row = self._database.fetch_one(_DIGESTS, {"content": content})
        return Digests._make(row) if row and row[0] else None

    def keep_digests(self, content: int, digests: Digests) -> None:
        """Store the digests of a content."""
        self._database.queue_change(_KEEP_DIGESTS, {"content": content, **digests._asdict()})


# -- bytes, which are written to blobs and read from them


class ContentWriter:
    """Writes the bytes of a content in parts of `part_size` bytes.

    Full parts are passed to `keep`, and `finish` returns the last part, which starts before the bytes that rows count
    if rows name it already. `end` is the offset of the next byte. `last_part` is the writer of the part that is being
    written or can grow, or None.
    """

    def __init__(self, parts: BlobStore, part_size: int, start: int, keep: Callable[[PartRange], None]) -> None:
        self.keep = keep
        self.end = start
        self.last_part: PartWriter | None = None
        self._parts = parts
        self._part_size = part_size
        self._start = self._counted = start
        self._key: str | None = None  # the key of the last part after its first commit

    def write(self, block: bytes) -> None:
        """Append a block of bytes."""
        while block:
            if self.last_part and self.last_part.size == self._part_size and (full := self.finish(self.end)):
                self.keep(full)
                self.confirm()
            if self.last_part is None:
                self.last_part, self._key, self._start = self._parts.writer(), None, self.end
            free = self._part_size - self.last_part.size
            self.last_part.write(block[:free])
            self.end = self._start + self.last_part.size
            block = block[free:]

    def finish(self, end: int) -> PartRange | None:
        """Truncate the content to the offset `end`, and return its last part, or None without further bytes."""
        part = self.last_part
        if part is None or end <= self._counted:
            self.abort()
            return None
        if end < self.end:
            part.truncate(end - self._start)
            self.end = end
        self._key = part.commit()
        return PartRange(self._start, end, self._key, part.checksum)

    def confirm(self) -> None:
        """Record that rows count all bytes so far. Close a part that cannot grow further."""
        self._counted, part = self.end, self.last_part
        if part and not part.can_grow:
            self.last_part = None
        elif part and part.size == self._part_size:
            self.close()

    def abort(self) -> None:
        """Delete the bytes that no row counts, and close the part that is being written."""
        if self.last_part is None:
            return
        counted = self._counted - self._start
        if self._key and not counted:
            self._parts.delete([self._key])
        else:
            self.last_part.abort(counted)
        self.close()

    def close(self) -> None:
        """Close the part that is being written. Its committed bytes stay."""
        part, self.last_part = self.last_part, None
        if part:
            part.close()


# An offset beyond the last byte of any content.
END = 2**62

# The bytes that are verified before a response begins, which limits the wait for the first byte.
_CHECKED_AT_ONCE = 256 * 1024 * 1024

# The number of parts that are verified before a response begins, each of which is a request to a bucket.
_MOST_CHECKED_AT_ONCE = 64

_RECORDED_AT_ONCE = 256

_MAX_OPEN_WRITERS = 64  # the maximum number of open uploads whose last part stays open between two requests


class ContentReader:
    """An iterator over the bytes of a content range in blocks.

    The parts are kept until `close` or the end. Raises DamagedContent if a part's length or checksum is wrong.
    """

    def __init__(
        self, parts: BlobStore, pieces: Sequence[PartRange], span: tuple[int, int], done: Callable[[], None]
    ) -> None:
        self._parts = parts
        self._pieces = pieces
        self._blocks = _blocks(parts, pieces, *span)
        self._first_block = b""
        self._done: Callable[[], None] | None = done

    def check(self) -> None:
        """Compare the parts with the database and read the first block, before the response begins.

        Checksums are compared only in the first 64 parts and 256 MiB. Raises DamagedContent, and OSError if the
        contents cannot be reached.
        """
        left = _CHECKED_AT_ONCE
        problems = dict[str, str]()
        with on_error(self.close):
            for number, piece in enumerate(self._pieces):
                is_compared = left > 0 and number < _MOST_CHECKED_AT_ONCE
                if problem := self._parts.problem(piece.stored, contents=is_compared):
                    problems[piece.part] = problem
                left -= piece.stop - piece.start
            if problems:
                raise DamagedContent(problems)
            self._first_block = next(self._blocks, b"")

    def __iter__(self) -> Iterator[bytes]:
        try:
            if self._first_block:
                yield self._first_block
            yield from self._blocks
        finally:
            self.close()

    def close(self) -> None:
        """Release the parts, so that they can be deleted."""
        done, self._done = self._done, None
        if done:
            done()

    __del__ = close


class Content:
    """Access to the bytes of all stored contents. Each content is identified by its number."""

    def __init__(self, store: Store, parts: BlobStore, part_size: int) -> None:
        self._store = store
        self.parts = parts
        self._part_size = part_size
        self._lock = Lock()
        self._readers: Counter[int] = Counter()
        self._pending_deletes: dict[int, list[str]] = {}
        self._open_writers: dict[int, ContentWriter] = {}  # by content number, the last used one at the end

    def writer(self, start: int, keep: Callable[[PartRange], None], content: int | None = None) -> ContentWriter:
        """Return a writer for the bytes of a content from the offset `start` on. `keep` is called with full parts.

        With the number of a content, the writer may be one that `keep_open` has kept, which continues the last part.
        """
        if content is not None:
            with self._lock:
                kept = self._open_writers.pop(content, None)
            if kept and kept.end == start:
                kept.keep = keep
                return kept
            if kept:
                kept.close()
        return ContentWriter(self.parts, self._part_size, start, keep)

    def keep_open(self, content: int, writer: ContentWriter) -> None:
        """Keep the writer of an open upload for its next request.

        If other processes use the store, the writer is closed, because they may write the next bytes.
        """
        if self._store.is_shared:
            writer.close()
            return
        with self._lock:
            former = self._open_writers.pop(content, None)
            if former is None and len(self._open_writers) == _MAX_OPEN_WRITERS:
                former = self._open_writers.pop(next(iter(self._open_writers)))
            self._open_writers[content] = writer
        if former:
            former.close()

    def close_writer(self, content: int) -> None:
        """Close the writer that is kept for a content."""
        with self._lock:
            writer = self._open_writers.pop(content, None)
        if writer:
            writer.close()

    def close_writers(self) -> None:
        """Close all kept writers, for example because another content may get the same number."""
        for content in list(self._open_writers):
            self.close_writer(content)

    def read(self, content: int, first: int, last: int) -> ContentReader:
        """Return a reader of bytes `first` to `last` (exclusive). The bytes stay readable if the file is changed."""
        with self._lock:
            self._readers[content] += 1
        self._store.end_snapshot()  # the parts in an older snapshot may have been deleted
        pieces = self._store.contents.pieces(content, first, last)
        return ContentReader(self.parts, pieces, (first, last), in_this_process(partial(self._release_reader, content)))

    def _release_reader(self, content: int) -> None:
        with self._lock:
            self._readers[content] -= 1
            if self._readers[content]:
                return
            del self._readers[content]
            parts = self._pending_deletes.pop(content, [])
        if parts:
            self._delete(content, parts)

    def discard(self, content: int, parts: list[str]) -> None:
        """Delete the parts of a deleted content at once, or when the last reader of the content is closed."""
        self.close_writer(content)
        with self._lock:
            if self._readers[content]:
                self._pending_deletes[content] = parts
                return
            del self._readers[content]
        self._delete(content, parts)

    def _delete(self, content: int, parts: list[str]) -> None:
        if parts and not self._store.contents.is_there(content):  # a restore may have added the content again
            self.parts.delete(self._store.deletable(parts))

    def read_all(self, pieces: Iterable[PartRange]) -> bytes:
        """Return all bytes of these parts. Raises DamagedContent if a part is missing or damaged."""
        pieces = list(pieces)
        return b"".join(_blocks(self.parts, pieces, 0, pieces[-1].stop)) if pieces else b""

    def keep(self, body: bytes) -> list[PartRange]:
        """Write bytes to new parts, and return the parts. The caller must add them to a content or remove them."""
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

    def remove(self, pieces: Iterable[PartRange]) -> None:
        """Delete parts that belong to no content."""
        self.parts.delete([piece.part for piece in pieces])

    def digests(self, content: int, size: int) -> Digests:
        """Return the digests of a content, computed once and stored. Raises DamagedContent for a damaged part."""
        digests = self._store.contents.digests(content)
        if digests is None:
            digests = _digests(self.read(content, 0, size))
            try:
                self._store.contents.keep_digests(content, digests)
            except OSError as error:  # files stay readable on a full disk
                if error.errno not in FULL:
                    raise
        return digests

    def record_checksums(self) -> None:
        """Record the checksums that an older version did not store, except for damaged parts."""
        rows = self._store.database.run(_WITHOUT_CHECKSUM, {})
        for first in range(0, len(rows), _RECORDED_AT_ONCE):
            with self._store.transaction():
                for content, start, stop, part in rows[first : first + _RECORDED_AT_ONCE]:
                    checksum = self.parts.checksum(StoredPart(part, stop - start, None))
                    values = {"content": content, "start": start, "checksum": checksum}
                    self._store.database.queue_change(_KEEP_CHECKSUM, values)

    @contextmanager
    def replacing(self) -> Iterator[None]:
        """Run a `with` block that replaces the store's rows, then delete all parts that no row names any more."""
        self.close_writers()
        before = self._store.contents.known_parts()
        yield
        known = self._store.contents.known_parts()
        self.parts.delete(before - known)
        self.parts.sweep(known)


def _blocks(parts: BlobStore, pieces: Iterable[PartRange], first: int, last: int) -> Iterator[bytes]:
    for piece in pieces:
        yield from parts.read(piece.stored, max(first - piece.start, 0), min(last, piece.stop) - piece.start)


def _digests(blocks: Iterable[bytes]) -> Digests:
    hashes = [hashlib.md5(usedforsecurity=False), hashlib.sha1(usedforsecurity=False), hashlib.sha256()]
    for block in blocks:
        for hasher in hashes:
            hasher.update(block)
    return Digests(*(digest.hexdigest() for digest in hashes))
