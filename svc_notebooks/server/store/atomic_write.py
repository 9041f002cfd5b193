"""Replaces a file atomically, so that after every failure either the old or the new file exists."""

from __future__ import annotations

import errno
import glob
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

from ...core.errors.errors import cannot_write
from ...local.saving import move_into_place, same_bytes

BACKUP = ".bak"

# The error numbers for a full disk and an exceeded quota.
FULL = (errno.ENOSPC, errno.EDQUOT)

_CANNOT = (errno.EINVAL, errno.ENOTSUP)  # errors of file systems that cannot sync folders


def atomic_write(path: Path, write: Callable[[BinaryIO], None], *, overwrite: bool) -> None:
    """Write a temporary file in the folder of `path` with the function `write`, and move the file to `path`.

    With `overwrite`, an existing file with other content is kept with the suffix `.bak`. Without, PathExists is raised
    if the content differs. Also raises OSError and the errors of `write`. After an error, `path` is unchanged.
    """
    if overwrite:
        path = path.resolve()  # a symbolic link stays, and its target is replaced
    if not path.parent.is_dir():  # else the error would name the temporary file
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", str(path.parent))
    _delete_leftovers(path)
    try:
        handle, name = mkstemp(prefix=f".{path.name}.", suffix=".saving", dir=path.parent)
    except OSError as error:
        raise cannot_write(path, error) from None
    beside = Path(name)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 -- a handle, not a path
            _claim(file)
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if overwrite and path.is_file() and not same_bytes(beside, path):
                _keep(path)
            move_into_place(beside, path, overwrite=overwrite)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise cannot_write(path, error) from None  # with the path instead of the temporary name
        raise
    sync_folder(path.parent)


def _keep(path: Path) -> None:
    """Keep the old file as a backup. At every moment, either the previous or the new backup exists."""
    second = path.with_name(f".{path.name}{BACKUP}.saving")
    second.unlink(missing_ok=True)
    try:
        os.link(path, second)
    except OSError:  # a file system without links
        shutil.copyfile(path, second)
    second.replace(path.with_name(path.name + BACKUP))


def _delete_leftovers(path: Path) -> None:
    """Delete the temporary files for this path that killed processes have left."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.????????.saving"):
        with suppress(OSError), left.open("rb") as file:
            if _claim(file):
                left.unlink()


def _claim(file: BinaryIO) -> bool:
    """Lock a file that is being written. Returns False if another process has the lock, or if there is no flock."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(file, LOCK_EX | LOCK_NB)
    except (ImportError, OSError):  # without flock, the temporary files of killed processes stay
        return False
    return True


def replace_synced(path: Path, content: bytes, unfinished: str) -> None:
    """Replace a file by way of the file `unfinished` in its folder, and sync both to the disk.

    After a kill or a power cut, either the old or the new file exists.
    """
    beside = path.with_name(unfinished)
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder to the disk on POSIX systems, so that new and renamed files survive a power cut."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
        finally:
            os.close(handle)
