"""Recognises, opens and closes the folder of a store.

A folder is opened only if it is empty, or has a marker and the database that belongs to the marker, or has a database
that an older version created without a marker. Every other folder is refused and not changed.

The marker is a file that identifies the folder and its last opening. An opening writes a new token and the marker's
token into the database, then the new token into the marker. The marker's token is therefore always one of the two
tokens in the database, even after a kill, unless the marker or the database was replaced by an older copy.

The folder also has a file that reserves disk space, which is freed for deletions on a full disk.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Literal, NamedTuple, TypeVar
from uuid import uuid4

from ...core.platform import temporary_folder
from .atomic_write import replace_synced
from .blob_store import BlobStore
from .contents import Contents
from .directory_blob_store import ASIDE, HARMLESS, SNAPSHOTS, DirectoryBlobStore, drop_snapshots, move_strays_aside
from .engine import Database
from .errors import FULL, on_error
from .opening import open_database
from .upgrades import FIRST_TABLES, VERSION, tables, version

DATABASE = "svc.sqlite"
MARKER = "svc-store.json"
_UNFINISHED = f"{MARKER}.unfinished"
_FORMAT = "svc-notebooks store"
_VERSION = 1
PARTS = "parts"

# The file with the id of the source, in a folder that is the target of an unfinished migration.
MIGRATION = "svc-migration.json"

# The name of the file in the folder of a store that occupies the reserved space.
RESERVE = "svc.reserve"

_FOLDERS = (PARTS, ASIDE, SNAPSHOTS)
_OURS = (*_FOLDERS, MARKER, _UNFINISHED, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-journal", RESERVE)
_open: set[tuple[int, int, int]] = set()

_ABOUT = (
    "This folder is a store of svc-notebooks (svc-notebooks serve --store, svc.sandbox(path)): svc.sqlite holds the"
    " rows, parts/ the contents of files. Copy, move or delete it as a whole, while no service uses it."
)


class Marker(NamedTuple):
    """The marker file of a store, with the store's id, the number and token of the last opening, and a closed flag."""

    store: str
    openings: int
    opening: str
    closed: bool


def read_marker(folder: Path) -> Marker:
    """Read the marker file of a store. Raises OSError if the file is unreadable or invalid."""
    advice = f"put the right {MARKER} back, or delete the file to continue without a marker"
    try:
        content: Any = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        form, number, marker = content["format"], content["version"], Marker(*(content[key] for key in Marker._fields))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise _refusal(folder, f"{MARKER} cannot be read", advice) from None
    if form != _FORMAT or [type(value) for value in marker] != [str, int, str, bool]:
        raise _refusal(folder, f"{MARKER} is not a valid marker file of a store", advice)
    if number != _VERSION:
        problem = f"{MARKER} has format version {number!r:.20}, and this package supports {_VERSION}"
        raise _refusal(folder, problem, advice)
    return marker


def write_marker(folder: Path, marker: Marker) -> None:
    """Replace the marker file. After a kill or a power cut, either the old or the new marker exists."""
    content = {"about": _ABOUT, "format": _FORMAT, "version": _VERSION, **marker._asdict()}
    replace_synced(folder / MARKER, json.dumps(content, indent=2).encode() + b"\n", _UNFINISHED)


class OpenedStore(NamedTuple):
    """The database and the parts of an opened store, and notes for the user. Each note is a sentence.

    `folder` has the contents and the backups of users. It is None if the contents are in memory or in a bucket.
    """

    database: Database
    parts: BlobStore
    notes: list[str]
    folder: Path | None


def open_folder(folder: Path, durability: Literal["process", "power"]) -> OpenedStore:
    """Open the store in a folder. If the folder is empty or does not exist, create a store.

    With `durability="power"`, parts are synced to the disk. Raises OSError, without changing anything, if the folder is
    not a store, is damaged or is in use.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file: choose a folder, or open a saved sandbox with open_sandbox")
    folder.mkdir(parents=True, exist_ok=True)
    record = _Record(folder)
    with on_error(record.release):
        state, marker = examine(folder)
        if state == "new":
            write_marker(folder, marker)
        database = open_database(folder / DATABASE, durability, close=record.close)
    with on_error(database.close):
        number = record.begin(database, marker)
        notes = [_UPGRADED.format(database.backup)] if database.backup else []
        notes += move_strays_aside(folder, Contents(database).known_parts(), number, adopted=state == "without marker")
        snapshots = folder / SNAPSHOTS / marker.store
        drop_snapshots(snapshots)
        parts = DirectoryBlobStore(folder / PARTS, sync=durability == "power", opening=number, snapshots=snapshots)
    return OpenedStore(database, parts, notes, folder)


def check_is_store(folder: Path) -> None:
    """Raise OSError if a folder is not a store."""
    check_kinds(folder)
    if not (folder / DATABASE).is_file():
        raise FileNotFoundError(f"{folder} is not a store: {DATABASE} is missing")


def check_not_in_use(folder: Path) -> None:
    """Raise OSError if a folder is not a store, or if a service of this or another process uses the folder."""
    check_is_store(folder)
    status = folder.stat()
    if (os.getpid(), status.st_dev, status.st_ino) in _open or in_use(folder / DATABASE):
        raise OSError(f"{folder} is in use: close the service that uses the folder first")


def examine(folder: Path) -> tuple[Literal["new", "with marker", "without marker"], Marker]:
    """Return the state of a folder and its marker, without changing the folder.

    The state is "new" for a folder without a complete store, and "without marker" for a store of an older version. If
    there is no marker, a new marker is returned but not written. Raises OSError if the folder cannot be opened as a
    store.
    """
    names = {entry.name for entry in folder.iterdir()}
    check_kinds(folder)
    new = Marker(uuid4().hex, 0, uuid4().hex, closed=False)
    if not names - HARMLESS - {_UNFINISHED}:
        return "new", new
    if MIGRATION in names:
        raise _refusal(folder, "it is the target of a migration that has not ended", _CONTINUE)
    if MARKER not in names and DATABASE not in names:
        raise _refusal(folder, *_foreign(names - HARMLESS))
    marker = read_marker(folder) if MARKER in names else None
    if marker and marker.openings == 0:
        return "new", marker  # the creation of the store was interrupted
    if DATABASE not in names:
        raise _refusal(folder, f"{DATABASE} is missing", _PUT_BACK)
    if in_use(folder / DATABASE):
        raise _refusal(folder, "the folder is open in another process", "close the service in that process")
    last, names_parts = inspect_database(folder)
    if names_parts and PARTS not in names:
        raise _refusal(folder, f"{PARTS}/ is missing", f"put {PARTS}/ back, or choose another folder")
    if marker is None:
        return "without marker", new
    if problem := _mismatch(marker, last):
        raise _refusal(folder, problem, _WITHOUT_MARKER)
    return "with marker", marker


_PUT_BACK = f"put the right {DATABASE} back, or choose another folder"
_WITHOUT_MARKER = (
    f"put the latest {DATABASE} back, or delete {MARKER} to continue with this database: parts without a database"
    f" entry are then moved to {ASIDE}/"
)
_CONTINUE = "repeat the command svc-notebooks migrate to continue, or add --discard to delete what it has copied"
_UPGRADED = "the database had an older version and was upgraded; {} is a copy of the old database"


def _refusal(folder: Path, problem: str, advice: str) -> OSError:
    return OSError(f"{folder} cannot be opened, and was not changed: {problem}; {advice}")


def _foreign(names: set[str]) -> tuple[str, str]:
    first = ", ".join(sorted(names)[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    advice = "choose an empty or a new folder"
    if PARTS in names:
        advice += f"; if this is a store, put its {DATABASE} back"
    return f"the folder is neither empty nor a store, and contains {first}{more}", advice


def check_kinds(folder: Path) -> None:
    """Raise OSError if a file of the store is a link, a FIFO or a device, without opening it: a FIFO would block."""
    for name in _OURS:
        below = (folder / name).iterdir() if name == PARTS and (folder / name).is_dir() else ()
        for path in (folder / name, *below):
            is_kind = stat.S_ISDIR if name in _FOLDERS else stat.S_ISREG
            with suppress(FileNotFoundError, NotADirectoryError):
                mode = path.lstat().st_mode
                if stat.S_ISLNK(mode) or (path.parent == folder and not is_kind(mode)):
                    kind = "a symbolic link" if stat.S_ISLNK(mode) else "of another kind than the service writes"
                    advice = "replace the link with the file, or link the whole folder"
                    if not stat.S_ISLNK(mode):
                        advice = _PUT_BACK
                    raise _refusal(folder, f"{path.relative_to(folder)} is {kind}", advice)


def _mismatch(marker: Marker, last: Opening | None) -> str | None:
    """Return the reason why the database does not belong to the marker and the parts, or None if it belongs to them."""
    if last is None or last.number < marker.openings:
        opened = last.number if last else 0
        return f"{DATABASE} is older than the parts: {opened} recorded openings instead of {marker.openings}"
    if marker.opening not in (last.token, last.before):
        return f"{DATABASE} is a different database than at the last opening of the folder"
    if marker.closed and marker.opening == last.token and not last.closed:
        return f"{DATABASE} is older than the parts: the database was copied while a service was using it"
    return None


class _Record:
    def __init__(self, folder: Path) -> None:
        status = folder.stat()
        self._folder = folder
        self._key = os.getpid(), status.st_dev, status.st_ino
        self._marker: Marker | None = None
        self._driver: Any = None
        if self._key in _open:
            raise _refusal(folder, "the folder is already open in this process", "close the other service first")
        _open.add(self._key)

    def begin(self, database: Database, marker: Marker) -> int:
        self._driver = database.driver
        current = begin_opening(self._driver, uuid4().hex, marker.opening)
        self._marker = Marker(marker.store, current.number, current.token, closed=False)
        write_marker(self._folder, self._marker)
        atexit.register(self._end)
        return current.number

    def close(self, close: Callable[[], None]) -> None:
        """Close the database by calling `close`, and record that the store was closed."""
        self._end(close)
        atexit.unregister(self._end)
        self.release()

    def _end(self, close: Callable[[], None] = lambda: None) -> None:
        """Record that the store was closed. The interpreter calls this if it exits without `close`."""
        is_recorded = False
        if self._marker and os.getpid() == self._key[0]:  # a forked child does not own the store
            with suppress(sqlite3.Error):
                is_recorded = end_opening(self._driver)
        close()
        if self._marker and is_recorded:
            with suppress(OSError):
                write_marker(self._folder, self._marker._replace(closed=True))

    def release(self) -> None:
        """Allow this process to open the folder again."""
        _open.discard(self._key)


# -- space for deletions on a full disk, because SQLite needs space to delete rows


# The size of the reserve in bytes. SQLite writes about 60 KB to delete one file, but needs all for a large folder.
RESERVE_SIZE = 1024 * 1024

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
            while (missing := RESERVE_SIZE - file.tell()) > 0:
                file.write(os.urandom(min(missing, _BLOCK)))  # not zeros, which take no space on a compressing disk


# -- the record of the last opening
#
# Its table is not in schema.py: it belongs to the folder and not to the state that is saved, restored or loaded.


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


def begin_opening(driver: sqlite3.Connection, token: str, before: str) -> Opening:
    """Write the record of a new opening to the disk, so that it survives a power failure, and return the record."""
    last = read_opening(driver)
    opening = Opening(last.number + 1 if last else 1, token, before, closed=False)
    with _synced(driver), driver:
        driver.execute("BEGIN IMMEDIATE")
        driver.execute(_CREATE)
        driver.execute("DELETE FROM opening")
        driver.execute("INSERT INTO opening VALUES (?, ?, ?, ?)", opening)
    return opening


def end_opening(driver: sqlite3.Connection) -> bool:
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


def inspect_database(folder: Path) -> tuple[Opening | None, bool]:
    """Return the record of the last opening of a database, and whether its rows name parts. Raises OSError.

    The database and its log files are not changed. `reading` explains the limits.
    """
    path = folder / DATABASE
    if path.stat().st_size == 0:
        raise _refusal(folder, f"{DATABASE} is empty (0 bytes)", _PUT_BACK)
    try:
        with reading(path) as driver:
            (check,) = driver.execute("PRAGMA quick_check(1)").fetchone()
            if check != "ok":
                raise _refusal(folder, f"{DATABASE} is damaged ({check.splitlines()[-1]})", _PUT_BACK)
            if not tables(driver) >= FIRST_TABLES:
                raise _refusal(folder, f"{DATABASE} is not a database of this package", _PUT_BACK)
            if (number := version(driver)) > VERSION:
                problem = f"{DATABASE} has schema version {number}, and this package supports versions up to {VERSION}"
                advice = "use the version of svc-notebooks that wrote the database, or a newer version"
                raise _refusal(folder, problem, advice)
            (names_parts,) = driver.execute("SELECT EXISTS (SELECT 1 FROM rope)").fetchone()
            return read_opening(driver), bool(names_parts)
    except sqlite3.DatabaseError as error:
        raise _refusal(folder, f"{DATABASE} is damaged or not a database ({error})", _PUT_BACK) from None


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
