"""Selects and adds the rows of one user in all tables, for a backup of the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Table, bindparam, or_, select

from ...core.http.messages import JSON
from .dump import TABLES, columns
from .engine import Prepared, TableGroup, inserting
from .schema import (
    accounts,
    authorities,
    calendar_access,
    calendar_entries,
    calendars,
    changes,
    channels,
    clients,
    contents,
    domains,
    events,
    files,
    generated,
    granted,
    grants,
    invitations,
    messages,
    meta,
    opened,
    permissions,
    properties,
    rope,
    sessions,
    tokens,
    users,
)

_USER: BindParameter[str] = bindparam("user")
_FILES = Prepared(select(files.c.id).where(files.c.owner == _USER, files.c.parent.is_not(None)).order_by(files.c.seq))
_SESSIONS = Prepared(select(sessions.c.id, sessions.c.content).where(sessions.c.owner == _USER))
_CHANNELS = Prepared(select(channels.c.seq, channels.c.state).where(channels.c.user == _USER))
_EVENTS = Prepared(select(events.c.id).where(events.c.calendar == bindparam("calendar")))


class SessionContent(NamedTuple):
    """The id of an upload session and the number of its content."""

    id: str
    content: int


class UserRows(TableGroup):
    """The rows of one user in all tables."""

    def files(self, user: str) -> list[str]:
        """Return the ids of the files that a user owns, oldest first, without the root folder."""
        return [key for (key,) in self._database.run(_FILES, {"user": user})]

    def sessions(self, user: str) -> list[SessionContent]:
        """Return the upload sessions of a user."""
        return [SessionContent._make(row) for row in self._database.run(_SESSIONS, {"user": user})]

    def channels(self, user: str) -> list[tuple[int, str]]:
        """Return the number and the state of each channel of a user."""
        return [(seq, state) for seq, state in self._database.run(_CHANNELS, {"user": user})]

    def count_events(self, calendar: str) -> int:
        """Return the number of event rows in a calendar."""
        return len(self._database.run(_EVENTS, {"calendar": calendar}))

    def keep_only(self, user: str) -> None:
        """Delete everything that does not belong to a user, also tokens, clients and named values of the service."""
        with self._database.transaction():
            self._database.delete_all(meta, tokens, clients, accounts, grants, granted, domains, authorities)
            for table, condition in _of_user(user):
                self._database.delete_all(table, where=~condition)

    def add(self, table: str, row: Mapping[str, JSON]) -> None:
        """Add a row to a table. A missing number of the row is assigned. Raises ValueError if the row exists."""
        self._database.add(_adding(table, tuple(row)), dict(row))


def _adding(table: str, names: tuple[str, ...]) -> Prepared:
    return inserting(TABLES[table], names)


def row_by_name(table: str, row: Sequence[JSON]) -> dict[str, JSON]:
    """Return the values of a row of an archive by column name."""
    return dict(zip(columns(table), row, strict=True))


def _of_user(user: str) -> list[tuple[Table, ColumnElement[bool]]]:
    """Return the condition for the rows of a user in each table. A table comes after the tables that name its rows."""
    own_files = select(files.c.id).where(files.c.owner == user)
    own_calendars = select(calendars.c.id).where(calendars.c.owner == user)
    own_contents: Any = select(files.c.content).where(files.c.owner == user, files.c.content.is_not(None))
    own_contents = own_contents.union(select(sessions.c.content).where(sessions.c.owner == user))
    return [
        (users, users.c.email == user),
        (generated, generated.c.owner == user),
        (changes, changes.c.user == user),
        (invitations, invitations.c.recipient == user),
        (properties, properties.c.file.in_(own_files)),
        (opened, opened.c.file.in_(own_files)),
        (permissions, permissions.c.file.in_(own_files)),
        (rope, rope.c.content.in_(own_contents)),
        (contents, contents.c.id.in_(own_contents)),
        (messages, messages.c.channel.in_(select(channels.c.seq).where(channels.c.user == user))),
        (channels, channels.c.user == user),
        (calendar_access, calendar_access.c.calendar.in_(own_calendars)),
        (calendar_entries, or_(calendar_entries.c.user == user, calendar_entries.c.calendar.in_(own_calendars))),
        (events, or_(events.c.calendar == user, events.c.calendar.in_(own_calendars))),
        (calendars, calendars.c.owner == user),
        (sessions, sessions.c.owner == user),
        (files, files.c.owner == user),
    ]
