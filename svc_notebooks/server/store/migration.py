"""Copies a store from a folder to PostgreSQL, or back."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import literal, select, tuple_

from .blob_store import BlobStore, DamagedContent, StoredPart
from .contents import PartRange
from .dump import TABLES, columns
from .engine import Database, Prepared, Row, inserting
from .migration_stores import (
    SourceStore,
    TargetStore,
    discard_folder,
    discard_on_postgres,
    source_folder,
    source_on_postgres,
    target_folder,
    target_on_postgres,
)

_PAGE = 1000


class TableSum(NamedTuple):
    """The number of rows of a table, and their SHA-256 digest in hexadecimal, in the order of the primary key."""

    rows: int
    digest: str


def pages(database: Database, table: str) -> Iterator[Sequence[Row]]:
    """Yield all rows of a table in pages, in the order of the primary key. One page at a time is in memory."""
    chosen = TABLES[table]
    key = list(chosen.primary_key.columns)
    statement = select(chosen).order_by(*key).limit(_PAGE)
    page = database.select(statement)
    while page:
        yield page
        last = dict(zip(columns(table), page[-1], strict=True))
        after = tuple_(*key) > tuple_(*(literal(last[column.name], column.type) for column in key))
        page = database.select(statement.where(after)) if len(page) == _PAGE else ()


def copy_tables(source: Database, target: Database) -> dict[str, TableSum]:
    """Copy all rows and the counters to empty tables, and return the checksums of the source by table.

    Raises ValueError for a row that the target cannot store. The caller has opened a transaction.
    """
    sums = {}
    for name, table in TABLES.items():
        adding = inserting(table, columns(name))
        sums[name] = _sum(source, name, partial(_add, target, name, adding))
    target.set_counters(source.counters())
    return sums


def _add(target: Database, table: str, adding: Prepared, page: Sequence[Row]) -> None:
    for row in page:
        try:
            target.add(adding, dict(zip(columns(table), row, strict=True)))
        except ValueError as error:
            raise ValueError(f"the row {list(row)!r:.120} of {table}: {error}") from None


def table_sums(database: Database) -> dict[str, TableSum]:
    """Return the checksums of all tables by name."""
    return {name: _sum(database, name, lambda page: None) for name in TABLES}


def _sum(database: Database, table: str, use: Callable[[Sequence[Row]], None]) -> TableSum:
    """Compute the checksum of a table, and call `use` with each page of rows."""
    number, digest = 0, hashlib.sha256()
    for page in pages(database, table):
        use(page)
        number += len(page)
        for row in page:
            digest.update(json.dumps(list(row)).encode() + b"\n")
    return TableSum(number, digest.hexdigest())


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
    """Delete what an unfinished migration from `source` has written to `target`. Raises the same as `migrate`."""
    with _source(source, target, content) as opened:
        if _is_address(target):
            assert content
            discard_on_postgres(target, content, opened.store)
        else:
            discard_folder(Path(target), opened.store)


def _is_address(place: str) -> bool:
    return place.startswith(("postgresql://", "postgres://"))


def _source(source: str, target: str, content: str | Path | None) -> AbstractContextManager[SourceStore]:
    if _is_address(source) == _is_address(target):
        raise ValueError("one of FROM and TO must be a folder, and the other must be postgresql://user@host/database")
    if content is None:
        raise ValueError("the contents of the files beside the database need a place; add --content")
    return source_on_postgres(source, content) if _is_address(source) else source_folder(Path(source))


def _target(target: str, content: str | Path | None, source: str) -> AbstractContextManager[TargetStore]:
    if not _is_address(target):
        return target_folder(Path(target), source)
    assert content
    return target_on_postgres(target, content, source, time.time())


def _migrate(source: SourceStore, target: TargetStore, extra: Sequence[str], report: Report) -> Migrated:
    report("copying the contents of files")
    numbers = _copy_parts(source, target.parts)
    left = _copy_extra(source.folder, target.folder, extra)
    report("verifying the contents")
    check_contents(source.database, target.parts)
    report("copying and verifying the rows")
    with target.database.transaction():
        copied = copy_tables(source.database, target.database)
        is_same = table_sums(target.database) == copied
        if not is_same or target.database.counters() != source.database.counters():
            raise OSError("the copied rows differ from the rows of the source: repeat the command")
        target.end_rows()
    target.end()
    return Migrated(sum(each.rows for each in copied.values()), *numbers, left)


def _parts(database: Database) -> Iterator[StoredPart]:
    for page in pages(database, "rope"):
        for _, *values in page:
            yield PartRange._make(values).stored


def _copy_parts(source: SourceStore, target: BlobStore) -> tuple[int, int, int]:
    """Copy the parts that are missing, and return the numbers of parts, of bytes and of parts that were there."""
    number = size = reused = 0
    for part in _parts(source.database):
        number, size = number + 1, size + part.size
        if target.problem(part) is None:
            reused += 1
        else:
            _copy_part(source.parts, target, part)
    return number, size, reused


def _copy_part(source: BlobStore, target: BlobStore, part: StoredPart) -> None:
    writer = target.writer(part.key)
    try:
        for block in source.read(part, 0, part.size):
            writer.write(block)
        if part.checksum not in (None, writer.checksum):
            raise DamagedContent({part.key: f"part {part.key} has a wrong checksum"})
        writer.commit()
    except BaseException:
        writer.abort()
        raise


def check_contents(database: Database, parts: BlobStore) -> None:
    """Read all parts that the rows of a database name. Raises DamagedContent if one is missing or damaged."""
    problems = {}
    for part in _parts(database):
        checksum = parts.checksum(part)
        if checksum is None or part.checksum not in (None, checksum):
            problems[part.key] = parts.problem(part) or f"part {part.key} has a wrong checksum"
    if problems:
        raise DamagedContent(problems)


def _copy_extra(source: Path | None, target: Path | None, names: Sequence[str]) -> list[str]:
    """Copy further files and folders, and return the names of those that have no place in the target."""
    present = [name for name in names if source and (source / name).exists()]
    if source is None or target is None:
        return present
    for name in present:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
        else:
            shutil.copy(source / name, target / name)  # with its mode
    return []
