"""The table of upload sessions. Each request claims its session, and only the last claim can change the session."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, update

from ..database.engine import Database, Prepared, TableGroup, inserting
from ..database.schema import sessions


class SessionRow(NamedTuple):
    """A database row of an upload session.

    `query` is the query string of the initiation. `answer` is the body of the response after completion, or None.
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
    generation: int
    answer: str | None


_CHANGING = ("file", "stored", "total", "state", "touched")
_COLUMNS = tuple(sessions.c[name] for name in SessionRow._fields)

_ADD = inserting(sessions, SessionRow._fields)
_GET = Prepared(select(*_COLUMNS).where(sessions.c.id == bindparam("key")))
_CLAIM = Prepared(
    update(sessions).where(sessions.c.id == bindparam("key")).values(generation=bindparam("mine")).returning(*_COLUMNS)
)
_SAVE = Prepared(
    update(sessions)
    .where(sessions.c.id == bindparam("key"), sessions.c.generation == bindparam("mine"))
    .values({name: bindparam(name) for name in _CHANGING})
)
_ANSWER = Prepared(update(sessions).where(sessions.c.id == bindparam("key")).values(answer=bindparam("text")))
_OLD = Prepared(
    select(*_COLUMNS).where(sessions.c.touched <= bindparam("before")).order_by(sessions.c.touched).limit(100)
)
_INVALIDATE_CLAIMS = Prepared(update(sessions).values(generation=0))
_DROP = Prepared(delete(sessions).where(sessions.c.id == bindparam("key")))


class UploadSessionTable(TableGroup):
    """The table of upload sessions."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._claims = count(1)  # only distinguishes running requests; not restored, so that no number is used twice

    def add(self, row: SessionRow) -> None:
        """Add an upload session."""
        self._database.change(_ADD, row._asdict())

    def get(self, key: str) -> SessionRow | None:
        """Return the upload session with an `upload_id`, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"key": key})
        return SessionRow._make(row) if row else None

    def claim(self, key: str) -> SessionRow | None:
        """Claim an upload session and return its row, or None if the id is unknown. Earlier claims become invalid."""
        row = self._database.change_one(_CLAIM, {"key": key, "mine": next(self._claims)})
        return SessionRow._make(row) if row else None

    def invalidate_claims(self) -> None:
        """Invalidate all claims, so that requests in progress can no longer change their sessions."""
        self._database.change(_INVALIDATE_CLAIMS, {})

    def save(self, row: SessionRow) -> bool:
        """Save the row of a session. Returns False, and saves nothing, if a later request has claimed the session."""
        return self._database.change(_SAVE, {**row._asdict(), "key": row.id, "mine": row.generation}) == 1

    def save_answer(self, key: str, answer: str) -> None:
        """Store the response body of a completed session, which all later responses repeat."""
        self._database.change(_ANSWER, {"key": key, "text": answer})

    def older_than(self, before: float) -> list[SessionRow]:
        """Return at most 100 sessions that were last used at or before this time (Unix seconds)."""
        return [SessionRow._make(row) for row in self._database.run(_OLD, {"before": before})]

    def drop(self, key: str) -> None:
        """Delete the row of a session."""
        self._database.change(_DROP, {"key": key})
