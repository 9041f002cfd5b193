"""Temporary folders that are removed at their end, or by a later process if theirs was killed.

All temporary folders of a process are in one folder with a lock file. The system releases the lock when the process
ends in any way, so that a folder whose lock is free belongs to no living process.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from .process_fork import remove_with

_PREFIX, _NEW, _LOCK = "svc-process-", "svc-new-", "lock"
_of_processes: dict[int, Path] = {}


class _Owner:
    """An object that is the owner of a temporary folder."""


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Create a temporary folder and remove the folder at the end of the block, but never in a forked child."""
    owner, folder = _Owner(), new_temporary_folder(prefix)
    remove = remove_with(owner, folder)
    try:
        yield folder
    finally:
        remove()


def new_temporary_folder(prefix: str) -> Path:
    """Create and return a temporary folder, which is removed at the end of the process at the latest."""
    parent = _of_processes.get(os.getpid())
    if parent is None or not parent.is_dir():
        parent = _of_processes[os.getpid()] = _folder_of_process()
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


def _folder_of_process() -> Path:
    """Create the folder of this process, and remove those of killed processes of this user."""
    folder = Path(tempfile.mkdtemp(prefix=_NEW))
    with suppress(OSError, AttributeError):  # a system or a browser without locks: nothing is swept
        if fcntl:
            _sweep(folder.parent)
            fcntl.flock(os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Renamed with its lock, so that no other process sees the folder without it.
            folder = folder.rename(folder.with_name(folder.name.replace(_NEW, _PREFIX, 1)))
    remove_with(_Owner, folder)
    return folder


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
