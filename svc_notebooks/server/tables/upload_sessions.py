"""The upload sessions. A change names the generation that its request claimed, and only the last claim is valid."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, update

from ..database.engine import Database, Prepared, TableGroup, inserting
from ..database.schema import sessions


class SessionRow(NamedTuple):
    """A session, with the query of its initiation and the body of the response to its completion (`answer`)."""

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
    """The upload sessions."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._claims = count(1)  # no number twice, not even after a restore: they only tell requests of now apart

    def add(self, row: SessionRow) -> None:
        """Add a session."""
        self._database.change(_ADD, row._asdict())

    def get(self, key: str) -> SessionRow | None:
        """Return a session by its upload_id, or None."""
        row = self._database.fetch_one(_GET, {"key": key})
        return SessionRow._make(row) if row else None

    def claim(self, key: str) -> SessionRow | None:
        """Return a session, or None, and let only this claim change it from now on."""
        row = self._database.change_one(_CLAIM, {"key": key, "mine": next(self._claims)})
        return SessionRow._make(row) if row else None

    def invalidate_claims(self) -> None:
        """Let no present claim change a session."""
        self._database.change(_INVALIDATE_CLAIMS, {})

    def save(self, row: SessionRow) -> bool:
        """Save a session and return True, or False if a later request has claimed it."""
        return self._database.change(_SAVE, {**row._asdict(), "key": row.id, "mine": row.generation}) == 1

    def save_answer(self, key: str, answer: str) -> None:
        """Store the body of the responses of a completed session."""
        self._database.change(_ANSWER, {"key": key, "text": answer})

    def older_than(self, before: float) -> list[SessionRow]:
        """Return at most 100 sessions that were last used at or before this time (Unix seconds)."""
        return [SessionRow._make(row) for row in self._database.run(_OLD, {"before": before})]

    def drop(self, key: str) -> None:
        """Delete a session."""
        self._database.change(_DROP, {"key": key})
