"""Records one row for each request, in memory or in the database."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import count, takewhile
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...core.times import format_time, parse_time

if TYPE_CHECKING:
    from ..store.postgres.side_connections import KeptRecords

_ROW = 800  # the estimated memory of a journal row in bytes, without the path and the query

_MAX_DECIDED_BY = 2000


@dataclass(slots=True, eq=False)
class JournalEntry:
    """The journal entry of a request in progress. An attribute is None if it does not apply to the request.

    Sizes are in bytes, and offsets count the stored bytes of an upload session.
    """

    n: int
    time: datetime
    operation: str | None
    method: str
    path: str
    query: str
    user: str | None = None
    client: str | None = None
    scopes: frozenset[str] = frozenset()
    declared: int | None = None
    received: int = 0
    status: int | None = None
    sent: int = 0
    offset_before: int | None = None
    offset_after: int | None = None
    fault: str | None = None
    decided_by: str | None = None
    weight: int = 0

    def row(self) -> dict[str, Any]:
        """Return the entry as plain data, with the time in RFC 3339 and the scopes as a list."""
        row = {name: getattr(self, name) for name in _ROW_FIELDS}
        return row | {"time": format_time(self.time), "scopes": sorted(self.scopes)}


_ROW_FIELDS = [field.name for field in fields(JournalEntry) if field.name != "weight"]


def with_notes(decided_by: str, notes: Iterable[str]) -> str:
    """Return the rule that decided a response, followed by notes, cut to the length that a journal row allows."""
    return "; ".join((decided_by, *notes))[:_MAX_DECIDED_BY]


class Journal:
    """The entries of the last `length` requests, in at most `max_bytes` bytes. The newest entry is always kept."""

    # Whether the rows are in a database, and `close` writes them there.
    is_kept = False

    def __init__(self, length: int, max_bytes: int) -> None:
        self._length, self._max_bytes = length, max_bytes
        self._entries: deque[JournalEntry] = deque()
        self._bytes = 0
        self._numbers = count(1)
        self._lock = Lock()
        self._id = token_hex(8)

    @property
    def id(self) -> str:
        """A random text that changes when the numbers restart at 1."""
        return self._id

    def open(self, time: datetime, method: str, path: str, query: str) -> JournalEntry:
        """Add the entry of a new request and return the entry."""
        with self._lock:
            weight = _ROW + len(path) + len(query)
            entry = JournalEntry(next(self._numbers), time, None, method, path, query, weight=weight)
            entries = self._entries
            entries.append(entry)
            self._bytes += weight
            while (self._bytes > self._max_bytes or len(entries) > self._length) and len(entries) > 1:
                self._bytes -= entries.popleft().weight
        return entry

    def close(self, entry: JournalEntry) -> None:
        """Note that the response to a request has ended. Its entry does not change any more."""

    @property
    def last(self) -> int:
        """The number of the newest entry, or 0 if the journal is empty."""
        with self._lock:
            return self._entries[-1].n if self._entries else 0

    def rows(self, since: int = 0) -> list[dict[str, Any]]:
        """Return the rows with a number above `since`, oldest first."""
        with self._lock:
            entries = list(takewhile(lambda entry: entry.n > since, reversed(self._entries)))
        return [entry.row() for entry in reversed(entries)]

    def entries(self) -> list[JournalEntry]:
        """Return all entries, oldest first. The entry of a request in progress still changes."""
        with self._lock:
            return list(self._entries)

    def clear(self) -> None:
        """Delete all entries and restart the numbers at 1."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0
            self._numbers = count(1)
            self._id = token_hex(8)


_log = logging.getLogger(__name__)


class KeptJournal(Journal):
    """The journal in a database. A row is written when a request begins, and again when its response has ended."""

    is_kept = True

    def __init__(self, records: KeptRecords) -> None:
        self._records = records

    @property
    def id(self) -> str:
        return self._records.journal_id()

    def open(self, time: datetime, method: str, path: str, query: str) -> JournalEntry:
        """Add the entry of a new request and return the entry."""
        entry = JournalEntry(0, time, None, method, path, query)
        try:
            entry.n = self._records.journal.add(entry.row())
        except OSError as error:
            _log.warning("a request is missing in the journal: %s", error)
        return entry

    def close(self, entry: JournalEntry) -> None:
        """Write the entry of a request whose response has ended."""
        try:
            self._records.journal.replace(entry.n, entry.row())
        except OSError as error:
            _log.warning("the end of a request is missing in the journal: %s", error)

    @property
    def last(self) -> int:
        """The number of the newest entry, or 0 if the journal is empty."""
        return self._records.journal.last()

    def rows(self, since: int = 0) -> list[dict[str, Any]]:
        """Return the rows with a number above `since`, oldest first."""
        return [{**row, "n": n} for n, row in self._records.journal.rows(since)]

    def entries(self) -> list[JournalEntry]:
        """Return all entries, oldest first."""
        converted = (
            {**row, "time": parse_time(row["time"]), "scopes": frozenset(row["scopes"])} for row in self.rows()
        )
        return [JournalEntry(**row) for row in converted]

    def clear(self) -> None:
        """Delete all entries and restart the numbers at 1."""
        self._records.clear()
