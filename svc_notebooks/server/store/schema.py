"""The tables of the database.

Instants are in Unix milliseconds, deadlines in Unix seconds, booleans are 0 and 1, and sizes are in bytes.

Texts are compared and sorted by their UTF-8 bytes, which SQLite does by default and PostgreSQL in the collation "C".
PostgreSQL indexes texts of any length only by their hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from .engine import Dialect

metadata = sa.MetaData()

_Big = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite numbers rows only in INTEGER columns
Text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _required(column_type: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, column_type, nullable=False) for name in names]


def _table(name: str, *columns: sa.schema.SchemaItem, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *columns, **options)


def _keys(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, Text, primary_key=True) for name in names]


def _optional(column_type: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, column_type) for name in names]


meta = _table("meta", sa.Column("name", Text, primary_key=True), sa.Column("value", Text, nullable=False))

users = _table("users", sa.Column("email", Text, primary_key=True), sa.Column("root", Text, nullable=False))

tokens = _table(
    "tokens",
    sa.Column("digest", Text, primary_key=True),  # so that a copy of the database gives no access
    *_required(Text, "user", "client", "scopes"),
    sa.Column("service_account", sa.Integer, nullable=False),
    sa.Column("expires", sa.Float),
)

clients = _table(
    "clients",
    sa.Column("id", Text, primary_key=True),
    *_required(Text, "name", "secret", "redirects"),  # the secret is a digest, or "" for a public client
)

accounts = _table(
    "accounts",
    sa.Column("email", Text, primary_key=True),
    *_required(Text, "client", "key_id", "public_key", "delegation"),
)

grants = _table(
    "grants",
    sa.Column("digest", Text, primary_key=True),
    *_required(Text, "kind", "family", "user", "client", "scopes"),  # the kind is code or refresh
    sa.Column("expires", sa.Float),
    *_required(Text, "redirect", "challenge", "method"),
    sa.Column("spent", sa.Integer, nullable=False),
    sa.Index("grants_by_family", "family"),
)

granted = _table(
    "granted",
    sa.Column("token", Text, primary_key=True),  # the digest of an access token
    sa.Column("family", Text, nullable=False),
    sa.Index("granted_by_family", "family"),
)

generated = _table(
    "generated",
    sa.Column("id", Text, primary_key=True),
    sa.Column("owner", Text, nullable=False),
    sa.Column("used", sa.Integer, nullable=False),
)

files = _table(
    "files",
    sa.Column("seq", _Big, primary_key=True, autoincrement=True),
    sa.Column("id", Text, nullable=False, unique=True),
    sa.Column("owner", Text, nullable=False),
    sa.Column("parent", Text),  # None: the root of its owner
    *_required(Text, "name", "mime_type"),
    *_required(_Big, "created", "modified"),
    *_optional(_Big, "modified_by_me", "viewed"),
    *_required(sa.Integer, "trashed", "explicitly_trashed"),
    sa.Column("trashed_at", _Big),
    sa.Column("starred", sa.Integer, nullable=False),
    *_optional(_Big, "content", "size"),  # None: no binary content
    sa.Column("version", _Big, nullable=False),
    sa.Column("abusive", sa.Integer, nullable=False),
    sa.Column("target", Text),
    sa.Column("extra", Text, nullable=False),  # JSON: the fields that are stored as they were sent
    sa.Column("name_key", Text, nullable=False),  # ASCII letters in lower case
    sa.Column("natural_key", Text, nullable=False),  # numbers padded, so that 10 sorts after 9
    sa.Column("words", Text, nullable=False),  # the words of the name, each after a space
    sa.Column("all_words", Text, nullable=False),  # the words of the name, the description and the indexable text
    sa.Index("files_by_owner", "owner", "seq"),
    sa.Index("files_by_parent", "parent"),
    sa.Index("files_by_name", "owner", "name_key").ddl_if("sqlite"),
    sa.Index("files_by_name_hash", "name_key").ddl_if("postgresql"),
    sa.Index("files_by_modified", "owner", "modified"),
    sa.Index("files_by_parent_and_name", "parent", "name_key").ddl_if("sqlite"),
    sa.Index("files_by_parent_and_modified", "parent", "modified"),
    sa.Index("files_by_time", "modified"),
    sa.Index("files_by_trashed", "owner", "trashed", "size"),
    sa.Index("files_by_content", "content"),
)

properties = _table(
    "properties",
    *_keys("file", "client", "key"),  # the client is "" for properties, and the client's id for appProperties
    sa.Column("value", Text, nullable=False),
)

opened = _table(
    "opened",
    *_keys("file", "client"),  # the OAuth client that created or opened the file
)

contents = _table(
    "contents",
    sa.Column("id", _Big, primary_key=True, autoincrement=True),
    *_optional(Text, "md5", "sha1", "sha256"),
    sqlite_autoincrement=True,  # no number twice, because an old content may still be read or hashed
)

ranges = _table(
    "rope",
    sa.Column("content", _Big, primary_key=True, autoincrement=False),
    sa.Column("start", _Big, primary_key=True, autoincrement=False),
    sa.Column("stop", _Big, nullable=False),
    sa.Column("part", Text, nullable=False),
    sa.Column("checksum", _Big),  # the CRC-32 of the part; None: in memory, or missing when a store was upgraded
)

sessions = _table(
    "sessions",
    sa.Column("id", Text, primary_key=True),
    *_required(Text, "owner", "client"),
    sa.Column("file", Text),  # None: the upload creates a file
    sa.Column("metadata", Text, nullable=False),  # JSON, as it was accepted
    sa.Column("media_type", Text),
    sa.Column("query", Text, nullable=False),
    *_required(_Big, "content", "stored"),
    sa.Column("total", _Big),
    sa.Column("state", Text, nullable=False),
    sa.Column("touched", sa.Float, nullable=False),
    sa.Column("answer", Text),
    sa.Index("sessions_by_age", "touched"),
)

permissions = _table(
    "permissions",
    *_keys("file", "id"),
    *_required(Text, "type", "grantee"),  # the grantee is "" for anyone
    sa.Column("role", sa.Integer, nullable=False),
    sa.Column("since", _Big, nullable=False),
    sa.Column("by", Text, nullable=False),
    sa.Index("permissions_by_grantee", "grantee"),
)

channels = _table(
    "channels",
    sa.Column("seq", _Big, primary_key=True, autoincrement=True),
    sa.Column("id", Text, nullable=False, unique=True),
    sa.Column("watched", Text, nullable=False),  # the id of a file, or of a user's change log
    *_required(Text, "resource_id", "resource_uri"),
    sa.Column("of_changes", sa.Integer, nullable=False),
    *_required(Text, "user", "client"),
    sa.Column("service_account", sa.Integer, nullable=False),
    sa.Column("address", Text, nullable=False),
    sa.Column("token", Text),
    sa.Column("expiration", _Big),  # None: the channel does not expire
    sa.Column("state", Text, nullable=False),
    sa.Column("number", _Big, nullable=False),  # the number of the last message
    sa.Index("channels_by_watched", "watched", "state"),
)

messages = _table(
    "messages",
    sa.Column("seq", _Big, primary_key=True, autoincrement=True),
    *_required(_Big, "channel", "number"),
    *_required(Text, "state", "changed"),
    sa.Column("due", _Big, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),  # the number of attempts made
    sa.Index("messages_by_channel", "channel", "seq"),
    sa.Index("messages_by_due", "due"),
    sqlite_autoincrement=True,  # later messages have greater numbers, even after deletions
)

changes = _table(
    "changes",
    sa.Column("seq", _Big, primary_key=True, autoincrement=True),
    *_required(Text, "user", "file"),
    sa.Column("time", _Big, nullable=False),
    sa.UniqueConstraint("user", "file"),
    sa.Index("changes_by_user", "user", "seq"),
    sqlite_autoincrement=True,  # no number twice, because page tokens contain numbers and each change replaces the last
)

calendars = _table(
    "calendars",
    sa.Column("id", Text, primary_key=True),  # the user's e-mail address for a primary calendar
    *_required(Text, "owner", "client", "zone"),  # the OAuth client that created it, or "" for a primary calendar
    sa.Column("created", _Big, nullable=False),
    sa.Column("body", Text, nullable=False),  # JSON: summary, description and the like
    sa.Index("calendars_by_owner", "owner"),
)

calendar_access = _table(
    "calendar_access",
    *_keys("calendar", "scope"),  # user:ada@svc.example, domain:svc.example, default
    sa.Column("role", sa.Integer, nullable=False),
    sa.Index("calendar_access_by_scope", "scope"),
)

calendar_entries = _table(
    "calendar_entries",
    *_keys("user", "calendar"),
    sa.Column("body", Text, nullable=False),  # JSON: the user's own settings of the calendar in their list
    sa.Index("calendar_entries_by_calendar", "calendar"),
)

_RECURRING = sa.text("recurring = 1")

events = _table(
    "events",
    sa.Column("seq", _Big, primary_key=True, autoincrement=True),  # a new number with every change
    *_required(Text, "calendar", "id", "uid"),
    sa.Column("origin", Text, nullable=False),  # the id of the organizer's calendar
    sa.Column("series", Text),  # the id of the recurring event of a changed or cancelled instance
    *_required(sa.Integer, "recurring", "cancelled"),
    sa.Column("start", _Big, nullable=False),
    sa.Column("end", _Big),  # None: a recurring event
    *_required(_Big, "created", "updated"),
    sa.Column("place", _Big, nullable=False),  # in the order of creation, for which the time is too coarse
    sa.Column("body", Text, nullable=False),  # JSON: the fields as they were accepted
    sa.UniqueConstraint("calendar", "id"),
    sa.Index("events_by_age", "calendar", "place", "id"),
    sa.Index("events_by_start", "calendar", "start", "id", "end"),
    sa.Index("events_by_id", "id"),
    sa.Index("events_by_number", "calendar", "seq"),
    sa.Index("events_by_update", "calendar", "updated", "id"),
    sa.Index("events_recurring", "calendar", "start", sqlite_where=_RECURRING),
    sa.Index("events_by_uid", "uid"),
    sa.Index("events_by_series", "calendar", "series", "id"),
    sqlite_autoincrement=True,  # no number twice, because sync tokens contain numbers
)

invitations = _table(
    "invitations",
    sa.Column("seq", _Big, primary_key=True, autoincrement=True),
    sa.Column("time", _Big, nullable=False),
    *_required(Text, "event", "recipient", "method", "subject"),
)

domains = _table("domains", sa.Column("domain", Text, primary_key=True))

authorities = _table("authorities", sa.Column("pem", Text, primary_key=True))

# The options of indexes on PostgreSQL, by the name of the index.
_POSTGRESQL_OPTIONS: dict[str, dict[str, Any]] = {
    "files_by_name_hash": {"using": "hash"},
    "events_by_uid": {"using": "hash"},
    "events_recurring": {"where": _RECURRING},
}


def create_tables(tables: Sequence[sa.Table], dialect: Dialect, run: Callable[[str], object]) -> None:
    """Create tables and their indexes by running the statements of a dialect."""
    engine: Any = sa.create_mock_engine(f"{dialect}://", lambda ddl, *_: run(str(ddl.compile(dialect=engine.dialect))))
    for table in tables:
        for index in table.indexes if dialect == "postgresql" else ():
            for option, value in _POSTGRESQL_OPTIONS.get(str(index.name), {}).items():
                index.dialect_options["postgresql"][option] = value
        table.create(engine, checkfirst=False)
