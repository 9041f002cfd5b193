"""The table of upload sessions. Each request claims its session, and only the last claim can change the session."""

from __future__ import annotations

from itertools import count
from operator import attrgetter
from typing import NamedTuple

from ..store.engine import Database, TableGroup, column_names, inserting
from ..store.schema import sessions


class SessionRow(NamedTuple):
    """A database row of an upload session.

    `query` is the query string of the initiation. `answer` is the body of the response after completion, or None.
    `claim` is not stored. It is the number of the request's claim, or 0 without a claim.
    """

    id: str
    owner: str
    client: str
    file: str | None
    metadata: str
    media_type: str | None
    query: str
    content: int
    stored: int
    total: int | None
    state: str
    touched: float
    answer: str | None = None
    claim: int = 0


_CHANGING = ("file", "stored", "total", "state", "touched")
_SAVED = attrgetter("id", *_CHANGING)
_STORED = SessionRow._fields[:-1]
_COLUMNS = column_names(_STORED)

_ADD = inserting(sessions, _STORED)
_GET = f"SELECT {_COLUMNS} FROM sessions WHERE id = :id"
SAVE = f"UPDATE sessions SET {', '.join(f'{name} = :{name}' for name in _CHANGING)} WHERE id = :id"
_OLD = f"SELECT {_COLUMNS} FROM sessions WHERE touched <= :before ORDER BY touched LIMIT 100"
_STORED_BY = "SELECT COALESCE(SUM(stored), 0) FROM sessions WHERE owner = :owner AND state = 'open'"
DROP = "DELETE FROM sessions WHERE id = :id"


class UploadSessionTable(TableGroup):
    """The table of upload sessions."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._numbers = count(1)
        self._claims: dict[str, int] = {}  # the last claim of each session, only used with the lock of the database

    def add(self, row: SessionRow) -> None:
        """Add an upload session."""
        self._database.change(_ADD, row._asdict())

    def get(self, key: str) -> SessionRow | None:
        """Return the upload session with an `upload_id`, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"id": key})
        return SessionRow(*row) if row else None

    def claim(self, key: str) -> SessionRow | None:
        """Claim an upload session and return its row, or None if the id is unknown. Earlier claims become invalid."""
        with self._database.lock:
            row = self._database.fetch_one(_GET, {"id": key})
            if row is None:
                return None
            self._claims[key] = number = next(self._numbers)
        return SessionRow._make((*row, number))

    def invalidate_claims(self) -> None:
        """Invalidate all claims, so that requests in progress can no longer change their sessions."""
        with self._database.lock:
            self._claims.clear()

    def save(self, row: SessionRow) -> bool:
        """Save the row of a session. Returns False, and saves nothing, if a later request has claimed the session."""
        with self._database.transaction():
            if self._claims.get(row.id) != row.claim:
                return False
            return self._database.change(SAVE, dict(zip(("id", *_CHANGING), _SAVED(row), strict=True))) == 1

    def keep(self, row: SessionRow) -> None:
        """Keep a saved row in memory for the next request. Call this after the last change of the transaction."""
        self._database.keep_row(_GET, {"id": row.id}, row[:-1])

    def save_answer(self, key: str, answer: str) -> None:
        """Store the response body of a completed session, which all later responses repeat."""
        self._database.change("UPDATE sessions SET answer = :answer WHERE id = :id", {"id": key, "answer": answer})

    def older_than(self, before: float) -> list[SessionRow]:
        """Return at most 100 sessions that were last used at or before this time (Unix seconds)."""
        return [SessionRow(*row) for row in self._database.run(_OLD, {"before": before})]

    def drop(self, key: str) -> None:
        """Delete the row of a session."""
        with self._database.transaction():
            self._claims.pop(key, None)
            self._database.change(DROP, {"id": key})

    def count_open(self) -> int:
        """Return the number of open sessions of all users."""
        return int(self._database.run("SELECT COUNT(*) FROM sessions WHERE state = 'open'", {})[0][0])

    def stored_by(self, owner: str) -> int:
        """Return the number of bytes that the open sessions of a user have stored."""
        return int(self._database.run(_STORED_BY, {"owner": owner})[0][0])
