"""Defines the Store, which has the classes for all groups of tables as attributes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...core.http.messages import JSON
from ..auth.tables import OAuth, Users
from ..calendars.tables import Calendars, Events
from ..files.tables import ChangeLog, FileTable, Permissions
from ..notifications.tables import ACTIVE, Channels, Outbox, Trusted
from ..uploads.tables import UploadSessionTable
from . import dump, schema as db
from .contents import Contents
from .engine import Database, Row

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
        self.user_rows = dump.UserRows(database)
        self.is_shared = database.is_shared
        self._records: KeptRecords | None = None
        self.shared: SharedTables | None = None
        """The tables and values of the processes that share the store, or None if it is not shared."""
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
        return self.users.find_fact(_HISTORY) or "0"

    def _begin_history(self, before: str) -> None:
        """Begin a history of changes, because the numbers of changes after the history `before` occur again."""
        self.users.set_fact(_HISTORY, str(max(int(before), int(self.history())) + 1))

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
        return ((name, dump.rows(self.database, name)) for name in dump.TABLES)

    def load_rows(self, tables: Mapping[str, Iterable[Sequence[JSON]]], numbers: Mapping[str, int]) -> None:
        """Replace all rows and counters. Raises ValueError, and changes nothing, if the rows contradict each other."""
        with self.exclusive():
            before = self.history()
            dump.load_rows(self.database, tables, numbers)
            self._forget()
            self._begin_history(before)

    def image(self) -> bytes:
        """Return a copy of the whole database as bytes."""
        return self.database.image() if self.database.is_portable else dump.image(self.database)

    def restore(self, image: bytes) -> None:
        """Replace all rows by the rows in `image`, which the method `image` returned."""
        with self.exclusive():  # or a request in progress could change a restored session
            before = self.history()
            if self.database.is_portable:
                self.database.restore(image)
            else:
                dump.load_image(self.database, image)
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
