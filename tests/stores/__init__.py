"""Stores of earlier commits: dumps of their databases, and folders made of those."""

import sqlite3
from contextlib import closing
from pathlib import Path

DUMPS = sorted(Path(__file__).parent.glob("*.sql"))


def dump(name: str) -> Path:
    """The dump of a database that this commit made."""
    return Path(__file__).parent / f"{name}.sql"


def old_database(path: Path, script: Path) -> Path:
    """The database of an earlier commit, in write-ahead mode as it was."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(script.read_text(encoding="utf-8"))
    return path


def old_store(folder: Path, script: Path) -> Path:
    """The folder of an earlier commit: a database, and parts with bytes of their lengths."""
    folder.mkdir()
    with closing(sqlite3.connect(old_database(folder / "svc.sqlite", script))) as database:
        for part, size in database.execute("SELECT part, max(stop - start) FROM rope GROUP BY part"):
            path = folder / "parts" / part[:2] / part
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(part[:1].encode() * size)
    return folder
