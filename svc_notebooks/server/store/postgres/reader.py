"""The connections that read a PostgreSQL database, each of which shows a request one snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from ..errors import SnapshotChanged
from ..readers import Reader
from ..statements import Compiled, Prepared, Row
from .connection import PostgresConnection

_DIALECT = PGDialect_psycopg(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]
_SNAPSHOT = Compiled("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {})


def compiled(prepared: Prepared) -> Compiled:
    """Return a statement in the dialect of PostgreSQL, which is compiled once."""
    return prepared.postgresql or prepared.compile_for_postgresql(_DIALECT)


class _First(NamedTuple):
    """The first statement of a snapshot, and its rows."""

    statement: Compiled
    values: dict[str, Any]
    rows: list[Row]

    def check(self, rows: list[Row]) -> None:
        if rows != self.rows:
            raise SnapshotChanged


class PostgresReader(Reader):
    """A connection that reads one snapshot at a time, and connects again after its server was restarted.

    Most look-ups are one statement. So the first statement runs without a transaction, and the second one begins a
    transaction, runs the first again and raises SnapshotChanged if its rows have changed.
    """

    keeps_rows = True

    def __init__(self, connect: Callable[[], Connection], connection: Connection) -> None:
        """Take over an open connection. `connect` returns a new one."""
        super().__init__(connection)
        self._statements = PostgresConnection(connection, connect)
        self._is_begun = False
        self._first: _First | None = None

    def prepare(self) -> None:
        """Do nothing, because the transaction of a snapshot is read-only."""

    def begin(self, rows: dict[tuple[Any, ...], Any]) -> None:
        """Begin a snapshot. The first statement fixes its rows, and cached rows need no statement."""
        self.rows = rows if self.keeps_rows else {}

    def end(self) -> None:
        """End the snapshot."""
        self.rows = {}
        self._first = None
        if self._is_begun:
            self._is_begun = False
            self._statements.roll_back()

    def begin_transaction(self) -> PostgresConnection:
        """Begin the transaction of the snapshot in the queue of the connection, and return the connection."""
        if not self._is_begun:
            self._is_begun = True
            self._statements.begin(_SNAPSHOT)
            if self._first:
                self._statements.queue(self._first.statement, self._first.values, self._first.check)
        return self._statements

    def for_statement(self) -> PostgresConnection:
        """Return the connection for the next statement, which needs a transaction unless it is the first."""
        return self.begin_transaction() if self._is_begun or self._first else self._statements

    def run(self, prepared: Prepared, values: dict[str, Any]) -> list[Row]:
        """Run a statement that reads, and return its rows. Raises SnapshotChanged."""
        statement = compiled(prepared)
        rows = self.for_statement().read(statement, values)
        if not self._is_begun:
            self._first = _First(statement, values, rows)
        return rows

    def select(self, statement: Select[Any]) -> list[Row]:
        """Run a SELECT statement that is not prepared and return its rows. Raises SnapshotChanged."""
        return self.begin_transaction().select(statement)

    def close(self) -> None:
        """Close the connection."""
        self._statements.close()


class SharedPostgresReader(PostgresReader):
    """A reader of a database that other processes write, so that rows are cached for one snapshot only."""

    keeps_rows = False
