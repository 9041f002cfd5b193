"""Copies a database that another process may be using, without a lock.

SQLite's backup needs a database that the other process shares, and a service does not share its own, so the files are
copied. A checkpoint only writes pages into the database that the write-ahead log contains, too. The log is copied after
the database, so it contains the pages that a checkpoint wrote during the copy, unless the log was begun again
meanwhile. That changes the header of the log, and then both files are copied again.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

_LOG_HEADER = 32
_JOURNAL_MODE = slice(18, 20)
"""The bytes of a database's header that contain the journal mode."""
_ATTEMPTS = 200


def copy_database(path: Path, target: Path) -> None:
    """Write a consistent copy of a database to the file `target`, which is replaced. Raises OSError."""
    target.unlink(missing_ok=True)
    log = target.with_name(f"{target.name}-wal")
    for _ in range(_ATTEMPTS):
        if _copy_files(path, target, log):
            break
        time.sleep(0.01)
    else:
        raise OSError(errno.EBUSY, "the service writes too much for a consistent copy; try again", str(path))
    try:
        with closing(sqlite3.connect(target)) as copy:
            copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (check,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        check = str(error)
    log.unlink(missing_ok=True)
    if check != "ok":
        raise OSError(errno.EIO, f"the database is damaged ({check.splitlines()[-1]})", str(path))


def _copy_files(path: Path, target: Path, target_log: Path) -> bool:
    """Copy a database and its log. Return False if the log was begun again meanwhile."""
    log = path.with_name(f"{path.name}-wal")
    before = _state(path, log)
    shutil.copyfile(path, target)
    target_log.unlink(missing_ok=True)
    if before[0]:
        try:
            shutil.copyfile(log, target_log)
        except FileNotFoundError:
            return False
    return _state(path, log) == before


def _state(path: Path, log: Path) -> tuple[bytes, int]:
    """Return the header of the log, which changes when the log is begun again. Without a log, also a time."""
    try:
        with log.open("rb") as file:
            header = file.read(_LOG_HEADER)
    except FileNotFoundError:
        header = b""
    return header, 0 if header else path.stat().st_mtime_ns


def image_of_file(driver: Any) -> bytes:
    """Return a consistent copy of the database in a file, which the connection has opened, as a database in memory."""
    with closing(sqlite3.connect(":memory:")) as copy:
        driver.backup(copy)
        image = bytearray(copy.serialize())
    image[_JOURNAL_MODE] = b"\x01\x01"  # a database in memory cannot be opened in the mode with a write-ahead log
    return bytes(image)


def load_image(image: bytes, driver: Any) -> None:
    """Replace the database of a connection by a copy that `Database.image` returned."""
    with closing(sqlite3.connect(":memory:")) as source:
        source.deserialize(image)
        source.backup(driver)
