"""Defines the Store, which has the classes for all groups of tables as attributes, and reads and writes its rows.

All tables are read and written row by row, or the rows of one user. The values of rows from outside are checked.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sqlalchemy import Column, Float, Integer, Table

from ...core.events.calendars import CalendarRole
from ...core.files.permissions import GRANTEES, Role
from ...core.http.messages import JSON
from ...core.notifications.channels import ChannelState as ChannelState
from ...core.times import to_millis, zone_names
from ...core.uploads.transitions import UploadState as UploadState
from ..auth.tables import OAuth, Users
from ..calendars.tables import Calendars, Events
from ..files.tables import ChangeLog, FileTable, Permissions
from ..notifications.tables import ACTIVE, Channels, Outbox, Trusted
from ..uploads.tables import UploadSessionTable
from . import schema as db, upgrades
from .contents import Contents
from .engine import Database, Row, TableGroup, column_names, inserting
from .opening import open_database

if TYPE_CHECKING:
    from .postgres.database import PostgresDatabase
    from .postgres.side_connections import KeptRecords
    from .postgres.state import SharedTables


class Deadline(NamedTuple):
    """The time of an expiration or a delivery, in Unix milliseconds, with texts that describe what happens."""

    time: int
    what: str
    user: str
    subject: str
    detail: str


_UPLOADS = """SELECT owner, metadata, stored, total, touched FROM sessions
    WHERE state = 'open' AND touched > :since AND touched <= :until"""
_OTHERS = f"""SELECT expiration, 'channel expires', "user", id, address FROM channels
        WHERE state = '{ACTIVE}' AND expiration > :first AND expiration <= :last
    UNION ALL SELECT CAST(ROUND(expires * 1000) AS BIGINT), 'token expires', "user", client, scopes FROM tokens
        WHERE expires > :first / 1000.0 AND expires <= :last / 1000.0
    UNION ALL SELECT m.due, 'message is sent', c."user", c.id, m.state || ', attempt ' || (m.attempts + 1)
        FROM messages AS m JOIN channels AS c ON c.seq = m.channel WHERE m.due > :first AND m.due <= :last"""


_HISTORY = "history"


class Store:
    """The database tables of a service. The bytes of the contents are in a BlobStore instead."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.transaction = database.transaction
        self.exclusive: Callable[[], AbstractContextManager[Any]] = database.exclusive
        self.counters = database.counters
        self.reading = database.reading
        self.end_snapshot = database.end_snapshot
        self.users = Users(database)
        self.oauth = OAuth(database)
        self.files = FileTable(database)
        self.contents = Contents(database)
        self.upload_sessions: UploadSessionTable = UploadSessionTable(database)
        self.permissions = Permissions(database)
        self.channels = Channels(database)
        self.outbox: Outbox = Outbox(database)
        self.changes = ChangeLog(database)
        self.trusted = Trusted(database)
        self.calendars = Calendars(database)
        self.events = Events(database)
        self.user_rows = UserRows(database)
        self.is_shared = database.is_shared
        self._records: KeptRecords | None = None
        # The tables and values of the processes that share the store, or None if it is not shared.
        self.shared: SharedTables | None = None
        if database.is_shared:
            from .postgres.state import SharedTables  # statements of PostgreSQL, which a browser does not need

            self.shared = SharedTables(database)
            self.upload_sessions, self.outbox = self.shared.upload_sessions, self.shared.outbox

    def records(self, most: int) -> KeptRecords:
        """Return the journal and the log of deliveries in a PostgreSQL database, which keep their last `most` rows."""
        from .postgres.side_connections import KeptRecords

        self._records = KeptRecords.of(cast("PostgresDatabase", self.database).side_connection(), most)
        return self._records

    def deletable(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the parts to delete now, if these parts belong to no content any more.

        A store that several processes share returns other parts, which were passed to this method long ago.
        """
        return self.shared.deletable(parts) if self.shared else parts

    def has(self, kind: str, key: str) -> bool:
        """Return True if there is a "file", "channel", "calendar" or "event" with an id."""
        if kind == "event":
            return self.events.exists(key.split("_")[0])  # an instance has the id of its series
        tables = {"file": self.files.get, "channel": self.channels.get, "calendar": self.calendars.get}
        return tables[kind](key) is not None

    def deadlines(self, first: int, last: int, session_lifetime: float) -> list[Deadline]:
        """Return the deadlines later than `first` and not later than `last` (Unix milliseconds), sorted by time.

        These are all in the future, and those in the past whose rows still exist. An upload session expires after
        `session_lifetime` seconds without a request.
        """
        deadlines = [Deadline._make(row) for row in self.database.run(_OTHERS, {"first": first, "last": last})]
        bounds = {"since": first / 1000 - session_lifetime, "until": last / 1000 - session_lifetime}
        for owner, metadata, stored, total, touched in self.database.run(_UPLOADS, bounds):
            size = f"{stored:,} bytes" if total is None else f"{stored:,} of {total:,} bytes"
            name = str(json.loads(metadata).get("name") or "")
            deadlines.append(Deadline(round((touched + session_lifetime) * 1000), "upload expires", owner, name, size))
        return sorted(deadlines)

    def history(self) -> str:
        """Return the number of the present history of changes. A sync token of an earlier history is too old."""
        return self.users.named_value(_HISTORY) or "0"

    def _begin_history(self, before: str) -> None:
        """Begin a history of changes, because the numbers of changes after the history `before` occur again."""
        self.users.set_named_value(_HISTORY, str(max(int(before), int(self.history())) + 1))

    def clear(self) -> None:
        """Delete files, uploads, permissions, channels, events and secondary calendars. Users and OAuth data stay."""
        with self.transaction():
            self.database.delete_all(
                db.contents, db.ranges, db.sessions, db.generated, db.properties, db.opened, db.permissions
            )
            self.upload_sessions.invalidate_claims()
            self.database.delete_all(db.channels, db.messages, db.changes)
            self.channels.forget()
            self.database.delete_all(db.events, db.invitations, db.calendar_access, db.calendar_entries)
            self.database.change("DELETE FROM calendars WHERE id <> owner", {})
            self.database.reset_counters(db.messages, db.changes, db.events)
            self.events.forget()
            self.database.change("DELETE FROM files WHERE parent IS NOT NULL", {})
            self._begin_history(self.history())

    def rows(self) -> Iterator[tuple[str, Iterator[Row]]]:
        """Return an iterator over all tables, as pairs of the table name and an iterator over the rows."""
        return ((name, rows(self.database, name)) for name in TABLES)

    def load_rows(self, tables: Mapping[str, Iterable[Sequence[JSON]]], numbers: Mapping[str, int]) -> None:
        """Replace all rows and counters. Raises ValueError, and changes nothing, if the rows contradict each other."""
        with self.exclusive():
            before = self.history()
            load_rows(self.database, tables, numbers)
            self._forget()
            self._begin_history(before)

    def image(self) -> bytes:
        """Return a copy of the whole database as bytes."""
        if self.database.dialect == "sqlite":
            return self.database.image()
        with closing(open_database(None, "process")) as copy:
            load_rows(copy, dict(self.rows()), self.counters())
            return copy.image()

    def restore(self, image: bytes) -> None:
        """Replace all rows by the rows in `image`, which the method `image` returned."""
        with self.exclusive():  # or a request in progress could change a restored session
            before = self.history()
            if self.database.dialect == "sqlite":
                self.database.restore(image)
            else:
                with closing(open_database(None, "process")) as copy:
                    copy.restore(image)
                    load_rows(self.database, {name: rows(copy, name) for name in TABLES}, copy.counters())
            self._forget()
            self._begin_history(before)

    def _forget(self) -> None:
        self.users.forget()
        self.channels.forget()
        self.events.forget()
        self.upload_sessions.invalidate_claims()

    def close(self) -> None:
        """Close the database."""
        if self.shared:
            self.shared.values.close()
        if self._records:
            self._records.connection.close()
        self.database.close()


_LARGEST = 2**63

TABLES: Mapping[str, Table] = {table.name: table for table in db.metadata.sorted_tables}


def columns(table: str) -> list[str]:
    """Return the column names of a table, in the order of its values in a row."""
    return [column.name for column in TABLES[table].columns]


def rows(database: Database, table: str) -> Iterator[Row]:
    """Yield all rows of a table, in the order of the primary key."""
    keys = [column.name for column in TABLES[table].primary_key.columns]
    yield from database.run(f"SELECT {column_names(columns(table))} FROM {table} ORDER BY {column_names(keys)}", {})


def check_row(table: str, row: JSON) -> Sequence[JSON]:
    """Check a row of a table and return it. Raises ValueError if the number, type or range of its values is invalid."""
    expected = TABLES[table].columns
    if not isinstance(row, list) or len(row) != len(expected):
        raise ValueError(f"a row of {table} must have {len(expected)} values")
    for column, value in zip(expected, row, strict=True):
        if not (_has_column_type(column, value) and is_valid_value(table, column.name, value)):
            raise ValueError(f"{table}.{column.name} cannot be {value!r:.40}")
    return row


def upgrade_rows(
    tables: Mapping[str, Iterable[JSON]], names: Mapping[str, Sequence[str]], version: int
) -> dict[str, Iterable[JSON]]:
    """Upgrade rows from an older schema version, with the column names `names` of each table.

    Raises ValueError if the version is unknown, the columns are not those of the version, or a row is invalid.
    """
    if not 1 <= version <= upgrades.VERSION:
        raise ValueError(f"the file has schema version {version}, and this package supports 1 to {upgrades.VERSION}")
    with closing(upgrades.empty_database(version)) as driver:
        if names != upgrades.columns(driver):
            raise ValueError("the file was saved by another version of this package, which has other tables")
        for table, rows in tables.items():
            placeholders = ", ".join("?" * len(names[table]))
            try:
                driver.executemany(f"INSERT INTO {table} VALUES ({placeholders})", map(_check_list, rows))
            except (sqlite3.Error, OverflowError, TypeError, UnicodeError) as error:
                raise ValueError(f"{table} has an invalid row: {error}") from None
        upgrades.upgrade(driver)
        upgraded: dict[str, Iterable[JSON]] = {}
        for table in TABLES:
            selected = ", ".join(f'"{name}"' for name in columns(table))
            upgraded[table] = [list(row) for row in driver.execute(f"SELECT {selected} FROM {table}")]
        return upgraded


def _check_list(row: JSON) -> list[Any]:
    if not isinstance(row, list):
        raise TypeError("a row must be a list of values")
    return row


def _has_column_type(column: Column[object], value: JSON) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(value, bool):
        return False
    if isinstance(column.type, Float):
        return isinstance(value, int | float) and -_LARGEST < value < _LARGEST
    if isinstance(column.type, Integer):
        return isinstance(value, int) and -_LARGEST <= value < _LARGEST
    return isinstance(value, str)


def load_rows(database: Database, tables: Mapping[str, Iterable[Sequence[JSON]]], numbers: Mapping[str, int]) -> None:
    """Replace all rows and counters in one transaction. Raises ValueError if the rows contradict each other."""
    with database.transaction():
        database.delete_all(*TABLES.values())
        for name, table in TABLES.items():
            adding = inserting(table, columns(name))
            for row in tables.get(name, ()):
                database.add(adding, dict(zip(columns(name), row, strict=True)))
        database.set_counters(numbers)


_FIRST = to_millis(datetime(1, 1, 2, tzinfo=UTC))
_LAST = to_millis(datetime(9999, 12, 30, tzinfo=UTC))


def _object(value: JSON) -> bool:
    try:
        return isinstance(json.loads(str(value)), dict)
    except (ValueError, RecursionError):
        return False


def _among(*words: str | int) -> Callable[[JSON], bool]:
    return lambda value: value in words


# The check function for each "table.column". `is_valid_value` accepts None in every column.
# fmt: off
MEANING: Mapping[str, Callable[[JSON], bool]] = {
    **dict.fromkeys((
        "files.created", "files.modified", "files.modified_by_me", "files.viewed", "files.trashed_at",
        "permissions.since", "channels.expiration", "messages.due", "changes.time", "calendars.created",
        "events.start", "events.end", "events.created", "events.updated", "invitations.time",
    ), lambda value: isinstance(value, int) and _FIRST <= value <= _LAST),
    **dict.fromkeys(("tokens.expires", "sessions.touched", "grants.expires"),
                    lambda value: isinstance(value, int | float) and _FIRST / 1000 <= value <= _LAST / 1000),
    **dict.fromkeys(("files.extra", "sessions.metadata", "calendars.body", "calendar_entries.body", "events.body"),
                    _object),
    **dict.fromkeys(("files.size", "sessions.stored", "sessions.total", "rope.start", "rope.stop"),
                    lambda value: isinstance(value, int) and value >= 0),
    "calendars.zone":       lambda value: value in zone_names(),
    "permissions.type":     _among(*GRANTEES),
    "permissions.role":     _among(*map(int, Role)),
    "calendar_access.role": _among(0, *map(int, CalendarRole)),
    "sessions.state":       _among(*(state.value for state in UploadState)),
    "channels.state":       _among(*(state.value for state in ChannelState)),
}


def is_valid_value(table: str, column: str, value: JSON) -> bool:
    """Return True if a value, which already has the right type, is valid in a column.

    >>> is_valid_value("files", "created", 0), is_valid_value("files", "created", 2**62)
    (True, False)
    """
    check = MEANING.get(f"{table}.{column}")
    return value is None or check is None or check(value)


# -- the rows of one user, for a backup of the user


_FILES = "SELECT id FROM files WHERE owner = :user AND parent IS NOT NULL ORDER BY seq"
_SESSIONS = "SELECT id, content FROM sessions WHERE owner = :user"
_CHANNELS = 'SELECT seq, state FROM channels WHERE "user" = :user'

_OWN_FILES = "SELECT id FROM files WHERE owner = :user"
_OWN_CALENDARS = "SELECT id FROM calendars WHERE owner = :user"
_OWN_CONTENTS = """SELECT content FROM files WHERE owner = :user AND content IS NOT NULL
    UNION SELECT content FROM sessions WHERE owner = :user"""
# The condition for the rows of a user in each table. A table comes after the tables that name its rows.
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
