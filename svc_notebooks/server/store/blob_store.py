"""Stores the bytes of contents in parts, which are read and written in blocks of at most 256 KiB.

The rows of store/contents.py list the parts of a content, with the number of their bytes. These bytes never change. In
a folder, the last part of an open upload may grow. Copying or moving a file changes rows and copies no bytes.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple, Protocol

from .errors import on_error

# The minimum number of freed bytes for which `malloc_trim`, which takes milliseconds, is called.
MUCH = 16 << 20


def release_memory(freed: int) -> None:
    """Return freed memory to the operating system with `malloc_trim` of glibc, if at least 16 MiB were freed.

    Without the call, a Python process keeps the memory, because freed blocks lie between blocks that are in use.
    """
    if freed < MUCH or sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


# The maximum number of bytes that are read or written at once. 1 MiB was no faster and took five times the memory.
BLOCK = 256 * 1024

_SMALL = 64 * 1024


class StoredPart(NamedTuple):
    """The key, the size in bytes and the CRC-32 of a part in the database. The CRC-32 is None if none was recorded."""

    key: str
    size: int
    checksum: int | None


class ListedPart(NamedTuple):
    """The key of a part that a store has, its size in bytes, and the Unix time at which it was written."""

    key: str
    size: int
    modified: float


class DamagedContent(OSError):
    """Parts of stored contents are missing, or their length or bytes differ from the bytes that were written.

    `problems` maps the key of each damaged part to a sentence. `files` has the names of the affected files.

    >>> str(DamagedContent({"ab12": "part ab12 is missing"}, ["notes.txt (file-1)"]))
    'the stored content of notes.txt (file-1) is damaged: part ab12 is missing'
    """

    def __init__(self, problems: Mapping[str, str], files: list[str] | None = None) -> None:
        super().__init__()
        self.problems = dict(problems)
        self.files = files or []

    def __str__(self) -> str:
        return f"the stored content of {self.owner} is damaged: {self.problem}"

    @property
    def owner(self) -> str:
        """The names of the first three affected files and the number of further files, as text."""
        return _enumerate(self.files, "files") or "a file or an upload"

    @property
    def problem(self) -> str:
        """The problems of the first three parts and the number of further parts, as text."""
        return _enumerate(list(self.problems.values()), "parts")


class ContentsUnavailable(OSError):
    """Raised if the bucket with the contents does not respond, or refuses a request."""


def _enumerate(names: list[str], noun: str) -> str:
    first = ", ".join(names[:3])
    return f"{first} and {len(names) - 3:,} more {noun}" if len(names) > 3 else first


class PartWriter(Protocol):
    """A writer for a new part. The bytes can be read after `commit`."""

    # Whether further bytes can be written and committed after `commit`. Otherwise `commit` closes the writer.
    can_grow: bool

    size: int
    # The CRC-32 of the bytes written so far, or None in a store in memory, where parts cannot be damaged.
    checksum: int | None

    def write(self, block: bytes) -> None:
        """Append a block of bytes."""

    def truncate(self, size: int) -> None:
        """Remove all bytes after the first `size` bytes."""

    def commit(self) -> str:
        """Store the bytes written so far and return the key of the part."""

    def abort(self, size: int = 0) -> None:
        """Discard an uncommitted part, or the bytes after the first `size` bytes of a part. Close the writer."""

    def close(self) -> None:
        """Close the writer. The committed bytes stay."""


class BlobStore(Protocol):
    """A store for parts, which are sequences of bytes with a key."""

    def writer(self, key: str | None = None) -> PartWriter:
        """Return a writer for a new part, which gets a new key unless it is the copy of a part of another store."""

    def read(self, part: StoredPart, start: int, stop: int) -> Iterator[bytes]:
        """Yield bytes `start` to `stop` (exclusive). Raises DamagedContent if the part is missing or damaged.

        A bucket compares the checksum of a whole part before the last block, and has no checksum of a range.
        """

    def problem(self, part: StoredPart, *, contents: bool = True) -> str | None:
        """Describe the damage of a part, or return None. Raises ContentsUnavailable.

        Further bytes in a file with a checksum are no damage, because an interrupted request may have written them. If
        `contents` is false, compare only the length, or nothing in a bucket, which would need a request.
        """

    def checksum(self, part: StoredPart) -> int | None:
        """Compute the CRC-32 of a part. Returns None if the part is damaged, or if the store is in memory."""

    def has_all(self, keys: Iterable[str]) -> bool:
        """Return whether all of these parts exist."""

    def delete(self, keys: Iterable[str]) -> None:
        """Delete the parts with these keys. Unknown keys are ignored."""

    def sweep(self, known: set[str]) -> int:
        """Delete all parts that were written since the store was opened and are not in `known`. Return their number."""

    def copy(self, stored: Iterable[StoredPart]) -> BlobStore:
        """Return a new store that shares these parts if possible. Raises DamagedContent if a damaged part is found."""

    def restore(self, kept: BlobStore) -> None:
        """Add the parts of `kept`, which is a store that `copy` returned."""

    def drop(self) -> None:
        """Delete this store and its parts. Called only for a store that `copy` returned."""

    def close(self) -> None:
        """Free the parts in memory. Parts on a disk stay."""


class LastingBlobStore(BlobStore, Protocol):
    """A store whose parts stay when the process ends."""

    def listed(self) -> Iterator[ListedPart]:
        """Yield all parts of the store, while they are listed. Other files or objects are skipped."""


class _MemoryWriter:
    can_grow = False

    def __init__(self, parts: MemoryBlobStore, key: str | None) -> None:
        self._parts = parts
        self._key = key
        self._blocks: list[bytes] = []
        self._tail = bytearray()
        self.size = 0
        self.checksum: int | None = None

    def write(self, block: bytes) -> None:
        self.size += len(block)
        if len(block) < _SMALL:  # without joining, many small writes would create many small objects
            self._tail += block
        if self._tail and (len(block) >= _SMALL or len(self._tail) >= BLOCK):
            self._settle()
        if len(block) >= _SMALL:
            self._blocks.append(block)

    def _settle(self) -> None:
        self._blocks.append(bytes(self._tail))
        self._tail.clear()

    def truncate(self, size: int) -> None:
        if self._tail:
            self._settle()
        while self.size > size:
            last = self._blocks.pop()
            keep = max(0, len(last) - (self.size - size))
            self.size -= len(last) - keep
            if keep:
                self._blocks.append(last[:keep])

    def commit(self) -> str:
        if self._tail:
            self._settle()
        key = self._key or str(next(self._parts._numbers))
        self._parts._parts[key] = tuple(self._blocks)
        return key

    def abort(self, size: int = 0) -> None:
        self._blocks.clear()

    def close(self) -> None:
        """Do nothing, because `commit` has closed the writer."""


class MemoryBlobStore:
    """A store for parts in memory. A part is kept as the blocks that were written, without joining the blocks."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[bytes, ...]] = {}
        self._numbers = count(1)

    def writer(self, key: str | None = None) -> PartWriter:
        return _MemoryWriter(self, key)

    def read(self, part: StoredPart, start: int, stop: int) -> Iterator[bytes]:
        if problem := self.problem(part):
            raise DamagedContent({part.key: problem})
        at = 0
        for block in self._parts[part.key]:
            first, last = max(start - at, 0), min(stop - at, len(block))
            if first < last:
                yield block if last - first == len(block) else block[first:last]
            at += len(block)
            if at >= stop:
                return

    def problem(self, part: StoredPart, *, contents: bool = True) -> str | None:
        return None if part.key in self._parts else missing_part(part.key)

    def checksum(self, part: StoredPart) -> int | None:
        return None

    def has_all(self, keys: Iterable[str]) -> bool:
        return self._parts.keys() >= set(keys)

    def delete(self, keys: Iterable[str]) -> None:
        deleted = [self._parts.pop(key, ()) for key in keys]
        freed = sum(len(block) for blocks in deleted for block in blocks)
        del deleted
        release_memory(freed)

    def sweep(self, known: set[str]) -> int:
        lost = self._parts.keys() - known
        self.delete(lost)
        return len(lost)

    def copy(self, stored: Iterable[StoredPart]) -> MemoryBlobStore:
        """Return a new store with these parts, which shares the immutable blocks with this store."""
        copied = MemoryBlobStore()
        copied._parts = {key: self._parts[key] for key, _, _ in stored}
        copied._numbers = count(next(self._numbers))  # a counter has no copies from Python 3.14 on
        return copied

    def restore(self, kept: BlobStore) -> None:
        assert isinstance(kept, MemoryBlobStore)
        self._parts |= kept._parts

    def drop(self) -> None:
        self.delete(list(self._parts))

    close = drop


def check_parts(parts: BlobStore, stored: Iterable[StoredPart], *, contents: bool = True) -> Iterator[StoredPart]:
    """Yield the undamaged parts. At the end, raise DamagedContent for all damaged parts if there are any."""
    problems = dict[str, str]()
    for part in stored:
        if problem := parts.problem(part, contents=contents):
            problems[part.key] = problem
        else:
            yield part
    if problems:
        raise DamagedContent(problems)


def write_part(
    target: BlobStore, blocks: Iterable[bytes], key: str | None = None, checksum: int | None = None
) -> StoredPart:
    """Write blocks to a new part, and return the part. Raises DamagedContent if they have another checksum."""
    writer = target.writer(key)
    with on_error(writer.abort):
        for block in blocks:
            writer.write(block)
        if checksum not in (None, writer.checksum):
            raise DamagedContent({str(key): f"part {key} has a wrong checksum"})
        return StoredPart(writer.commit(), writer.size, writer.checksum)


def checksum_of(blocks: Iterable[bytes]) -> int:
    """Return the CRC-32 of these bytes."""
    value = 0
    for block in blocks:
        value = crc32(block, value)
    return value


def missing_part(key: str) -> str:
    """Return the sentence that describes a missing part."""
    return f"part {key} is missing"


try:
    from zlib_ng.zlib_ng import crc32 as crc32
except ImportError:
    from zlib import crc32 as crc32


# -- the marker with which a folder or a bucket for contents names its store


MARKER = "svc-contents.json"
_MARKER_FORMAT = "svc-notebooks contents"
_MARKER_VERSION = 1
_MARKER_ABOUT = (
    "This folder has the contents of the files of a svc-notebooks store (svc-notebooks serve --content), whose rows are"
    " in a PostgreSQL database. Copy, move or delete it together with the database, while no service uses it."
)


def marker_of(store: str) -> bytes:
    """Return the content of the marker of the store with the id `store`."""
    content = {"about": _MARKER_ABOUT, "format": _MARKER_FORMAT, "version": _MARKER_VERSION, "store": store}
    return json.dumps(content, indent=2).encode() + b"\n"


def check_content(place: object, store: str, marker: bytes | None, *, is_empty: bool, has_parts: bool) -> None:
    """Raise OSError if a folder or a bucket cannot be used for the contents of a store.

    `marker` is the content of its marker, or None. Without a marker it must be empty, and the store must have no parts.
    """
    if marker is not None:
        if _store_of(place, marker) != store:
            raise refusal(place, "it has the contents of another store")
    elif not is_empty:
        raise refusal(place, "it is neither empty nor the folder of a store")
    elif has_parts:
        raise refusal(place, "it is empty, but the database names parts of files")


def refusal(place: object, problem: str) -> OSError:
    """Return the error for a folder or a bucket that cannot be used."""
    return OSError(f"{place} cannot be used with this database, and was not changed: {problem}; choose its folder")


def _store_of(place: object, marker: bytes) -> str:
    try:
        content: Any = json.loads(marker)
        form, number, store = content["format"], content["version"], content["store"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refusal(place, f"{MARKER} cannot be read") from None
    if (form, number) != (_MARKER_FORMAT, _MARKER_VERSION):
        raise refusal(place, f"{MARKER} is not a marker that this package supports")
    return str(store)
