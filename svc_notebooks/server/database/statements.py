"""Statements with named parameters that are compiled once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from sqlalchemy import ClauseElement, Dialect, Table, bindparam, insert

Row = tuple[Any, ...]


class Prepared:
    """A statement with named parameters that is compiled on first use."""

    __slots__ = ("_statement", "constants", "sql")

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self.sql = ""
        self.constants: dict[str, Any] = {}

    def compile(self, dialect: Dialect) -> str:
        """Compile the statement, store its SQL and the values of its constant parameters, and return the SQL."""
        compiled: Any = self._statement.compile(dialect=dialect)
        self.constants = {name: value for name, value in compiled.params.items() if value is not None}
        self.sql = str(compiled)
        return self.sql


def inserting(
    table: Table, names: Iterable[str], *, otherwise: Literal["FAIL", "IGNORE", "REPLACE"] = "FAIL"
) -> Prepared:
    """Return a prepared INSERT statement. `otherwise` is the SQLite conflict clause for a row whose key exists."""
    statement = insert(table).values({name: bindparam(name) for name in names})
    return Prepared(statement if otherwise == "FAIL" else statement.prefix_with(f"OR {otherwise}", dialect="sqlite"))
