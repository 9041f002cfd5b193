"""Reads and writes the record of the last opening in the database of a data folder.

Each opening draws a token, and both the database and the marker of the folder (server/store/data_directory.py)
store the token. A database that was replaced by an older copy therefore has another token than the marker. The table
is not in schema.py, because it belongs to the folder and not to the state that is saved, restored or loaded.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ...core.processes import temporary_folder
from .upgrades import FIRST_TABLES, VERSION, tables, version

_BUSY_SECONDS = 2.0
_SQLITE_LOCKS = (510, 0x40000002)  # length and start of the bytes that SQLite locks to share a database
_CREATE = """CREATE TABLE IF NOT EXISTS opening
    (number INTEGER NOT NULL, token TEXT NOT NULL, before TEXT NOT NULL, closed INTEGER NOT NULL)"""


class Opening(NamedTuple):
    """The record of an opening. `before` is the previous token, and `closed` is true after the service was closed."""

    number: int
    token: str
    before: str
    closed: bool


class Inspected(NamedTuple):
    """The result of inspecting a database. `problem` is "" if the database can be opened."""

    problem: str
    advice: str = ""
    opening: Opening | None = None
    names_parts: bool = False


def begin(driver: sqlite3.Connection, token: str, before: str) -> Opening:
    """Write the record of a new opening to the disk, so that it survives a power failure, and return the record."""
    last = read_opening(driver)
    opening = Opening(last.number + 1 if last else 1, token, before, closed=False)
    with _synced(driver), driver:
        driver.execute("BEGIN IMMEDIATE")
        driver.execute(_CREATE)
        driver.execute("DELETE FROM opening")
        driver.execute("INSERT INTO opening VALUES (?, ?, ?, ?)", opening)
    return opening


def end(driver: sqlite3.Connection) -> bool:
    """Record that the service was closed and return True. Return False if another transaction is open."""
    if not driver.in_transaction:
        with _synced(driver):
            driver.execute("UPDATE opening SET closed = 1")
    return not driver.in_transaction


@contextmanager
def _synced(driver: sqlite3.Connection) -> Iterator[None]:
    """Make commits in a `with` block write to the disk at once, regardless of the durability setting."""
    (level,) = driver.execute("PRAGMA synchronous").fetchone()
    driver.execute("PRAGMA synchronous = FULL")
    try:
        yield
    finally:
        driver.execute(f"PRAGMA synchronous = {level:d}")


def inspect(path: Path) -> Inspected:
    """Inspect a database without a change to the database or its log files. `reading` explains the limits."""
    if path.stat().st_size == 0:
        return Inspected("is empty (0 bytes)")
    try:
        with reading(path) as driver:
            (check,) = driver.execute("PRAGMA quick_check(1)").fetchone()
            if check != "ok":
                return Inspected(f"is damaged ({check.splitlines()[-1]})")
            if not tables(driver) >= FIRST_TABLES:
                return Inspected("is not a database of this package")
            if version(driver) > VERSION:
                problem = f"has schema version {version(driver)}, and this package supports versions up to {VERSION}"
                return Inspected(
                    problem, "use the version of svc-notebooks that wrote the database, or a newer version"
                )
            (named,) = driver.execute("SELECT EXISTS (SELECT 1 FROM rope)").fetchone()
            return Inspected("", opening=read_opening(driver), names_parts=bool(named))
    except sqlite3.DatabaseError as error:
        return Inspected(f"is damaged or not a database ({error})")


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection that changes neither a database nor its log files.

    No other connection of this process may have the file open, because closing a file drops all locks of the process on
    the file. If the database has a log, the connection opens a copy, because SQLite would write the log back.
    """
    with temporary_folder("svc-store-") as scratch:
        logs = [log for end in ("-wal", "-journal") if (log := path.with_name(path.name + end)).exists()]
        url = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        if any(log.stat().st_size for log in logs):
            for file in (path, *logs):
                shutil.copyfile(file, Path(scratch, file.name))
            url = Path(scratch, path.name).as_uri()
        with closing(sqlite3.connect(url, uri=True)) as driver:
            yield driver


def read_opening(driver: sqlite3.Connection) -> Opening | None:
    """Return the record of the last opening, or None for a database without a record."""
    if "opening" not in tables(driver):
        return None
    row = driver.execute("SELECT number, token, before, closed FROM opening").fetchone()
    return Opening(row[0], row[1], row[2], bool(row[3])) if row else None


def in_use(path: Path) -> bool:
    """Return True if another process keeps the database open for 2 seconds. Returns False without POSIX locks."""
    deadline = time.monotonic() + _BUSY_SECONDS
    with path.open("rb") as file:
        while not keep_services_out(file):
            if time.monotonic() >= deadline:
                return True
            time.sleep(0.02)
    return False


def keep_services_out(database: BinaryIO) -> bool:
    """Lock the open file of a database, so that no service can open the database. Return False if one has opened it.

    The lock ends when this process closes any handle of the file. Does nothing without POSIX locks.
    """
    try:
        from fcntl import LOCK_NB, LOCK_SH, lockf
    except ImportError:
        return True
    try:
        lockf(database, LOCK_SH | LOCK_NB, *_SQLITE_LOCKS)
    except OSError:
        return False
    return True
