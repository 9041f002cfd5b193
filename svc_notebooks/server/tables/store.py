"""Joins the tables of all subjects into one store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from ...core.http.messages import JSON
from ..database.engine import Database, Row
from ..database.schema import (
    calendar_access,
    calendars,
    changes,
    channels,
    contents,
    events,
    files,
    generated,
    invitations,
    messages,
    opened,
    permissions,
    properties,
    rope,
    sessions,
)
from . import dump
from .calendars import Calendars
from .change_log import ChangeLog
from .channels import Channels
from .contents import Contents
from .deadlines import Deadlines
from .domains import Trusted
from .events import Events
from .files import FileTable
from .oauth import OAuth
from .outbox import Outbox
from .permissions import Permissions
from .upload_sessions import UploadSessionTable
from .users import Users


class Store:
    """Everything that is remembered but the bytes themselves."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.transaction = database.transaction
        self.users = Users(database)
        self.oauth = OAuth(database)
        self.files = FileTable(database)
        self.contents = Contents(database)
        self.upload_sessions = UploadSessionTable(database)
        self.permissions = Permissions(database)
        self.channels = Channels(database)
        self.outbox = Outbox(database)
        self.changes = ChangeLog(database)
        self.trusted = Trusted(database)
        self.calendars = Calendars(database)
        self.events = Events(database)
        self.deadlines = Deadlines(database)

    def exclusive(self) -> AbstractContextManager[bool | None]:
        """Nobody else reads or writes meanwhile."""
        return self._database.lock

    def clear(self) -> None:
        """Forget files, what was made of them and who watches them.

        Users and tokens stay, with their roots and primary calendars; so do registered domains and trusted authorities.
        """
        with self.transaction():
            self._database.delete_all(contents, rope, sessions, generated, properties, opened, permissions)
            self._database.delete_all(channels, messages, changes)
            self.channels.forget()
            self._database.delete_all(events, invitations, calendar_access)
            self._database.delete_all(calendars, where=calendars.c.id != calendars.c.owner)
            self._database.reset_counters(messages, changes, events)
            self._database.delete_all(files, where=files.c.parent.is_not(None))

    def rows(self) -> Iterator[tuple[str, Iterator[Row]]]:
        """Every table and its rows."""
        return ((name, dump.rows(self._database, name)) for name in dump.TABLES)

    def counters(self) -> dict[str, int]:
        """The last number of each table that gives none twice."""
        return dump.counters(self._database)

    def load_rows(self, tables: Mapping[str, Iterable[Sequence[JSON]]], numbers: Mapping[str, int]) -> None:
        """Hold these rows and no others, all or nothing. Raises ValueError where they contradict each other."""
        dump.load_rows(self._database, tables, numbers)
        self._forget()

    def image(self) -> bytes:
        """The whole store as bytes."""
        return self._database.image()

    def restore(self, image: bytes) -> None:
        """Make the store what it was when the image was taken."""
        self._database.restore(image)
        self._forget()

    def _forget(self) -> None:
        """Everything that was looked up has changed."""
        self.users.forget()
        self.channels.forget()
        self.upload_sessions.invalidate_claims()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()
