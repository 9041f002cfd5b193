"""Reserves room for deletions on a full disk, because SQLite needs some to delete rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ..database.errors import FULL

RESERVE = "svc.reserve"
"""The file in the folder of a store that takes up the room."""

SIZE = 1024 * 1024
"""Bytes. To delete a file takes SQLite about 60 KB of its log; a folder with hundreds of files takes all of it."""

_BLOCK = 64 * 1024

T = TypeVar("T")


class Reserve:
    """A file that is deleted when there is no other room, and written again afterwards.

    >>> Reserve(None).spend(lambda: "done")
    'done'
    """

    def __init__(self, folder: Path | None, checkpoint: Callable[[], None] | None = None) -> None:
        """Reserve room in the folder of a store, if it has one. `checkpoint` empties the log of the database."""
        self._path = folder and folder / RESERVE
        self._checkpoint = checkpoint
        self._lock = Lock()

    def spend(self, act: Callable[[], T]) -> T:
        """Call `act` and return its result. On a full disk it is called again with the reserved room.

        `act` must leave nothing behind when it fails. No transaction may be open.
        """
        try:
            return act()
        except OSError as error:
            if error.errno not in FULL or self._path is None:
                raise
            full = error
        with self._lock:  # another thread may use the room, and restores it
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
        if self._checkpoint:  # else small deletions would fill the room with log before they free as much
            with suppress(OSError):
                self._checkpoint()

    def renew(self) -> None:
        """Take up the room again, on a full disk as much as is left."""
        if self._path is None:
            return
        with suppress(OSError), self._path.open("ab", buffering=0) as file:
            while (missing := SIZE - file.tell()) > 0:
                file.write(os.urandom(min(missing, _BLOCK)))  # not zeros, which take no room on a disk that compresses
