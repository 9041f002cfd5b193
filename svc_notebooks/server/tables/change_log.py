"""The change log: for each user the last change of every file that they see or saw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import bindparam, func, insert, literal, select

from ..database.engine import Database, Prepared
from ..database.schema import changes
from .files import BELOW


class ChangeRow(NamedTuple):
    """One entry; `time` in Unix milliseconds."""

    seq: int
    file: str
    time: int


_REPLACE = insert(changes).prefix_with("OR REPLACE", dialect="sqlite")
_ADD = Prepared(_REPLACE.values({name: bindparam(name) for name in ("user", "file", "time")}))
_ADD_BELOW = Prepared(
    _REPLACE.from_select(
        ("user", "file", "time"),
        select(bindparam("user"), BELOW.c.id, bindparam("time")),
    )
)
_PAGE = Prepared(
    select(*(changes.c[name] for name in ChangeRow._fields))
    .where(changes.c.user == bindparam("user"), changes.c.seq >= bindparam("start"))
    .order_by(changes.c.seq)
    .limit(bindparam("size"))
)
_LAST = Prepared(select(func.coalesce(func.max(changes.c.seq), literal(0))))


class ChangeLog:
    """The change logs of all users."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, users: Iterable[str], file_id: str, time: int) -> None:
        """A file has changed: its entry is the last one in these users' logs now."""
        for user in users:
            self._database.change(_ADD, {"user": user, "file": file_id, "time": time})

    def add_below(self, users: Iterable[str], top: str, time: int) -> None:
        """Everything below a folder has changed."""
        for user in users:
            self._database.change(_ADD_BELOW, {"user": user, "top": top, "time": time})

    def page(self, user: str, start: int, size: int) -> list[ChangeRow]:
        """So many entries of a user's log, from this number on."""
        values = {"user": user, "start": start, "size": size}
        return [ChangeRow._make(row) for row in self._database.run(_PAGE, values)]

    def last(self) -> int:
        """The number of the newest entry; 0: there is none."""
        return int(self._database.run(_LAST, {})[0][0])
