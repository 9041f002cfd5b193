"""Upload sessions. Whoever changes one says which generation it claimed: the last to begin wins, no other lands."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, update

from ..database.engine import Database, Prepared, inserting
from ..database.schema import sessions


class SessionRow(NamedTuple):
    """One session; `query` is the initiation's, `answer` the body that its completion answered."""

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


class UploadSessionTable:
    """The sessions that are remembered."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._claims = count(1)  # no number twice, not even after a restore: they only tell requests of now apart

    def add(self, row: SessionRow) -> None:
        """Open a session."""
        self._database.change(_ADD, row._asdict())

    def get(self, key: str) -> SessionRow | None:
        """A session by its upload_id."""
        row = self._database.fetch_one(_GET, {"key": key})
        return SessionRow._make(row) if row else None

    def claim(self, key: str) -> SessionRow | None:
        """A session for a request that will change it: from now on no earlier request can."""
        row = self._database.change_one(_CLAIM, {"key": key, "mine": next(self._claims)})
        return SessionRow._make(row) if row else None

    def invalidate_claims(self) -> None:
        """Let no request that is under way change any session."""
        self._database.change(_INVALIDATE_CLAIMS, {})

    def save(self, row: SessionRow) -> bool:
        """Write what changed; False: a later request has claimed the session, and nothing is written."""
        return self._database.change(_SAVE, {**row._asdict(), "key": row.id, "mine": row.generation}) == 1

    def save_answer(self, key: str, answer: str) -> None:
        """What a completed session answers from now on."""
        self._database.change(_ANSWER, {"key": key, "text": answer})

    def older_than(self, before: float) -> list[SessionRow]:
        """Some of the sessions that were last touched at or before this time (Unix seconds)."""
        return [SessionRow._make(row) for row in self._database.run(_OLD, {"before": before})]

    def drop(self, key: str) -> None:
        """Forget a session."""
        self._database.change(_DROP, {"key": key})
