"""Opens stores on PostgreSQL."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import uuid4

import psycopg
from sqlalchemy import make_url
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import SQLAlchemyError

from ..content_location import content_location, folder_of, open_contents
from ..data_directory import OpenedStore
from ..engine import Database
from ..errors import on_error
from ..schema import create_tables, metadata
from . import upgrades as postgres_upgrades
from .connection import Connection
from .database import Locks, PostgresDatabase, explained
from .schema import shared_metadata

_CLASS = 0x737663  # the first number of the advisory locks. The second number is that of the schema.

# After how many seconds, and milliseconds of the last one, a connection without an answer is lost.
_NETWORK_LIMITS = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "2",
    "tcp_user_timeout": "20000",
}

# Ends the transaction of a process that was stopped, so that the other processes of a shared store can write.
_SHARED_LIMITS = "-c idle_in_transaction_session_timeout=6s -c lock_timeout=9s -c statement_timeout=60s"

_NO_LIMITS = (
    "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0"
)

_CREATE_STORE = (
    "CREATE TABLE svc_store (version integer NOT NULL, store text NOT NULL, openings bigint NOT NULL, migration text)"
)
_COUNT_OPENING = "UPDATE svc_store SET openings = openings + 1 RETURNING store, openings, migration"
_UNFINISHED = (
    "the PostgreSQL database is the target of a migration that has not ended: repeat the command svc-notebooks migrate"
    " to continue, or add --discard to delete what it has copied"
)
_TABLES = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"
_LONG_KEYS = (  # a B-tree has no entries above 2704 bytes
    "ALTER TABLE authorities DROP CONSTRAINT authorities_pkey",
    "CREATE INDEX authorities_by_hash ON authorities USING hash (pem)",
)
_TRIGRAMS = "CREATE INDEX files_by_words ON files USING gin (words gin_trgm_ops, all_words gin_trgm_ops)"


class OpenedPostgres(NamedTuple):
    """An opened database, the id of its store, and notes for the user."""

    database: PostgresDatabase
    store: str
    notes: list[str]


def open_postgres(
    address: str, durability: Literal["process", "power"], *, shared: bool, migration: str | None = None
) -> OpenedPostgres:
    """Open the database at an address such as postgresql://user@host/database, and create or upgrade its tables.

    `shared` is true if other processes may use the database at the same time. Processes that start at the same time
    create or upgrade the tables one after another. With `durability="power"`, the server writes each commit to its
    disk, even if its settings do not. `migration` is the id of a store that is being migrated to an empty database.

    Raises ValueError for an invalid address. Raises OSError if the server cannot be reached, or if the database is in
    use, is not encoded in UTF-8, or belongs to another program or to a newer version of this package.
    """
    connect = partial(_connect, _settings(address, shared=shared), durability)
    notes: list[str] = []
    with explained(), connect() as connection:
        ((number,),) = connection.execute("SELECT hashtext(current_schema())")
        with_lock = f"SELECT pg_advisory_xact_lock({_CLASS + 1}, {number})"
        alone = f"SELECT pg_advisory_xact_lock({_CLASS}, {number})"
        _prepare_tables(connection, with_lock, alone, notes, migration)
    claim = f"SELECT pg_advisory_lock{'_shared' if shared else ''}({_CLASS}, {number})"
    locks = Locks(with_lock if shared else "", claim, number)
    database = PostgresDatabase(connect, locks, shared=shared, durable=durability == "power")
    with on_error(database.close):
        return OpenedPostgres(database, _begin_opening(database, migration), notes)


def read_postgres(address: str) -> OpenedPostgres:
    """Open the database of a complete store that no service uses, for reading. Raises the same as `open_postgres`."""
    connect = partial(_connect, _settings(address, shared=False), "process")
    with explained(), connect() as driver:
        if [*driver.execute("SELECT to_regclass('svc_store')")] == [(None,)]:
            raise OSError("the PostgreSQL database has no store")
        if postgres_upgrades.version(driver) < postgres_upgrades.VERSION:
            raise OSError("the PostgreSQL database has an older version: start svc-notebooks serve once to upgrade")
        ((number,),) = driver.execute("SELECT hashtext(current_schema())")
        ((store, unfinished),) = driver.execute("SELECT store, migration FROM svc_store")
    if unfinished is not None:
        raise OSError(_UNFINISHED)
    claim = f"SELECT pg_advisory_lock({_CLASS}, {number})"
    database = PostgresDatabase(connect, Locks("", claim, number), shared=False, durable=False)
    return OpenedPostgres(database, str(store), [])


def discard_migration(database: Database) -> None:
    """Drop all tables of the target of an unfinished migration."""
    with database.transaction():
        for name in (*metadata.tables, *shared_metadata.tables, "svc_store"):
            database.driver.execute(f'DROP TABLE IF EXISTS "{name}"')


def _begin_opening(database: PostgresDatabase, migration: str | None) -> str:
    """Count this opening of the store, set its number, and return the id of the store.

    `migration` is the id of the store that is being migrated to this one. Raises OSError if the database has a complete
    store instead, or if it is the target of an unfinished migration and `migration` is another.
    """
    with database.transaction():
        driver: Any = database.driver
        store, database.opening, unfinished = driver.execute(_COUNT_OPENING).fetchone()
        if unfinished is None and migration is not None:
            raise OSError("the PostgreSQL database already has a store: choose an empty database")
        if unfinished != migration:
            raise OSError(_UNFINISHED)
    return str(store)


def _settings(address: str, *, shared: bool) -> dict[str, Any]:
    """Return the settings of connections to a database. Raises ValueError for an invalid address."""
    try:
        url = make_url(address)
        is_valid = url.drivername in ("postgresql", "postgres") and bool(url.database)
    except (SQLAlchemyError, ValueError):
        is_valid = False
    if not is_valid:
        raise ValueError("the address of the store must be of the form postgresql://user:password@host:port/database")
    options = f"{_SHARED_LIMITS if shared else ''} {url.query.get('options', '')}".strip()
    url = url.set(query={**_NETWORK_LIMITS, **url.query, "options": options})
    _, settings = PGDialect_psycopg().create_connect_args(url)  # type: ignore[no-untyped-call]
    return {**settings, "application_name": "svc-notebooks", "client_encoding": "utf8"}


def _connect(settings: dict[str, Any], durability: Literal["process", "power"]) -> Connection:
    """Return a new connection in autocommit mode. Raises OSError if the server cannot be reached."""
    with explained():
        connection = psycopg.connect(**settings, autocommit=True, prepare_threshold=None)
        if durability == "power":
            connection.execute("SET synchronous_commit = on")
    return connection


def _prepare_tables(driver: Connection, with_lock: str, alone: str, notes: list[str], migration: str | None) -> None:
    """Create the tables in an empty schema, or upgrade existing tables, in one transaction.

    `with_lock` is SQL that waits for other processes that start, and `alone` waits for all services.
    """
    with driver.transaction():
        driver.execute(_NO_LIMITS)  # another process may be upgrading the tables
        driver.execute(with_lock)
        ((encoding,),) = driver.execute("SHOW server_encoding")
        if encoding != "UTF8":
            raise OSError(f"the PostgreSQL database has the encoding {encoding}: create a database with UTF8")
        tables = {name for (name,) in driver.execute(_TABLES)}
        if "svc_store" not in tables:
            if foreign := sorted(tables & set(metadata.tables)):
                raise OSError(
                    f"the PostgreSQL database has a table {foreign[0]} of another program: choose an empty database"
                )
            create_tables(metadata.sorted_tables, "postgresql", driver.execute)
            for statement in (*_LONG_KEYS, _CREATE_STORE):
                driver.execute(statement)
            driver.execute(
                "INSERT INTO svc_store VALUES (%s, %s, 0, %s)", (postgres_upgrades.VERSION, uuid4().hex, migration)
            )
            _index_words(driver, notes)
        before = postgres_upgrades.upgrade(driver, alone)
        missing = [table for table in shared_metadata.sorted_tables if table.name not in tables]
        create_tables(missing, "postgresql", driver.execute)
    if before is not None:
        notes.append(f"the database had schema version {before} and was upgraded to {postgres_upgrades.VERSION}")


def _index_words(driver: Any, notes: list[str]) -> None:
    """Index the words of files by their trigrams, if the server has the extension and the user may create it."""
    try:
        with driver.transaction():
            driver.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            driver.execute(_TRIGRAMS)
    except psycopg.Error as error:
        reason = str(error).partition("\n")[0]
        notes.append(f"Searches for words read all rows, because PostgreSQL's extension pg_trgm is missing ({reason})")


def open_server_store(
    address: str, content: str | Path, durability: Literal["process", "power"], *, shared: bool
) -> OpenedStore:
    """Open the database at an address and the folder or bucket `content`.

    Raises ValueError for an invalid address, ImportError without the extra `s3`, and OSError if the database, the
    folder or the bucket cannot be used.
    """
    location = content_location(content)
    database, store, notes = open_postgres(address, durability, shared=shared)
    with on_error(database.close):
        parts = open_contents(location, store, database, durability)
    return OpenedStore(database, parts, notes, folder_of(location))
