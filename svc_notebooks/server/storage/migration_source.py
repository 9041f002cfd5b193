"""Opens the store that `svc-notebooks migrate` copies, without changing it, and keeps services out meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ...core.temporary_folders import temporary_folder
from ..blobs.blob_store import LastingBlobStore
from ..blobs.directory import DirectoryBlobStore
from ..database.database_copy import copy_database
from ..database.opening_record import keep_services_out
from ..tables import Database, open_database
from .content_location import content_location, folder_of, read_contents
from .data_directory import DATABASE, PARTS, check_not_in_use, examine, read_marker


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
    from ..database.postgres_opening import read_postgres

    location = content_location(content)
    database, store, _ = read_postgres(address)
    try:
        parts = read_contents(location, store)
        with database.reading():
            yield SourceStore(store, database, parts, folder_of(location))
    finally:
        database.close()
