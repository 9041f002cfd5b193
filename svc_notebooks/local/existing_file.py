"""Describes the file at a path, and raises an error if the file must not be replaced."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import EACCES
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG

from ..core.errors.errors import PathExists, cannot_write

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
