"""The change logs of users, and of lists of calendars, events, access rules and settings.

A user's log has the last change of every file that the user can see or could see earlier. The log of a list has a name,
such as "calendar list of ada@svc.example", in place of the user, and the ids of its entries in place of files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import bindparam, func, literal, select

from ..database.engine import Prepared, TableGroup, inserting
from ..database.schema import changes
from .files import BELOW


class ChangeRow(NamedTuple):
    """A change log entry, which is the last change of a file. `seq` is its number, `time` is in Unix milliseconds."""

    seq: int
    file: str
    time: int


_WRITTEN = ("user", "file", "time")
_ADD = inserting(changes, _WRITTEN, otherwise="REPLACE")
_ADD_BELOW = inserting(
    changes, _WRITTEN, otherwise="REPLACE", source=select(bindparam("user"), BELOW.c.id, bindparam("time"))
)
_PAGE = Prepared(
    select(*(changes.c[name] for name in ChangeRow._fields))
    .where(changes.c.user == bindparam("user"), changes.c.seq >= bindparam("start"))
    .order_by(changes.c.seq)
    .limit(bindparam("size"))
)
_SINCE = Prepared(select(changes.c.file).where(changes.c.user == bindparam("user"), changes.c.seq > bindparam("since")))
_LAST = Prepared(select(func.coalesce(func.max(changes.c.seq), literal(0))))


class ChangeLog(TableGroup):
    """The table with the change logs of all users."""

    def add(self, users: Iterable[str], file_id: str, time: int) -> None:
        """Add a change of a file to the end of these users' logs. An earlier entry for the file is removed."""
        for user in users:
            self._database.queue_change(_ADD, {"user": user, "file": file_id, "time": time})

    def add_below(self, users: Iterable[str], top: str, time: int) -> None:
        """Add a change for every file below a folder to the logs of these users."""
        for user in users:
            self._database.queue_change(_ADD_BELOW, {"user": user, "top": top, "time": time})

    def page(self, user: str, start: int, size: int) -> list[ChangeRow]:
        """Return at most `size` entries of a user's log, in order, beginning with the entry number `start`."""
        values = {"user": user, "start": start, "size": size}
        return [ChangeRow._make(row) for row in self._database.run(_PAGE, values)]

    def since(self, log: str, seq: int) -> list[str]:
        """Return the ids in a log that were added after the entry number `seq`."""
        return [entry for (entry,) in self._database.run(_SINCE, {"user": log, "since": seq})]

    def last(self) -> int:
        """Return the number of the newest entry in all logs, or 0 if there are no entries."""
        return int(self._database.run(_LAST, {})[0][0])
