"""Reads and writes all tables row by row, as lists of JSON values that do not depend on the database file format."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy import Column, Float, Integer, Table, select

from ...core.http.messages import JSON
from ..database import upgrades
from ..database.column_values import is_valid_value
from ..database.engine import Database, Row, inserting
from ..database.opening import open_database
from ..database.schema import metadata

_LARGEST = 2**63

TABLES: Mapping[str, Table] = {table.name: table for table in metadata.sorted_tables}


def columns(table: str) -> list[str]:
    """Return the column names of a table, in the order of its values in a row."""
    return [column.name for column in TABLES[table].columns]


def rows(database: Database, table: str) -> Iterator[Row]:
    """Yield all rows of a table, in the order of the primary key."""
    chosen = TABLES[table]
    yield from database.select(select(chosen).order_by(*chosen.primary_key.columns))


def check_row(table: str, row: JSON) -> Sequence[JSON]:
    """Check a row of a table and return it. Raises ValueError if the number, type or range of its values is invalid."""
    expected = TABLES[table].columns
    if not isinstance(row, list) or len(row) != len(expected):
        raise ValueError(f"a row of {table} must have {len(expected)} values")
    for column, value in zip(expected, row, strict=True):
        if not (_has_column_type(column, value) and is_valid_value(table, column.name, value)):
            raise ValueError(f"{table}.{column.name} cannot be {value!r:.40}")
    return row


def upgrade_rows(
    tables: Mapping[str, Iterable[JSON]], names: Mapping[str, Sequence[str]], version: int
) -> dict[str, Iterable[JSON]]:
    """Upgrade rows from an older schema version, with the column names `names` of each table.

    Raises ValueError if the version is unknown, the columns are not those of the version, or a row is invalid.
    """
    if not 1 <= version <= upgrades.VERSION:
        raise ValueError(f"the file has schema version {version}, and this package supports 1 to {upgrades.VERSION}")
    with closing(upgrades.empty_database(version)) as driver:
        if names != upgrades.columns(driver):
            raise ValueError("the file was saved by another version of this package, which has other tables")
        for table, rows in tables.items():
            placeholders = ", ".join("?" * len(names[table]))
            try:
                driver.executemany(f"INSERT INTO {table} VALUES ({placeholders})", map(_check_list, rows))
            except (sqlite3.Error, OverflowError, TypeError, UnicodeError) as error:
                raise ValueError(f"{table} has an invalid row: {error}") from None
        upgrades.upgrade(driver)
        upgraded: dict[str, Iterable[JSON]] = {}
        for table in TABLES:
            selected = ", ".join(f'"{name}"' for name in columns(table))
            upgraded[table] = [list(row) for row in driver.execute(f"SELECT {selected} FROM {table}")]
        return upgraded


def _check_list(row: JSON) -> list[Any]:
    if not isinstance(row, list):
        raise TypeError("a row must be a list of values")
    return row


def _has_column_type(column: Column[object], value: JSON) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(value, bool):
        return False
    if isinstance(column.type, Float):
        return isinstance(value, int | float) and -_LARGEST < value < _LARGEST
    if isinstance(column.type, Integer):
        return isinstance(value, int) and -_LARGEST <= value < _LARGEST
    return isinstance(value, str)


def load_rows(database: Database, tables: Mapping[str, Iterable[Sequence[JSON]]], numbers: Mapping[str, int]) -> None:
    """Replace all rows and counters in one transaction. Raises ValueError if the rows contradict each other."""
    with database.transaction():
        database.delete_all(*TABLES.values())
        for name, table in TABLES.items():
            adding = inserting(table, columns(name))
            for row in tables.get(name, ()):
                database.add(adding, dict(zip(columns(name), row, strict=True)))
        database.set_counters(numbers)


def image(database: Database) -> bytes:
    """Return an image of a new SQLite database with all rows and counters of a database that has no image."""
    with closing(open_database(None, "process")) as copy:
        load_rows(copy, {name: rows(database, name) for name in TABLES}, database.counters())
        return copy.image()


def load_image(database: Database, image: bytes) -> None:
    """Replace all rows and counters of a database by those of an image."""
    with closing(open_database(None, "process")) as copy:
        copy.restore(image)
        load_rows(database, {name: rows(copy, name) for name in TABLES}, copy.counters())
