"""File locks, which the system releases when the process ends, however it ends."""

from __future__ import annotations

import os
from pathlib import Path

try:
    from fcntl import flock as _flock  # noqa: F401 - JupyterLite has an empty module of this name
except ImportError:
    LOCKS = False
else:
    LOCKS = True
"""False on Windows and for Python in a browser, where nothing is locked and the last writer wins."""


def open_and_lock(path: Path, mode: int) -> int | None:
    """Open or create a file and lock it for this process. Return None while another process has the lock.

    The process that had the lock before may rename or remove the file. Then the next file at the path is opened.
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
