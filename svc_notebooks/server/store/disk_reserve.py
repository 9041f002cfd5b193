"""Reserves disk space for deletions on a full disk, because SQLite needs space to delete rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

from .errors import FULL

RESERVE = "svc.reserve"
"""The name of the file in the folder of a store that occupies the reserved space."""

SIZE = 1024 * 1024
"""The file size in bytes. SQLite writes about 60 KB to delete one file, but needs all for a large folder."""

_BLOCK = 64 * 1024

T = TypeVar("T")


class Reserve:
    """A file that is deleted when the disk is full, to free space for an operation, and is written again afterwards.

    >>> Reserve(None).spend(lambda: "done")
    'done'
    """

    def __init__(self, folder: Path | None, checkpoint: Callable[[], None] | None = None) -> None:
        """Set the folder of the store, or None for a store in memory. `checkpoint` empties the log of the database."""
        self._path = folder and folder / RESERVE
        self._checkpoint = checkpoint
        self._lock = Lock()

    def spend(self, act: Callable[[], T]) -> T:
        """Call `act` and return its result. On a full disk, delete the reserve file and call `act` again.

        If `act` fails, it must undo its changes. The caller must have no open transaction.
        """
        try:
            return act()
        except OSError as error:
            if error.errno not in FULL or self._path is None:
                raise
            full = error
        with self._lock:  # another thread may be using the reserved space, and will restore it
            try:
                self._path.unlink()
            except FileNotFoundError:
                raise full from None
            try:
                self._empty_log()
                return act()
            finally:
                self._empty_log()
                self.renew()

    def _empty_log(self) -> None:
        if self._checkpoint:  # else the log of small deletions would fill the space before they free as much
            with suppress(OSError):
                self._checkpoint()

    def renew(self) -> None:
        """Write the reserve file again. On a full disk, the file gets only the space that is left."""
        if self._path is None:
            return
        with suppress(OSError), self._path.open("ab", buffering=0) as file:
            while (missing := SIZE - file.tell()) > 0:
                file.write(os.urandom(min(missing, _BLOCK)))  # not zeros, which take no space on a compressing disk
