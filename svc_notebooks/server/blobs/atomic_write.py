"""Replaces a file as a whole: at every moment, and after every failure, it is the old file or the new one."""

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
"""What a system says where there is no room: on the disk, or within a quota."""

_CANNOT = (errno.EINVAL, errno.ENOTSUP)  # what file systems say that know nothing of syncing folders


def atomic_write(path: Path, write: Callable[[BinaryIO], None], *, overwrite: bool) -> None:
    """Write a file beside this one and move it to its path, unless the file there has the same content.

    Args:
        overwrite: Replace a file with other content, and keep it under `.bak`.

    Raises PathExists, OSError, and whatever `write` raises; the file is then as it was.
    """
    if overwrite:
        path = path.resolve()  # of a link the file that it leads to is replaced
    if not path.parent.is_dir():  # or the error would name a file that nobody asked for
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
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
            raise cannot_write(path, error) from None  # and not the name of the file beside it, or none
        raise
    sync_folder(path.parent)


def _keep(path: Path) -> None:
    """Give the old file its second name; at no moment is there none of this name, if there was one."""
    second = path.with_name(f".{path.name}{BACKUP}.saving")
    second.unlink(missing_ok=True)
    try:
        os.link(path, second)
    except OSError:  # a file system without links
        shutil.copyfile(path, second)
    second.replace(path.with_name(path.name + BACKUP))


def _tidy(path: Path) -> None:
    """Remove what a kill has left, unless somebody is writing it."""
    for left in path.parent.glob(f".{_plain(path.name)}.????????.saving"):
        with suppress(OSError), left.open("rb") as file:
            if _claim(file):
                left.unlink()


def _plain(name: str) -> str:
    """A name as a glob that means it alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _claim(file: BinaryIO) -> bool:
    """Show that a file is being written; False: somebody else is at it, or nobody can know."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(file, LOCK_EX | LOCK_NB)
    except (ImportError, OSError):  # without POSIX what a kill leaves behind stays there
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder survive a power cut, where the system can (POSIX)."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in _CANNOT:
                raise
        finally:
            os.close(handle)
