"""Runs the SQL of the service on SQLite, and is the base of the engine for PostgreSQL (postgres/database.py).

SQLite allows one writer: one connection writes, with a lock, and no transaction is open while a body streams. A request
that only reads has a reader with a snapshot, which waits for no writer. Most statements are SQL text with named
parameters, which is the same for both databases, except that of searches (files/search.py). Rows that were looked up by
key are cached until a statement changes the database, because in a busy kernel each statement may wait 5 ms for the
interpreter lock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty, LifoQueue
from threading import RLock, local
from time import perf_counter
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias
from weakref import finalize

import sqlalchemy as sa

from ...core.platform import ForkedChild, after_fork, skip_finalizers
from ...core.thread_permit import in_slices, release_permit
from .errors import UnstorableText, explain_errors, store_error

Row = tuple[Any, ...]

Conflict: TypeAlias = Literal["FAIL", "IGNORE", "REPLACE"]
Dialect: TypeAlias = Literal["sqlite", "postgresql"]


def column_names(names: Iterable[str], prefix: str = "") -> str:
    """Return the names of columns as SQL, each after a prefix such as `files.`."""
    return ", ".join(f'{prefix}"{name}"' for name in names)


def inserting(table: sa.Table, names: Iterable[str], *, otherwise: Conflict = "FAIL", source: str = "") -> str:
    """Return an INSERT statement for the columns `names`, with parameters of the same names.

    `otherwise` decides about a row whose key exists. A replaced row gets a new number. `source` is a SELECT statement
    with the rows, by default one row of the parameters.
    """
    names = tuple(names)
    rows = source or f"VALUES ({', '.join(f':{name}' for name in names)})"
    statement = f"INSERT INTO {table.name} ({column_names(names)}) {rows}"
    if otherwise == "FAIL":
        return statement
    if otherwise == "IGNORE":
        return f"{statement} ON CONFLICT DO NOTHING"
    key = next((key for key in table.constraints if isinstance(key, sa.UniqueConstraint)), table.primary_key)
    keys = [column.name for column in key.columns]
    new = ", ".join(
        f'"{column.name}" = excluded."{column.name}"' for column in table.columns if column.name not in keys
    )
    return f"{statement} ON CONFLICT ({column_names(keys)}) DO UPDATE SET {new}"


MAX_READERS = 8
_FEW_ROWS = 25  # the rows of a statement that are read without a pause


class ThreadValues(local):
    """The values of one thread: the reader with its snapshot, and whether it has the lock of PostgreSQL's `exclusive`.

    The defaults are attributes of the class, because `getattr` with a default raises and drops an exception each time.
    """

    reader: Reader | None = None
    is_exclusive = False


class Reader:
    """A connection that reads one snapshot at a time, and that one thread uses at a time.

    `rows` are cached rows of look-ups by key, as in `Database`.
    """

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver
        self.rows: dict[tuple[Any, ...], Any] = {}
        self._driver.execute("PRAGMA query_only = ON")

    def begin(self, rows: dict[tuple[Any, ...], Any]) -> None:
        """Begin a snapshot. The first statement fixes its rows, which are those of the last commit before."""
        self.rows = rows
        self._driver.execute("BEGIN")

    def end(self) -> None:
        """End the snapshot."""
        self.rows = {}
        if self._driver.in_transaction:
            self._driver.execute("ROLLBACK")

    def run(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Run a statement that reads, and return its rows."""
        cursor = self._driver.execute(statement, values)
        rows: list[Row] = cursor.fetchmany(_FEW_ROWS)
        return [*rows, *in_slices(cursor)] if len(rows) == _FEW_ROWS else rows

    def close(self) -> None:
        """Close the connection."""
        self._driver.close()


class Readers:
    """At most `MAX_READERS` readers, each of which is connected when no other is free."""

    def __init__(self, connect: Callable[[], Any], reader: Callable[[Any], Reader] = Reader) -> None:
        self._connect = connect
        self._reader = reader
        self._idle: LifoQueue[Reader | None] = LifoQueue()
        for _ in range(MAX_READERS):
            self._idle.put(None)  # a reader that is not connected yet
        self._closed = False

    def take(self) -> Reader | None:
        """Return a reader, if necessary after another thread has returned it, or None if it cannot be connected."""
        if self._closed:
            return None
        try:
            reader = self._idle.get_nowait()
        except Empty:
            with release_permit():  # a thread with a reader may wait for a permit
                reader = self._idle.get()
        if reader:
            return reader
        try:
            return self._reader(self._connect())
        except (sqlite3.Error, OSError):
            self._idle.put(None)
            return None

    def release(self, reader: Reader) -> None:
        """Return a reader, which another thread may then use."""
        self._idle.put(reader)
        if self._closed:
            self.close()

    def close(self) -> None:
        """Close the readers. A reader in use is closed when it is released."""
        self._closed = True
        with suppress(Empty):
            while True:
                if reader := self._idle.get_nowait():
                    reader.close()


def close_connections(driver: Any, readers: Readers | None) -> None:
    """Close a database, first its readers, so that the last connection deletes the write-ahead log."""
    if readers:
        readers.close()
    driver.close()


_FORK_ADVICE = "Use it there: SQLite allows no connection to cross a fork."
_MAX_CACHED_ROWS = 256
_MAX_LOG_SIZE = 64 * 1024 * 1024
_COMMITS_PER_CHECK = 500
_JOURNAL_MODE = slice(18, 20)  # the bytes of a database's header that contain the journal mode

Close: TypeAlias = Callable[[Callable[[], None]], None]


def _keep(cache: dict[tuple[Any, ...], Any], key: tuple[Any, ...], rows: list[Row]) -> list[Row]:
    if len(cache) >= _MAX_CACHED_ROWS:
        cache.clear()
    cache[key] = rows
    return rows


class Database:
    """An SQLite connection that threads share, one at a time.

    The connection is closed when the last reference to this object is dropped. Errors of the database file
    are raised as OSError. A full disk has the errno ENOSPC, and a damaged file raises DatabaseDamaged.
    """

    dialect: Dialect = "sqlite"

    # Whether other processes may change the database at the same time.
    is_shared = False

    # The number of this opening of a database on a server, which no other process has.
    opening = 0

    _errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(
        self,
        driver: Any,
        close: Close,
        *,
        path: Path | None = None,
        readers: Readers | None = None,
        backup: Path | None = None,
    ) -> None:
        """Take over an open connection to the file `path`, or to a database in memory, and its readers.

        `close` is called later with the function that closes the connections. `backup` is the copy before an upgrade.
        """
        self._driver = driver
        self._readers = readers
        self._thread = ThreadValues()
        self._closing = finalize(self, close, partial(close_connections, driver, readers))
        self._closing.atexit = False  # at exit a thread may still use the connection
        self.backup = backup
        self.lock: RLock | ForkedChild = RLock()
        self._depth = 0
        self.observe_wait: Callable[[float], None] | None = None  # called with the seconds that a transaction waited
        self._after_commit: dict[Callable[[], None], None] = {}
        self._row_cache: dict[tuple[Any, ...], list[Row]] = {}
        self._committed_rows: dict[tuple[Any, ...], Any] = {}
        self._path = path
        self._commits = 0
        after_fork(self, Database._leave)

    def _leave(self) -> None:
        skip_finalizers(self)
        self._readers, self._thread = None, ThreadValues()
        self.lock = ForkedChild(
            "This database belongs to the parent process and cannot be used in a forked child process.", _FORK_ADVICE
        )

    @property
    def driver(self) -> sqlite3.Connection:
        """The sqlite3 connection, for operations on the whole database file."""
        driver: sqlite3.Connection = self._driver
        return driver

    # -- snapshots ------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one snapshot of the database in a `with` block, without waiting for threads that write.

        The snapshot has everything that was committed before its first statement. It ends before the first change in
        the block. Without readers, as in memory, each statement reads the latest rows. The thread must not hold `lock`.
        """
        # Before the snapshot begins, so that no older row gets into a newer cache.
        committed_rows = self._committed_rows
        reader = self._readers.take() if self._readers and not self._reader else None
        if reader and self._readers:
            try:
                reader.begin(committed_rows)
            except BaseException:
                self._readers.release(reader)
                raise
            self._thread.reader = reader
        try:
            yield
        finally:
            if reader:
                self.end_snapshot()

    @property
    def _reader(self) -> Reader | None:
        """The reader with the snapshot of this thread."""
        return self._thread.reader

    def end_snapshot(self) -> None:
        """End the snapshot of this thread, whose next statements then read the latest rows."""
        reader = self._reader if self._readers else None
        if reader and self._readers:
            self._thread.reader = None
            reader.end()
            self._readers.release(reader)

    def exclusive(self) -> AbstractContextManager[Any]:
        """Return the lock for a `with` block, in which no other thread writes and this thread reads the latest rows."""
        self.end_snapshot()
        return self.lock

    # -- statements -----------------------------------------------------------------------------------------------

    def _execute(
        self, statement: str, values: dict[str, Any], *, changes: bool = False
    ) -> tuple[sqlite3.Cursor, list[Row]]:
        """Run a statement and return its cursor and all its rows. The caller must hold the lock."""
        if changes:
            self._row_cache.clear()
            if self._readers and not self._depth:
                self.end_snapshot()
        try:
            cursor = self._driver.execute(statement, values)
            return cursor, cursor.fetchall()
        except self._errors as error:
            self._raise(error)
        finally:
            if changes and not self._depth:
                self._committed_rows = {}

    def _raise(self, error: Exception) -> NoReturn:
        """Raise the OSError for an error of the driver, or the error itself if it is not about the store."""
        if meaning := store_error(error, self._path):
            raise meaning from error
        raise error

    def run(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Run a statement that reads, and return its rows."""
        reader = self._reader if self._readers else None
        if reader:
            return self._read(reader, statement, values)
        with self.lock:
            return self._execute(statement, values)[1]

    def prefetch(self, statement: str) -> None:
        """Run a statement without parameters with the first one of each transaction, if a database is on a server."""

    def prefetched(self, statement: str) -> list[Row]:
        """Return the rows of a statement of `prefetch`, which no change of the open transaction has changed."""
        return self.run(statement, {})

    def run_position(self, statement: str, values: dict[str, Any]) -> int:
        """Return the number in the first column of a statement. If a snapshot reads it, all of it is on the disk.

        So the number, which becomes a part of a page token or sync token, is not assigned again after a failure.
        """
        return int(self.run(statement, values)[0][0])

    def _read(self, reader: Reader, statement: str, values: dict[str, Any]) -> list[Row]:
        try:
            return reader.run(statement, values)
        except self._errors as error:
            self._raise(error)

    def fetch_one(self, statement: str, values: dict[str, Any]) -> Row | None:
        """Return the first row of a result, or None without rows. The row is cached until the database changes."""
        rows = self.fetch_all(statement, values)
        return rows[0] if rows else None

    def keep_row(self, statement: str, values: dict[str, Any], row: Row) -> None:
        """Cache the row that `fetch_one` will return, after the last change of a transaction."""
        self._row_cache[(statement, *values.items())] = [row]

    def fetch_all(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Return the rows of a result. The rows are cached until the database changes."""
        key = (statement, *values.items())
        reader = self._reader if self._readers else None
        if reader:
            rows: list[Row] | None = reader.rows.get(key)
            return _keep(reader.rows, key, self._read(reader, statement, values)) if rows is None else rows
        with self.lock:
            rows = self._row_cache.get(key)
            return _keep(self._row_cache, key, self._execute(statement, values)[1]) if rows is None else rows

    def _changing(self) -> AbstractContextManager[Any]:
        """Return a context manager for a statement that changes rows, which may be in a transaction."""
        return self.lock

    def change(self, statement: str, values: dict[str, Any]) -> int:
        """Run a statement that changes rows and return the number of changed rows."""
        with self._changing():
            return self._execute(statement, values, changes=True)[0].rowcount

    # Runs a statement that changes rows, at the latest with the next statement or commit. Errors may come then.
    queue_change: ClassVar[Callable[[Any, str, dict[str, Any]], object]] = change

    def add(self, statement: str, values: dict[str, Any]) -> None:
        """Insert a row with untrusted values. Raises ValueError if the database refuses the row."""
        try:
            self.change(statement, values)
        except (UnicodeError, UnstorableText) as error:
            raise ValueError(str(error)) from None
        except self._errors as error:
            raise ValueError(str(error)) from None

    def change_all(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Run a statement that changes rows, and return the rows of its RETURNING."""
        with self._changing():
            return self._execute(statement, values, changes=True)[1]

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """Commit the changes of a `with` block, or none if it raises. A nested block joins the outer transaction.

        On PostgreSQL, the outer block waits for the disk after it has released the lock, unless `durable` is false.
        """
        if self._readers:
            self.end_snapshot()
        started = perf_counter()
        with self.lock:
            if self._depth:
                yield
                return
            try:
                self._begin()
                if self.observe_wait:
                    self.observe_wait(perf_counter() - started)
                self._depth += 1
                try:
                    yield
                    wait_for_disk = self._commit()
                except BaseException:
                    self._row_cache.clear()
                    self._after_commit.clear()
                    self._roll_back()
                    raise
                finally:
                    self._depth -= 1
                    self._committed_rows = {}
                if self._readers:
                    self._shorten_log()
            except self._errors as error:
                self._raise(error)
            functions, self._after_commit = self._after_commit, {}
        if wait_for_disk and durable:
            wait_for_disk()
        for function in functions:
            function()

    def _begin(self) -> None:
        self._driver.execute("BEGIN IMMEDIATE")

    def _commit(self) -> Callable[[], None] | None:
        """Commit the transaction. Return a function that waits until it is on the disk, unless it is already."""
        self._driver.execute("COMMIT")
        return None

    def _roll_back(self) -> None:
        if self._driver.in_transaction:  # on a full disk SQLite has rolled back already
            self._driver.execute("ROLLBACK")

    def after_commit(self, function: Callable[[], None]) -> None:
        """Call a function once after the open transaction commits, or now if no transaction is open.

        The function runs without the lock and may wait for other threads. A rollback discards the function.
        """
        with self.lock:
            if self._depth:
                self._after_commit[function] = None
                return
        function()

    def announce(self, topic: str) -> None:
        """Announce a topic to the other processes of a shared database when the open transaction commits."""

    def delete_all(self, *tables: sa.Table) -> None:
        """Delete all rows of these tables."""
        for table in tables:
            self.change(f"DELETE FROM {table.name}", {})

    def reset_counters(self, *tables: sa.Table) -> None:
        """Restart the row numbers of these empty tables at 1."""
        for table in tables:
            self.change("DELETE FROM sqlite_sequence WHERE name = :name", {"name": table.name})

    def counters(self) -> dict[str, int]:
        """Return the last assigned row number of each table that never reuses row numbers, by table name."""
        return dict(self.run("SELECT name, seq FROM sqlite_sequence ORDER BY name", {}))

    def set_counters(self, numbers: Mapping[str, int]) -> None:
        """Set the last assigned row numbers. Tables without a number continue with the number of their last row."""
        self.change("DELETE FROM sqlite_sequence", {})
        for name, number in numbers.items():
            self.add("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :seq)", {"name": name, "seq": number})

    def image(self) -> bytes:
        """Return a consistent copy of the whole database as bytes."""
        with self.exclusive(), explain_errors(self._path):
            if self._path is None:
                image: bytes = self._driver.serialize()
                return image
            with closing(sqlite3.connect(":memory:")) as copy:
                self._driver.backup(copy)
                content = bytearray(copy.serialize())
            content[_JOURNAL_MODE] = b"\x01\x01"  # a database in memory cannot be opened in the mode with a log
            return bytes(content)

    def restore(self, image: bytes) -> None:
        """Replace the whole database by a copy that `image` returned, in one step."""
        with self.exclusive(), explain_errors(self._path):
            with closing(sqlite3.connect(":memory:")) as source:
                source.deserialize(image)
                source.backup(self._driver)
            self._row_cache.clear()
            self._committed_rows = {}

    def checkpoint(self) -> None:
        """Write the write-ahead log into the database file and truncate the log."""
        with self.lock, explain_errors(self._path):
            self._driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _shorten_log(self) -> None:
        """Truncate a long log, which SQLite does not while there is always some reader. The caller holds the lock."""
        self._commits += 1
        if self._path and self._commits % _COMMITS_PER_CHECK == 0:
            log = self._path.with_name(f"{self._path.name}-wal")
            if log.exists() and log.stat().st_size > _MAX_LOG_SIZE:
                with suppress(sqlite3.Error):  # the changes are committed
                    self._driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the connections."""
        with self.lock:
            self._closing()


class TableGroup:
    """The base of the classes in the tables.py of each resource, which run the statements for a group of tables."""

    def __init__(self, database: Database) -> None:
        self._database = database
