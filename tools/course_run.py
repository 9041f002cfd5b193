"""Runs the notebooks of the course in this process cell by cell, and records the requests of each cell.

The cells run without a kernel as plain Python. The requests and responses are read from the sandboxes and sessions that
the cells have assigned to names. nbval compares the outputs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from svc_notebooks import Receiver, Sandbox, Session
from svc_notebooks.client.transport.recorder import Exchange
from tools.course_pages import Cell, Page

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """The journal rows, exchanges and deliveries of a cell, and the names defined after the cell."""

    cell: Cell
    journal: tuple[Row, ...]
    exchanges: tuple[Exchange, ...]
    deliveries: tuple[Row, ...]
    names: dict[str, Any] = field(repr=False)

    @property
    def shown(self) -> str:
        return self.cell.shown

    def decided_by(self, rule: str) -> bool:
        return any(rule in str(row["decided_by"]).split("; ") for row in self.journal)


def run(page: Page) -> Iterator[Seen]:
    """Run the cells of a notebook in its folder, and yield a record for each cell."""
    here = Path.cwd()
    names: dict[str, Any] = {"__name__": "__main__", "display": _display}
    known = _Known()
    os.chdir(page.path.parent)
    try:
        for cell in page.cells:
            with contextlib.redirect_stdout(io.StringIO()):
                _execute(cell, names)
            yield Seen(cell, *known.new(names), names)
    finally:
        os.chdir(here)
        for resource in (*_of(Receiver, names), *_of(Sandbox, names)):
            resource.close()
        for folder in _of(TemporaryDirectory, names):
            folder.cleanup()


def _execute(cell: Cell, names: dict[str, Any]) -> None:
    tree = ast.parse(cell.source)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):  # a front end displays the value of the last line
        tree.body[-1] = ast.fix_missing_locations(
            ast.Expr(ast.Call(ast.Name("display", ast.Load()), [last.value], [])),
        )
    try:
        exec(compile(tree, f"cell {cell.number}", "exec"), names)
    except Exception:
        if not cell.raises:
            raise


def _display(*values: object) -> None:
    for value in values:
        repr(value)


class _Known:
    """The numbers of rows that were already read from each journal and record."""

    def __init__(self) -> None:
        self._services: dict[int, tuple[object, int, int]] = {}
        self._sessions: dict[int, tuple[object, int]] = {}

    def new(self, names: dict[str, Any]) -> tuple[tuple[Row, ...], tuple[Exchange, ...], tuple[Row, ...]]:
        labs = list(_of(Sandbox, names))
        sessions = {id(session): session for session in (*_of(Session, names), *(lab.session for lab in labs))}
        rows: list[Row] = []
        tries: list[Row] = []
        for lab in labs:
            _, seen, tried = self._services.get(id(lab), (lab, 0, 0))
            try:
                journal, deliveries = lab.service.journal(), lab.service.deliveries()
            except (SQLAlchemyError, sqlite3.Error):  # the cell has closed the sandbox
                continue
            rows += journal[seen:] if len(journal) >= seen else []
            tries += deliveries[tried:] if len(deliveries) >= tried else []
            self._services[id(lab)] = (lab, len(journal), len(deliveries))
        exchanges: list[Exchange] = []
        for key, session in sessions.items():
            _, last = self._sessions.get(key, (session, 0))
            fresh = [exchange for exchange in session.exchanges if exchange.n > last]
            exchanges += fresh
            self._sessions[key] = (session, fresh[-1].n if fresh else last)
        return tuple(rows), tuple(exchanges), tuple(tries)


def _of(kind: type, names: dict[str, Any]) -> list[Any]:
    """Return the values of a type among the names, without duplicates."""
    return list({id(value): value for value in names.values() if isinstance(value, kind)}.values())
