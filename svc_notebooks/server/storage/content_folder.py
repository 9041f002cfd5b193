"""Opens the folder that has the contents of files for a store whose rows are on a database server.

A marker file has the id of the store. A folder is opened only if it is empty, or has the marker of the same store.
Parts that no row names stay, because another process may be about to add the row.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from ..blobs.atomic_write import sync_folder
from ..blobs.directory import PART_NAME, SNAPSHOTS, UNFINISHED, DirectoryBlobStore, drop_parts, drop_snapshots
from ..blobs.stray_blobs import HARMLESS, UNFINISHED_AGE

MARKER = "svc-contents.json"
_PARTS = "parts"
_FORMAT = "svc-notebooks contents"
_VERSION = 1
_ABOUT = (
    "This folder has the contents of the files of a svc-notebooks store (svc-notebooks serve --content), whose rows are"
    " in a PostgreSQL database. Copy, move or delete it together with the database, while no service uses it."
)


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
    names = {entry.name for entry in folder.iterdir()} if folder.exists() else set[str]()
    unfinished = f"{MARKER}.{number}.unfinished"
    if MARKER in names:
        if _read_marker(folder) != store:
            raise _refusal(folder, "it has the contents of another store")
    elif names - HARMLESS:
        raise _refusal(folder, "it is neither empty nor the folder of a store")
    elif has_parts:
        raise _refusal(folder, "it is empty, but the database names parts of files")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        _write_marker(folder, unfinished, store)
    _delete_old_unfinished(folder / _PARTS, now)
    snapshots = folder / SNAPSHOTS / store
    if not shared:
        drop_snapshots(snapshots)
    return DirectoryBlobStore(folder / _PARTS, sync=durability == "power", opening=number, snapshots=snapshots)


def read_content_folder(folder: Path, store: str) -> DirectoryBlobStore:
    """Return the parts in the folder of a store, without changing the folder. Raises OSError for any other folder."""
    if not (folder / MARKER).exists() or _read_marker(folder) != store:
        raise _refusal(folder, "it has no contents of this store")
    return DirectoryBlobStore(folder / _PARTS, sync=False)


def discard_content_folder(folder: Path, store: str) -> None:
    """Delete the parts and the marker of a store. Other files stay. Does nothing if there is no folder."""
    if (folder / MARKER).exists():
        read_content_folder(folder, store)
        drop_parts(folder / _PARTS)
        (folder / MARKER).unlink()


def _refusal(folder: Path, problem: str) -> OSError:
    return OSError(f"{folder} cannot be used with this database, and was not changed: {problem}; choose its folder")


def _read_marker(folder: Path) -> str:
    try:
        content: Any = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        form, number, store = content["format"], content["version"], content["store"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise _refusal(folder, f"{MARKER} cannot be read") from None
    if (form, number) != (_FORMAT, _VERSION):
        raise _refusal(folder, f"{MARKER} is not a marker that this package supports")
    return str(store)


def _write_marker(folder: Path, unfinished: str, store: str) -> None:
    content = {"about": _ABOUT, "format": _FORMAT, "version": _VERSION, "store": store}
    with (folder / unfinished).open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    (folder / unfinished).replace(folder / MARKER)
    sync_folder(folder)


def _delete_old_unfinished(parts: Path, now: float) -> None:
    """Delete parts whose writing ended long ago without success. Younger ones may be those of another process."""
    for path in parts.glob(f"??/*{UNFINISHED}"):
        if PART_NAME.fullmatch(path.name.removesuffix(UNFINISHED)) and now - path.lstat().st_mtime > UNFINISHED_AGE:
            path.unlink(missing_ok=True)
