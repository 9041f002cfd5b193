"""Runs the SQL of the service on PostgreSQL, with the same connections, transactions and snapshots as on SQLite."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from threading import Lock
from typing import Any, NamedTuple, NoReturn, cast

import psycopg
from sqlalchemy import Table

from ....core.thread_permit import release_permit
from ..engine import Database, Dialect, Reader, Readers, Row
from ..errors import DatabaseDamaged, DatabaseUnreachable, UnstorableText
from ..schema import metadata
from . import upgrades as postgres_upgrades
from .connection import IS_BEHIND, Check, Connection, PostgresConnection
from .side_connections import GroupCommit, Listener, ProcessLock, SideConnection, Values

_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresReader(Reader):
    """A connection that reads one snapshot at a time, and connects again after its server was restarted."""

    def __init__(self, connect: Callable[[], Connection], keeps_rows: bool, connection: Connection) -> None:
        """Take over an open connection. `connect` returns a new one. `keeps_rows` is false if others may write."""
        self.rows = {}
        self._keeps_rows = keeps_rows
        self._statements = PostgresConnection(connection, connect)
        self._is_begun = False
        self.is_durable = False  # whether everything that the snapshot shows is on the disk

    def begin(self, rows: dict[tuple[Any, ...], Any]) -> None:
        """Begin a snapshot. The first statement fixes its rows, and cached rows need no statement."""
        self.rows = rows if self._keeps_rows else {}
        self.is_durable = False

    def end(self) -> None:
        """End the snapshot."""
        self.rows = {}
        if self._is_begun:
            self._is_begun = False
            self._statements.roll_back()

    def run(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Run a statement that reads, and return its rows."""
        if not self._is_begun:
            self._is_begun = True
            self._statements.begin((_SNAPSHOT, None))
        return self._statements.read(statement, values)

    def close(self) -> None:
        """Close the connection."""
        self._statements.close()


_SET_PATIENCE = "SET lock_timeout = '2s'"  # a process that has ended may still have its locks for a moment
_ANNOUNCE = "SELECT pg_notify(:channel, :payload)"
_DISK_FULL, _DAMAGED, _CANNOT_WRITE, _NO_PRIVILEGE = "53100", ("XX001", "XX002"), "25006", "42501"


def postgres_error(error: BaseException) -> OSError | None:
    """Return the OSError for an error of the driver. Return None if the error is not about the server or its data.

    Messages of the server never contain the password.
    """
    state = getattr(error, "sqlstate", None)
    reason = str(error).strip().partition("\n")[0]
    if state == _DISK_FULL:
        return OSError(errno.ENOSPC, f"the disk of the PostgreSQL server is full ({reason}): free space there")
    if state in _DAMAGED:
        return DatabaseDamaged(f"the PostgreSQL database is damaged ({reason}): restore it from a backup")
    if state == _CANNOT_WRITE:
        return OSError(f"the PostgreSQL database cannot be written ({reason})")
    if state == _NO_PRIVILEGE:
        return OSError(f"the PostgreSQL user has too few privileges ({reason}): make it the owner of the database")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return DatabaseUnreachable(f"the PostgreSQL server cannot be reached or has ended the connection ({reason})")
    return None


@contextmanager
def explained() -> Iterator[None]:
    """Raise the errors of the driver in a `with` block, in which a database is opened, as OSError."""
    try:
        yield
    except psycopg.Error as error:
        raise postgres_error(error) or OSError(f"the PostgreSQL database cannot be opened ({error})") from None


class Locks(NamedTuple):
    """SQL that locks the database for a transaction that writes, and SQL that keeps other processes out.

    A new connection runs the second statement, which waits for other processes that use the database. Without other
    processes, the first is empty.
    """

    write: str
    claim: str
    # The number of the schema, which is the second number of each lock.
    schema: int


class PostgresDatabase(Database):
    """A database on PostgreSQL that the threads of this process share.

    Errors of the server are raised as OSError. A text with U+0000, which PostgreSQL cannot store, raises
    UnstorableText. After a restart of the server, the next statement connects again.
    """

    dialect: Dialect = "postgresql"
    _errors = (psycopg.Error,)

    def __init__(self, connect: Callable[[], Connection], locks: Locks, *, shared: bool, durable: bool) -> None:
        """Connect to a database whose tables exist. Raises OSError if another process has claimed the database.

        `shared` is true if other processes may use the database at the same time. If `durable`, transactions wait
        until they are on the disk of the server.
        """
        self._claim = partial(_claimed, connect, locks)
        self._opening_statements: list[tuple[str, Check | None]]
        self._opening_statements = [(sql, None) for sql in ("BEGIN", locks.write) if sql]
        self.is_shared = shared
        self._connect, self._locks = connect, locks
        self._announced = set[str]()
        self._prefetched: dict[str, list[Row]] = {}
        self._is_durable, self._group_lock = durable, Lock()
        self._group: GroupCommit | None = None
        readers = Readers(connect, partial(PostgresReader, connect, not shared))
        super().__init__(self._claim(), lambda close: close(), readers=readers)
        self._statements = PostgresConnection(self._driver, self._claim_again)

    def _claim_again(self) -> Connection:
        if self._group:  # the server may have been restarted without the last commits
            self._group.close()
        self._driver = driver = self._claim()
        self._row_cache.clear()
        self._committed_rows = {}
        return driver

    # -- statements -----------------------------------------------------------------------------------------------

    def _execute(self, statement: str, values: dict[str, Any], *, changes: bool = False) -> tuple[Any, list[Row]]:
        try:
            if changes:
                self._forget_rows()
                result = self._statements.run(statement, values)
                return result, result.rows
            return None, self._statements.read(statement, values)
        except psycopg.Error as error:
            self._raise(error)

    def _changing(self) -> AbstractContextManager[None]:
        return self.transaction()

    def queue_change(self, statement: str, values: dict[str, Any]) -> None:
        """Run a statement that changes rows together with the next statement or the commit of the transaction."""
        with self.transaction():
            self._forget_rows()
            try:
                self._statements.queue(statement, values)
            except psycopg.Error as error:
                self._raise(error)

    def _forget_rows(self) -> None:
        self._row_cache.clear()
        self.end_snapshot()

    def _raise(self, error: Exception) -> NoReturn:
        if isinstance(error, psycopg.DataError) and error.sqlstate is None:  # the driver refuses U+0000
            raise UnstorableText("Texts cannot contain the character U+0000 in this store.") from None
        if meaning := postgres_error(error):
            raise meaning from error
        raise error

    def fetch_all(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Return the rows of a result. The rows are cached until the database may change."""
        if self.is_shared and not self._reader:
            with self.lock:
                if not self._depth:  # without a snapshot and a transaction, another process may change rows now
                    return self.run(statement, values)
        return super().fetch_all(statement, values)

    # -- transactions ---------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._prefetched.clear()
        self._statements.begin(*self._opening_statements)
        if self.is_shared:
            self._row_cache.clear()
            self._announced.clear()

    def _commit(self) -> Callable[[], None] | None:
        if not self._statements.is_begun():
            return None
        group = self._group_commit() if self._is_durable else None  # which must be open before the commit
        self._statements.commit()
        return partial(self._wait_for_disk, group) if group else None

    def _group_commit(self) -> GroupCommit:
        with self._group_lock:
            if self._group is None or self._group.is_lost:
                try:
                    self._group = GroupCommit(self._connect)
                except psycopg.Error as error:
                    self._raise(error)
            return self._group

    def _wait_for_disk(self, group: GroupCommit) -> None:
        """Wait until all commits since `group` was opened are on the disk.

        The thread gives its permit away, unless it has the lock, for which others with a permit may wait.
        """
        with nullcontext() if self._thread.is_exclusive else release_permit():
            group.wait()

    def prefetch(self, statement: str) -> None:
        """Run a statement without parameters with the first one of each transaction."""
        self._opening_statements.append((statement, partial(self._prefetched.__setitem__, statement)))

    def prefetched(self, statement: str) -> list[Row]:
        """Return the rows of a statement of `prefetch`, which no change of the open transaction has changed."""
        with self.lock:
            rows = self._prefetched.get(statement) if self._depth else None
        return self.run(statement, {}) if rows is None else rows

    def run_position(self, statement: str, values: dict[str, Any]) -> int:
        """Return the number in the first column of a statement. If a snapshot reads it, all of it is on the disk.

        A second column tells whether there are commits that are not on the disk.
        """
        reader = self._reader
        if reader is None or not self._is_durable:
            return super().run_position(statement, values)
        group = self._group_commit()
        number, is_behind = self.run(f"SELECT ({statement}), {IS_BEHIND}", values)[0]
        if is_behind and not reader.is_durable:
            self._wait_for_disk(group)
        reader.is_durable = True
        return int(number)

    def _roll_back(self) -> None:
        self._statements.roll_back()

    def close(self) -> None:
        """Close the connections."""
        with self.lock:
            super().close()
            self._statements.close()
            if self._group:
                self._group.close()

    @property
    def _reader(self) -> PostgresReader | None:
        return cast("PostgresReader | None", self._thread.reader)

    # -- other processes ------------------------------------------------------------------------------------------

    def announce(self, topic: str) -> None:
        """Announce a topic to the other processes of a shared database when the open transaction commits."""
        if self.is_shared and topic not in self._announced:
            self._announced.add(topic)
            self._statements.queue(_ANNOUNCE, {"channel": self._channel, "payload": f"{topic} {self.opening}"})

    @property
    def _channel(self) -> str:
        return f"svc {self._locks.schema}"

    def listen(self, on_values: Callable[[Values], None], on_notice: Callable[[str], None]) -> Listener:
        """Return a thread that receives the announcements of other processes, after `on_values` was called once."""
        return Listener(self._connect, self._channel, self.opening, on_values, on_notice)

    def side_connection(self) -> SideConnection:
        """Return a connection for statements that belong to no transaction."""
        return SideConnection(self._connect)

    def clock_lock(self) -> ProcessLock:
        """Return the lock of the process that moves the clock."""
        return ProcessLock(self._connect, self._locks.schema)

    # -- the whole database ---------------------------------------------------------------------------------------

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Lock the database for a `with` block, in which nobody else writes and this thread reads the latest rows.

        In a shared database, the block is one transaction.
        """
        self.end_snapshot()
        with self.transaction() if self.is_shared else self.lock:
            is_exclusive, self._thread.is_exclusive = self._thread.is_exclusive, not self.is_shared
            try:
                self._send_queue()
                yield
            finally:
                self._thread.is_exclusive = is_exclusive

    @property
    def driver(self) -> Any:
        """The connection of psycopg, for statements in the open transaction."""
        self._send_queue()
        return self._driver

    def _send_queue(self) -> None:
        try:
            self._statements.send_queue()
        except psycopg.Error as error:
            self._raise(error)

    def delete_all(self, *tables: Table) -> None:
        """Delete all rows of these tables."""
        with self.transaction():
            self.driver.execute("SET LOCAL statement_timeout = 0")
            super().delete_all(*tables)

    def reset_counters(self, *tables: Table) -> None:
        """Restart the row numbers of these empty tables at 1, unless other processes may know higher numbers."""
        if self.is_shared:
            return
        with self.transaction():
            driver = self.driver
            for table in tables:
                driver.execute(f"ALTER SEQUENCE {_sequence(table)} RESTART WITH 1")

    def counters(self) -> dict[str, int]:
        """Return the last assigned row number of each table that never reuses row numbers, by table name."""
        numbers: dict[str, int] = {}
        with self.transaction():
            driver = self.driver
            for table in _numbered():
                if table.dialect_options["sqlite"]["autoincrement"]:
                    last, is_used = driver.execute(f"SELECT last_value, is_called FROM {_sequence(table)}").fetchone()
                    last -= not is_used  # `set_counters` leaves the next number
                    numbers |= {table.name: last} if last else {}
        return numbers

    def set_counters(self, numbers: Mapping[str, int]) -> None:
        """Set the last assigned row numbers. Tables without a number continue with the number of their last row."""
        with self.transaction():
            driver = self.driver
            for table in _numbered():
                (column,) = table.primary_key.columns
                (last,) = driver.execute(f"SELECT COALESCE(MAX({column.name}), 0) FROM {table.name}").fetchone()
                following = max(last, numbers.get(table.name, 0)) + 1
                driver.execute(f"ALTER SEQUENCE {_sequence(table)} RESTART WITH {following:d}")

    def checkpoint(self) -> None:
        """Do nothing, because the server writes its log by itself."""


def _claimed(connect: Callable[[], Connection], locks: Locks) -> Connection:
    """Return a new connection that keeps other processes out. Raises OSError if another process keeps this one out."""
    with explained():
        driver = connect()
        try:
            driver.execute(_SET_PATIENCE)
            driver.execute(locks.claim)
            driver.execute("RESET lock_timeout")
            driver.execute("SET synchronous_commit = off")  # GroupCommit waits instead
            version = postgres_upgrades.version(driver)
            if version != postgres_upgrades.VERSION:  # another process has upgraded it since this process opened it
                raise OSError(
                    f"the PostgreSQL database was upgraded to schema version {version}: start this service again"
                )
        except psycopg.errors.LockNotAvailable:
            driver.close()
            raise OSError(
                "the PostgreSQL database is in use by another service: stop the other service, or choose another"
                " database"
            ) from None
        except BaseException:
            driver.close()
            raise
    return driver


def _numbered() -> list[Table]:
    """Return the tables whose rows are numbered by a sequence."""
    return [table for table in metadata.sorted_tables if table.autoincrement_column is not None]


def _sequence(table: Table) -> str:
    assert table.autoincrement_column is not None
    return f"{table.name}_{table.autoincrement_column.name}_seq"
