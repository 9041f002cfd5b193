"""Opens a store whose rows are in a PostgreSQL database, and whose contents are in a folder or a bucket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..database.postgres_opening import open_postgres
from ..tables.contents import Contents
from .content_folder import open_content_folder
from .data_directory import OpenedStore

if TYPE_CHECKING:
    from ..blobs.bucket import BucketAddress


def content_location(content: str | Path) -> Path | BucketAddress:
    """Return the folder, or the address s3://bucket/prefix, in which contents are stored.

    Raises ValueError for another URL, and ImportError without the extra `s3`.
    """
    scheme, is_url, _ = str(content).partition("://")
    if not is_url:
        return Path(content)
    if scheme != "s3":
        raise ValueError(f"content is a URL of the scheme {scheme!r}; give a folder or s3://bucket/prefix")
    try:
        from ..blobs.bucket import parse_bucket_address
    except ImportError:
        raise ImportError('contents in a bucket need a library: pip install "svc-notebooks[s3]"') from None
    return parse_bucket_address(str(content))


def open_server_store(
    address: str, content: str | Path, durability: Literal["process", "power"], now: float, *, shared: bool
) -> OpenedStore:
    """Open the database at an address and the folder or bucket `content`. `now` is in Unix seconds.

    Raises ValueError for an invalid address, ImportError without the extra `s3`, and OSError if the database, the
    folder or the bucket cannot be used.
    """
    location = content_location(content)
    database, store, notes = open_postgres(address, durability, shared=shared)
    number, has_parts = database.opening, Contents(database).has_parts()
    try:
        if isinstance(location, Path):
            parts = open_content_folder(
                location, store, number=number, has_parts=has_parts, durability=durability, now=now, shared=shared
            )
            return OpenedStore(database, parts, notes, location)
        from .content_bucket import open_content_bucket

        bucket = open_content_bucket(location, store, number=number, has_parts=has_parts)
    except BaseException:
        database.close()
        raise
    return OpenedStore(database, bucket, notes, None)
