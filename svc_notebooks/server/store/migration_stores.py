"""Opens the stores between which `svc-notebooks migrate` copies."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol
from uuid import uuid4

from ...core.processes import temporary_folder
from . import opening_record
from .atomic_write import sync_folder
from .blob_store import BlobStore, LastingBlobStore
from .content_location import content_location, discard_contents, folder_of, open_contents, read_contents
from .data_directory import (
    DATABASE,
    MARKER,
    MIGRATION,
    PARTS,
    Marker,
    check_not_in_use,
    examine,
    read_marker,
    write_marker,
)
from .database_copy import copy_database
from .directory import DirectoryBlobStore, drop_parts
from .engine import Database
from .opening import open_database
from .opening_record import keep_services_out
from .stray_blobs import HARMLESS


class SourceStore(NamedTuple):
    """A store that is only read: its id, its rows, its parts, and the folder of other files, or None without one."""

    store: str
    database: Database
    parts: LastingBlobStore
    folder: Path | None


@contextmanager
def source_folder(folder: Path) -> Iterator[SourceStore]:
    """Open the store in a folder during a `with` block. A database of an older version is upgraded in a copy.

    Raises OSError if the folder is not a store, is damaged or is in use.
    """
    check_not_in_use(folder)
    state, before = examine(folder)
    if state == "new":
        raise OSError(f"{folder} is not a store")
    with temporary_folder("svc-store-") as scratch, (folder / DATABASE).open("rb") as file:
        copy = Path(scratch, DATABASE)
        copy_database(folder / DATABASE, copy)
        database = open_database(copy, "process")
        try:  # no other handle of the file is closed below, because that would end the lock
            was_opened = state == "marked" and read_marker(folder) != before
            if was_opened or not keep_services_out(file):
                raise OSError(f"{folder} is in use: close the service that uses the folder first")
            yield SourceStore(before.store, database, DirectoryBlobStore(folder / PARTS, sync=False), folder)
        finally:
            database.close()


@contextmanager
def source_on_postgres(address: str, content: str | Path) -> Iterator[SourceStore]:
    """Open the store at the address of a database, with the contents at `content`, during a `with` block."""
    from .postgres.opening import read_postgres

    location = content_location(content)
    database, store, _ = read_postgres(address)
    try:
        parts = read_contents(location, store)
        with database.reading():
            yield SourceStore(store, database, parts, folder_of(location))
    finally:
        database.close()


_NEW_DATABASE = f"{DATABASE}.migration"


class TargetStore(Protocol):
    """An empty store: its rows, its parts, and the folder of other files, or None without one."""

    database: Database
    parts: BlobStore
    folder: Path | None

    def end_rows(self) -> None:
        """Record that all rows were copied, as part of the open transaction, if the rows decide about the store."""

    def end(self) -> None:
        """Make the copy a complete store."""


class _Folder:
    def __init__(self, folder: Path) -> None:
        self.folder: Path | None = folder
        self._path = folder
        self.database = open_database(folder / _NEW_DATABASE, "power")
        self.parts: BlobStore = DirectoryBlobStore(folder / PARTS, sync=True)

    def end_rows(self) -> None:
        """Do nothing, because no service opens the database before it is renamed."""

    def end(self) -> None:
        opening = opening_record.begin(self.database.driver, uuid4().hex, "")
        self.database.close()
        write_marker(self._path, Marker(uuid4().hex, opening.number, opening.token, closed=False))
        (self._path / _NEW_DATABASE).rename(self._path / DATABASE)
        sync_folder(self._path)
        (self._path / MIGRATION).unlink()
        sync_folder(self._path)


@contextmanager
def target_folder(folder: Path, source: str) -> Iterator[TargetStore]:
    """Open a folder as the target for the store with the id `source`.

    The folder is empty, or does not exist, or has the record of an unfinished migration of the same store. Raises
    OSError for any other folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if {path.name for path in folder.iterdir()} - HARMLESS:
        _check_record(folder, source)
    else:
        _write_record(folder, source)
    _delete_rows(folder)
    target = _Folder(folder)
    try:
        yield target
    finally:
        target.database.close()


def discard_folder(folder: Path, source: str) -> None:
    """Delete what an unfinished migration of the store `source` has written to a folder. Other files stay."""
    _check_record(folder, source)
    _delete_rows(folder)
    drop_parts(folder / PARTS)
    (folder / MIGRATION).unlink()


def _check_record(folder: Path, source: str) -> None:
    try:
        recorded = json.loads((folder / MIGRATION).read_text(encoding="utf-8"))["source"]
    except FileNotFoundError:
        raise OSError(f"{folder} is not empty: choose a new folder") from None
    except (ValueError, KeyError, TypeError):
        raise OSError(f"{folder / MIGRATION} cannot be read: choose a new folder") from None
    if recorded != source:
        raise OSError(f"{folder} is the target of an unfinished migration of another store: choose a new folder")


def _write_record(folder: Path, source: str) -> None:
    with (folder / MIGRATION).open("w", encoding="utf-8") as file:
        json.dump({"about": "svc-notebooks migrate copies a store to this folder.", "source": source}, file)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def _delete_rows(folder: Path) -> None:
    """Delete what an interrupted migration has written in place of the database."""
    for name in (DATABASE, _NEW_DATABASE):
        for suffix in ("", "-wal", "-journal"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    (folder / MARKER).unlink(missing_ok=True)


class _OnPostgres:
    def __init__(self, database: Database, parts: BlobStore, folder: Path | None) -> None:
        self.database, self.parts, self.folder = database, parts, folder

    def end_rows(self) -> None:
        from .postgres.opening import end_migration

        end_migration(self.database)

    def end(self) -> None:
        """Do nothing, because the commit of the rows has completed the store."""


@contextmanager
def target_on_postgres(address: str, content: str | Path, source: str, now: float) -> Iterator[TargetStore]:
    """Open an empty database and an empty place for contents as the target for the store with the id `source`.

    Both may also be those of an unfinished migration of the same store. Raises OSError for any others. `now` is in Unix
    seconds.
    """
    from .postgres.opening import open_postgres

    location = content_location(content)
    database, store, _ = open_postgres(address, "power", shared=False, migration=source)
    try:
        parts = open_contents(
            location,
            store,
            number=database.opening,
            has_parts=False,
            durability="power",
            now=now,
            shared=False,
        )
        yield _OnPostgres(database, parts, folder_of(location))
    finally:
        database.close()


def discard_on_postgres(address: str, content: str | Path, source: str) -> None:
    """Delete what an unfinished migration of the store `source` has written to a database and to its contents."""
    from .postgres.opening import discard_migration, open_postgres

    location = content_location(content)
    database, store, _ = open_postgres(address, "power", shared=False, migration=source)
    try:
        discard_contents(location, store)
        discard_migration(database)
    finally:
        database.close()
