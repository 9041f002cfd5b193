"""Opens the contents of a store whose rows are on a database server, in a folder or in a bucket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..blobs.blob_store import LastingBlobStore
from .content_folder import discard_content_folder, open_content_folder, read_content_folder

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


def folder_of(location: Path | BucketAddress) -> Path | None:
    """Return the folder for other files of the store, or None with a bucket."""
    return location if isinstance(location, Path) else None


def open_contents(
    location: Path | BucketAddress,
    store: str,
    *,
    number: int,
    has_parts: bool,
    durability: Literal["process", "power"],
    now: float,
    shared: bool,
) -> LastingBlobStore:
    """Open the contents of a store, which may be empty if the store has no parts.

    `store` is the id of the store, and `number` is the number of this opening. `now` is in Unix seconds. Raises
    OSError, without changing anything, for a folder or a bucket that is not the one of the store.
    """
    if isinstance(location, Path):
        return open_content_folder(
            location, store, number=number, has_parts=has_parts, durability=durability, now=now, shared=shared
        )
    from .content_bucket import open_content_bucket

    return open_content_bucket(location, store, number=number, has_parts=has_parts)


def read_contents(location: Path | BucketAddress, store: str) -> LastingBlobStore:
    """Return the contents of a store, without changing anything. Raises OSError for those of any other store."""
    if isinstance(location, Path):
        return read_content_folder(location, store)
    from .content_bucket import read_content_bucket

    return read_content_bucket(location, store)


def discard_contents(location: Path | BucketAddress, store: str) -> None:
    """Delete the parts and the marker of a store. Everything else stays. Does nothing if there is no marker."""
    if isinstance(location, Path):
        discard_content_folder(location, store)
        return
    from .content_bucket import discard_content_bucket

    discard_content_bucket(location, store)
