"""Opens the empty place into which `svc-notebooks migrate` copies a store.

A record names the source until the copy is complete, so that no service opens an incomplete store, and so that the
same command can continue. Rows become visible with one commit at the end, and a folder gets its database last.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from ..blobs.atomic_write import sync_folder
from ..blobs.blob_store import BlobStore
from ..blobs.directory import DirectoryBlobStore, drop_parts
from ..blobs.stray_blobs import HARMLESS
from ..database import opening_record
from ..tables import Database, open_database
from .content_location import content_location, discard_contents, folder_of, open_contents
from .data_directory import DATABASE, MARKER, MIGRATION, PARTS, Marker, write_marker

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
        from ..database.postgres_opening import end_migration

        end_migration(self.database)

    def end(self) -> None:
        """Do nothing, because the commit of the rows has completed the store."""


@contextmanager
def target_on_postgres(address: str, content: str | Path, source: str, now: float) -> Iterator[TargetStore]:
    """Open an empty database and an empty place for contents as the target for the store with the id `source`.

    Both may also be those of an unfinished migration of the same store. Raises OSError for any others. `now` is in Unix
    seconds.
    """
    from ..database.postgres_opening import open_postgres

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
    from ..database.postgres_opening import discard_migration, open_postgres

    location = content_location(content)
    database, store, _ = open_postgres(address, "power", shared=False, migration=source)
    try:
        discard_contents(location, store)
        discard_migration(database)
    finally:
        database.close()
