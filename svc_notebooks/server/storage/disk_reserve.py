"""Room that is kept free for deletions: SQLite needs some to delete rows, also on a full disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ..database.errors import FULL

RESERVE = "svc.reserve"
"""The file in the folder of a store that takes the room up."""

SIZE = 1024 * 1024
"""Bytes. To delete a file takes SQLite about 60 KB of its log; a folder with hundreds of files takes all of it."""

_BLOCK = 64 * 1024

T = TypeVar("T")


class Reserve:
    """A file that is removed when there is no other room, and written again as far as there is some.

    >>> Reserve(None).spend(lambda: "done")
    'done'
    """

    def __init__(self, folder: Path | None, checkpoint: Callable[[], None] | None = None) -> None:
        """`folder`: that of the store, None: everything is in memory; `checkpoint` empties the log of the database."""
        self._path = folder and folder / RESERVE
        self._checkpoint = checkpoint
        self._lock = Lock()

    def spend(self, act: Callable[[], T]) -> T:
        """Call `act`; where the disk is full, call it once more with the room that was reserved.

        `act` leaves nothing behind when it fails, and no transaction is open here.
        """
        try:
            return act()
        except OSError as error:
            if error.errno not in FULL or self._path is None:
                raise
            full = error
        with self._lock:  # another thread may have it in use: it is there again afterwards
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
        """Or small deletions would fill the room with log before they leave as much free."""
        if self._checkpoint:
            with suppress(OSError):
                self._checkpoint()

    def renew(self) -> None:
        """Take up the room again; on a full disk, as much as is left."""
        if self._path is None:
            return
        with suppress(OSError), self._path.open("ab", buffering=0) as file:
            while (missing := SIZE - file.tell()) > 0:
                file.write(os.urandom(min(missing, _BLOCK)))  # zeros would take no room where a disk compresses
