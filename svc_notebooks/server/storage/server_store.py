"""Opens a store whose rows are in a PostgreSQL database, and whose contents are in a folder or a bucket."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..database.postgres_opening import open_postgres
from ..tables.contents import Contents
from .content_location import content_location, folder_of, open_contents
from .data_directory import OpenedStore


def open_server_store(
    address: str, content: str | Path, durability: Literal["process", "power"], now: float, *, shared: bool
) -> OpenedStore:
    """Open the database at an address and the folder or bucket `content`. `now` is in Unix seconds.

    Raises ValueError for an invalid address, ImportError without the extra `s3`, and OSError if the database, the
    folder or the bucket cannot be used.
    """
    location = content_location(content)
    database, store, notes = open_postgres(address, durability, shared=shared)
    try:
        parts = open_contents(
            location,
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
    return OpenedStore(database, parts, notes, folder_of(location))
