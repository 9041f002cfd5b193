"""Upgrades a database of an older version of this package, one schema version after another.

`PRAGMA user_version` contains the schema version. Databases without a version have 0. To change the schema, change
schema.py and append a function to `STEPS` that upgrades a database from the last version. A step contains its own
SQL and never uses schema.py, because schema.py changes again later.
"""

from __future__ import annotations

import filecmp
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from importlib.resources import files
from itertools import count
from pathlib import Path

from ...core.files.fields import search_keys

# The tables that exist in every schema version.
FIRST_TABLES = frozenset(
    {"meta", "users", "tokens", "generated", "files", "properties", "contents", "rope", "sessions"}
)

_TABLES = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"
_INDEXES = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"

# The SQL expressions for the values of new columns in existing rows.
_NEW_COLUMNS: Mapping[tuple[str, str], str] = {
    ("events", "place"): "row_number() OVER (PARTITION BY calendar ORDER BY created, id)"
}


def _to_version_1(driver: sqlite3.Connection) -> None:
    """Recreate the tables and indexes that differ from version 1. Older packages left any mixture of tables."""
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(_schema_1())
        tables, indexes = _definitions(model, _TABLES), _definitions(model, _INDEXES)
    for name, sql in tables.items():
        before = _definitions(driver, _TABLES).get(name)
        if before is None:
            driver.execute(sql)
        elif _plain(before) != _plain(sql):
            _rebuild(driver, name, sql)
    present = _definitions(driver, _INDEXES)
    for name, sql in indexes.items():
        if _plain(present.get(name, "")) != _plain(sql):
            driver.execute(f"DROP INDEX IF EXISTS {name}")
            driver.execute(sql)


def empty_database(version: int) -> sqlite3.Connection:
    """Return a connection to a new database in memory with the tables of a schema version, which is 1 or later."""
    driver = sqlite3.connect(":memory:", isolation_level=None)
    driver.executescript(_schema_1())
    set_version(driver, 1)
    upgrade(driver, version)
    return driver


def columns(driver: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the column names of each table, by table, in column order."""
    return {
        table: [name for _, name, *_ in driver.execute(f"PRAGMA table_info({table})")]
        for table in _definitions(driver, _TABLES)
    }


def _schema_1() -> str:
    return (files(__package__) / "schema_1.sql").read_text(encoding="utf-8")


def _definitions(driver: sqlite3.Connection, query: str) -> dict[str, str]:
    return dict(driver.execute(query))


def _plain(sql: str) -> str:
    return re.sub(r"\s+", "", sql)


def _rebuild(driver: sqlite3.Connection, table: str, sql: str) -> None:
    old = f"{table}_before"
    driver.execute(f"ALTER TABLE {table} RENAME TO {old}")
    driver.execute(sql)
    kept = {name for _, name, *_ in driver.execute(f"PRAGMA table_info({old})")}
    columns = [name for _, name, *_ in driver.execute(f"PRAGMA table_info({table})")]
    values = [f'"{name}"' if name in kept else _NEW_COLUMNS[table, name] for name in columns]
    names = ", ".join(f'"{name}"' for name in columns)
    driver.execute(f"INSERT INTO {table} ({names}) SELECT {', '.join(values)} FROM {old}")
    if "AUTOINCREMENT" in sql:
        last = driver.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (old,)).fetchone()
        if last:
            driver.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            driver.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, *last))
    driver.execute(f"DROP TABLE {old}")


def _script(driver: sqlite3.Connection, name: str) -> None:
    """Run the statements of a file in this folder. `executescript` would end the open transaction."""
    for statement in (files(__package__) / name).read_text(encoding="utf-8").split(";"):
        driver.execute(statement)


def _to_version_5(driver: sqlite3.Connection) -> None:
    """Compare names in NFC. Only the files with other characters than those of ASCII have other keys."""
    other = r"name GLOB '*[^ -~]*' OR extra LIKE '%\u%'"
    for seq, name, extra in driver.execute(f"SELECT seq, name, extra FROM files WHERE {other}").fetchall():
        driver.execute(
            "UPDATE files SET name_key = :name_key, natural_key = :natural_key, words = :words, all_words = :all_words"
            " WHERE seq = :seq",
            {"seq": seq, **search_keys(name, extra)},
        )


# Step n upgrades a database from version n to version n + 1.
STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _to_version_1,
    *(partial(_script, name=f"upgrade_{number}.sql") for number in (2, 3, 4)),
    _to_version_5,
)

VERSION = len(STEPS)


def tables(driver: sqlite3.Connection) -> set[str]:
    """Return the names of all tables of a database."""
    return set(_definitions(driver, _TABLES))


def version(driver: sqlite3.Connection) -> int:
    """Return the schema version of a database."""
    number: int = driver.execute("PRAGMA user_version").fetchone()[0]
    return number


def set_version(driver: sqlite3.Connection, number: int) -> None:
    """Set the schema version of a database, as part of the open transaction if there is one."""
    driver.execute(f"PRAGMA user_version = {number:d}")


def upgrade(driver: sqlite3.Connection, target: int = VERSION) -> None:
    """Upgrade a database to the schema version `target`, or not at all. The connection must be in autocommit mode."""
    with driver:  # commits, or rolls back after an error
        driver.execute("BEGIN IMMEDIATE")
        for step in STEPS[version(driver) : target]:
            step(driver)
        set_version(driver, target)


def back_up(driver: sqlite3.Connection, path: Path) -> Path:
    """Copy a database to a new file in the same folder, unless an equal copy exists. Return the path of the copy."""
    unfinished = path.with_name(f"{path.name}.bak.unfinished")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished)) as copy:
        driver.backup(copy)
    for number in count(1):
        target = path.with_name(f"{path.name}.version-{version(driver)}.{number}.bak")
        if not target.exists():
            return unfinished.rename(target)
        if filecmp.cmp(unfinished, target, shallow=False):
            unfinished.unlink()
            return target
    raise AssertionError
