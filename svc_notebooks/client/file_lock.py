"""File locks of this process, which the operating system releases when the process ends, even after a crash."""

from __future__ import annotations

import os
from pathlib import Path

try:
    from fcntl import flock as _flock  # noqa: F401 - JupyterLite has an empty module of this name
except ImportError:
    LOCKS = False
else:
    LOCKS = True
"""True if file locks work. On Windows and in a browser no file is locked, and the last writer wins."""


def open_and_lock(path: Path, mode: int) -> int | None:
    """Open or create a file, lock the file for this process, and return the file descriptor.

    Returns None if another process holds the lock. Repeats if the file was replaced before the lock was acquired.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, mode)
        if not _lock(descriptor):
            os.close(descriptor)
            return None
        try:
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    if not LOCKS:
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
