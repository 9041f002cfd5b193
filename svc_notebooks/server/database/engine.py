"""One connection, short transactions, and statements that are compiled once.

SQLite has one writer whatever one does, so the service has one connection and one lock; no transaction is open
while a body streams. SQLAlchemy writes the SQL, once for each statement; it then goes to the driver directly,
because the road through a result object costs several times the look-up itself.

A row that was looked up is remembered until something changes: nobody else writes here. That is for the sandbox
in a busy kernel: the driver lets go of the interpreter with each statement, and beside a thread that computes it
gets it back only 5 ms later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path
from threading import RLock
from typing import Any, Literal, TypeAlias, cast
from weakref import finalize

from sqlalchemy import (
    URL,
    ClauseElement,
    ColumnElement,
    Connection,
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
from .errors import Translation, store_error
from .schema import metadata

Row = tuple[Any, ...]

_FORK_ADVICE = "Use it there: SQLite allows no connection to cross a fork."
_BUSY_SECONDS = 2.0
_MAX_CACHED_ROWS = 256
_JOURNAL = slice(18, 20)  # of a database's header: which kind of journal it is written and read with


class Prepared:
    """A statement with named parameters, compiled when it is first used."""

    __slots__ = ("_compiled", "_statement")

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: tuple[str, tuple[str, ...], dict[str, Any]] | None = None

    def bound(self, database: Database, values: dict[str, Any]) -> tuple[str, list[Any]]:
        """The SQL and its parameters in order."""
        if self._compiled is None:
            made: Any = self._statement.compile(dialect=database.dialect)
            own = {name: value for name, value in made.params.items() if value is not None}
            self._compiled = str(made), tuple(made.positiontup or ()), own
        sql, names, own = self._compiled
        if own:
            values = own | values
        return sql, [values[name] for name in names]


def inserting(
    table: Table, names: Iterable[str], *, otherwise: Literal["FAIL", "IGNORE", "REPLACE"] = "FAIL"
) -> Prepared:
    """A new row with these columns; `otherwise`: what becomes of it where there is one of its key."""
    statement = insert(table).values({name: bindparam(name) for name in names})
    return Prepared(statement if otherwise == "FAIL" else statement.prefix_with(f"OR {otherwise}", dialect="sqlite"))


_RESET_COUNTER = Prepared(text("DELETE FROM sqlite_sequence WHERE name = :name"))


def _close(connection: Connection) -> None:
    connection.close()
    connection.engine.dispose()


Close: TypeAlias = Callable[[Callable[[], None]], None]


def _close_now(close: Callable[[], None]) -> None:
    close()


class Database:
    """A connection that threads share, one at a time. One that nobody has any more is closed.

    Errors of the file are OSErrors: a full disk has the errno ENOSPC, a damaged file is DatabaseDamaged.
    """

    def __init__(self, connection: Connection, close: Close, backup: Path | None = None) -> None:
        """`close` is handed what closes the connection; `backup`: the copy that was made before an upgrade."""
        self._connection = connection
        self._closing = finalize(self, close, partial(_close, connection))
        self._closing.atexit = False  # whoever is in the middle of something at the end stays there
        self._driver: Any = connection.connection.driver_connection
        self.backup = backup
        self.lock: RLock | ForkedChild = RLock()
        self._depth = 0
        self._after_commit: dict[Callable[[], None], None] = {}
        self._row_cache: dict[tuple[Any, ...], Row | None] = {}
        file = connection.engine.url.database
        self._translation = Translation(Path(file) if file else None)
        self.dialect = connection.dialect
        after_fork(self, Database._leave)

    def _leave(self) -> None:
        """In a forked child: the connection is neither used nor closed."""
        keep_forever(self)
        self.lock = ForkedChild("This database is open in another process, and this one is a fork of it.", _FORK_ADVICE)

    @property
    def driver(self) -> sqlite3.Connection:
        """The connection, for what concerns the file and not its tables."""
        driver: sqlite3.Connection = self._driver
        return driver

    def run(self, prepared: Prepared, values: dict[str, Any]) -> list[Row]:
        """Run a statement; its rows, if it has any."""
        sql, ordered = prepared.bound(self, values)
        with self.lock, self._translation:
            rows: list[Row] = self._driver.execute(sql, ordered).fetchall()
        return rows

    def fetch_one(self, prepared: Prepared, values: dict[str, Any]) -> Row | None:
        """The first row of a statement's result."""
        sql, ordered = prepared.bound(self, values)
        key = (sql, *ordered)
        with self.lock, self._translation:
            if key not in self._row_cache:
                if len(self._row_cache) >= _MAX_CACHED_ROWS:
                    self._row_cache.clear()
                rows = self._driver.execute(sql, ordered).fetchall()
                self._row_cache[key] = rows[0] if rows else None
            return self._row_cache[key]

    def change(self, prepared: Prepared, values: dict[str, Any]) -> int:
        """Run a statement that changes rows; how many they were."""
        sql, ordered = prepared.bound(self, values)
        with self.lock, self._translation:
            self._row_cache.clear()
            changed: int = self._driver.execute(sql, ordered).rowcount
        return changed

    def add(self, prepared: Prepared, values: dict[str, Any]) -> None:
        """Insert a row that came from outside. Raises ValueError where the database has a reason against it."""
        try:
            self.change(prepared, values)
        except (sqlite3.Error, UnicodeError) as error:
            raise ValueError(str(error)) from None

    def change_one(self, prepared: Prepared, values: dict[str, Any]) -> Row | None:
        """Run a statement that changes one row and returns what it is then."""
        with self.lock:
            self._row_cache.clear()
            rows = self.run(prepared, values)
        return rows[0] if rows else None

    def insert(self, prepared: Prepared, values: dict[str, Any]) -> int:
        """Insert a row; the number that the database gave it."""
        sql, ordered = prepared.bound(self, values)
        with self.lock, self._translation:
            self._row_cache.clear()
            number: int = self._driver.execute(sql, ordered).lastrowid
        return number

    def select(self, statement: Select[Any]) -> Sequence[Row]:
        """Run a statement that was put together for this request."""
        with self.lock, self._translation:
            return [tuple(row) for row in self._connection.execute(statement)]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block as one transaction, or as a part of the one that is open. `after_commit` functions follow it."""
        with self.lock:
            if self._depth:
                yield
                return
            with self._translation:
                self._driver.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                with self._translation:
                    self._driver.execute("COMMIT")
            except BaseException:
                self._row_cache.clear()
                self._after_commit.clear()
                if self._driver.in_transaction:  # where the disk is full SQLite has rolled back already
                    self._driver.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1
            functions, self._after_commit = self._after_commit, {}
        for function in functions:
            function()

    def after_commit(self, function: Callable[[], None]) -> None:
        """Call a function, once, when the open transaction has been committed; without one, call it now.

        It is called without the lock and may wait for other threads. After a rollback it is not called.
        """
        with self.lock:
            if self._depth:
                self._after_commit[function] = None
                return
        function()

    def delete_all(self, *tables: Table, where: ColumnElement[bool] | None = None) -> None:
        """Delete the rows of these tables, all or those that meet a condition."""
        with self.lock, self._translation:
            self._row_cache.clear()
            for table in tables:
                statement = delete(table)
                self._connection.execute(statement if where is None else statement.where(where))

    def reset_counters(self, *tables: Table) -> None:
        """Let the numbers of these empty tables begin at 1 again."""
        for table in tables:
            self.change(_RESET_COUNTER, {"name": table.name})

    def image(self) -> bytes:
        """The whole database as bytes, as of one moment."""
        with self.lock, self._translation, closing(sqlite3.connect(":memory:")) as copy:
            self._driver.backup(copy)
            content = bytearray(copy.serialize())
        content[_JOURNAL] = b"\x01\x01"  # memory has no write-ahead log: an image that asks for one cannot be opened
        return bytes(content)

    def restore(self, image: bytes) -> None:
        """Make the database what it was when the image was taken, in one step."""
        with self.lock, self._translation:
            self._row_cache.clear()
            _copy(image, self._driver)

    def checkpoint(self) -> None:
        """Write the log into the database, so that the log takes no room."""
        with self.lock, self._translation:
            self._driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Give the connection back."""
        with self.lock:
            self._closing()


def open_database(path: Path | None, durability: Literal["process", "power"], *, close: Close = _close_now) -> Database:
    """Open the database in this file, or one in memory; a new one gets its tables, an older one is upgraded.

    `close` is called in the end, with the function that closes the connection. An older database is first copied
    to a file beside it. Raises OSError with what to do: another process has the file open, the disk is full, the
    file is damaged or cannot be written, it is not ours or of a newer version.
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
        poolclass=StaticPool,
        connect_args={"check_same_thread": False, "timeout": _BUSY_SECONDS},
    )
    return engine.connect()


@cache
def _empty_image() -> bytes:
    """A new database as bytes: SQLAlchemy needs 8 ms of processor time to create its tables, a copy 0.2 ms."""
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
    """Create the tables of a new database, upgrade an older one; the copy that was made of that."""
    driver: Any = connection.connection.driver_connection
    tables, version = upgrades.tables(driver), upgrades.version(driver)
    if not tables:
        _create_tables(connection)
    elif not tables >= upgrades.FIRST_TABLES:
        raise OSError(f"{path} is a database of another program: name another folder")
    elif version > upgrades.VERSION:
        raise OSError(
            f"{path} has schema version {version}, and this package knows versions up to {upgrades.VERSION}: "
            "open it with the newer version of svc-notebooks that wrote it"
        )
    elif version < upgrades.VERSION:
        backup = upgrades.back_up(driver, path)
        upgrades.upgrade(driver)
        return backup
    return None


def _pragmas(path: Path | None, durability: Literal["process", "power"]) -> tuple[str, ...]:
    if path is None:
        return ("journal_mode = MEMORY", "synchronous = OFF")
    # Exclusive: a second service would sweep away the parts that the first one is still writing.
    return (
        "locking_mode = EXCLUSIVE",
        "journal_mode = WAL",
        f"synchronous = {'FULL' if durability == 'power' else 'NORMAL'}",
    )
