"""Reads a data directory and reports damage, and copies the folder of a store, which a service may be using.

The database is copied at one moment, while the service continues. The bytes of a part that the database counts never
change, but the service deletes parts of deleted files. If a part of the copied database has been deleted meanwhile, the
database is copied again.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from ...local.saving import existing
from . import data_directory
from .atomic_write import sync_folder
from .blob_store import BLOCK, StoredPart, crc32
from .directory_blob_store import DirectoryBlobStore

_MOST_PROBLEMS = 100  # the maximum number of problems that SQLite may report

# A table and column, the table and column that must contain the same values, and a condition for the first table.
_REFERENCES = (
    ("files", "parent", "files", "id", "TRUE"),
    ("files", "content", "contents", "id", "TRUE"),
    ("rope", "content", "contents", "id", "TRUE"),
    ("sessions", "content", "contents", "id", "state = 'open'"),
    ("properties", "file", "files", "id", "TRUE"),
    ("opened", "file", "files", "id", "TRUE"),
)

_DANGLING = """SELECT DISTINCT {column} FROM {table}
    WHERE {condition} AND {column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {other})"""
_GAPS = """SELECT id, name, owner, size, stored FROM
    (SELECT files.*, (SELECT COALESCE(SUM(stop - start), 0) FROM rope WHERE content = files.content) AS stored
     FROM files WHERE size IS NOT NULL AND content IS NOT NULL)
    WHERE size <> stored ORDER BY seq"""
_AFFECTED = """SELECT rope.part, files.id, files.name, files.owner
    FROM rope JOIN files ON files.content = rope.content ORDER BY files.seq"""


class AffectedFile(NamedTuple):
    """A file with damaged or missing content."""

    id: str
    name: str
    owner: str


class Stored(NamedTuple):
    """The schema version of a store, the number of files and the list of stored parts."""

    version: int
    files: int
    parts: list[StoredPart]


def database_problems(driver: sqlite3.Connection) -> list[str]:
    """Return sentences about problems that SQLite finds and about references to missing rows. Raises sqlite3.Error."""
    messages = [str(line) for (line,) in driver.execute(f"PRAGMA integrity_check({_MOST_PROBLEMS})")]
    problems = [] if messages == ["ok"] else messages
    for table, column, other, key, condition in _REFERENCES:
        query = _DANGLING.format(table=table, column=column, other=other, key=key, condition=condition)
        problems += [f"{table}.{column} names {value!r}, which is not in {other}" for (value,) in driver.execute(query)]
    return problems


def read_contents(driver: sqlite3.Connection) -> Stored:
    """Return the schema version, file count and stored parts. Parts have no checksums in schema version 1."""
    columns = {name for _, name, *_ in driver.execute("PRAGMA table_info(rope)")}
    checksum = "checksum" if "checksum" in columns else "NULL"
    rows = driver.execute(f"SELECT part, stop - start, {checksum} FROM rope ORDER BY part")
    (version,) = driver.execute("PRAGMA user_version").fetchone()
    (files,) = driver.execute("SELECT COUNT(*) FROM files WHERE parent IS NOT NULL").fetchone()
    return Stored(version, files, [StoredPart._make(row) for row in rows])


class Problem(NamedTuple):
    """A damaged object of a store, a description of the damage, and the affected files."""

    subject: str
    problem: str
    files: list[AffectedFile]


@dataclass
class Report:
    """The result of a store check, with the total `size` in bytes.

    `unverified` counts the parts without a checksum. `unnamed` has the paths of files below `parts/` that no row names.
    """

    folder: str
    version: int = 0
    files: int = 0
    parts: int = 0
    size: int = 0
    unverified: int = 0
    problems: list[Problem] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report as text for a terminal."""
        yield f"{self.folder}: files: {self.files:,}, parts: {self.parts:,}, bytes: {self.size:,}"
        for subject, problem, files in self.problems:
            yield f"damaged: {subject}: {problem}"
            yield from (f"  affects {file.name} ({file.id}) of {file.owner}" for file in files)
        if self.unverified:
            yield f"note: {self.unverified:,} parts have no checksum yet: the next start of a service records them"
        yield from (f"note: {path} belongs to no file" for path in self.unnamed)
        yield f"problems: {len(self.problems):,}" if self.problems else "no damage found"

    def as_json(self) -> dict[str, Any]:
        """Return the report as a dict that can be converted to JSON."""
        problems = [row._asdict() | {"files": [file._asdict() for file in row.files]} for row in self.problems]
        return asdict(self) | {"problems": problems}


def check_store(folder: Path) -> Report:
    """Check the database and all parts of a store. Raises OSError if the folder is not a store or is in use."""
    data_directory.check_not_in_use(folder)
    report = Report(str(folder))
    try:
        with data_directory.reading(folder / data_directory.DATABASE) as driver:
            report.problems += [Problem(data_directory.DATABASE, line, []) for line in database_problems(driver)]
            for *row, size, held in driver.execute(_GAPS):
                file = AffectedFile(*row)
                report.problems.append(Problem(file.id, f"has parts for {held:,} of {size:,} bytes", [file]))
            _check_parts(driver, folder / data_directory.PARTS, report)
    except sqlite3.DatabaseError as error:
        report.problems.append(Problem(data_directory.DATABASE, str(error), []))
    return report


def _check_parts(driver: sqlite3.Connection, folder: Path, report: Report) -> None:
    held = read_contents(driver)
    report.version, report.files, report.parts = held.version, held.files, len(held.parts)
    report.size = sum(part.size for part in held.parts)
    report.unverified = sum(part.checksum is None for part in held.parts)
    named = {folder / part.key[:2] / part.key for part in held.parts}
    unnamed = (path for path in folder.rglob("*") if path.is_file() and path not in named)
    report.unnamed = sorted(str(path.relative_to(folder.parent)) for path in unnamed)
    parts = DirectoryBlobStore(folder, sync=False)
    damaged = {part.key: problem for part in held.parts if (problem := parts.problem(part))}
    files: dict[str, list[AffectedFile]] = {key: [] for key in damaged}
    for key, *row in driver.execute(_AFFECTED) if damaged else ():
        if key in files:
            files[key].append(AffectedFile._make(row))
    report.problems += [Problem(f"{data_directory.PARTS}/{key[:2]}/{key}", damaged[key], files[key]) for key in damaged]


_UNFINISHED = f"{data_directory.DATABASE}.backup"
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
        copy_database(folder / data_directory.DATABASE, unfinished)
        with closing(sqlite3.connect(unfinished)) as driver:
            stored, opening = read_contents(driver), data_directory.read_opening(driver)
        if _copy_parts(folder / data_directory.PARTS, target / data_directory.PARTS, stored.parts, copied):
            break
    else:
        raise OSError(errno.EBUSY, "files were deleted during each of 100 attempts; try again", str(folder))
    for key in {part.key for part in copied} - {part.key for part in stored.parts}:
        _path(target / data_directory.PARTS, key).unlink()
    copy_extra(folder, target, extra)
    if opening:
        data_directory.write_marker(
            target, data_directory.Marker(uuid4().hex, opening.number, opening.token, closed=False)
        )
    unfinished.rename(target / data_directory.DATABASE)
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
    data_directory.check_is_store(folder)
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
