"""Locked files: the system gives a lock back when its process ends, however it ends."""

from __future__ import annotations

import os
from pathlib import Path

try:
    from fcntl import flock as _flock  # noqa: F401 - JupyterLite has an empty module of this name
except ImportError:
    LOCKS = False
else:
    LOCKS = True
"""False on Windows and for Python in a browser: there nothing is locked and the last writer wins."""


def open_locked(path: Path, mode: int) -> int | None:
    """A descriptor of the file, made if missing, locked for this process, or None while another has it.

    The file may be renamed or removed by whoever held the lock before: then its successor is opened.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, mode)
        if not _locked(descriptor):
            os.close(descriptor)
            return None
        if _same(path, descriptor):
            return descriptor
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    if not LOCKS:
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
