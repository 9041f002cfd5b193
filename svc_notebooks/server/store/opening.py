"""Opens databases: creates or upgrades their tables, and connects to them.

SQLite's file lock is that of the process ("unix-excl"), not of the connection. So a second process is refused, a killed
process leaves no lock, and the threads of this process can read beside the writer. The index of the write-ahead log is
in memory.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Literal

from ...core.platform import capabilities
from . import upgrades, word_index
from .engine import Close, Database, Readers
from .errors import on_error, store_error
from .schema import create_tables, metadata

_BUSY_SECONDS = 2.0


def open_database(
    path: Path | None, durability: Literal["process", "power"], *, close: Close = lambda close: close()
) -> Database:
    """Open the database in a file, or create a new database in memory.

    An older database is first copied to a file in the same folder and then upgraded. `close` is called with the
    function that closes the connection.

    Raises OSError, with advice in its message, if the disk is full, or if the file is in use, is damaged, cannot be
    written, or belongs to another program or to a newer version of this package.
    """
    readers = Readers(partial(_connect, path)) if path and _has_process_locks() else None
    try:
        driver = _connect(path)
        with on_error(driver.close):
            if path is None:
                driver.deserialize(_empty_image())
            for pragma in _pragmas(path, durability):
                driver.execute(f"PRAGMA {pragma}").fetchall()
            backup = _migrate(driver, path) if path else None
            word_index.keep_word_index(driver)
    except sqlite3.DatabaseError as error:
        raise store_error(error, path) or OSError(f"{path} cannot be opened ({error})") from None
    return Database(driver, close, path=path, readers=readers, backup=backup)


@cache
def _has_process_locks() -> bool:
    """Return whether a lock of a file can be that of the process, as on all systems but Windows and a browser."""
    if not capabilities().threads:
        return False
    with suppress(sqlite3.Error):
        sqlite3.connect("file::memory:?vfs=unix-excl", uri=True).close()
        return True
    return False


def _connect(path: Path | None) -> sqlite3.Connection:
    """Connect to a file, or to a new database in memory, in autocommit mode."""
    url = f"{path.absolute().as_uri()}?vfs=unix-excl" if path and _has_process_locks() else str(path or ":memory:")
    return sqlite3.connect(
        url, uri=url.startswith("file:"), timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )


@cache
def _empty_image() -> bytes:
    """Return an empty database as bytes. Creating the tables with SQLAlchemy takes 8 ms.

    A database in memory begins as such bytes, because SQLite then keeps only its last pages in the page cache. It keeps
    every page of `:memory:` there, and many commits look through all of them. The bytes can grow to 1 GiB.
    """
    with closing(_connect(None)) as driver:
        _create_tables(driver)
        word_index.keep_word_index(driver)
        return driver.serialize()


def _create_tables(driver: sqlite3.Connection) -> None:
    driver.execute("BEGIN IMMEDIATE")
    create_tables(metadata.sorted_tables, "sqlite", driver.execute)
    upgrades.set_version(driver, upgrades.VERSION)
    driver.execute("COMMIT")


def _migrate(driver: sqlite3.Connection, path: Path) -> Path | None:
    """Create or upgrade the tables. Return the path of the copy made before an upgrade, or None without an upgrade."""
    tables, version = upgrades.tables(driver), upgrades.version(driver)
    if not tables:
        _create_tables(driver)
    elif not tables >= upgrades.FIRST_TABLES:
        raise OSError(f"{path} is a database of another program: choose another folder")
    elif version > upgrades.VERSION:
        raise OSError(
            f"{path} has schema version {version}, and this package supports versions up to {upgrades.VERSION}: "
            "use the version of svc-notebooks that wrote the database, or a newer version"
        )
    elif version < upgrades.VERSION:
        backup = upgrades.back_up(driver, path)
        upgrades.upgrade(driver)
        return backup
    return None


def _pragmas(path: Path | None, durability: Literal["process", "power"]) -> tuple[str, ...]:
    if path is None:  # a commit looks through the page cache, which saves only copies in memory, so it is small (KiB)
        return ("journal_mode = MEMORY", "synchronous = OFF", "cache_size = -500")
    # A second service is refused, because it would delete the parts that the first service is still writing.
    return (
        f"locking_mode = {'NORMAL' if _has_process_locks() else 'EXCLUSIVE'}",
        "journal_mode = WAL",
        f"synchronous = {'FULL' if durability == 'power' else 'NORMAL'}",
    )
