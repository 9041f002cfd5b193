"""Opens a store whose rows are in a PostgreSQL database, and whose contents are in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..database.postgres_opening import open_postgres
from ..tables.contents import Contents
from .content_folder import open_content_folder
from .data_directory import OpenedFolder


def open_server_store(
    address: str, content: Path, durability: Literal["process", "power"], now: float, *, shared: bool
) -> OpenedFolder:
    """Open the database at an address and the folder `content`. `now` is in Unix seconds.

    Raises ValueError for an invalid address, and OSError if the database or the folder cannot be used.
    """
    database, store, notes = open_postgres(address, durability, shared=shared)
    try:
        parts = open_content_folder(
            content,
            store,
            number=database.opening,
            has_parts=Contents(database).has_parts(),
            durability=durability,
            now=now,
            shared=shared,
        )
    except BaseException:
        database.close()
        raise
    return OpenedFolder(database, parts, notes)
