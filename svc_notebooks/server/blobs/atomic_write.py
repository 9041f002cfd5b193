"""Replaces a file so that at every moment, and after every failure, the old or the new one exists."""

from __future__ import annotations

import errno
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
FULL = (errno.ENOSPC, errno.EDQUOT)
"""The error numbers for a full disk or quota."""

_CANNOT = (errno.EINVAL, errno.ENOTSUP)  # errors of file systems that cannot sync folders


def atomic_write(path: Path, write: Callable[[BinaryIO], None], *, overwrite: bool) -> None:
    """Write a file beside this one and move it to its path, unless the file there has the same content.

    Args:
        overwrite: Replace a file with other content, and keep it under `.bak`.

    Raises PathExists, OSError, and whatever `write` raises; the file is then as it was.
    """
    if overwrite:
        path = path.resolve()  # a link stays, and the file that it leads to is replaced
    if not path.parent.is_dir():  # else the error would name the temporary file
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", str(path.parent))
    _tidy(path)
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
            raise cannot_write(path, error) from None  # instead of the temporary name
        raise
    sync_folder(path.parent)


def _keep(path: Path) -> None:
    """Keep the old file as a backup, so that at every moment the former or the new backup exists."""
    second = path.with_name(f".{path.name}{BACKUP}.saving")
    second.unlink(missing_ok=True)
    try:
        os.link(path, second)
    except OSError:  # a file system without links
        shutil.copyfile(path, second)
    second.replace(path.with_name(path.name + BACKUP))


def _tidy(path: Path) -> None:
    """Delete temporary files of killed processes."""
    for left in path.parent.glob(f".{_plain(path.name)}.????????.saving"):
        with suppress(OSError), left.open("rb") as file:
            if _claim(file):
                left.unlink()


def _plain(name: str) -> str:
    """Return the glob that matches only this name."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _claim(file: BinaryIO) -> bool:
    """Lock a file that is being written. Returns False if another process has the lock, or without POSIX."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(file, LOCK_EX | LOCK_NB)
    except (ImportError, OSError):  # without POSIX the files of killed processes stay
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Sync a folder on POSIX, so that new names in it survive a power cut."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
        finally:
            os.close(handle)
