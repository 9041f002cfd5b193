"""Runs the SQL of the service on its one SQLite connection.

SQLite allows one writer, so the service has one connection and one lock, and no transaction is open while a body
streams. SQLAlchemy compiles each statement once. The driver then runs the SQL directly, because a result object of
SQLAlchemy costs several times as much as the look-up.

Rows that were looked up by key are cached until a statement changes the database. The cache is for a sandbox in a busy
kernel, where each statement releases the interpreter lock and may wait 5 ms to get the lock back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from threading import RLock
from typing import Any, Literal, NoReturn, TypeAlias, cast
from weakref import finalize

from sqlalchemy import (
    URL,
    ClauseElement,
    ColumnElement,
    Connection,
    Dialect,
    Select,
    Table,
    bindparam,
    create_engine,
    delete,
    insert,
    text,
)
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import StaticPool

from ...core.process_fork import ForkedChild, after_fork, keep_forever
from . import upgrades
from .errors import explain_errors, store_error
from .schema import metadata

Row = tuple[Any, ...]

_FORK_ADVICE = "Use it there: SQLite allows no connection to cross a fork."
_BUSY_SECONDS = 2.0
_MAX_CACHED_ROWS = 256
_JOURNAL = slice(18, 20)  # the bytes of a database header that contain the journal mode


class Prepared:
    """A statement with named parameters that is compiled on first use."""

    __slots__ = ("_statement", "constants", "sql")

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self.sql = ""
        self.constants: dict[str, Any] = {}

    def compile(self, dialect: Dialect) -> str:
        """Compile the statement, store its SQL and the values of its constant parameters, and return the SQL."""
        compiled: Any = self._statement.compile(dialect=dialect)
        self.constants = {name: value for name, value in compiled.params.items() if value is not None}
        self.sql = str(compiled)
        return self.sql


def inserting(
    table: Table, names: Iterable[str], *, otherwise: Literal["FAIL", "IGNORE", "REPLACE"] = "FAIL"
) -> Prepared:
    """Return a prepared INSERT statement. `otherwise` is the SQLite conflict clause for a row whose key exists."""
    statement = insert(table).values({name: bindparam(name) for name in names})
    return Prepared(statement if otherwise == "FAIL" else statement.prefix_with(f"OR {otherwise}", dialect="sqlite"))


_RESET_COUNTER = Prepared(text("DELETE FROM sqlite_sequence WHERE name = :name"))


def _close(connection: Connection) -> None:
    connection.close()
    connection.engine.dispose()


Close: TypeAlias = Callable[[Callable[[], None]], None]


class Database:
    """An SQLite connection that threads share, one at a time.

    The connection is closed when the last reference to this object is dropped. Errors of the database file
    are raised as OSError. A full disk has the errno ENOSPC, and a damaged file raises DatabaseDamaged.
    """

    def __init__(self, connection: Connection, close: Close, backup: Path | None = None) -> None:
        """Take over an open connection.

        `close` is called later with the function that closes the connection. `backup` is the copy made before an
        upgrade.
        """
        self._connection = connection
        self._closing = finalize(self, close, partial(_close, connection))
        self._closing.atexit = False  # at exit a thread may still use the connection
        self._driver: Any = connection.connection.driver_connection
        self.backup = backup
        self.lock: RLock | ForkedChild = RLock()
        self._depth = 0
        self._after_commit: dict[Callable[[], None], None] = {}
        self._row_cache: dict[tuple[Any, ...], Any] = {}
        file = connection.engine.url.database
        self._path = Path(file) if file else None
        after_fork(self, Database._leave)

    def _leave(self) -> None:
        keep_forever(self)
        self.lock = ForkedChild(
            "This database belongs to the parent process and cannot be used in a forked child process.", _FORK_ADVICE
        )

    @property
    def driver(self) -> sqlite3.Connection:
        """The sqlite3 connection, for operations on the whole database file."""
        driver: sqlite3.Connection = self._driver
        return driver

    def _execute(self, prepared: Prepared, values: dict[str, Any]) -> tuple[sqlite3.Cursor, list[Row]]:
        """Run a statement and return its cursor and all its rows. The caller must hold the lock."""
        sql = prepared.sql or prepared.compile(self._connection.dialect)
        try:
            cursor = self._driver.execute(sql, prepared.constants | values)
            return cursor, cursor.fetchall()
        except sqlite3.Error as error:
            self._raise(error)

    def _raise(self, error: sqlite3.Error) -> NoReturn:
        if meaning := store_error(error, self._path):
            raise meaning from error
        raise error

    def run(self, prepared: Prepared, values: dict[str, Any]) -> list[Row]:
        """Run a statement and return its rows."""
        with self.lock:
            return self._execute(prepared, values)[1]

    def fetch_one(self, prepared: Prepared, values: dict[str, Any]) -> Row | None:
        """Return the first row of a result, or None without rows. The row is cached until the database changes."""
        key = (prepared, *values.items())
        with self.lock:
            if key not in self._row_cache:
                if len(self._row_cache) >= _MAX_CACHED_ROWS:
                    self._row_cache.clear()
                rows = self._execute(prepared, values)[1]
                self._row_cache[key] = rows[0] if rows else None
            row: Row | None = self._row_cache[key]
            return row

    def fetch_all(self, prepared: Prepared, values: dict[str, Any]) -> list[Row]:
        """Return the rows of a result. The rows are cached until the database changes."""
        key = (prepared, *values.items())
        with self.lock:
            rows: list[Row] = self._row_cache.get(key) or self._execute(prepared, values)[1]
            self._row_cache[key] = rows
            return rows

    def change(self, prepared: Prepared, values: dict[str, Any]) -> int:
        """Run a statement that changes rows and return the number of changed rows."""
        with self.lock:
            self._row_cache.clear()
            return self._execute(prepared, values)[0].rowcount

    def add(self, prepared: Prepared, values: dict[str, Any]) -> None:
        """Insert a row with untrusted values. Raises ValueError if the database refuses the row."""
        try:
            self.change(prepared, values)
        except (sqlite3.Error, UnicodeError) as error:
            raise ValueError(str(error)) from None

    def change_one(self, prepared: Prepared, values: dict[str, Any]) -> Row | None:
        """Run a statement that changes one row and return the new row. Return None if no row matches."""
        with self.lock:
            self._row_cache.clear()
            rows = self._execute(prepared, values)[1]
        return rows[0] if rows else None

    def insert(self, prepared: Prepared, values: dict[str, Any]) -> int:
        """Insert a row and return the row number that the database assigned."""
        with self.lock:
            self._row_cache.clear()
            return self._execute(prepared, values)[0].lastrowid or 0

    def select(self, statement: Select[Any]) -> Sequence[Row]:
        """Run a SELECT statement that is not prepared and return its rows."""
        with self.lock, explain_errors(self._path):
            return [tuple(row) for row in self._connection.execute(statement)]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit the changes of a `with` block, or none if it raises. A nested block joins the outer transaction."""
        with self.lock:
            if self._depth:
                yield
                return
            try:
                self._driver.execute("BEGIN IMMEDIATE")
                self._depth += 1
                try:
                    yield
                    self._driver.execute("COMMIT")
                except BaseException:
                    self._row_cache.clear()
                    self._after_commit.clear()
                    if self._driver.in_transaction:  # on a full disk SQLite has rolled back already
                        self._driver.execute("ROLLBACK")
                    raise
                finally:
                    self._depth -= 1
            except sqlite3.Error as error:
                self._raise(error)
            functions, self._after_commit = self._after_commit, {}
        for function in functions:
            function()

    def after_commit(self, function: Callable[[], None]) -> None:
        """Call a function once after the open transaction commits, or now if no transaction is open.

        The function runs without the lock and may wait for other threads. A rollback discards the function.
        """
        with self.lock:
            if self._depth:
                self._after_commit[function] = None
                return
        function()

    def delete_all(self, *tables: Table, where: ColumnElement[bool] | None = None) -> None:
        """Delete all rows of these tables, or only the rows that meet the condition `where`."""
        with self.lock, explain_errors(self._path):
            self._row_cache.clear()
            for table in tables:
                statement = delete(table)
                self._connection.execute(statement if where is None else statement.where(where))

    def reset_counters(self, *tables: Table) -> None:
        """Restart the row numbers of these empty tables at 1."""
        for table in tables:
            self.change(_RESET_COUNTER, {"name": table.name})

    def image(self) -> bytes:
        """Return a consistent copy of the whole database as bytes."""
        with self.lock, explain_errors(self._path), closing(sqlite3.connect(":memory:")) as copy:
            self._driver.backup(copy)
            content = bytearray(copy.serialize())
        content[_JOURNAL] = b"\x01\x01"  # a database in memory cannot be opened in the mode with a write-ahead log
        return bytes(content)

    def restore(self, image: bytes) -> None:
        """Replace the whole database by a copy that `image` returned, in one step."""
        with self.lock, explain_errors(self._path):
            self._row_cache.clear()
            _copy(image, self._driver)

    def checkpoint(self) -> None:
        """Write the write-ahead log into the database file and truncate the log."""
        with self.lock, explain_errors(self._path):
            self._driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connection."""
        with self.lock:
            self._closing()


class TableGroup:
    """The base of the classes in server/tables, each of which runs the statements for a group of tables."""

    def __init__(self, database: Database) -> None:
        self._database = database


def open_database(
    path: Path | None, durability: Literal["process", "power"], *, close: Close = lambda close: close()
) -> Database:
    """Open the database in a file, or create a new database in memory.

    An older database is first copied to a file in the same folder and then upgraded. `close` is called with the
    function that closes the connection.

    Raises OSError, with advice in its message, if the disk is full, or if the file is in use, is damaged, cannot be
    written, or belongs to another program or to a newer version of this package.
    """
    try:
        connection = _connect(path)
        try:
            for pragma in _pragmas(path, durability):
                connection.exec_driver_sql(f"PRAGMA {pragma}")
            backup = None
            if path is None:
                _copy(_empty_image(), connection.connection.driver_connection)
            else:
                backup = _migrate(connection, path)
        except BaseException:
            _close(connection)
            raise
    except (DatabaseError, sqlite3.DatabaseError) as error:
        reason = getattr(error, "orig", error)
        raise store_error(error, path) or OSError(f"{path} cannot be opened ({reason})") from None
    return Database(connection, close, backup)


def _connect(path: Path | None) -> Connection:
    engine = create_engine(
        URL.create("sqlite", database=str(path) if path else None),
        isolation_level="AUTOCOMMIT",
        paramstyle="named",
        poolclass=StaticPool,
        connect_args={"check_same_thread": False, "timeout": _BUSY_SECONDS},
    )
    return engine.connect()


@cache
def _empty_image() -> bytes:
    """Return an empty database as bytes. Copying takes 0.2 ms, but creating the tables with SQLAlchemy takes 8 ms."""
    connection = _connect(None)
    try:
        _create_tables(connection)
        image: bytes = cast(Any, connection.connection.driver_connection).serialize()
    finally:
        _close(connection)
    return image


def _copy(image: bytes, driver: Any) -> None:
    with closing(sqlite3.connect(":memory:")) as source:
        source.deserialize(image)
        source.backup(driver)


def _create_tables(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    driver.execute("BEGIN IMMEDIATE")
    metadata.create_all(connection)
    upgrades.set_version(driver, upgrades.VERSION)
    driver.execute("COMMIT")


def _migrate(connection: Connection, path: Path) -> Path | None:
    """Create or upgrade the tables. Return the path of the copy made before an upgrade, or None without an upgrade."""
    driver: Any = connection.connection.driver_connection
    tables, version = upgrades.tables(driver), upgrades.version(driver)
    if not tables:
        _create_tables(connection)
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
    if path is None:
        return ("journal_mode = MEMORY", "synchronous = OFF")
    # Exclusive, because a second service would delete the parts that the first service is still writing.
    return (
        "locking_mode = EXCLUSIVE",
        "journal_mode = WAL",
        f"synchronous = {'FULL' if durability == 'power' else 'NORMAL'}",
    )
