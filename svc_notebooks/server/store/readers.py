"""The connections that read a database file while another connection writes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from queue import Empty, LifoQueue
from threading import Lock, local
from typing import Any

from sqlalchemy import Connection, Select
from sqlalchemy.exc import DatabaseError

from ...core.thread_permit import release_permit
from .statements import Prepared, Row

MAX_READERS = 8


class ThreadValues(local):
    """The values of one thread: the reader with its snapshot, and the statement that PostgreSQL runs with the next one.

    The defaults are attributes of the class, because `getattr` with a default raises and drops an exception each time.
    """

    reader: Reader | None = None
    expectation: Any = None


class Reader:
    """A connection that reads one snapshot at a time, and that one thread uses at a time.

    `rows` are cached rows of look-ups by key, as in `Database`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._driver: Any = connection.connection.driver_connection
        self.rows: dict[tuple[Any, ...], Any] = {}
        self.prepare()

    def prepare(self) -> None:
        """Make the new connection refuse changes."""
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

    def run(self, prepared: Prepared, values: dict[str, Any]) -> list[Row]:
        """Run a statement that reads, and return its rows."""
        sql = prepared.sql or prepared.compile(self._connection.dialect)
        rows: list[Row] = self._driver.execute(sql, prepared.constants | values).fetchall()
        return rows

    def select(self, statement: Select[Any]) -> list[Row]:
        """Run a SELECT statement that is not prepared and return its rows."""
        return [tuple(row) for row in self._connection.execute(statement)]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        self._connection.engine.dispose()


class Readers:
    """At most `MAX_READERS` readers, each of which is connected when no other is free."""

    def __init__(self, connect: Callable[[], Connection], reader: Callable[[Connection], Reader] = Reader) -> None:
        self._connect = connect
        self._reader = reader
        self._idle: LifoQueue[Reader] = LifoQueue()
        self._left = MAX_READERS
        self._lock = Lock()
        self._closed = False

    def take(self) -> Reader | None:
        """Return a reader, if necessary after another thread has returned it. Returns None if none can be connected."""
        try:
            return self._idle.get_nowait()
        except Empty:
            pass
        with self._lock:
            if self._closed:
                return None
            if self._left:
                self._left -= 1
                try:
                    return self._reader(self._connect())
                except (DatabaseError, sqlite3.Error, OSError):
                    self._left += 1
                    if self._left == MAX_READERS:
                        return None
        with release_permit():  # a thread with a reader may wait for a permit
            return self._idle.get()

    def release(self, reader: Reader) -> None:
        """Return a reader, which another thread may then use."""
        with self._lock:
            if not self._closed:
                self._idle.put(reader)
                return
        reader.close()

    def close(self) -> None:
        """Close the readers. A reader in use is closed when it is released."""
        with self._lock:
            self._closed = True
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return


def close_connection(connection: Connection, readers: Readers | None = None) -> None:
    """Close a database, first its readers, so that the last connection deletes the write-ahead log."""
    if readers:
        readers.close()
    connection.close()
    connection.engine.dispose()
