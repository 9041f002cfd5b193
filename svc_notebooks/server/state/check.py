"""Reads a whole store in a folder and reports the damage. The folder is not changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..blobs.directory import DirectoryBlobStore
from ..database import integrity
from ..database.integrity import AffectedFile
from ..database.opening_record import reading
from ..storage.data_directory import DATABASE, PARTS, check_not_in_use


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
            report.problems += [Problem(DATABASE, line, []) for line in integrity.database_problems(driver)]
            report.problems += [Problem(file.id, problem, [file]) for file, problem in integrity.gaps(driver)]
            _check_parts(driver, folder / PARTS, report)
    except sqlite3.DatabaseError as error:
        report.problems.append(Problem(DATABASE, str(error), []))
    return report


def _check_parts(driver: sqlite3.Connection, folder: Path, report: Report) -> None:
    held = integrity.read_contents(driver)
    report.version, report.files, report.parts = held.version, held.files, len(held.parts)
    report.size = sum(part.size for part in held.parts)
    report.unverified = sum(part.checksum is None for part in held.parts)
    named = {folder / part.key[:2] / part.key for part in held.parts}
    unnamed = (path for path in folder.rglob("*") if path.is_file() and path not in named)
    report.unnamed = sorted(str(path.relative_to(folder.parent)) for path in unnamed)
    parts = DirectoryBlobStore(folder, sync=False)
    damaged = {part.key: problem for part in held.parts if (problem := parts.problem(part))}
    files = integrity.affected_files(driver, set(damaged))
    report.problems += [Problem(f"{PARTS}/{key[:2]}/{key}", damaged[key], files[key]) for key in damaged]
