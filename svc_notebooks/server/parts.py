"""Where bytes lie: parts that are written once, never changed, and moved in blocks of at most 256 KiB.

A content is a rope of parts (store/contents.py says which). A part is stored once, where it arrives; what is
finished, moved or repeated later is a row of the rope, never a copy of bytes.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import uuid4
from zlib import crc32

from .atomically import sync_folder
from .damage import DamagedContent
from .memory import give_back

BLOCK = 256 * 1024
"""The most bytes that are read or held at once. With 1 MiB the service grows by five times as much, measured, and
is no faster: such blocks are fetched from the system, and given back, again and again."""

SNAPSHOTS = "snapshots"
"""The folder, beside that of the parts, where snapshots hold on to theirs, in a folder with the id of the store."""

UNFINISHED = ".unfinished"
"""What the name of a part ends with while it is written."""

_KEY_LENGTH = 32
PART_NAME = re.compile(rf"[0-9a-f]{{{_KEY_LENGTH}}}")
"""The names of parts, and of snapshots."""

_SMALL = 64 * 1024
_MOST_VERIFIED = 65_536
_SAME_TICK = 100_000_000
"""Nanoseconds. A file that changed more recently may change again without a new modification time."""


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


class Parts(Protocol):
    """A place for parts."""

    def writer(self) -> PartWriter:
        """Begin a part."""

    def read(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        """Bytes `start` to `stop` (exclusive) of a part, in blocks. Raises DamagedContent where the part ends early."""

    def problem(self, part: StoredPart, *, contents: bool = True) -> str | None:
        """What is wrong with a stored part, None if nothing is. Without `contents` only its length is compared."""

    def checksum(self, part: StoredPart) -> int | None:
        """The CRC-32 of a part as it is now; None where it has another length, cannot be read, or is in memory."""

    def hold(self, keys: Iterable[str]) -> bool:
        """Whether all of them are there."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove parts; a key that is not there is passed over."""

    def sweep(self, known: set[str]) -> int:
        """Remove every part that was written since the store was opened and is not known; how many there were."""

    def copy(self, stored: Iterable[StoredPart]) -> Parts:
        """These parts, to be kept whatever becomes of the others; no byte is copied where that can be avoided.

        Raises DamagedContent where one of them is missing or has another length.
        """

    def put_back(self, kept: Parts) -> None:
        """Hold the parts that `copy` gave, beside those that are here."""

    def drop(self) -> None:
        """A copy is not needed any more."""

    def close(self) -> None:
        """Nobody reads or writes any more; what is in memory is given back, what is on a disk stays."""


class _MemoryWriter:
    def __init__(self, parts: MemoryParts) -> None:
        self._parts = parts
        self._blocks: list[bytes] = []
        self._tail = bytearray()
        self.size = 0
        self.checksum: int | None = None

    def write(self, block: bytes) -> None:
        self.size += len(block)
        if len(block) < _SMALL:  # many tiny writes would be many tiny objects
            self._tail += block
        if len(block) >= _SMALL or len(self._tail) >= BLOCK:
            self._settle()
        if len(block) >= _SMALL:
            self._blocks.append(block)

    def _settle(self) -> None:
        if self._tail:
            self._blocks.append(bytes(self._tail))
            self._tail.clear()

    def truncate(self, size: int) -> None:
        self._settle()
        while self.size > size:
            last = self._blocks.pop()
            keep = max(0, len(last) - (self.size - size))
            self.size -= len(last) - keep
            if keep:
                self._blocks.append(last[:keep])

    def commit(self) -> str:
        self._settle()
        return self._parts._keep(tuple(self._blocks))

    def abort(self) -> None:
        self._blocks.clear()


class MemoryParts:
    """Parts as the blocks in which they came: never joined, so never copied."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[bytes, ...]] = {}
        self._numbers = count(1)

    def writer(self) -> PartWriter:
        return _MemoryWriter(self)

    def _keep(self, blocks: tuple[bytes, ...]) -> str:
        key = str(next(self._numbers))
        self._parts[key] = blocks
        return key

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
        return None if part.key in self._parts else _missing(part.key)

    def checksum(self, part: StoredPart) -> int | None:
        return None

    def hold(self, keys: Iterable[str]) -> bool:
        return all(key in self._parts for key in keys)

    def delete(self, keys: Iterable[str]) -> None:
        give_back(sum(self._forget(key) for key in keys))

    def _forget(self, key: str) -> int:
        """How many bytes it had."""
        return sum(len(block) for block in self._parts.pop(key, ()))

    def sweep(self, known: set[str]) -> int:
        lost = self._parts.keys() - known
        self.delete(lost)
        return len(lost)

    def copy(self, stored: Iterable[StoredPart]) -> MemoryParts:
        """Blocks are shared, they never change."""
        copied = MemoryParts()
        copied._parts = {key: self._parts[key] for key, _, _ in stored}
        copied._numbers = count(next(self._numbers))  # a counter has no copies from Python 3.14 on
        return copied

    def take_in(self, key: str, blocks: Iterable[bytes]) -> None:
        """Hold a part of another place under the name that it has there."""
        self._parts[key] = tuple(blocks)

    def put_back(self, kept: Parts) -> None:
        assert isinstance(kept, MemoryParts)
        self._parts |= kept._parts

    def drop(self) -> None:
        self.delete(list(self._parts))

    close = drop


class _FileWriter:
    def __init__(self, path: str, *, sync: bool) -> None:
        self._path = path
        self._unfinished = path + UNFINISHED
        self._sync = sync
        self._file = io.FileIO(self._unfinished, "x+")
        self.size = 0
        self.checksum: int | None = 0

    def write(self, block: bytes) -> None:
        rest = memoryview(block)
        while rest:
            rest = rest[self._file.write(rest) :]
        self.size += len(block)
        self.checksum = crc32(block, self.checksum or 0)

    def truncate(self, size: int) -> None:
        if size < self.size:
            self._file.truncate(size)
            self._file.seek(0)
            self.size, self.checksum = size, _checksum(_blocks(self._file, size))

    def commit(self) -> str:
        if self._sync:
            os.fsync(self._file.fileno())
        self._file.close()
        os.rename(self._unfinished, self._path)  # noqa: PTH104 -- a Path costs as much as the system call
        if self._sync:
            sync_folder(Path(self._path).parent)
        return self._path[-_KEY_LENGTH:]

    def abort(self) -> None:
        self._file.close()
        Path(self._unfinished).unlink(missing_ok=True)


class FolderParts:
    """Parts as files of a folder, spread over 256 folders below it by the first letters of their keys.

    A key is 24 random letters, then the number of the opening of the store in which the part was written.
    """

    def __init__(self, folder: Path, *, sync: bool, opening: int = 0, snapshots: Path | None = None) -> None:
        """`snapshots`: the folder for the parts of snapshots; None: these are the parts of one."""
        self._folder = folder
        self._sync = sync
        self._verified: dict[str, tuple[int, ...]] = {}
        self._opening = f"{opening % 2**32:08x}"
        self._snapshots = snapshots
        for number in range(256 if snapshots else 0):
            (folder / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def writer(self) -> PartWriter:
        key = uuid4().hex[:-8] + self._opening
        return _FileWriter(f"{self._folder}/{key[:2]}/{key}", sync=self._sync)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def read(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        try:
            file = io.FileIO(self._path(key))
        except FileNotFoundError:
            raise DamagedContent({key: _missing(key)}) from None
        with file:
            file.seek(start)
            left = stop - start
            for block in _blocks(file, left):
                left -= len(block)
                yield block
        if left:
            raise DamagedContent({key: f"part {key} ends {left:,} bytes too early"})

    def problem(self, part: StoredPart, *, contents: bool = True) -> str | None:
        key, size, checksum = part
        try:
            status = self._path(key).stat()
            if status.st_size != size:
                return f"part {key} has {status.st_size:,} bytes instead of {size:,}"
            identity = (status.st_ino, size, status.st_mtime_ns)
            if not contents or checksum is None or self._verified.get(key) == identity:
                return None
            if self._read_checksum(part) != checksum:
                return f"part {key} has other bytes than were written"
        except FileNotFoundError:
            return _missing(key)
        except OSError as error:  # the disk cannot read the sector
            return f"part {key} cannot be read ({error.strerror or error})"
        self._remember(key, identity)
        return None

    def checksum(self, part: StoredPart) -> int | None:
        if self.problem(part, contents=False):
            return None
        try:
            return self._read_checksum(part)
        except OSError:
            return None

    def _read_checksum(self, part: StoredPart) -> int:
        with io.FileIO(self._path(part.key)) as file:
            return _checksum(_blocks(file, part.size))

    def _remember(self, key: str, identity: tuple[int, ...]) -> None:
        """A verified part need not be read again before its file changes."""
        if time.time_ns() - identity[-1] > _SAME_TICK:
            if len(self._verified) >= _MOST_VERIFIED:
                self._verified.clear()
            self._verified[key] = identity

    def hold(self, keys: Iterable[str]) -> bool:
        return all(self._path(key).exists() for key in keys)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._path(key).unlink(missing_ok=True)
            self._verified.pop(key, None)

    def sweep(self, known: set[str]) -> int:
        recent = self._folder.glob(f"??/*{self._opening}")
        lost = [path.name for path in recent if PART_NAME.fullmatch(path.name) and path.name not in known]
        self.delete(lost)
        return len(lost)

    def copy(self, stored: Iterable[StoredPart]) -> FolderParts:
        """In a folder beside it: a part is written once, so a second name for its file is a copy."""
        assert self._snapshots
        copied = FolderParts(self._snapshots / uuid4().hex, sync=False)
        try:
            for part in sound(self, stored, contents=False):  # nothing is read: the whole service waits meanwhile
                _link(self._path(part.key), copied._path(part.key))
        except BaseException:
            copied.drop()
            raise
        return copied

    def put_back(self, kept: Parts) -> None:
        assert isinstance(kept, FolderParts)
        missing = [path for path in kept._folder.glob("??/*") if not self._path(path.name).exists()]
        for path in missing:
            _link(path, self._path(path.name))
        if self._sync:
            for folder in {self._path(path.name).parent for path in missing}:
                sync_folder(folder)

    def drop(self) -> None:
        _drop_snapshot(self._folder)
        _remove_empty(self._folder.parent, self._folder.parent.parent)

    def close(self) -> None:
        """Its files are to be found again."""


def sound(parts: Parts, stored: Iterable[StoredPart], *, contents: bool = True) -> Iterator[StoredPart]:
    """The parts in which `Parts.problem` finds nothing. At the end DamagedContent names all others."""
    problems = dict[str, str]()
    for part in stored:
        if problem := parts.problem(part, contents=contents):
            problems[part.key] = problem
        else:
            yield part
    if problems:
        raise DamagedContent(problems)


def _blocks(file: io.FileIO, size: int) -> Iterator[bytes]:
    """The next `size` bytes of a file, fewer where it ends before."""
    while size and (block := file.read(min(BLOCK, size))):
        size -= len(block)
        yield block


def _checksum(blocks: Iterable[bytes]) -> int:
    value = 0
    for block in blocks:
        value = crc32(block, value)
    return value


def _missing(key: str) -> str:
    return f"part {key} is missing"


def drop_snapshots(folder: Path) -> None:
    """Remove what snapshots of an earlier opening have left in the folder of a store for them."""
    for snapshot in folder.glob("*"):
        if PART_NAME.fullmatch(snapshot.name):
            _drop_snapshot(snapshot)
    _remove_empty(folder, folder.parent)


def _drop_snapshot(folder: Path) -> None:
    """Remove the parts of a snapshot, and nothing else that somebody may have put there."""
    for path in folder.glob("??/*"):
        if PART_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)
    _remove_empty(*folder.glob("??"), folder)


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with suppress(OSError):  # there is something in it, or it is not there
            folder.rmdir()


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)
