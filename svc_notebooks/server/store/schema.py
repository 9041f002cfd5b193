"""The tables of the database.

Instants are in Unix milliseconds, deadlines in Unix seconds, booleans are 0 and 1, and sizes are in bytes.

Texts are compared and sorted by their UTF-8 bytes, which SQLite does by default and PostgreSQL in the collation "C".
PostgreSQL indexes texts of any length only by their hashes.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text as AnyText,
    UniqueConstraint,
    text,
)

metadata = MetaData()

_Big = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows only in INTEGER columns
Text = AnyText().with_variant(AnyText(collation="C"), "postgresql")


def _required(column_type: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, column_type, nullable=False) for name in names]


def _optional(column_type: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, column_type) for name in names]


meta = Table("meta", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

users = Table("users", metadata, Column("email", Text, primary_key=True), Column("root", Text, nullable=False))

tokens = Table(
    "tokens",
    metadata,
    Column("digest", Text, primary_key=True),  # so that a copy of the database gives no access
    *_required(Text, "user", "client", "scopes"),
    Column("service_account", Integer, nullable=False),
    Column("expires", Float),
)

clients = Table(
    "clients",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("secret", Text, nullable=False),  # a digest; "": a public client
    Column("redirects", Text, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("email", Text, primary_key=True),
    *_required(Text, "client", "key_id", "public_key", "delegation"),
)

grants = Table(
    "grants",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("kind", Text, nullable=False),  # code or refresh
    *_required(Text, "family", "user", "client", "scopes"),
    Column("expires", Float),
    *_required(Text, "redirect", "challenge", "method"),
    Column("spent", Integer, nullable=False),
    Index("grants_by_family", "family"),
)

granted = Table(
    "granted",
    metadata,
    Column("token", Text, primary_key=True),  # the digest of an access token
    Column("family", Text, nullable=False),
    Index("granted_by_family", "family"),
)

generated = Table(
    "generated",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("used", Integer, nullable=False),
)

files = Table(
    "files",
    metadata,
    Column("seq", _Big, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("parent", Text),  # None: the root of its owner
    *_required(Text, "name", "mime_type"),
    *_required(_Big, "created", "modified"),
    *_optional(_Big, "modified_by_me", "viewed"),
    *_required(Integer, "trashed", "explicitly_trashed"),
    Column("trashed_at", _Big),
    Column("starred", Integer, nullable=False),
    Column("content", _Big),  # None: no binary content
    Column("size", _Big),
    Column("version", _Big, nullable=False),
    Column("abusive", Integer, nullable=False),
    Column("target", Text),
    Column("extra", Text, nullable=False),  # JSON: the fields that are stored as they were sent
    Column("name_key", Text, nullable=False),  # ASCII letters in lower case
    Column("natural_key", Text, nullable=False),  # numbers padded, so that 10 sorts after 9
    Column("words", Text, nullable=False),  # the words of the name, each after a space
    Column("all_words", Text, nullable=False),  # the words of the name, the description and the indexable text
    Index("files_by_owner", "owner", "seq"),
    Index("files_by_parent", "parent"),
    Index("files_by_name", "owner", "name_key").ddl_if("sqlite"),
    Index("files_by_name_hash", "name_key").ddl_if("postgresql"),
    Index("files_by_modified", "owner", "modified"),
    Index("files_by_parent_and_name", "parent", "name_key").ddl_if("sqlite"),
    Index("files_by_parent_and_modified", "parent", "modified"),
    Index("files_by_time", "modified"),
    Index("files_by_trashed", "owner", "trashed", "size"),
    Index("files_by_content", "content"),
)

properties = Table(
    "properties",
    metadata,
    Column("file", Text, primary_key=True),
    Column("client", Text, primary_key=True),  # "" for properties, the client's id for appProperties
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

opened = Table(
    "opened",
    metadata,
    Column("file", Text, primary_key=True),
    Column("client", Text, primary_key=True),  # the OAuth client that created or opened the file
)

contents = Table(
    "contents",
    metadata,
    Column("id", _Big, primary_key=True, autoincrement=True),
    *_optional(Text, "md5", "sha1", "sha256"),
    sqlite_autoincrement=True,  # no number twice, because an old content may still be read or hashed
)

rope = Table(
    "rope",
    metadata,
    Column("content", _Big, primary_key=True, autoincrement=False),
    Column("start", _Big, primary_key=True, autoincrement=False),
    Column("stop", _Big, nullable=False),
    Column("part", Text, nullable=False),
    Column("checksum", _Big),  # the CRC-32 of the part; None: in memory, or missing when a store was upgraded
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    *_required(Text, "owner", "client"),
    Column("file", Text),  # None: the upload creates a file
    Column("metadata", Text, nullable=False),  # JSON, as it was accepted
    Column("media_type", Text),
    Column("query", Text, nullable=False),
    *_required(_Big, "content", "stored"),
    Column("total", _Big),
    Column("state", Text, nullable=False),
    Column("touched", Float, nullable=False),
    Column("answer", Text),
    Index("sessions_by_age", "touched"),
)

permissions = Table(
    "permissions",
    metadata,
    Column("file", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("grantee", Text, nullable=False),  # "" for anyone
    Column("role", Integer, nullable=False),
    Column("since", _Big, nullable=False),
    Column("by", Text, nullable=False),
    Index("permissions_by_grantee", "grantee"),
)

channels = Table(
    "channels",
    metadata,
    Column("seq", _Big, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("watched", Text, nullable=False),  # the id of a file, or of a user's change log
    *_required(Text, "resource_id", "resource_uri"),
    Column("of_changes", Integer, nullable=False),
    *_required(Text, "user", "client"),
    Column("service_account", Integer, nullable=False),
    Column("address", Text, nullable=False),
    Column("token", Text),
    Column("expiration", _Big),  # None: the channel does not expire
    Column("state", Text, nullable=False),
    Column("number", _Big, nullable=False),  # the number of the last message
    Index("channels_by_watched", "watched", "state"),
)

messages = Table(
    "messages",
    metadata,
    Column("seq", _Big, primary_key=True, autoincrement=True),
    *_required(_Big, "channel", "number"),
    *_required(Text, "state", "changed"),
    Column("due", _Big, nullable=False),
    Column("attempts", Integer, nullable=False),  # the number of attempts made
    Index("messages_by_channel", "channel", "seq"),
    Index("messages_by_due", "due"),
    sqlite_autoincrement=True,  # later messages have greater numbers, even after deletions
)

changes = Table(
    "changes",
    metadata,
    Column("seq", _Big, primary_key=True, autoincrement=True),
    *_required(Text, "user", "file"),
    Column("time", _Big, nullable=False),
    UniqueConstraint("user", "file"),
    Index("changes_by_user", "user", "seq"),
    sqlite_autoincrement=True,  # no number twice, because page tokens contain numbers and each change replaces the last
)

calendars = Table(
    "calendars",
    metadata,
    Column("id", Text, primary_key=True),  # the user's e-mail address for a primary calendar
    Column("owner", Text, nullable=False),
    Column("client", Text, nullable=False),  # the OAuth client that created it; "" for a primary calendar
    Column("zone", Text, nullable=False),
    Column("created", _Big, nullable=False),
    Column("body", Text, nullable=False),  # JSON: summary, description and the like
    Index("calendars_by_owner", "owner"),
)

calendar_access = Table(
    "calendar_access",
    metadata,
    Column("calendar", Text, primary_key=True),
    Column("scope", Text, primary_key=True),  # user:ada@svc.example, domain:svc.example, default
    Column("role", Integer, nullable=False),
    Index("calendar_access_by_scope", "scope"),
)

calendar_entries = Table(
    "calendar_entries",
    metadata,
    Column("user", Text, primary_key=True),
    Column("calendar", Text, primary_key=True),
    Column("body", Text, nullable=False),  # JSON: the user's own settings of the calendar in their list
    Index("calendar_entries_by_calendar", "calendar"),
)

_RECURRING = text("recurring = 1")

events = Table(
    "events",
    metadata,
    Column("seq", _Big, primary_key=True, autoincrement=True),  # a new number with every change
    *_required(Text, "calendar", "id", "uid"),
    Column("origin", Text, nullable=False),  # the id of the organizer's calendar
    Column("series", Text),  # the id of the recurring event of a changed or cancelled instance
    *_required(Integer, "recurring", "cancelled"),
    Column("start", _Big, nullable=False),
    Column("end", _Big),  # None: a recurring event
    *_required(_Big, "created", "updated"),
    Column("place", _Big, nullable=False),  # in the order of creation, for which the time is too coarse
    Column("body", Text, nullable=False),  # JSON: the fields as they were accepted
    UniqueConstraint("calendar", "id"),
    Index("events_by_age", "calendar", "place", "id"),
    Index("events_by_start", "calendar", "start", "id", "end"),
    Index("events_by_id", "id"),
    Index("events_by_number", "calendar", "seq"),
    Index("events_by_update", "calendar", "updated", "id"),
    Index("events_recurring", "calendar", "start", sqlite_where=_RECURRING),
    Index("events_by_uid", "uid"),
    Index("events_by_series", "calendar", "series", "id"),
    sqlite_autoincrement=True,  # no number twice, because sync tokens contain numbers
)

invitations = Table(
    "invitations",
    metadata,
    Column("seq", _Big, primary_key=True, autoincrement=True),
    Column("time", _Big, nullable=False),
    *_required(Text, "event", "recipient", "method", "subject"),
)

domains = Table("domains", metadata, Column("domain", Text, primary_key=True))

authorities = Table("authorities", metadata, Column("pem", Text, primary_key=True))

_POSTGRESQL_OPTIONS: dict[str, dict[str, Any]] = {
    "files_by_name_hash": {"using": "hash"},
    "events_by_uid": {"using": "hash"},
    "events_recurring": {"where": _RECURRING},
}
"""The options of indexes on PostgreSQL, by the name of the index."""


def add_postgresql_options() -> None:
    """Give the indexes their options on PostgreSQL. SQLAlchemy then loads this dialect, which SQLite does not need."""
    for table in metadata.tables.values():
        for index in table.indexes:
            for option, value in _POSTGRESQL_OPTIONS.get(str(index.name), {}).items():
                index.dialect_options["postgresql"][option] = value
