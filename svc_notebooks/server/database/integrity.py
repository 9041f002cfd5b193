"""What a database in a file holds of stored contents, and what is wrong with it, read with nothing but SELECT."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from ..blobs.blob_store import StoredPart

_MOST_PROBLEMS = 100
"""So many problems SQLite reports of one database."""

_REFERENCES = (
    ("files", "parent", "files", "id", "TRUE"),
    ("files", "content", "contents", "id", "TRUE"),
    ("rope", "content", "contents", "id", "TRUE"),
    ("sessions", "content", "contents", "id", "state = 'open'"),
    ("properties", "file", "files", "id", "TRUE"),
    ("opened", "file", "files", "id", "TRUE"),
)
"""A column, the column that has each of its values, and of which rows that holds."""

_DANGLING = "SELECT DISTINCT {column} FROM {table} WHERE {condition} AND {column} NOT IN (SELECT {key} FROM {other})"
_GAPS = """SELECT id, name, owner, size, stored FROM
    (SELECT files.*, (SELECT COALESCE(SUM(stop - start), 0) FROM rope WHERE content = files.content) AS stored
     FROM files WHERE size IS NOT NULL AND content IS NOT NULL)
    WHERE size <> stored ORDER BY seq"""
_AFFECTED = """SELECT rope.part, files.id, files.name, files.owner
    FROM rope JOIN files ON files.content = rope.content ORDER BY files.seq"""


class AffectedFile(NamedTuple):
    """A file that has lost something."""

    id: str
    name: str
    owner: str


class Stored(NamedTuple):
    """What a database says of the contents of a store."""

    version: int
    files: int
    parts: list[StoredPart]


def database_problems(driver: sqlite3.Connection) -> list[str]:
    """What SQLite's own check finds, and the rows that name others which are not there. Raises sqlite3.Error."""
    messages = [str(line) for (line,) in driver.execute(f"PRAGMA integrity_check({_MOST_PROBLEMS})")]
    problems = [] if messages == ["ok"] else messages
    for table, column, other, key, condition in _REFERENCES:
        query = _DANGLING.format(table=table, column=column, other=other, key=key, condition=condition)
        problems += [f"{table}.{column} names {value!r}, which is not in {other}" for (value,) in driver.execute(query)]
    return problems


def stored(driver: sqlite3.Connection) -> Stored:
    """The parts that rows name. Databases from before there were checksums have none."""
    columns = {name for _, name, *_ in driver.execute("PRAGMA table_info(rope)")}
    checksum = "checksum" if "checksum" in columns else "NULL"
    rows = driver.execute(f"SELECT part, stop - start, {checksum} FROM rope ORDER BY part")
    (version,) = driver.execute("PRAGMA user_version").fetchone()
    (files,) = driver.execute("SELECT COUNT(*) FROM files WHERE parent IS NOT NULL").fetchone()
    return Stored(version, files, [StoredPart._make(row) for row in rows])


def affected(driver: sqlite3.Connection, parts: set[str]) -> dict[str, list[AffectedFile]]:
    """The files that each of these parts belongs to; a part of an unfinished upload belongs to none."""
    files: dict[str, list[AffectedFile]] = {part: [] for part in parts}
    for part, *row in driver.execute(_AFFECTED):
        if part in files:
            files[part].append(AffectedFile._make(row))
    return files


def gaps(driver: sqlite3.Connection) -> list[tuple[AffectedFile, str]]:
    """The files whose parts do not make up their size, and what is wrong with each."""
    return [
        (AffectedFile(*row), f"has parts for {held:,} of {size:,} bytes") for *row, size, held in driver.execute(_GAPS)
    ]
