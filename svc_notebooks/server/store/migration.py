"""Copies a store from a folder to PostgreSQL, or back, and deletes parts that belong to no content."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar
from uuid import uuid4

from ...core.platform import temporary_folder
from . import data_directory
from .atomic_write import replace_synced, sync_folder
from .blob_store import BlobStore, DamagedContent, LastingBlobStore, ListedPart, StoredPart, write_part
from .content_location import content_location, discard_contents, folder_of, open_contents, read_contents
from .contents import Contents, PartRange
from .directory_blob_store import HARMLESS, DirectoryBlobStore, drop_parts
from .engine import Database, Row, column_names, inserting
from .maintenance import copy_database, copy_extra
from .opening import open_database
from .store import TABLES, columns

T = TypeVar("T")


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
    data_directory.check_not_in_use(folder)
    state, before = data_directory.examine(folder)
    if state == "new":
        raise OSError(f"{folder} is not a store")
    with temporary_folder("svc-store-") as scratch, (folder / data_directory.DATABASE).open("rb") as file:
        copy = Path(scratch, data_directory.DATABASE)
        copy_database(folder / data_directory.DATABASE, copy)
        with closing(open_database(copy, "process")) as database:
            # No other handle of the file is closed here, because that would end the lock.
            was_opened = state == "with marker" and data_directory.read_marker(folder) != before
            if was_opened or not data_directory.keep_services_out(file):
                raise OSError(f"{folder} is in use: close the service that uses the folder first")
            yield SourceStore(
                before.store, database, DirectoryBlobStore(folder / data_directory.PARTS, sync=False), folder
            )


@contextmanager
def source_on_postgres(address: str, content: str | Path) -> Iterator[SourceStore]:
    """Open the store at the address of a database, with the contents at `content`, during a `with` block."""
    from .postgres.opening import read_postgres

    location = content_location(content)
    database, store, _ = read_postgres(address)
    with closing(database):
        parts = read_contents(location, store)
        with database.reading():
            yield SourceStore(store, database, parts, folder_of(location))


_NEW_DATABASE = f"{data_directory.DATABASE}.migration"


class TargetStore(NamedTuple):
    """An empty store: its rows, its parts, and the folder of other files, or None without one.

    `end_rows` records that all rows were copied, as part of the open transaction, if the rows decide about the store.
    `end` makes the copy a complete store.
    """

    database: Database
    parts: BlobStore
    folder: Path | None
    end_rows: Callable[[], None] = lambda: None
    end: Callable[[], None] = lambda: None


@contextmanager
def target_folder(folder: Path, source: str) -> Iterator[TargetStore]:
    """Open a folder as the target for the store with the id `source`.

    The folder is empty, or does not exist, or has the record of an unfinished migration of the same store. Raises
    OSError for any other folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if {path.name for path in folder.iterdir()} - HARMLESS:
        _check_record(folder, source)
    else:
        about = "svc-notebooks migrate copies a store to this folder."
        record = json.dumps({"about": about, "source": source})
        replace_synced(folder / data_directory.MIGRATION, record.encode(), f"{data_directory.MIGRATION}.unfinished")
    _delete_rows(folder)
    database = open_database(folder / _NEW_DATABASE, "power")  # no service opens it before it is renamed

    def end() -> None:
        opening = data_directory.begin_opening(database.driver, uuid4().hex, "")
        database.close()
        data_directory.write_marker(
            folder, data_directory.Marker(uuid4().hex, opening.number, opening.token, closed=False)
        )
        (folder / _NEW_DATABASE).rename(folder / data_directory.DATABASE)
        sync_folder(folder)
        (folder / data_directory.MIGRATION).unlink()
        sync_folder(folder)

    with closing(database):
        yield TargetStore(database, DirectoryBlobStore(folder / data_directory.PARTS, sync=True), folder, end=end)


def _check_record(folder: Path, source: str) -> None:
    try:
        recorded = json.loads((folder / data_directory.MIGRATION).read_text(encoding="utf-8"))["source"]
    except FileNotFoundError:
        raise OSError(f"{folder} is not empty: choose a new folder") from None
    except (ValueError, KeyError, TypeError):
        raise OSError(f"{folder / data_directory.MIGRATION} cannot be read: choose a new folder") from None
    if recorded != source:
        raise OSError(f"{folder} is the target of an unfinished migration of another store: choose a new folder")


def _delete_rows(folder: Path) -> None:
    """Delete what an interrupted migration has written in place of the database."""
    for name in (data_directory.DATABASE, _NEW_DATABASE):
        for suffix in ("", "-wal", "-journal"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    (folder / data_directory.MARKER).unlink(missing_ok=True)


@contextmanager
def target_on_postgres(address: str, content: str | Path, source: str) -> Iterator[TargetStore]:
    """Open an empty database and an empty place for contents as the target for the store with the id `source`.

    Both may also be those of an unfinished migration of the same store. Raises OSError for any others.
    """
    from .postgres.opening import open_postgres

    location = content_location(content)
    database, store, _ = open_postgres(address, "power", shared=False, migration=source)
    with closing(database):
        parts = open_contents(location, store, database, "power")

        def end_rows() -> None:
            database.driver.execute("UPDATE svc_store SET migration = NULL")

        yield TargetStore(database, parts, folder_of(location), end_rows=end_rows)


_PAGE = 1000


def pages(database: Database, table: str) -> Iterator[Sequence[Row]]:
    """Yield all rows of a table in pages, in the order of the primary key. One page at a time is in memory."""
    key = [column.name for column in TABLES[table].primary_key.columns]
    selected = f"SELECT {column_names(columns(table))} FROM {table}"
    order = f"ORDER BY {column_names(key)} LIMIT {_PAGE}"
    after = f"WHERE ({column_names(key)}) > ({', '.join(f':{name}' for name in key)})"
    page = database.run(f"{selected} {order}", {})
    while page:
        yield page
        last = dict(zip(columns(table), page[-1], strict=True))
        values = {name: last[name] for name in key}
        page = database.run(f"{selected} {after} {order}", values) if len(page) == _PAGE else []


def copy_tables(source: Database, target: Database) -> dict[str, tuple[int, str]]:
    """Copy all rows and the counters to empty tables, and return the number of rows and the digest of each table.

    Raises ValueError for a row that the target cannot store. The caller has opened a transaction.
    """
    sums = {}
    for name, table in TABLES.items():
        adding = inserting(table, columns(name))
        sums[name] = _sum(source, name, partial(_add, target, name, adding))
    target.set_counters(source.counters())
    return sums


def _add(target: Database, table: str, adding: str, page: Sequence[Row]) -> None:
    for row in page:
        try:
            target.add(adding, dict(zip(columns(table), row, strict=True)))
        except ValueError as error:
            raise ValueError(f"the row {list(row)!r:.120} of {table}: {error}") from None


def _sum(database: Database, table: str, use: Callable[[Sequence[Row]], None]) -> tuple[int, str]:
    """Call `use` with each page of rows of a table, and return their number and their SHA-256 digest in hexadecimal."""
    number, digest = 0, hashlib.sha256()
    for page in pages(database, table):
        use(page)
        number += len(page)
        for row in page:
            digest.update(json.dumps(list(row)).encode() + b"\n")
    return number, digest.hexdigest()


Report = Callable[[str], None]


class Migrated(NamedTuple):
    """The numbers of a finished migration. `reused` parts had been copied before. `left` are files without a place."""

    rows: int
    parts: int
    size: int
    reused: int
    left: list[str]


def migrate(source: str, target: str, content: str | Path | None, extra: Sequence[str], report: Report) -> Migrated:
    """Copy the store `source` to the empty place `target`, verify the copy, and return its numbers.

    One of both is a folder, and the other is the address of a database. `content` has the contents of the files beside
    the database. `extra` are the names of further files and folders in the folder of a store. `report` is called with a
    sentence for each step.

    Raises ValueError for other places, and OSError if the source is in use or damaged, or the target is not empty.
    """
    with _source(source, target, content) as opened:
        try:
            with _target(target, content, opened.store) as empty:
                return _migrate(opened, empty, extra, report)
        except ValueError as error:  # of a row
            raise OSError(f"a row cannot be copied: {error}") from None


def discard(source: str, target: str, content: str | Path | None) -> None:
    """Delete what an unfinished migration from `source` has written to `target`. Other files stay.

    Raises the same as `migrate`.
    """
    with _source(source, target, content) as opened:
        if not _is_address(target):
            folder = Path(target)
            _check_record(folder, opened.store)
            _delete_rows(folder)
            drop_parts(folder / data_directory.PARTS)
            (folder / data_directory.MIGRATION).unlink()
            return
        from .postgres.opening import discard_migration, open_postgres

        assert content
        location = content_location(content)
        database, store, _ = open_postgres(target, "power", shared=False, migration=opened.store)
        with closing(database):
            discard_contents(location, store)
            discard_migration(database)


def _is_address(place: str) -> bool:
    return place.startswith(("postgresql://", "postgres://"))


def _source(source: str, target: str, content: str | Path | None) -> AbstractContextManager[SourceStore]:
    if _is_address(source) == _is_address(target):
        raise ValueError("one of FROM and TO must be a folder, and the other must be postgresql://user@host/database")
    if content is None:
        raise ValueError("the contents of the files beside the database need a place; add --content")
    return _open(source, content if _is_address(source) else None)


def _target(target: str, content: str | Path | None, source: str) -> AbstractContextManager[TargetStore]:
    if not _is_address(target):
        return target_folder(Path(target), source)
    assert content
    return target_on_postgres(target, content, source)


def _migrate(source: SourceStore, target: TargetStore, extra: Sequence[str], report: Report) -> Migrated:
    numbers = _copy_parts(source, target.parts, report)
    left = [name for name in extra if source.folder and (source.folder / name).exists()]
    if source.folder and target.folder:
        copy_extra(source.folder, target.folder, left)
        left = []
    check_contents(source.database, target.parts, report)
    report("copying and verifying the rows")
    with target.database.transaction():
        copied = copy_tables(source.database, target.database)
        is_same = {name: _sum(target.database, name, lambda page: None) for name in TABLES} == copied
        if not is_same or target.database.counters() != source.database.counters():
            raise OSError("the copied rows differ from the rows of the source: repeat the command")
        target.end_rows()
    target.end()
    return Migrated(sum(rows for rows, _ in copied.values()), *numbers, left)


# The number of parts that are copied or read at once, because a bucket takes milliseconds for each request.
_CONNECTIONS = 16

_REPORT_INTERVAL = 10.0


def _with_parts(
    database: Database, use: Callable[[StoredPart], T], report: Report, title: str
) -> Iterator[tuple[StoredPart, T]]:
    """Call `use` for all parts in threads, and yield each part and the result. Reports the progress every 10 s."""
    ((total,),) = database.run("SELECT COUNT(*) FROM rope", {})
    report(f"{title}: {total:,} parts")
    number = size = 0
    started = reported = time.monotonic()
    with ThreadPoolExecutor(_CONNECTIONS, "svc-migrate") as pool:
        for page in pages(database, "rope"):
            parts = [PartRange._make(values).stored for _, *values in page]
            for part, result in zip(parts, pool.map(use, parts), strict=True):
                number, size = number + 1, size + part.size
                now = time.monotonic()
                if now - reported >= _REPORT_INTERVAL:
                    left = (total - number) * (now - started) / number
                    report(f"{title}: {number:,} of {total:,} parts, {size:,} bytes, {left:,.0f} s left")
                    reported = now
                yield part, result


def _copy_parts(source: SourceStore, target: BlobStore, report: Report) -> tuple[int, int, int]:
    """Copy the parts that are missing, and return the numbers of parts, of bytes and of parts that were there."""

    def copy(part: StoredPart) -> bool:
        is_there = target.problem(part) is None
        if not is_there:
            write_part(target, source.parts.read(part, 0, part.size), part.key, part.checksum)
        return is_there

    number = size = reused = 0
    for part, is_there in _with_parts(source.database, copy, report, "copying the contents"):
        number, size, reused = number + 1, size + part.size, reused + is_there
    return number, size, reused


def check_contents(database: Database, parts: BlobStore, report: Report) -> None:
    """Read all parts that the rows of a database name. Raises DamagedContent if one is missing or damaged."""
    problems = {}
    for part, checksum in _with_parts(database, parts.checksum, report, "verifying the contents"):
        if checksum is None or part.checksum not in (None, checksum):
            problems[part.key] = parts.problem(part) or f"part {part.key} has a wrong checksum"
    if problems:
        raise DamagedContent(problems)


class Swept(NamedTuple):
    """The stray parts of the minimum age, the keys of those that were deleted, and the number of younger ones."""

    old: list[ListedPart]
    deleted: set[str]
    younger: int


def sweep(store: str, content: str | None, *, min_age: float, now: float, delete: bool) -> Swept:
    """Find the stray parts of a store that were written at least `min_age` seconds before `now` (Unix seconds).

    `store` is a data folder, or the address of a database whose contents are at `content`. With `delete`, the found
    parts are deleted. Files and objects whose name is not that of a part are never touched.

    Raises ValueError for an invalid address, and OSError if a service uses the store, or if it cannot be read.
    """
    with _open(store, content) as opened:
        named = Contents(opened.database).known_parts()
        stray = [part for part in opened.parts.listed() if part.key not in named]
        old = sorted(part for part in stray if now - part.modified >= min_age)
        deleted = set[str]()
        if delete:
            keys = {part.key for part in old}
            opened.parts.delete(keys)
            deleted = keys - {part.key for part in opened.parts.listed()}
    return Swept(old, deleted, len(stray) - len(old))


def _open(store: str, content: str | Path | None) -> AbstractContextManager[SourceStore]:
    if not _is_address(store):
        if content is not None:
            raise ValueError("--content applies only to a database: in a folder, the contents are beside the rows")
        return source_folder(Path(store))
    if content is None:
        raise ValueError("a store on PostgreSQL has the contents of files in a folder or a bucket: add --content")
    return source_on_postgres(store, content)
