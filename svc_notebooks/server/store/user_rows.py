"""Selects and adds the rows of one user in all tables, for a backup of the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.http.messages import JSON
from . import schema as db
from .dump import TABLES, columns
from .engine import TableGroup, inserting

_FILES = "SELECT id FROM files WHERE owner = :user AND parent IS NOT NULL ORDER BY seq"
_SESSIONS = "SELECT id, content FROM sessions WHERE owner = :user"
_CHANNELS = 'SELECT seq, state FROM channels WHERE "user" = :user'

_OWN_FILES = "SELECT id FROM files WHERE owner = :user"
_OWN_CALENDARS = "SELECT id FROM calendars WHERE owner = :user"
_OWN_CONTENTS = """SELECT content FROM files WHERE owner = :user AND content IS NOT NULL
    UNION SELECT content FROM sessions WHERE owner = :user"""
_OF_USER = {
    "users": "email = :user",
    "generated": "owner = :user",
    "changes": '"user" = :user',
    "invitations": "recipient = :user",
    "properties": f"file IN ({_OWN_FILES})",
    "opened": f"file IN ({_OWN_FILES})",
    "permissions": f"file IN ({_OWN_FILES})",
    "rope": f"content IN ({_OWN_CONTENTS})",
    "contents": f"id IN ({_OWN_CONTENTS})",
    "messages": 'channel IN (SELECT seq FROM channels WHERE "user" = :user)',
    "channels": '"user" = :user',
    "calendar_access": f"calendar IN ({_OWN_CALENDARS})",
    "calendar_entries": f'"user" = :user OR calendar IN ({_OWN_CALENDARS})',
    "events": f"calendar = :user OR calendar IN ({_OWN_CALENDARS})",
    "calendars": "owner = :user",
    "sessions": "owner = :user",
    "files": "owner = :user",
}
"""The condition for the rows of a user in each table. A table comes after the tables that name its rows."""


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
            for table, condition in _OF_USER.items():
                self._database.change(f"DELETE FROM {table} WHERE NOT ({condition})", {"user": user})

    def add(self, table: str, row: Mapping[str, JSON]) -> None:
        """Add a row to a table. A missing number of the row is assigned. Raises ValueError if the row exists."""
        self._database.add(inserting(TABLES[table], row), dict(row))


def row_by_name(table: str, row: Sequence[JSON]) -> dict[str, JSON]:
    """Return the values of a row of an archive by column name."""
    return dict(zip(columns(table), row, strict=True))
