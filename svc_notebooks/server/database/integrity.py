"""Reads the stored parts and any damage from a database file, with SELECT statements only."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from ..blobs.blob_store import StoredPart

_MOST_PROBLEMS = 100
"""The maximum number of problems that SQLite may report."""

_REFERENCES = (
    ("files", "parent", "files", "id", "TRUE"),
    ("files", "content", "contents", "id", "TRUE"),
    ("rope", "content", "contents", "id", "TRUE"),
    ("sessions", "content", "contents", "id", "state = 'open'"),
    ("properties", "file", "files", "id", "TRUE"),
    ("opened", "file", "files", "id", "TRUE"),
)
"""A table and column, the table and column that must contain the same values, and a condition for the first table."""

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


def affected_files(driver: sqlite3.Connection, parts: set[str]) -> dict[str, list[AffectedFile]]:
    """Return the files that use each of these parts, by part. The list is empty for a part of an unfinished upload."""
    files: dict[str, list[AffectedFile]] = {part: [] for part in parts}
    for part, *row in driver.execute(_AFFECTED):
        if part in files:
            files[part].append(AffectedFile._make(row))
    return files


def gaps(driver: sqlite3.Connection) -> list[tuple[AffectedFile, str]]:
    """Return the files whose stored parts do not add up to the file size, each with a description of the problem."""
    return [
        (AffectedFile(*row), f"has parts for {held:,} of {size:,} bytes") for *row, size, held in driver.execute(_GAPS)
    ]
