"""The folder or bucket of the contents of a store on PostgreSQL."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from . import directory_blob_store
from .atomic_write import replace_synced
from .blob_store import MARKER, LastingBlobStore, check_content, marker_of, refusal
from .engine import Database

if TYPE_CHECKING:
    from .s3 import BucketAddress


_PARTS = "parts"


def _check_folder(folder: Path, store: str, *, has_parts: bool) -> bool:
    """Return whether a folder has the marker of a store. Raises OSError if the folder cannot be used."""
    names = {entry.name for entry in folder.iterdir()} if folder.exists() else set[str]()
    try:
        marker = (folder / MARKER).read_bytes() if MARKER in names else None
    except OSError:
        raise refusal(folder, f"{MARKER} cannot be read") from None
    check_content(folder, store, marker, is_empty=not names - directory_blob_store.HARMLESS, has_parts=has_parts)
    return marker is not None


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
        from .s3 import parse_bucket_address
    except ImportError:
        raise ImportError('contents in a bucket need a library: pip install "svc-notebooks[s3]"') from None
    return parse_bucket_address(str(content))


def folder_of(location: Path | BucketAddress) -> Path | None:
    """Return the folder for other files of the store, or None with a bucket."""
    return location if isinstance(location, Path) else None


def open_contents(
    location: Path | BucketAddress, store: str, database: Database, durability: Literal["process", "power"]
) -> LastingBlobStore:
    """Open the contents of a store, which may be empty if the database names no parts.

    `store` is the id of the store. Raises OSError, without changing anything, for a folder or a bucket that is not the
    one of the store.
    """
    number, has_parts = database.opening, bool(database.run("SELECT part FROM rope LIMIT 1", {}))
    if not isinstance(location, Path):
        from .s3 import open_content_bucket

        return open_content_bucket(location, store, number=number, has_parts=has_parts)
    folder = location.resolve()
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file: choose a folder for --content")
    if not _check_folder(folder, store, has_parts=has_parts):
        folder.mkdir(parents=True, exist_ok=True)
        replace_synced(folder / MARKER, marker_of(store), f"{MARKER}.{number}.unfinished")
    # A part whose writing ended long ago without success is deleted. Younger ones may be those of another process.
    long_ago = time.time() - directory_blob_store.UNFINISHED_AGE
    for path in (folder / _PARTS).glob(f"??/*{directory_blob_store.UNFINISHED}"):
        if (
            directory_blob_store.PART_NAME.fullmatch(path.name.removesuffix(directory_blob_store.UNFINISHED))
            and path.lstat().st_mtime < long_ago
        ):
            path.unlink(missing_ok=True)
    snapshots = folder / directory_blob_store.SNAPSHOTS / store
    if not database.is_shared:
        directory_blob_store.drop_snapshots(snapshots)
    return directory_blob_store.DirectoryBlobStore(
        folder / _PARTS, sync=durability == "power", opening=number, snapshots=snapshots
    )


def read_contents(location: Path | BucketAddress, store: str) -> LastingBlobStore:
    """Return the contents of a store, without changing anything. Raises OSError for those of any other store."""
    if not isinstance(location, Path):
        from .s3 import read_content_bucket

        return read_content_bucket(location, store)
    if not _check_folder(location, store, has_parts=True):
        raise refusal(location, "it is empty")
    return directory_blob_store.DirectoryBlobStore(location / _PARTS, sync=False)


def discard_contents(location: Path | BucketAddress, store: str) -> None:
    """Delete the parts and the marker of a store. Everything else stays. Does nothing if there is no marker."""
    if not isinstance(location, Path):
        from .s3 import discard_content_bucket

        discard_content_bucket(location, store)
    elif (location / MARKER).exists():
        read_contents(location, store)
        directory_blob_store.drop_parts(location / _PARTS)
        (location / MARKER).unlink()
