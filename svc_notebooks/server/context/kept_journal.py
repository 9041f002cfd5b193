"""A journal in a PostgreSQL database, with the requests of all processes that use it."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from ...core.clock import parse_time
from ...core.policy import Policy
from ..tables.shared.kept_rows import KeptRecords
from .request_journal import Journal, JournalEntry, JournalRow

_log = logging.getLogger(__name__)


class KeptJournal(Journal):
    """The journal in a database. A row is written when a request begins, and again when its response has ended."""

    is_kept = True

    def __init__(self, records: KeptRecords) -> None:
        super().__init__(1, 0)
        self._records = records

    @property
    def id(self) -> str:
        """A text that changes when the numbers restart at 1."""
        return self._records.journal_id()

    @id.setter
    def id(self, text: str) -> None:
        """Do nothing, because the database has the id."""

    def open(self, time: datetime, method: str, path: str, query: str) -> JournalEntry:
        """Add the entry of a new request and return the entry."""
        entry = JournalEntry(0, time, method, path, query)
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

    def rows(self, since: int = 0) -> list[JournalRow]:
        """Return the rows with a number above `since`, oldest first."""
        rows: list[JournalRow] = []
        for n, row in self._records.journal.rows(since):
            row["n"] = n
            rows.append(row)
        return rows

    def entries(self) -> list[JournalEntry]:
        """Return all entries, oldest first."""
        return [_entry(row) for row in self.rows()]

    def clear(self) -> None:
        """Delete all entries and restart the numbers at 1."""
        self._records.clear()


def journal_of(records: KeptRecords | None, policy: Policy) -> Journal:
    """Return the journal in the database that has `records`, or else a journal in memory."""
    return KeptJournal(records) if records else Journal(policy.journal_length, policy.journal_bytes)


def _entry(row: JournalRow) -> JournalEntry:
    entry = JournalEntry(row["n"], parse_time(row["time"]), row["method"], row["path"], row["query"])
    values: dict[str, Any] = {**row, "time": entry.time, "scopes": frozenset(row["scopes"])}
    for name, value in values.items():
        setattr(entry, name, value)
    return entry
