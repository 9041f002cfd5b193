"""Saves a file atomically, and replaces other content only if `overwrite` is True."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from io import FileIO
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, TypeAlias

from ..core.errors.errors import cannot_write, disk_full
from .existing_file import FILE, FOLDER, check_path, check_replaceable, existing, path_exists, real_path

SAVED, UNCHANGED, REPLACED = "saved", "unchanged", "replaced"
"""The outcomes of saving a file. "saved" means that the path was free or a broken link, "unchanged" that the file has
the same content, and "replaced" that new content replaced the file.
"""

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
