"""Copies the folder of a store, which a service may be using, to another folder.

The database is copied at one moment, while the service continues. The bytes of a part that the database counts never
change, but the service deletes parts of deleted files. If a part of the copied database has been deleted meanwhile, the
database is copied again.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from ...local.saving import existing
from . import check as integrity
from .atomic_write import sync_folder
from .blob_store import BLOCK, StoredPart, crc32
from .data_directory import DATABASE, PARTS, Marker, check_is_store, read_opening, write_marker

_UNFINISHED = f"{DATABASE}.backup"
_MOST_COPIES = 100


class Backup(NamedTuple):
    """The numbers of a finished backup. `damaged` has a sentence for each part that was already damaged."""

    files: int
    parts: int
    size: int
    damaged: list[str]


def back_up(folder: Path, target: Path, *extra: str) -> Backup:
    """Copy the store in `folder` to `target`, which is empty or does not exist, and the files and folders in `extra`.

    Until the backup is complete, `target` has no database and cannot be opened. Raises OSError.
    """
    _check_folders(folder, target)
    target.mkdir(parents=True, exist_ok=True)
    unfinished = target / _UNFINISHED
    copied: dict[StoredPart, str | None] = {}
    for _ in range(_MOST_COPIES):
        copy_database(folder / DATABASE, unfinished)
        with closing(sqlite3.connect(unfinished)) as driver:
            stored, opening = integrity.read_contents(driver), read_opening(driver)
        if _copy_parts(folder / PARTS, target / PARTS, stored.parts, copied):
            break
    else:
        raise OSError(errno.EBUSY, "files were deleted during each of 100 attempts; try again", str(folder))
    for key in {part.key for part in copied} - {part.key for part in stored.parts}:
        _path(target / PARTS, key).unlink()
    copy_extra(folder, target, extra)
    if opening:
        write_marker(target, Marker(uuid4().hex, opening.number, opening.token, closed=False))
    unfinished.rename(target / DATABASE)
    sync_folder(target)
    damaged = [problem for part in stored.parts if (problem := copied[part])]
    return Backup(stored.files, len(stored.parts), sum(part.size for part in stored.parts), damaged)


def copy_extra(source: Path, target: Path, names: Iterable[str]) -> None:
    """Copy further files and folders of a store, if they exist."""
    for name in names:
        if (source / name).is_dir():  # without unfinished files
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
        elif (source / name).exists():
            shutil.copy(source / name, target / name)  # with its mode


def _check_folders(folder: Path, target: Path) -> None:
    check_is_store(folder)
    if target.resolve().is_relative_to(folder.resolve()):
        raise OSError(f"{target} is in the folder of the store; choose another folder")
    file = existing(target)
    if file and not target.is_dir():
        raise FileExistsError(f"{target} is a {file.kind}; choose a new folder")
    if file and any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty; choose a new folder")


def _copy_parts(source: Path, target: Path, parts: list[StoredPart], copied: dict[StoredPart, str | None]) -> bool:
    """Copy the parts that are not in `copied`, and add them. Return False if a part was deleted meanwhile."""
    for part in parts:
        if part in copied:
            continue
        path = _path(target, part.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _path(source, part.key).open("rb") as file, path.open("wb") as copy:
                checksum = size = 0
                while block := file.read(min(BLOCK, part.size - size)):
                    copy.write(block)
                    checksum, size = crc32(block, checksum), size + len(block)
        except FileNotFoundError:
            return False
        is_same = size == part.size and part.checksum in (None, checksum)
        copied[part] = None if is_same else f"part {part.key} is damaged"
    return True


def _path(folder: Path, key: str) -> Path:
    return folder / key[:2] / key


# -- the database
#
# SQLite's backup needs a database that the other process shares, and a service does not share its own, so the files are
# copied without a lock. A checkpoint only writes pages into the database that the write-ahead log contains, too. The
# log is copied after the database, so it contains the pages that a checkpoint wrote during the copy, unless the log was
# begun again meanwhile. That changes the header of the log, and then both files are copied again.


_LOG_HEADER = 32
_ATTEMPTS = 200


def copy_database(path: Path, target: Path) -> None:
    """Write a consistent copy of a database to the file `target`, which is replaced. Raises OSError."""
    target.unlink(missing_ok=True)
    log = target.with_name(f"{target.name}-wal")
    for _ in range(_ATTEMPTS):
        if _copy_files(path, target, log):
            break
        time.sleep(0.01)
    else:
        raise OSError(errno.EBUSY, "the service writes too much for a consistent copy; try again", str(path))
    try:
        with closing(sqlite3.connect(target)) as copy:
            copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (check,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        check = str(error)
    log.unlink(missing_ok=True)
    if check != "ok":
        raise OSError(errno.EIO, f"the database is damaged ({check.splitlines()[-1]})", str(path))


def _copy_files(path: Path, target: Path, target_log: Path) -> bool:
    """Copy a database and its log. Return False if the log was begun again meanwhile."""
    log = path.with_name(f"{path.name}-wal")
    before = _state(path, log)
    shutil.copyfile(path, target)
    target_log.unlink(missing_ok=True)
    if before[0]:
        try:
            shutil.copyfile(log, target_log)
        except FileNotFoundError:
            return False
    return _state(path, log) == before


def _state(path: Path, log: Path) -> tuple[bytes, int]:
    """Return the header of the log, which changes when the log is begun again. Without a log, also a time."""
    try:
        with log.open("rb") as file:
            header = file.read(_LOG_HEADER)
    except FileNotFoundError:
        header = b""
    return header, 0 if header else path.stat().st_mtime_ns
