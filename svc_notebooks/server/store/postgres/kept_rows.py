"""The journal and the log of deliveries in a PostgreSQL database, for all processes that use it.

The rows are written outside of the transactions of requests, because they are about requests that fail as well.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from .schema import deliveries, journal

if TYPE_CHECKING:
    from .database import PostgresDatabase
    from .side_connections import SideConnection


_ADDED_BEFORE_TRIM = 100


class KeptRows:
    """A table of JSON documents with numbers. At least its last `most` rows are kept, and no more are shown."""

    def __init__(self, connection: SideConnection, table: str, most: int) -> None:
        self._connection, self._table, self.most = connection, table, most
        self._added = 0

    def add(self, document: Any) -> int:
        """Add a row, and return its number."""
        self._added += 1
        if self._added % _ADDED_BEFORE_TRIM == 0:
            self._run("DELETE FROM {} WHERE n <= (SELECT max(n) FROM {}) - :most", most=self.most)
        added = self._run("INSERT INTO {} (document) VALUES (:document) RETURNING n", document=json.dumps(document))
        return int(added[0][0])

    def replace(self, n: int, document: Any) -> None:
        """Replace the row with the number `n`, if it still exists."""
        self._run("UPDATE {} SET document = :document WHERE n = :n", n=n, document=json.dumps(document))

    def rows(self, since: int = 0) -> list[tuple[int, Any]]:
        """Return the last rows with a number above `since`, oldest first."""
        rows = self._run(
            "SELECT n, document FROM {} WHERE n > :since ORDER BY n DESC LIMIT :most", since=since, most=self.most
        )
        return [(n, json.loads(document)) for n, document in reversed(rows)]

    def last(self) -> int:
        """Return the number of the last row, or 0 without rows."""
        return int(self._run("SELECT coalesce(max(n), 0) FROM {}")[0][0])

    def clear(self) -> None:
        """Delete all rows, and restart the numbers at 1."""
        self._run("TRUNCATE {} RESTART IDENTITY")

    def _run(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.run(sql.replace("{}", self._table), values)


class KeptRecords(NamedTuple):
    """The journal and the log of deliveries of a database."""

    journal: KeptRows
    deliveries: KeptRows
    connection: SideConnection

    @classmethod
    def of(cls, database: PostgresDatabase, most: int) -> KeptRecords:
        """Return the records of a database, which keep their last `most` rows."""
        connection = database.side_connection()
        return cls(KeptRows(connection, journal.name, most), KeptRows(connection, deliveries.name, most), connection)

    def journal_id(self) -> str:
        """Return the id of the journal, which changes when its numbers restart at 1."""
        rows = self.connection.run(
            "INSERT INTO svc_values (key, value, version) VALUES ('journal', :new, 0)"
            " ON CONFLICT (key) DO UPDATE SET version = 0 RETURNING value",
            {"new": json.dumps(uuid4().hex[:16])},
        )
        return str(json.loads(rows[0][0]))

    def clear(self) -> None:
        """Delete all rows, and give the journal a new id."""
        self.journal.clear()
        self.deliveries.clear()
        self.connection.run("DELETE FROM svc_values WHERE key = 'journal'", {})
