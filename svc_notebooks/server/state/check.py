"""Reads a whole store in a folder and reports what is damaged. Nothing in the folder changes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..blobs.blob_store import StoredPart
from ..blobs.directory import DirectoryBlobStore
from ..database import integrity
from ..database.integrity import AffectedFile
from ..database.opening_record import reading
from ..storage.data_directory import DATABASE, PARTS, check_unused


class Problem(NamedTuple):
    """One thing that is damaged, and the files that are affected."""

    subject: str
    problem: str
    files: list[AffectedFile]


@dataclass
class Report:
    """What a check has found; sizes in bytes.

    `unverified` counts the parts that have no checksum yet, so that only their length was compared; `unnamed` has the
    files below `parts/` that no row names.
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
        """The report for people."""
        yield f"{self.folder}: files: {self.files:,}, parts: {self.parts:,}, bytes: {self.size:,}"
        for subject, problem, files in self.problems:
            yield f"damaged: {subject}: {problem}"
            yield from (f"  affects {file.name} ({file.id}) of {file.owner}" for file in files)
        if self.unverified:
            yield f"note: {self.unverified:,} parts have no checksum yet: the next start of a service records it"
        yield from (f"note: {path} is named by no file" for path in self.unnamed)
        yield f"problems: {len(self.problems):,}" if self.problems else "no damage found"

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        problems = [row._asdict() | {"files": [file._asdict() for file in row.files]} for row in self.problems]
        return asdict(self) | {"problems": problems}


def check_store(folder: Path) -> Report:
    """Read a store whole: the database, and the length and the checksum of every part.

    Raises OSError with a sentence: the folder is no store, or a service uses it.
    """
    check_unused(folder)
    report = Report(str(folder))
    try:
        with reading(folder / DATABASE) as driver:
            _check_database(driver, report)
            _check_parts(driver, folder / PARTS, report)
    except sqlite3.DatabaseError as error:
        report.problems.append(Problem(DATABASE, str(error), []))
    return report


def _check_database(driver: sqlite3.Connection, report: Report) -> None:
    report.problems += [Problem(DATABASE, line, []) for line in integrity.database_problems(driver)]
    report.problems += [Problem(file.id, problem, [file]) for file, problem in integrity.gaps(driver)]


def _check_parts(driver: sqlite3.Connection, folder: Path, report: Report) -> None:
    held = integrity.stored(driver)
    report.version, report.files, report.parts = held.version, held.files, len(held.parts)
    report.size = sum(part.size for part in held.parts)
    report.unverified = sum(part.checksum is None for part in held.parts)
    report.unnamed = sorted(_unnamed(folder, held.parts))
    parts = DirectoryBlobStore(folder, sync=False)
    damaged = {part.key: problem for part in held.parts if (problem := parts.problem(part))}
    files = integrity.affected(driver, set(damaged))
    report.problems += [Problem(f"{PARTS}/{key[:2]}/{key}", damaged[key], files[key]) for key in damaged]


def _unnamed(folder: Path, parts: Iterable[StoredPart]) -> Iterator[str]:
    named = {folder / part.key[:2] / part.key for part in parts}
    return (str(path.relative_to(folder.parent)) for path in folder.rglob("*") if path.is_file() and path not in named)
