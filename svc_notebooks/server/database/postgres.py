"""Runs the SQL of the service on PostgreSQL, with the same connections, transactions and snapshots as on SQLite.

One connection writes, with the lock of this process. Requests that only read have a reader, whose snapshot is a
transaction with the isolation level REPEATABLE READ. If other processes use the database, too, each transaction that
writes also has a lock of the database. So the changes of all processes are committed one after another, no update is
lost, and a reader that sees a row of the change log sees all rows with smaller numbers. Rows that were looked up by key
are then cached only during a transaction or a snapshot.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy import ColumnElement, Connection, Select, Table
from sqlalchemy.exc import DBAPIError

from . import postgres_upgrades
from .engine import Database
from .errors import DatabaseDamaged, UnstorableText
from .readers import Reader, Readers
from .schema import metadata
from .statements import Compiled, Prepared, Row

_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_ABSENT = "\ufffe"
"""Replaces U+0000 in a text that is searched for. No stored text contains U+0000, so the text must not be found."""

_SET_PATIENCE = "SET lock_timeout = '2s'"  # a process that has ended may still have its locks for a moment
_DISK_FULL, _DAMAGED, _READ_ONLY = "53100", ("XX001", "XX002"), "25006"


def postgres_error(error: BaseException) -> OSError | None:
    """Return the OSError for an error of the driver. Return None if the error is not about the server or its data.

    Messages of the server never contain the password.
    """
    original = getattr(error, "orig", None) or error
    state = getattr(original, "sqlstate", None)
    reason = str(original).strip().partition("\n")[0]
    if state == _DISK_FULL:
        return OSError(errno.ENOSPC, f"the disk of the PostgreSQL server is full ({reason}): free space there")
    if state in _DAMAGED:
        return DatabaseDamaged(f"the PostgreSQL database is damaged ({reason}): restore it from a backup")
    if state == _READ_ONLY:
        return OSError(f"the PostgreSQL database cannot be written ({reason})")
    if isinstance(original, psycopg.OperationalError | psycopg.InterfaceError):
        return OSError(f"the PostgreSQL server cannot be reached or has ended the connection ({reason})")
    return None


class Locks(NamedTuple):
    """SQL that begins a transaction that writes, and SQL that a new connection runs to keep other processes out.

    The second statement waits for other processes that use the database.
    """

    begin: str
    claim: str


class PostgresReader(Reader):
    """A connection that reads one snapshot at a time, and connects again after its server was restarted."""

    keeps_rows = True
    _is_begun = False

    def prepare(self) -> None:
        """Do nothing, because the transaction of a snapshot is read-only."""

    def begin(self, rows: dict[tuple[Any, ...], Any]) -> None:
        """Begin a snapshot. The first statement fixes its rows, and cached rows need no statement."""
        self.rows = rows if self.keeps_rows else {}

    def end(self) -> None:
        """End the snapshot."""
        self.rows = {}
        if self._is_begun:
            self._is_begun = False
            with suppress(psycopg.OperationalError):  # the next snapshot connects again
                self._driver.execute("ROLLBACK")

    def run(self, prepared: Prepared, values: dict[str, Any]) -> list[Row]:
        """Run a statement that reads, and return its rows."""
        sql, constants = prepared.postgresql or prepared.compile_for_postgresql(self._connection.dialect)
        return self.run_sql(sql, constants | values)

    def run_sql(self, sql: str, values: dict[str, Any]) -> list[Row]:
        """Run the SQL of a statement that reads, and return its rows."""
        if not self._is_begun:
            self._begin_snapshot()
        return _read(self._driver, sql, values)

    def select(self, statement: Select[Any]) -> list[Row]:
        """Run a SELECT statement that is not prepared and return its rows."""
        if not self._is_begun:
            self._begin_snapshot()
        return super().select(statement)

    def _begin_snapshot(self) -> None:
        try:
            self._driver.execute(_SNAPSHOT)
        except psycopg.OperationalError:
            if not self._driver.closed:
                raise
            self._connection = self._connection.engine.connect()
            self._driver = self._connection.connection.driver_connection
            self._driver.execute(_SNAPSHOT)
        self._is_begun = True


class SharedPostgresReader(PostgresReader):
    """A reader of a database that other processes write, so that rows are cached for one snapshot only."""

    keeps_rows = False


def _read(driver: Any, sql: str, values: dict[str, Any]) -> list[Row]:
    try:
        rows: list[Row] = driver.execute(sql, values).fetchall()
    except psycopg.DataError:
        absent = {name: _without_nul(value) for name, value in values.items()}
        if absent == values:
            raise
        rows = driver.execute(sql, absent).fetchall()
    return rows


def _without_nul(value: Any) -> Any:
    return value.replace("\0", _ABSENT) if isinstance(value, str) else value


class PostgresDatabase(Database):
    """A database on PostgreSQL that the threads of this process share.

    Errors of the server are raised as OSError. A text with U+0000, which PostgreSQL cannot store, raises
    UnstorableText. After a restart of the server, the next statement connects again.
    """

    chooses_indexes = True
    is_portable = False
    _errors = (psycopg.Error, DBAPIError)

    def __init__(self, connect: Callable[[], Connection], locks: Locks, *, shared: bool) -> None:
        """Connect to a database whose tables exist. Raises OSError if another process has claimed the database.

        `shared` is true if other processes may use the database at the same time.
        """
        self._connect = connect
        self._locks = locks
        self.is_shared = shared
        connection = _claimed(connect, locks)
        self._begin = self._begin_transaction
        reader = SharedPostgresReader if shared else PostgresReader
        super().__init__(connection, partial(_call), readers=Readers(connect, reader))

    def _meaning(self, error: Exception) -> OSError | None:
        return postgres_error(error)

    # -- statements -----------------------------------------------------------------------------------------------

    def _execute(self, prepared: Prepared, values: dict[str, Any], *, changes: bool = False) -> tuple[Any, list[Row]]:
        compiled = prepared.postgresql or prepared.compile_for_postgresql(self._connection.dialect)
        if not changes:
            return None, self._read_rows(compiled, values)
        if self.is_shared and not self._depth:
            with self.transaction():
                return self._change(compiled, values)
        return self._change(compiled, values)

    def _read_rows(self, compiled: Compiled, values: dict[str, Any]) -> list[Row]:
        try:
            return _read(self._connected(), compiled.sql, compiled.constants | values)
        except psycopg.Error as error:
            self._raise(error)

    def _change(self, compiled: Compiled, values: dict[str, Any]) -> tuple[Any, list[Row]]:
        self._row_cache.clear()
        self.end_snapshot()
        values = compiled.constants | values
        try:
            cursor = self._connected().execute(compiled.sql, values)
            return cursor, cursor.fetchall() if cursor.description else []
        except psycopg.DataError as error:
            if any(isinstance(value, str) and "\0" in value for value in values.values()):
                raise UnstorableText("Texts cannot contain the character U+0000 in this store.") from None
            self._raise(error)
        except psycopg.Error as error:
            self._raise(error)
        finally:
            if not self._depth:
                self._committed_rows = {}

    def fetch_one(self, prepared: Prepared, values: dict[str, Any]) -> Row | None:
        """Return the first row of a result, or None without rows. The row is cached until the database may change."""
        if self._is_uncached():
            rows = self.run(prepared, values)
            return rows[0] if rows else None
        return super().fetch_one(prepared, values)

    def fetch_all(self, prepared: Prepared, values: dict[str, Any]) -> list[Row]:
        """Return the rows of a result. The rows are cached until the database may change."""
        return self.run(prepared, values) if self._is_uncached() else super().fetch_all(prepared, values)

    def _is_uncached(self) -> bool:
        """Return whether another process may change rows now, outside of a snapshot and of a transaction."""
        if not self.is_shared or self._reader:
            return False
        with self.lock:
            return not self._depth

    def select(self, statement: Select[Any]) -> Sequence[Row]:
        """Run a SELECT statement that is not prepared and return its rows."""
        try:
            if reader := self._reader:
                return reader.select(statement)
            with self.lock:
                self._connected()
                return [tuple(row) for row in self._connection.execute(statement)]
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.DataError):  # U+0000, which no stored text contains
                return self._select_without_nul(statement)
            self._raise(error)

    def _select_without_nul(self, statement: Select[Any]) -> Sequence[Row]:
        compiled: Any = statement.compile(dialect=self._connection.dialect, compile_kwargs={"render_postcompile": True})
        values = {name: _without_nul(value) for name, value in compiled.params.items()}
        if isinstance(reader := self._reader, PostgresReader):
            return reader.run_sql(str(compiled), values)
        with self.lock:
            return _read(self._connected(), str(compiled), values)

    # -- connections and transactions -----------------------------------------------------------------------------

    def _connected(self) -> Any:
        """Return the driver's connection, which is a new one if the server has ended the last. Needs the lock."""
        if self._driver.closed and not self._depth:
            self._connection = _claimed(self._connect, self._locks)
            self._driver = self._connection.connection.driver_connection
            self._row_cache.clear()
            self._committed_rows = {}
        return self._driver

    def _begin_transaction(self) -> None:
        try:
            self._connected().execute(self._locks.begin, prepare=False)
        except psycopg.OperationalError:
            if not self._driver.closed:
                raise
            self._connected().execute(self._locks.begin, prepare=False)  # the server was restarted
        if self.is_shared:
            self._row_cache.clear()

    def _roll_back(self) -> None:
        if not self._driver.closed and self._driver.info.transaction_status != TransactionStatus.IDLE:
            with suppress(psycopg.OperationalError):  # a lost connection has rolled back
                self._driver.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connections."""
        with self.lock:
            connection = self._connection
            super().close()
            with suppress(psycopg.Error, DBAPIError):
                connection.close()

    def exclusive(self) -> AbstractContextManager[Any]:
        """Return a lock for a `with` block, in which nobody else writes and this thread reads the latest rows.

        In a shared database, the block is one transaction.
        """
        self.end_snapshot()
        return self.transaction() if self.is_shared else self.lock

    # -- the whole database ---------------------------------------------------------------------------------------

    def delete_all(self, *tables: Table, where: ColumnElement[bool] | None = None) -> None:
        """Delete all rows of these tables, or only the rows that meet the condition `where`."""
        with self.transaction():
            super().delete_all(*tables, where=where)

    def reset_counters(self, *tables: Table) -> None:
        """Restart the row numbers of these empty tables at 1, unless other processes may know higher numbers."""
        if self.is_shared:
            return
        with self.transaction():
            for table in tables:
                self._driver.execute(f"ALTER SEQUENCE {_sequence(table)} RESTART WITH 1")

    def counters(self) -> dict[str, int]:
        """Return the last assigned row number of each table that never reuses row numbers, by table name."""
        numbers: dict[str, int] = {}
        with self.lock:
            for table in _numbered():
                if table.dialect_options["sqlite"]["autoincrement"]:
                    last, is_used = (
                        self._connected().execute(f"SELECT last_value, is_called FROM {_sequence(table)}").fetchone()
                    )
                    last -= not is_used  # `set_counters` leaves the next number
                    numbers |= {table.name: last} if last else {}
        return numbers

    def set_counters(self, numbers: Mapping[str, int]) -> None:
        """Set the last assigned row numbers. Tables without a number continue with the number of their last row."""
        with self.transaction():
            for table in _numbered():
                (column,) = table.primary_key.columns
                (last,) = self._driver.execute(f"SELECT COALESCE(MAX({column.name}), 0) FROM {table.name}").fetchone()
                following = max(last, numbers.get(table.name, 0)) + 1
                self._driver.execute(f"ALTER SEQUENCE {_sequence(table)} RESTART WITH {following:d}")

    def checkpoint(self) -> None:
        """Do nothing, because the server writes its log by itself."""


def _call(close: Callable[[], None]) -> None:
    close()


def _claimed(connect: Callable[[], Connection], locks: Locks) -> Connection:
    """Return a new connection that keeps other processes out. Raises OSError if another process keeps this one out."""
    try:
        connection = connect()
        driver: Any = connection.connection.driver_connection
        try:
            driver.execute(_SET_PATIENCE)
            driver.execute(locks.claim)
            driver.execute("RESET lock_timeout")
            _check_version(driver)
        except BaseException:
            connection.close()
            raise
    except psycopg.errors.LockNotAvailable:
        raise OSError(
            "the PostgreSQL database is in use by another service: stop the other service, or choose another database"
        ) from None
    except (psycopg.Error, DBAPIError) as error:
        raise postgres_error(error) or OSError(str(error)) from None
    return connection


def _check_version(driver: Any) -> None:
    """Raise OSError if another process has upgraded the database since this process opened it."""
    version = postgres_upgrades.version(driver)
    if version != postgres_upgrades.VERSION:
        raise OSError(f"the PostgreSQL database was upgraded to schema version {version}: start this service again")


def _numbered() -> list[Table]:
    """Return the tables whose rows are numbered by a sequence."""
    return [table for table in metadata.sorted_tables if table.autoincrement_column is not None]


def _sequence(table: Table) -> str:
    assert table.autoincrement_column is not None
    return f"{table.name}_{table.autoincrement_column.name}_seq"
