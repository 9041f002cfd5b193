"""Copies a store from a folder to a PostgreSQL database, or back, and verifies the copy. The source stays unchanged.

Parts keep their keys, so a part that an interrupted migration has copied is not copied again. All rows are copied in
one transaction at the end, with the secret, the tokens, the upload sessions and the numbers of the change log, so that
clients continue with the page tokens, sync tokens, session URIs and channels that they have.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from ..blobs.blob_store import BlobStore, DamagedContent, StoredPart
from ..database.engine import Database
from ..storage.migration_source import SourceStore, source_folder, source_on_postgres
from ..storage.migration_target import (
    TargetStore,
    discard_folder,
    discard_on_postgres,
    target_folder,
    target_on_postgres,
)
from ..tables.contents import PartRange
from ..tables.row_copy import copy_tables, pages, table_sums

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
