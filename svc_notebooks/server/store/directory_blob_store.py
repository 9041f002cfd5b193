"""Stores parts as files in the data directory, and moves files that do not belong to a store to its folder aside/.

Only old unfinished parts are deleted. A part that no row names is moved, because the database may lack rows.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from secrets import token_hex
from uuid import uuid4

from . import blob_store
from .atomic_write import sync_folder
from .errors import on_error

# The name of the folder with the parts of snapshots. It has a subfolder with the id of the store.
SNAPSHOTS = "snapshots"

# The file name suffix of a part that is being written.
UNFINISHED = ".unfinished"

KEY_LENGTH = 32

# Matches the names of part files and of snapshot folders.
PART_NAME = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}")

_MOST_VERIFIED = 65_536
# A time in nanoseconds within which a changed file may change again without a new modification time.
_SAME_TICK = 100_000_000


class _FileWriter:
    """Writes a part to a file, which gets the name of the part with the first commit."""

    can_grow = True

    def __init__(self, path: str, *, sync: bool) -> None:
        self._path = path
        self._unfinished = path + UNFINISHED
        self._sync = sync
        self._is_named = False
        try:
            self._file = io.FileIO(self._unfinished, "x+")
        except FileNotFoundError:  # the first part in its folder
            _make_folder(Path(path).parent, sync=sync)
            self._file = io.FileIO(self._unfinished, "x+")
        self.size = 0
        self.checksum: int | None = 0

    def write(self, block: bytes) -> None:
        if self._file.closed:
            self._file = io.FileIO(self._path, "r+")
            self._file.seek(self.size)
        rest = memoryview(block)
        while rest:
            rest = rest[self._file.write(rest) :]
        self.size += len(block)
        self.checksum = blob_store.crc32(block, self.checksum or 0)

    def truncate(self, size: int) -> None:
        if size < self.size:
            self._file.truncate(size)
            self._file.seek(0)
            self.size, self.checksum = size, blob_store.checksum_of(_blocks(self._file, size))

    def commit(self) -> str:
        if self._sync:
            os.fsync(self._file.fileno())
        if not self._is_named:
            self._file.close()
            os.rename(self._unfinished, self._path)  # noqa: PTH104 -- a Path costs as much as the system call
            self._is_named = True
            if self._sync:
                sync_folder(Path(self._path).parent)
        return self._path[-KEY_LENGTH:]

    def abort(self, size: int = 0) -> None:
        try:
            if size and not self._file.closed:
                self._file.truncate(size)
        finally:
            self._file.close()
        if not size:
            Path(self._unfinished).unlink(missing_ok=True)

    def close(self) -> None:
        self._file.close()


class DirectoryBlobStore:
    """A store for parts as files in up to 256 folders, which are named by the first two digits of the keys.

    A folder is created with its first part. A key has 24 random hexadecimal digits, and 8 digits for the number of the
    opening in which the part was written.
    """

    def __init__(self, folder: Path, *, sync: bool, opening: int = 0, snapshots: Path | None = None) -> None:
        """Create the folder for parts, unless it exists.

        With `sync`, new parts survive a power cut. `opening` is the number of this opening of the store. `snapshots` is
        the folder for copies, by default beside `folder`.
        """
        self._folder = folder
        self._sync = sync
        self._verified: dict[str, tuple[int, ...]] = {}
        self._opening = f"{opening % 2**32:08x}"
        self._snapshots = snapshots or folder.with_name(SNAPSHOTS)
        folder.mkdir(parents=True, exist_ok=True)

    def writer(self, key: str | None = None) -> blob_store.PartWriter:
        name = self._name(key or token_hex(12) + self._opening)
        if key:  # a copy that was interrupted is begun again
            Path(name + UNFINISHED).unlink(missing_ok=True)
        return _FileWriter(name, sync=self._sync)

    def _name(self, key: str) -> str:
        return f"{self._folder}/{key[:2]}/{key}"

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def read(self, part: blob_store.StoredPart, start: int, stop: int) -> Iterator[bytes]:
        key = part.key
        if problem := self.problem(part):
            raise blob_store.DamagedContent({key: problem})
        try:
            file = io.FileIO(self._name(key))
        except FileNotFoundError:
            raise blob_store.DamagedContent({key: blob_store.missing_part(key)}) from None
        with file:
            file.seek(start)
            left = stop - start
            for block in _blocks(file, left):
                left -= len(block)
                yield block
        if left:
            raise blob_store.DamagedContent({key: f"part {key} is {left:,} bytes too short"})

    def problem(self, part: blob_store.StoredPart, *, contents: bool = True) -> str | None:
        key, size, checksum = part
        try:
            status = os.stat(self._name(key))  # noqa: PTH116 -- a Path costs more than the system call
            if status.st_size < size or (status.st_size > size and checksum is None):
                return f"part {key} has {status.st_size:,} bytes instead of {size:,}"
            identity = (status.st_ino, size, status.st_mtime_ns)
            if not contents or checksum is None or self._verified.get(key) == identity:
                return None
            if self._read_checksum(part) != checksum:
                return f"part {key} has a wrong checksum"
        except FileNotFoundError:
            return blob_store.missing_part(key)
        except OSError as error:  # the disk cannot read the sector
            return f"part {key} cannot be read ({error.strerror or error})"
        if time.time_ns() - identity[-1] > _SAME_TICK:  # its checksum is not computed again until the file changes
            if len(self._verified) >= _MOST_VERIFIED:
                self._verified.clear()
            self._verified[key] = identity
        return None

    def checksum(self, part: blob_store.StoredPart) -> int | None:
        if self.problem(part, contents=False):
            return None
        try:
            return self._read_checksum(part)
        except OSError:
            return None

    def _read_checksum(self, part: blob_store.StoredPart) -> int:
        with io.FileIO(self._name(part.key)) as file:
            return blob_store.checksum_of(_blocks(file, part.size))

    def has_all(self, keys: Iterable[str]) -> bool:
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

    def listed(self) -> Iterator[blob_store.ListedPart]:
        for path in self._folder.glob("??/*"):
            is_part = PART_NAME.fullmatch(path.name.removesuffix(UNFINISHED)) and path.name.startswith(path.parent.name)
            if is_part and path.is_file() and not path.is_symlink():
                status = path.stat()
                yield blob_store.ListedPart(path.name, status.st_size, status.st_mtime)

    def copy(self, stored: Iterable[blob_store.StoredPart]) -> DirectoryBlobStore:
        """Return a new store in a snapshot folder, with hard links to the files of these parts."""
        copied = DirectoryBlobStore(self._snapshots / uuid4().hex, sync=False)
        with on_error(copied.drop):
            for part in blob_store.check_parts(self, stored, contents=False):  # only lengths, because the service waits
                _link(self._path(part.key), copied._path(part.key), sync=False)
        return copied

    def restore(self, kept: blob_store.BlobStore) -> None:
        assert isinstance(kept, DirectoryBlobStore)
        missing = [path for path in kept._folder.glob("??/*") if not self._path(path.name).exists()]
        for path in missing:
            _link(path, self._path(path.name), sync=self._sync)
        if self._sync:
            for folder in {self._path(path.name).parent for path in missing}:
                sync_folder(folder)

    def drop(self) -> None:
        drop_parts(self._folder)
        _remove_empty(self._folder.parent, self._folder.parent.parent)

    def close(self) -> None:
        """Do nothing, because parts in files stay when the store is closed."""


def _blocks(file: io.FileIO, size: int) -> Iterator[bytes]:
    while size and (block := file.read(min(blob_store.BLOCK, size))):
        size -= len(block)
        yield block


def drop_snapshots(folder: Path) -> None:
    """Delete the snapshots that earlier openings of the store have left in a folder."""
    for snapshot in folder.glob("*"):
        if PART_NAME.fullmatch(snapshot.name):
            drop_parts(snapshot)
    _remove_empty(folder, folder.parent)


def drop_parts(folder: Path) -> None:
    """Delete the finished and unfinished parts in a folder, and the folder if it is then empty."""
    for path in folder.glob("??/*"):
        if PART_NAME.fullmatch(path.name.removesuffix(UNFINISHED)):
            path.unlink(missing_ok=True)
    _remove_empty(*folder.glob("??"), folder)


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with suppress(OSError):  # the folder is not empty or does not exist
            folder.rmdir()


def _make_folder(folder: Path, *, sync: bool) -> None:
    folder.mkdir(exist_ok=True)
    if sync:
        sync_folder(folder.parent)


def _link(source: Path, target: Path, *, sync: bool) -> None:
    if not target.parent.exists():
        _make_folder(target.parent, sync=sync)
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


ASIDE = "aside"

# The age in seconds at which an unfinished part is deleted. Until then a person can still inspect the part.
UNFINISHED_AGE = 24 * 3600.0

# Files of file managers, git and file systems. Such files stay in place, and their folder still counts as empty.
HARMLESS = frozenset({".DS_Store", ".directory", ".gitignore", ".gitkeep", "Thumbs.db", "desktop.ini", "lost+found"})

_SNAPSHOTS_BEFORE_MARKERS = "kept"


def move_strays_aside(folder: Path, known: set[str], number: int, *, adopted: bool) -> list[str]:
    """Move the stray files of a store to aside/, and return a sentence for each fact that the user should know.

    `known` has the keys of the parts that rows name, and `number` is the number of this opening. `adopted` is true for
    a store of an older version, which may contain snapshots.
    """
    present, unfinished, others = _read(folder / "parts", known)
    for path in unfinished:
        if time.time() - path.lstat().st_mtime > UNFINISHED_AGE:
            path.unlink(missing_ok=True)
    missing = known - present
    returned = _restore_from_aside(folder, missing)
    if adopted and (folder / _SNAPSHOTS_BEFORE_MARKERS).exists():
        others.append(folder / _SNAPSHOTS_BEFORE_MARKERS)
    for path in others:
        target = folder / ASIDE / f"opening-{number}" / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        numbered = (target.with_name(f"{target.name} ({copy})") for copy in count(1))
        path.rename(next(name for name in chain([target], numbered) if not os.path.lexists(name)))
    return [*_notes(folder, len(others), number, len(returned), len(missing - returned))]


def _read(parts: Path, known: set[str]) -> tuple[set[str], list[Path], list[Path]]:
    """Return the keys of the parts that rows name, and the paths of unfinished parts and of all other files."""
    present, unfinished, others = set[str](), list[Path](), list[Path]()
    for entry in _entries(parts):
        if len(entry.name) == 2 and set(entry.name) <= set("0123456789abcdef") and entry.is_dir(follow_symlinks=False):
            for file in _entries(Path(entry.path)):
                key = file.name.removesuffix(UNFINISHED)
                is_named = PART_NAME.fullmatch(key) and key.startswith(entry.name)
                is_part = is_named and file.is_file(follow_symlinks=False)
                if is_part and file.name in known:
                    present.add(key)
                elif is_part and file.name != key:
                    unfinished.append(Path(file.path))
                else:
                    others.append(Path(file.path))
        else:
            others.append(Path(entry.path))
    return present, unfinished, others


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    if folder.exists():
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if entry.name not in HARMLESS)


def _restore_from_aside(folder: Path, missing: set[str]) -> set[str]:
    """Move missing parts back from aside/ to parts/, and return the keys of these parts."""
    returned = set[str]()
    candidates = (folder / ASIDE).glob("*/parts/??/*") if missing else ()
    for path in candidates:
        if path.name in missing - returned and not path.is_symlink():
            target = folder / "parts" / path.name[:2] / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
            returned.add(path.name)
    return returned


def _notes(folder: Path, moved: int, number: int, returned: int, missing: int) -> Iterator[str]:
    if moved:
        yield (
            f"Moved {_files(moved)} without a database entry from {folder / 'parts'} to"
            f" {folder / ASIDE / f'opening-{number}'}, probably parts of interrupted uploads:"
            " delete this folder if no file is missing"
        )
    if returned:
        yield f"Moved {_files(returned)} with a database entry back from {folder / ASIDE}"
    if missing:
        yield f"Missing in {folder / 'parts'}: {_files(missing)} with a database entry, which cannot be downloaded"


def _files(number: int) -> str:
    return f"{number:,} file{'s' if number != 1 else ''}"
