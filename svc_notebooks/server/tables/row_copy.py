"""Copies all tables from one database to another, a page of rows at a time, and computes checksums of the rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import literal, select, tuple_

from ..database.engine import Database, Prepared, Row, inserting
from .dump import TABLES, columns

_PAGE = 1000


class TableSum(NamedTuple):
    """The number of rows of a table, and their SHA-256 digest in hexadecimal, in the order of the primary key."""

    rows: int
    digest: str


def pages(database: Database, table: str) -> Iterator[Sequence[Row]]:
    """Yield all rows of a table in pages, in the order of the primary key. One page at a time is in memory."""
    chosen = TABLES[table]
    key = list(chosen.primary_key.columns)
    statement = select(chosen).order_by(*key).limit(_PAGE)
    page = database.select(statement)
    while page:
        yield page
        last = dict(zip(columns(table), page[-1], strict=True))
        after = tuple_(*key) > tuple_(*(literal(last[column.name], column.type) for column in key))
        page = database.select(statement.where(after)) if len(page) == _PAGE else ()


def copy_tables(source: Database, target: Database) -> dict[str, TableSum]:
    """Copy all rows and the counters to empty tables, and return the checksums of the source by table.

    Raises ValueError for a row that the target cannot store. The caller has opened a transaction.
    """
    sums = {}
    for name, table in TABLES.items():
        adding = inserting(table, columns(name))
        sums[name] = _sum(source, name, partial(_add, target, name, adding))
    target.set_counters(source.counters())
    return sums


def _add(target: Database, table: str, adding: Prepared, page: Sequence[Row]) -> None:
    for row in page:
        try:
            target.add(adding, dict(zip(columns(table), row, strict=True)))
        except ValueError as error:
            raise ValueError(f"the row {list(row)!r:.120} of {table}: {error}") from None


def table_sums(database: Database) -> dict[str, TableSum]:
    """Return the checksums of all tables by name."""
    return {name: _sum(database, name, lambda page: None) for name in TABLES}


def _sum(database: Database, table: str, use: Callable[[Sequence[Row]], None]) -> TableSum:
    """Compute the checksum of a table, and call `use` with each page of rows."""
    number, digest = 0, hashlib.sha256()
    for page in pages(database, table):
        use(page)
        number += len(page)
        for row in page:
            digest.update(json.dumps(list(row)).encode() + b"\n")
    return TableSum(number, digest.hexdigest())
