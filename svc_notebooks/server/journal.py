"""What was asked and answered: a ring of one row for each request."""

from __future__ import annotations

from collections import deque
from datetime import datetime
from itertools import count
from typing import Any

from ..core.clock import format_time

COLUMNS = (
    "n", "time", "operation", "method", "path", "query", "user", "client", "scopes", "declared", "received",
    "status", "sent", "offset_before", "offset_after", "fault", "decided_by",
)  # fmt: skip
"""The keys of a row: sizes in bytes, offsets the stored bytes of an upload session."""


class Entry:
    """One row while it is being written; None: does not apply."""

    __slots__ = COLUMNS

    def __init__(self, n: int, time: datetime, method: str, path: str, query: str) -> None:
        self.n = n
        self.time = time
        self.operation: str | None = None
        self.method = method
        self.path = path
        self.query = query
        self.user: str | None = None
        self.client: str | None = None
        self.scopes: frozenset[str] = frozenset()
        self.declared: int | None = None
        self.received = 0
        self.status: int | None = None
        self.sent = 0
        self.offset_before: int | None = None
        self.offset_after: int | None = None
        self.fault: str | None = None
        self.decided_by: str | None = None

    def row(self) -> dict[str, Any]:
        """The row as a dict: the time in RFC 3339, the scopes in a list."""
        row = {name: getattr(self, name) for name in COLUMNS}
        return row | {"time": format_time(self.time), "scopes": sorted(self.scopes)}


class Journal:
    """The last so many rows."""

    def __init__(self, length: int) -> None:
        self._entries: deque[Entry] = deque(maxlen=length)
        self._numbers = count(1)

    def open(self, time: datetime, method: str, path: str, query: str) -> Entry:
        """Begin the row of a request."""
        entry = Entry(next(self._numbers), time, method, path, query)
        self._entries.append(entry)
        return entry

    def rows(self) -> list[dict[str, Any]]:
        """All rows that are kept, oldest first."""
        return [entry.row() for entry in list(self._entries)]

    def clear(self) -> None:
        """Begin anew, at number 1."""
        self._entries.clear()
        self._numbers = count(1)
