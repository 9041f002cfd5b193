"""A SQLite file that records the rows of a call for many rows, so that a repeated call continues where it stopped.

Each change is one transaction. After `kill -9` the file has all changes, and after a power failure at least all ids.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

# The state of a row. "chosen" means that an id was chosen for it and nothing was sent, "started" that it was perhaps
# sent, and "done" and "failed" are the outcomes of its call.
RowState: TypeAlias = Literal["chosen", "started", "done", "failed"]

_APPLICATION_ID = 0x53564C47  # the number in the header of the file that says that it is a ledger

_LOCK_TRIES, _LOCK_WAIT = 10, 0.05
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_TABLES = """
    CREATE TABLE call (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE rows (key TEXT PRIMARY KEY, state TEXT NOT NULL, id TEXT, record TEXT, error TEXT);
"""
_PAGE = 500
_SAVE = """
    INSERT INTO rows (key, state, record, error) VALUES (:key, :state, :record, :error)
    ON CONFLICT (key) DO UPDATE
    SET state = :state, id = iif(:keep_id, id, NULL), record = :record, error = :error
"""


class LedgerRow(NamedTuple):
    """A row of the ledger. `id` is the id that was chosen for a new file, and `record` the result of a row done."""

    key: str
    state: RowState
    id: str | None
    record: dict[str, Any] | None


class OtherCallError(ValueError):
    """The ledger was written for another call, whose values are `call`."""

    def __init__(self, message: str, call: Mapping[str, str]) -> None:
        super().__init__(message)
        self.call = call


class Ledger:
    """An open ledger, which no other process and no other call can open before `close`.

    `call` is what all rows have in common, such as the function and its arguments. A ledger is for one call: a call
    with other values is refused.

    Raises ValueError if the file is not a ledger or is damaged, OtherCallError if it was written for another call,
    BlockingIOError if it is in use, and another OSError if it cannot be written.
    """

    def __init__(self, path: Path, call: Mapping[str, str]) -> None:
        self.path = path
        with self._explaining():
            self._connection = _open(path)
        try:
            with self._explaining():
                self._check_call(call)
        except BaseException:
            self.close()
            raise

    def _check_call(self, call: Mapping[str, str]) -> None:
        stored = dict(self._connection.execute("SELECT name, value FROM call"))
        if not stored:
            self._connection.executemany("INSERT INTO call VALUES (?, ?)", call.items())
            stored = dict(call)
        for name in (*call, *stored):
            if call.get(name) != stored.get(name):
                message = (
                    f"resume is {str(self.path)!r}, the ledger of a call with the {name}"
                    f" {stored.get(name, 'None')}, and this call has {call.get(name, 'None')};"
                    " give another name, or delete the file to start again"
                )
                raise OtherCallError(message, stored)

    def close(self) -> None:
        """Close the file. Another call can open it."""
        self._connection.close()

    def rows(self) -> Iterator[LedgerRow]:
        """Yield the rows in the order in which they were added. Only a page of them is in memory."""
        with self._explaining():
            stored = self._connection.execute("SELECT key, state, id, record FROM rows ORDER BY rowid")
            while page := stored.fetchmany(_PAGE):
                keys, states, ids, records = zip(*page, strict=True)
                try:
                    decoded = json.loads(f"[{','.join([record or 'null' for record in records])}]")
                    rows = [*map(LedgerRow._make, zip(keys, states, ids, decoded, strict=True))]
                except ValueError as error:
                    raise _NotALedger(str(error)) from None
                yield from rows

    def choose(self, ids: Sequence[tuple[str, str]]) -> None:
        """Save pairs of a key and the id that was chosen for the row, on the disk itself."""
        with self._explaining():
            self._connection.execute("PRAGMA synchronous = FULL")
            self._save_all(
                "INSERT INTO rows (key, state, id) VALUES (?, 'chosen', ?)"
                " ON CONFLICT (key) DO UPDATE SET state = 'chosen', id = excluded.id",
                ids,
            )
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def start(self, keys: Sequence[str]) -> None:
        """Save that the rows are perhaps sent from now on."""
        with self._explaining():
            self._save_all(
                "INSERT INTO rows (key, state) VALUES (?, 'started') ON CONFLICT (key) DO UPDATE SET state = 'started'",
                [(key,) for key in keys],
            )

    def _save_all(self, statement: str, values: Sequence[tuple[str, ...]]) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany(statement, values)
        self._connection.execute("COMMIT")

    def save(
        self,
        key: str,
        state: RowState,
        *,
        record: Mapping[str, Any] | None = None,
        error: str | None = None,
        keep_id: bool = True,
    ) -> None:
        """Save the outcome of a row, and keep or remove its id."""
        text = None if record is None else json.dumps(record, default=str)
        values = {"key": key, "state": state, "record": text, "error": error, "keep_id": keep_id}
        with self._explaining():
            self._connection.execute(_SAVE, values)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Raise the errors of SQLite in the block as errors that say what to do with the file."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _BUSY:
                raise BlockingIOError(
                    f"resume is {str(self.path)!r}, a ledger that another call or process uses; wait until it has"
                    " ended, or give another name"
                ) from None
            if code in _DAMAGED or isinstance(error, _NotALedger):
                raise ValueError(
                    f"resume is {str(self.path)!r}, which is not a ledger or is damaged ({error}); give another name,"
                    " or delete the file to start again"
                ) from None
            raise OSError(f"resume is {str(self.path)!r}, a ledger that cannot be used: {error}") from None


class _NotALedger(sqlite3.DatabaseError):
    """The file is a database of another program, or has values that a ledger does not have."""


def _open(path: Path) -> sqlite3.Connection:
    """Open and lock the file. Waits shortly if it is locked, because two calls that begin together lock each other."""
    for attempt in range(_LOCK_TRIES):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            _lock(connection)
        except sqlite3.Error as error:
            connection.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BUSY or attempt == _LOCK_TRIES - 1:
                raise
            time.sleep(_LOCK_WAIT)
        else:
            return connection
    raise AssertionError


def _lock(connection: sqlite3.Connection) -> None:
    """Lock the file for this connection, check that it is a ledger, and create the tables of a new one."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # also needs no shared memory, which network disks lack
    (number,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if number != _APPLICATION_ID and (number or tables):
        raise _NotALedger("a database of another program")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    if tables == 0:
        connection.executescript(f"BEGIN; PRAGMA application_id = {_APPLICATION_ID}; {_TABLES} COMMIT;")
