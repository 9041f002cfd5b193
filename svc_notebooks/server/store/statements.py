"""Statements with named parameters that are compiled once for each dialect of SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, TypeAlias

from sqlalchemy import ClauseElement, Dialect, Insert, Select, Table, UniqueConstraint, bindparam, insert

Row = tuple[Any, ...]

_UNTYPED = re.compile(r"\$(\d+)(?!\d|::)")

Conflict: TypeAlias = Literal["FAIL", "IGNORE", "REPLACE"]


class Compiled(NamedTuple):
    """The SQL of a statement in one dialect, and the values of its constant parameters.

    On PostgreSQL, `names` has the names of the parameters $1, $2 and so on, and `untyped` the indexes of those
    parameters whose type is not in the SQL.
    """

    sql: str
    constants: dict[str, Any]
    names: tuple[str, ...] = ()
    untyped: frozenset[int] = frozenset()


class Prepared:
    """A statement with named parameters that is compiled on first use, once for SQLite and once for PostgreSQL."""

    __slots__ = ("_for_postgresql", "_statement", "constants", "postgresql", "sql")

    def __init__(self, statement: ClauseElement, for_postgresql: Callable[[], ClauseElement] | None = None) -> None:
        """Take a statement, and a function that builds another statement for PostgreSQL if its dialect needs one."""
        self._statement = statement
        self._for_postgresql = for_postgresql
        self.sql = ""
        self.constants: dict[str, Any] = {}
        self.postgresql: Compiled | None = None

    def compile(self, dialect: Dialect) -> str:
        """Compile the statement for SQLite, store its SQL and the values of its constants, and return the SQL."""
        self.sql, self.constants, *_ = _compile(self._statement, dialect)
        return self.sql

    def compile_for_postgresql(self, dialect: Dialect) -> Compiled:
        """Compile the statement for PostgreSQL, store the result in `postgresql` and return it."""
        self.postgresql = _compile(self._for_postgresql() if self._for_postgresql else self._statement, dialect)
        return self.postgresql


def _compile(statement: ClauseElement, dialect: Dialect) -> Compiled:
    compiled: Any = statement.compile(dialect=dialect)
    sql, names = str(compiled), tuple(compiled.positiontup or ())
    untyped = frozenset(int(number) - 1 for number in _UNTYPED.findall(sql)) if names else frozenset[int]()
    return Compiled(sql, {name: value for name, value in compiled.params.items() if value is not None}, names, untyped)


def inserting(
    table: Table, names: Iterable[str], *, otherwise: Conflict = "FAIL", source: Select[Any] | None = None
) -> Prepared:
    """Return a prepared INSERT statement for the columns `names`, with parameters of the same names.

    `otherwise` decides about a row whose key exists. A replaced row gets a new number. `source` selects the rows, by
    default one row of the parameters.
    """

    def fill(statement: Insert) -> Insert:
        if source is not None:
            return statement.from_select(list(names), source)
        return statement.values({name: bindparam(name) for name in names})

    names = tuple(names)
    if otherwise == "FAIL":
        return Prepared(fill(insert(table)).inline())

    def on_postgresql() -> Insert:
        from sqlalchemy.dialects import postgresql  # with all its drivers, which a service on SQLite does not load

        own = postgresql.insert(table)
        if otherwise == "IGNORE":
            return fill(own.on_conflict_do_nothing()).inline()
        key = _key(table)
        new = {column.name: own.excluded[column.name] for column in table.columns if column.name not in key}
        return fill(own.on_conflict_do_update(index_elements=key, set_=new)).inline()

    return Prepared(fill(insert(table).prefix_with(f"OR {otherwise}", dialect="sqlite")), on_postgresql)


def _key(table: Table) -> list[str]:
    """Return the columns by which a row is replaced: those of a unique constraint, or else of the primary key."""
    unique = next((each for each in table.constraints if isinstance(each, UniqueConstraint)), table.primary_key)
    return [column.name for column in unique.columns]
