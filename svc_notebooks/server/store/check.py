"""Reads a data directory, and reports damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .blob_store import StoredPart
from .data_directory import DATABASE, PARTS, check_not_in_use, reading
from .directory import DirectoryBlobStore

_MOST_PROBLEMS = 100  # the maximum number of problems that SQLite may report

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
    check_not_in_use(folder)
    report = Report(str(folder))
    try:
        with reading(folder / DATABASE) as driver:
            report.problems += [Problem(DATABASE, line, []) for line in database_problems(driver)]
            for *row, size, held in driver.execute(_GAPS):
                file = AffectedFile(*row)
                report.problems.append(Problem(file.id, f"has parts for {held:,} of {size:,} bytes", [file]))
            _check_parts(driver, folder / PARTS, report)
    except sqlite3.DatabaseError as error:
        report.problems.append(Problem(DATABASE, str(error), []))
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
    report.problems += [Problem(f"{PARTS}/{key[:2]}/{key}", damaged[key], files[key]) for key in damaged]
