"""Selects and adds the rows of one user in all tables, for a backup of the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, or_, select

from ...core.http.messages import JSON
from . import schema as db
from .dump import TABLES, columns
from .engine import TableGroup, inserting

_FILES = "SELECT id FROM files WHERE owner = :user AND parent IS NOT NULL ORDER BY seq"
_SESSIONS = "SELECT id, content FROM sessions WHERE owner = :user"
_CHANNELS = 'SELECT seq, state FROM channels WHERE "user" = :user'


class UserRows(TableGroup):
    """The rows of one user in all tables."""

    def files(self, user: str) -> list[str]:
        """Return the ids of the files that a user owns, oldest first, without the root folder."""
        return [key for (key,) in self._database.run(_FILES, {"user": user})]

    def sessions(self, user: str) -> list[tuple[str, int]]:
        """Return the id and the number of the content of each upload session of a user."""
        return [(key, content) for key, content in self._database.run(_SESSIONS, {"user": user})]

    def channels(self, user: str) -> list[tuple[int, str]]:
        """Return the number and the state of each channel of a user."""
        return [(seq, state) for seq, state in self._database.run(_CHANNELS, {"user": user})]

    def count_events(self, calendar: str) -> int:
        """Return the number of event rows in a calendar."""
        rows = self._database.run("SELECT COUNT(*) FROM events WHERE calendar = :calendar", {"calendar": calendar})
        return int(rows[0][0])

    def keep_only(self, user: str) -> None:
        """Delete everything that does not belong to a user, also tokens, clients and named values of the service."""
        with self._database.transaction():
            self._database.delete_all(
                db.meta, db.tokens, db.clients, db.accounts, db.grants, db.granted, db.domains, db.authorities
            )
            for table, condition in _of_user(user):
                self._database.delete_all(table, where=~condition)

    def add(self, table: str, row: Mapping[str, JSON]) -> None:
        """Add a row to a table. A missing number of the row is assigned. Raises ValueError if the row exists."""
        self._database.add(inserting(TABLES[table], row), dict(row))


def row_by_name(table: str, row: Sequence[JSON]) -> dict[str, JSON]:
    """Return the values of a row of an archive by column name."""
    return dict(zip(columns(table), row, strict=True))


def _of_user(user: str) -> list[tuple[Table, ColumnElement[bool]]]:
    """Return the condition for the rows of a user in each table. A table comes after the tables that name its rows."""
    own_files = select(db.files.c.id).where(db.files.c.owner == user)
    own_calendars = select(db.calendars.c.id).where(db.calendars.c.owner == user)
    own_contents: Any = select(db.files.c.content).where(db.files.c.owner == user, db.files.c.content.is_not(None))
    own_contents = own_contents.union(select(db.sessions.c.content).where(db.sessions.c.owner == user))
    return [
        (db.users, db.users.c.email == user),
        (db.generated, db.generated.c.owner == user),
        (db.changes, db.changes.c.user == user),
        (db.invitations, db.invitations.c.recipient == user),
        (db.properties, db.properties.c.file.in_(own_files)),
        (db.opened, db.opened.c.file.in_(own_files)),
        (db.permissions, db.permissions.c.file.in_(own_files)),
        (db.ranges, db.ranges.c.content.in_(own_contents)),
        (db.contents, db.contents.c.id.in_(own_contents)),
        (db.messages, db.messages.c.channel.in_(select(db.channels.c.seq).where(db.channels.c.user == user))),
        (db.channels, db.channels.c.user == user),
        (db.calendar_access, db.calendar_access.c.calendar.in_(own_calendars)),
        (
            db.calendar_entries,
            or_(db.calendar_entries.c.user == user, db.calendar_entries.c.calendar.in_(own_calendars)),
        ),
        (db.events, or_(db.events.c.calendar == user, db.events.c.calendar.in_(own_calendars))),
        (db.calendars, db.calendars.c.owner == user),
        (db.sessions, db.sessions.c.owner == user),
        (db.files, db.files.c.owner == user),
    ]
