"""Finds and deletes parts that belong to no content, while no service uses the store.

Such parts stay when a process is killed between the writing of a part and the commit of its row, and when a bucket
refuses a deletion.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from .blob_store import ListedPart
from .contents import Contents
from .migration_stores import SourceStore, source_folder, source_on_postgres


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


def _open(store: str, content: str | None) -> AbstractContextManager[SourceStore]:
    if not store.startswith(("postgresql://", "postgres://")):
        if content is not None:
            raise ValueError("--content applies only to a database: in a folder, the contents are beside the rows")
        return source_folder(Path(store))
    if content is None:
        raise ValueError("a store on PostgreSQL has the contents of files in a folder or a bucket: add --content")
    return source_on_postgres(store, content)
