"""Opens the folder that has the contents of files for a store whose rows are on a database server.

A marker file has the id of the store. A folder is opened only if it is empty, or has the marker of the same store.
Parts that no row names stay, because another process may be about to add the row.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from ..blobs.atomic_write import sync_folder
from ..blobs.directory import PART_NAME, SNAPSHOTS, UNFINISHED, DirectoryBlobStore, drop_parts, drop_snapshots
from ..blobs.stray_blobs import HARMLESS, UNFINISHED_AGE
from .content_marker import MARKER, check_content, marker_of, refusal

_PARTS = "parts"


def open_content_folder(
    folder: Path,
    store: str,
    *,
    number: int,
    has_parts: bool,
    durability: Literal["process", "power"],
    now: float,
    shared: bool,
) -> DirectoryBlobStore:
    """Open the folder with the parts of a store, which may be empty or missing if the store has no parts.

    `store` is the id of the store, and `number` is the number of this opening. `now` is in Unix seconds.

    Raises OSError, without changing anything, for a folder that is not the one of the store.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file: choose a folder for --content")
    if not _check_folder(folder, store, has_parts=has_parts):
        folder.mkdir(parents=True, exist_ok=True)
        _write_marker(folder, f"{MARKER}.{number}.unfinished", store)
    _delete_old_unfinished(folder / _PARTS, now)
    snapshots = folder / SNAPSHOTS / store
    if not shared:
        drop_snapshots(snapshots)
    return DirectoryBlobStore(folder / _PARTS, sync=durability == "power", opening=number, snapshots=snapshots)


def read_content_folder(folder: Path, store: str) -> DirectoryBlobStore:
    """Return the parts in the folder of a store, without changing the folder. Raises OSError for any other folder."""
    if not _check_folder(folder, store, has_parts=True):
        raise refusal(folder, "it is empty")
    return DirectoryBlobStore(folder / _PARTS, sync=False)


def discard_content_folder(folder: Path, store: str) -> None:
    """Delete the parts and the marker of a store. Other files stay. Does nothing if there is no folder."""
    if (folder / MARKER).exists():
        read_content_folder(folder, store)
        drop_parts(folder / _PARTS)
        (folder / MARKER).unlink()


def _check_folder(folder: Path, store: str, *, has_parts: bool) -> bool:
    """Return whether a folder has the marker of a store. Raises OSError if the folder cannot be used."""
    names = {entry.name for entry in folder.iterdir()} if folder.exists() else set[str]()
    try:
        marker = (folder / MARKER).read_bytes() if MARKER in names else None
    except OSError:
        raise refusal(folder, f"{MARKER} cannot be read") from None
    check_content(folder, store, marker, is_empty=not names - HARMLESS, has_parts=has_parts)
    return marker is not None


def _write_marker(folder: Path, unfinished: str, store: str) -> None:
    with (folder / unfinished).open("wb") as file:
        file.write(marker_of(store))
        file.flush()
        os.fsync(file.fileno())
    (folder / unfinished).replace(folder / MARKER)
    sync_folder(folder)


def _delete_old_unfinished(parts: Path, now: float) -> None:
    """Delete parts whose writing ended long ago without success. Younger ones may be those of another process."""
    for path in parts.glob(f"??/*{UNFINISHED}"):
        if PART_NAME.fullmatch(path.name.removesuffix(UNFINISHED)) and now - path.lstat().st_mtime > UNFINISHED_AGE:
            path.unlink(missing_ok=True)
