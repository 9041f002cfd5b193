"""Reads and writes all tables row by row, as lists of JSON values that do not depend on the database file format."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy import Column, Float, Integer, Table, select, text

from ...core.http.messages import JSON
from ..database import upgrades
from ..database.column_values import is_valid_value
from ..database.engine import Database, Prepared, Row, inserting
from ..database.schema import metadata

_LARGEST = 2**63
_COUNTERS = Prepared(text("SELECT name, seq FROM sqlite_sequence ORDER BY name"))
_NO_COUNTERS = Prepared(text("DELETE FROM sqlite_sequence"))
_SET_COUNTER = Prepared(text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :seq)"))

TABLES: Mapping[str, Table] = {table.name: table for table in metadata.sorted_tables}


def columns(table: str) -> list[str]:
    """Return the column names of a table, in the order of its values in a row."""
    return [column.name for column in TABLES[table].columns]


def rows(database: Database, table: str) -> Iterator[Row]:
    """Yield all rows of a table, in the order of the primary key."""
    chosen = TABLES[table]
    yield from database.select(select(chosen).order_by(*chosen.primary_key.columns))


def counters(database: Database) -> dict[str, int]:
    """Return the last assigned row number of each table that never reuses row numbers, by table name."""
    return {name: number for name, number in database.run(_COUNTERS, {})}


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
        database.change(_NO_COUNTERS, {})
        for name, number in numbers.items():
            database.add(_SET_COUNTER, {"name": name, "seq": number})
