"""Where bytes lie: parts that are written once, never changed, and moved in blocks of at most 256 KiB.

A content is a rope of parts (store/contents.py says which). A part is stored once, where it arrives; what is
finished, moved or repeated later is a row of the rope, never a copy of bytes.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import NamedTuple, Protocol

from .damage import DamagedContent

MUCH = 16 << 20
"""Bytes that are worth the milliseconds that it takes."""


def release_memory(freed: int) -> None:
    """After so many bytes were let go of. glibc has a call for it, other libraries of C do it by themselves.

    Blocks of a deleted file lie between others, so that without it a kernel that once held 300 MB stays as large.
    """
    if freed < MUCH or sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


BLOCK = 256 * 1024
"""The most bytes that are read or held at once. With 1 MiB the service grows by five times as much, measured, and
is no faster: such blocks are fetched from the system, and given back, again and again."""

_SMALL = 64 * 1024


class StoredPart(NamedTuple):
    """A part as the database knows it: `size` in bytes, `checksum` its CRC-32, None where none was recorded."""

    key: str
    size: int
    checksum: int | None


class PartWriter(Protocol):
    """A part that is being written; nobody sees it before `commit`."""

    size: int
    checksum: int | None
    """The CRC-32 of the bytes so far; None in memory, where bytes do not rot."""

    def write(self, block: bytes) -> None:
        """Append a block."""

    def truncate(self, size: int) -> None:
        """Forget what lies beyond the first `size` bytes."""

    def commit(self) -> str:
        """Keep it; the key under which it is found."""

    def abort(self) -> None:
        """Leave nothing of it."""


class BlobStore(Protocol):
    """A place for parts."""

    def writer(self) -> PartWriter:
        """Begin a part."""

    def read(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Bytes `start` to `stop` (exclusive) of a part, in blocks. Raises DamagedContent where the part ends early."""

    def problem(self, part: StoredPart, *, contents: bool = True) -> str | None:
        """What is wrong with a stored part, None if nothing is. Without `contents` only its length is compared."""

    def checksum(self, part: StoredPart) -> int | None:
        """The CRC-32 of a part as it is now; None where it has another length, cannot be read, or is in memory."""

    def has_all(self, keys: Iterable[str]) -> bool:
        """Whether all of them are there."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove parts; a key that is not there is passed over."""

    def sweep(self, known: set[str]) -> int:
        """Remove every part that was written since the store was opened and is not known; how many there were."""

    def copy(self, stored: Iterable[StoredPart]) -> BlobStore:
        """These parts, to be kept whatever becomes of the others; no byte is copied where that can be avoided.

        Raises DamagedContent where one of them is missing or has another length.
        """

    def restore(self, kept: BlobStore) -> None:
        """Hold the parts that `copy` gave, beside those that are here."""

    def drop(self) -> None:
        """A copy is not needed any more."""

    def close(self) -> None:
        """Nobody reads or writes any more; what is in memory is given back, what is on a disk stays."""


class _MemoryWriter:
    def __init__(self, parts: MemoryBlobStore) -> None:
        self._parts = parts
        self._blocks: list[bytes] = []
        self._tail = bytearray()
        self.size = 0
        self.checksum: int | None = None

    def write(self, block: bytes) -> None:
        self.size += len(block)
        if len(block) < _SMALL:  # many tiny writes would be many tiny objects
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
        key = str(next(self._parts._numbers))
        self._parts._parts[key] = tuple(self._blocks)
        return key

    def abort(self) -> None:
        self._blocks.clear()


class MemoryBlobStore:
    """Parts as the blocks in which they came, which are never joined or copied."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[bytes, ...]] = {}
        self._numbers = count(1)

    def writer(self) -> PartWriter:
        return _MemoryWriter(self)

    def read(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        at = 0
        for block in self._parts[key]:
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
        return all(key in self._parts for key in keys)

    def delete(self, keys: Iterable[str]) -> None:
        release_memory(sum(self._forget(key) for key in keys))

    def _forget(self, key: str) -> int:
        """How many bytes it had."""
        return sum(len(block) for block in self._parts.pop(key, ()))

    def sweep(self, known: set[str]) -> int:
        lost = self._parts.keys() - known
        self.delete(lost)
        return len(lost)

    def copy(self, stored: Iterable[StoredPart]) -> MemoryBlobStore:
        """Blocks are shared, they never change."""
        copied = MemoryBlobStore()
        copied._parts = {key: self._parts[key] for key, _, _ in stored}
        copied._numbers = count(next(self._numbers))  # a counter has no copies from Python 3.14 on
        return copied

    def add(self, key: str, blocks: Iterable[bytes]) -> None:
        """Hold a part of another place under the name that it has there."""
        self._parts[key] = tuple(blocks)

    def restore(self, kept: BlobStore) -> None:
        assert isinstance(kept, MemoryBlobStore)
        self._parts |= kept._parts

    def drop(self) -> None:
        self.delete(list(self._parts))

    close = drop


def checked_parts(parts: BlobStore, stored: Iterable[StoredPart], *, contents: bool = True) -> Iterator[StoredPart]:
    """The parts in which `Parts.problem` finds nothing. At the end DamagedContent names all others."""
    problems = dict[str, str]()
    for part in stored:
        if problem := parts.problem(part, contents=contents):
            problems[part.key] = problem
        else:
            yield part
    if problems:
        raise DamagedContent(problems)


def missing_part(key: str) -> str:
    """What is wrong with a part that is not there."""
    return f"part {key} is missing"
