"""Saves a file atomically, and replaces other content only if `overwrite` is True."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import EACCES, EDQUOT, ENOSPC
from io import FileIO
from itertools import chain, count
from os.path import lexists
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from ..core.errors.errors import PathExists, cannot_write, disk_full
from ..core.files.fields import composed

# The outcomes of saving a file. "saved" means that the path was free or a broken link, "unchanged" that the file has
# the same content, and "replaced" that new content replaced the file.
SAVED, UNCHANGED, REPLACED = "saved", "unchanged", "replaced"

SameContent: TypeAlias = Callable[[Path, Path], bool]
_BLOCK = 1024 * 1024
_GROUP_AND_OTHERS = 0o077


class SavedFile(NamedTuple):
    """A saved file. `outcome` is "saved", "unchanged" or "replaced", and `size` is in bytes."""

    path: Path
    outcome: str
    size: int


def same_bytes(first: Path, second: Path) -> bool:
    """Return True if two files have the same content."""
    with first.open("rb") as first_file, second.open("rb") as other:
        if os.fstat(first_file.fileno()).st_size != os.fstat(other.fileno()).st_size:
            return False
        while block := first_file.read(_BLOCK):
            if block != other.read(_BLOCK):
                return False
        return True


def make_folder(path: Path) -> None:
    """Create a folder and the missing folders above it.

    Raises PathExists if a path is in use by a file, or another OSError.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        file = next(file for folder in (path, *path.parents) if (file := existing(folder)) and file.kind != FOLDER)
        raise path_exists(file, f"is a {file.kind}, where a folder must be", "Choose another folder.") from None
    except OSError as error:
        raise cannot_write(path, error) from None


def move_into_place(new: Path, path: Path, *, overwrite: bool, same: SameContent = same_bytes) -> str:
    """Move the complete file `new` to `path` on the same file system, and return "saved", "unchanged" or "replaced".

    If `path` has the same content by `same`, `new` is deleted. Raises PathExists, PermissionError or another OSError,
    and leaves both files as before.
    """
    file = existing(path)
    if file is not None and file.kind == FILE and same(new, path):
        new.unlink()
        return UNCHANGED
    if file is not None:
        check_replaceable(file, new.stat().st_size, overwrite=overwrite)
    if not overwrite:
        _move_to_free_path(new, path)
        return SAVED
    if file is None or file.kind != FILE:
        new.replace(real_path(path))
        return SAVED
    if new.stat().st_mode & _GROUP_AND_OTHERS:  # a private file stays private
        new.chmod(file.mode)
    new.replace(real_path(path))
    return REPLACED


def set_aside(path: Path) -> Path:
    """Rename a file to a name with a number that no file has, such as "survey.1.sqlite", and return the new path."""
    for number in count(1):
        free = path.with_name(f"{path.stem}.{number}{path.suffix}")
        with suppress(FileExistsError):
            _move_to_free_path(path, free)
            return free
    raise AssertionError


def _move_to_free_path(new: Path, path: Path) -> None:
    try:
        _link(new, path)
    except FileExistsError:
        is_linked = False
        with suppress(OSError):
            is_linked = os.path.samestat(new.lstat(), path.lstat())
        if not is_linked:  # otherwise NFS has repeated a request after a lost response
            if (file := existing(path)) is not None:
                check_replaceable(file, new.stat().st_size, overwrite=False)
            raise
    new.unlink(missing_ok=True)


def _link(new: Path, path: Path) -> None:
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except (OSError, AttributeError, NotImplementedError):  # no hard links, as on memory cards and in a browser
        path.touch(exist_ok=False)
        try:
            new.replace(path)
        except BaseException:
            path.unlink()
            raise


def save_bytes(
    path: Path, content: bytes, *, overwrite: bool, mode: int = 0o666, same: SameContent = same_bytes
) -> SavedFile:
    """Write content atomically to a path. A file with the same content is not changed.

    `mode` has the permission bits of a new file. Raises PathExists, PermissionError or another OSError, and leaves an
    existing file unchanged.
    """
    check_path(path, len(content) if same is same_bytes else None, overwrite=overwrite)
    new = real_path(path).with_name(f".saving-{token_hex(8)}")
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        _write(descriptor, content, path)
        outcome = move_into_place(new, path, overwrite=overwrite, same=same)
        return SavedFile(path, outcome, path.stat().st_size if outcome == UNCHANGED else len(content))
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _write(descriptor: int, content: bytes, path: Path) -> None:
    """Write content to a new file and close the file. An error names `path`."""
    rest = memoryview(content)
    try:
        with FileIO(descriptor, "wb") as file:  # without a buffer, which takes three more system calls for each file
            while rest:
                rest = rest[file.write(rest) :]
    except OSError as error:
        if error.errno not in (ENOSPC, EDQUOT):
            raise cannot_write(path, error) from None
        raise disk_full(path, len(rest), shutil.disk_usage(path.parent).free) from None


# -- the file at a path, which must not be replaced by accident, and free paths


FILE, FOLDER, BROKEN_LINK, DEVICE = "file", "folder", "broken link", "device"
_ANY_WRITE = 0o222


@dataclass(frozen=True, slots=True)
class ExistingFile:
    """The file, folder, device or broken symbolic link at a path. Other links are followed to their targets.

    `kind` is "file", "folder", "device" or "broken link". `size` is in bytes, and `mode` has the permission bits.
    """

    path: Path
    kind: str
    size: int
    modified: datetime
    mode: int

    @property
    def facts(self) -> str:
        """The size and modification time as text for error messages."""
        return f"{self.size:,} bytes, modified {self.modified:%Y-%m-%d %H:%M} UTC"

    @property
    def read_only(self) -> bool:
        """True if the file's mode (even for root) or the user's rights forbid writing."""
        return not self.mode & _ANY_WRITE or not os.access(self.path, os.W_OK)


def existing(path: Path) -> ExistingFile | None:
    """Return a description of the file, folder, device or broken link at a path, or None if the path is free."""
    try:
        status, kind = path.lstat(), ""
    except OSError:
        return None
    if S_ISLNK(status.st_mode):
        try:
            status = path.stat()
        except OSError:
            kind = BROKEN_LINK
    kind = kind or (FILE if S_ISREG(status.st_mode) else FOLDER if S_ISDIR(status.st_mode) else DEVICE)
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    return ExistingFile(path, kind, status.st_size, modified, S_IMODE(status.st_mode))


def check_is_file(path: Path) -> None:
    """Raise ValueError for a FIFO, a socket or a device, which may have no end."""
    file = existing(path)
    if file and file.kind == DEVICE:
        raise ValueError(f"{path} is a FIFO, a socket or a device; give the path of a file")


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises FileNotFoundError, or ValueError for a FIFO, a socket or a device."""
    check_is_file(path)
    if not path.exists():
        raise FileNotFoundError(f"the file {str(path)!r} does not exist")
    return path.read_bytes()


def real_path(path: Path) -> Path:
    """Return the target of a symbolic link, so that a moved file keeps the link, or any other path unchanged."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def check_path(path: Path, size: int | None = None, *, overwrite: bool) -> ExistingFile | None:
    """Return a description of the file at a path, or None if the path is free.

    Raises PathExists or PermissionError if the file certainly has other content and must not be replaced. A regular
    file of the size `size` raises no error, because its content may be the same.

    Args:
        size: The size of the new content in bytes. None means that the size is not known.
        overwrite: True allows a file with other content to be replaced.
    """
    file = existing(path)
    if file is not None and (file.kind != FILE or size not in (None, file.size)):
        check_replaceable(file, size, overwrite=overwrite)
    return file


def check_replaceable(file: ExistingFile, size: int | None = None, *, overwrite: bool) -> None:
    """Raise PathExists or PermissionError if new content of `size` bytes must not replace this file."""
    if file.kind == FOLDER:
        raise path_exists(file, "is a folder, and a file cannot replace a folder", "Choose another path.")
    if file.kind == DEVICE:
        raise path_exists(file, "is a device, and a file cannot replace a device", "Choose another path.")
    if not overwrite and file.kind == BROKEN_LINK:
        target = file.path.readlink()
        raise path_exists(
            file, f"is a link to {str(target)!r}, which does not exist", "Remove the link or choose another path."
        )
    if not overwrite:
        new = "" if size is None else f"; the new content has {size:,} bytes"
        words = f"exists with other content ({file.facts}{new})"
        raise path_exists(file, words, PathExists.advice, replaceable=True)
    if file.kind == FILE and file.read_only:
        raise cannot_write(file.path, PermissionError(EACCES, "the file is read-only"))


def path_exists(file: ExistingFile, words: str, advice: str, *, replaceable: bool = False) -> PathExists:
    """Return a PathExists error whose message is the path of `file` and `words`, for the caller to raise."""
    error = PathExists(
        f"{str(file.path)!r} {words}. Nothing was written.",
        path=file.path,
        size=file.size,
        modified=file.modified,
        replaceable=replaceable,
    )
    error.advice = advice
    return error


class DistinctPaths:
    """The paths of the files that one call saves. A second file with the same name gets the path `name (1).ext`.

    Upper and lower case count as equal on every system, and so do Unicode forms. Existing files do not matter, so that
    a repeated call gets the same paths. But if the name exists in another Unicode form, it is the path of that file.

    >>> paths = DistinctPaths()
    >>> [str(paths.claim(Path(name))) for name in ("a.txt", "A.txt", "b", "a.txt")]
    ['a.txt', 'A (1).txt', 'b', 'a (2).txt']
    """

    def __init__(self) -> None:
        self._claimed: set[str] = set()

    def claim(self, path: Path) -> Path:
        """Reserve a path and return it, or the first `name (1).ext` that is free if the path is reserved."""
        for candidate in chain([path], numbered_paths(path)):
            key = composed(str(candidate)).casefold()
            if key not in self._claimed:
                self._claimed.add(key)
                return as_on_disk(candidate)
        raise AssertionError("unreachable: the numbers never end")


def as_on_disk(path: Path) -> Path:
    """Return the path of an existing file whose name differs at most in its Unicode form, or else the path itself."""
    if path.name.isascii():
        return path
    forms = (path.with_name(normalize(form, path.name)) for form in ("NFC", "NFD"))
    return next(filter(lexists, (path, *forms)), path)


def free_path(path: Path) -> Path:
    """Return the first path of `name (1).ext`, `name (2).ext` and so on where no file exists.

    >>> free_path(Path("report.tar.gz")).name
    'report (1).tar.gz'
    """
    return next(candidate for candidate in numbered_paths(path) if not lexists(candidate))


def numbered_paths(path: Path) -> Iterator[Path]:
    """Return an endless iterator over the paths `name (1).ext`, `name (2).ext` and so on in a path's folder."""
    extension = f".tar{path.suffix}" if path.stem.endswith(".tar") else path.suffix
    stem = path.name.removesuffix(extension)
    for number in count(1):
        yield path.with_name(f"{stem} ({number}){extension}")
