"""Where bytes lie: parts that are written once, never changed, and moved in blocks of at most 256 KiB.

A content is a rope of parts (store/contents.py says which). A part is stored once, where it arrives; what is
finished, moved or repeated later is a row of the rope, never a copy of bytes.
"""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from .atomically import sync_folder
from .memory import give_back

BLOCK = 256 * 1024
"""The most bytes that are read or held at once. With 1 MiB the service grows by five times as much, measured, and
is no faster: such blocks are fetched from the system, and given back, again and again."""

KEPT = "kept"
"""The folder, beside that of the parts, where snapshots hold on to theirs."""

_SMALL = 64 * 1024


class PartWriter(Protocol):
    """A part that is being written; nobody sees it before `commit`."""

    size: int

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
        """Bytes `start` to `stop` (exclusive) of a part, in blocks."""

    def hold(self, keys: Iterable[str]) -> bool:
        """Whether all of them are there."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove parts; a key that is not there is passed over."""

    def sweep(self, known: set[str]) -> int:
        """Remove every part that is not known, such as a kill has left; how many there were."""

    def copy(self, keys: Iterable[str]) -> Parts:
        """These parts, to be kept whatever becomes of the others; no byte is copied where that can be avoided."""

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

    def copy(self, keys: Iterable[str]) -> MemoryParts:
        """Blocks are shared, they never change."""
        copied = MemoryParts()
        copied._parts = {key: self._parts[key] for key in keys}
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
        self._path = Path(path)
        self._sync = sync
        self._file = io.FileIO(path, "x")
        self.size = 0

    def write(self, block: bytes) -> None:
        rest = memoryview(block)
        while rest:
            rest = rest[self._file.write(rest) :]
        self.size += len(block)

    def truncate(self, size: int) -> None:
        if size < self.size:
            self._file.truncate(size)
            self.size = size

    def commit(self) -> str:
        if self._sync:
            os.fsync(self._file.fileno())
        self._file.close()
        if self._sync:
            sync_folder(self._path.parent)
        return self._path.name

    def abort(self) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)


class FolderParts:
    """Parts as files of a folder, spread over 256 folders below it by the first letters of their keys."""

    def __init__(self, folder: Path, *, sync: bool, copied: bool = False) -> None:
        """`copied`: nothing will be written but what is linked."""
        self._folder = folder
        self._sync = sync
        for number in range(0 if copied else 256):
            (folder / f"{number:02x}").mkdir(parents=True, exist_ok=True)

    def writer(self) -> PartWriter:
        key = uuid4().hex
        return _FileWriter(f"{self._folder}/{key[:2]}/{key}", sync=self._sync)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def read(self, key: str, start: int, stop: int) -> Iterator[bytes]:
        with self._path(key).open("rb", buffering=0) as file:
            file.seek(start)
            left = stop - start
            while left and (block := file.read(min(BLOCK, left))):
                left -= len(block)
                yield block

    def hold(self, keys: Iterable[str]) -> bool:
        return all(self._path(key).exists() for key in keys)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def sweep(self, known: set[str]) -> int:
        lost = [path for path in self._folder.glob("??/*") if path.name not in known]
        for path in lost:
            path.unlink(missing_ok=True)
        return len(lost)

    def copy(self, keys: Iterable[str]) -> FolderParts:
        """In a folder beside it: a part is written once, so a second name for its file is a copy."""
        copied = FolderParts(self._folder.parent / KEPT / uuid4().hex, sync=False, copied=True)
        for key in keys:
            _link(self._path(key), copied._path(key))
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
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):  # others are kept there, too
            self._folder.parent.rmdir()

    def close(self) -> None:
        """Its files are to be found again."""


def drop_kept(folder: Path) -> None:
    """Let go of what snapshots of an earlier life have held on to, in the folder of a store."""
    shutil.rmtree(folder / KEPT, ignore_errors=True)


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)
