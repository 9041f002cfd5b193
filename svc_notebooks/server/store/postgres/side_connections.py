"""The connections that a process has beside those of its transactions and snapshots.

The processes of a shared store announce changes with NOTIFY, and each has one connection that listens. A process is
registered in `svc_workers` with the pid of the server's process for this connection, which ends when the process of the
service ends, however it ends.
"""

from __future__ import annotations

import json
import logging
import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from threading import Condition, Lock, Thread
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg

from ..engine import Row
from ..errors import DatabaseUnreachable, on_error
from .connection import IS_BEHIND, Connection, PostgresConnection
from .schema import deliveries, journal

_log = logging.getLogger(__name__)

_RETRY_SECONDS = 0.5
_CLOCK_SECONDS = 10.0  # the interval in which a process looks at the clock of the server

_CLOCK_LOCK = 0x737665  # the first number of the advisory lock for changes of the clock

# The announcements: messages were queued, shared values were changed, a process has seen the change.
QUEUED, CHANGED, SEEN = "queued", "changed", "seen"

_DROP_ENDED = """DELETE FROM svc_workers AS w WHERE opening = %(opening)s OR NOT EXISTS (
    SELECT FROM pg_stat_activity AS a WHERE a.pid = w.pid AND a.backend_start = w.started)"""
_REGISTER = """INSERT INTO svc_workers (opening, pid, started, seen)
    SELECT %(opening)s, pid, backend_start, 0 FROM pg_stat_activity WHERE pid = pg_backend_pid()"""
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"
_VALUES = "SELECT key, value, version FROM svc_values"
_SEE = "UPDATE svc_workers SET seen = %(version)s WHERE opening = %(opening)s"

# The key, the JSON text and the version of each shared value.
Values = Sequence[tuple[str, str, int]]


class Listener:
    """The thread that receives the announcements of other processes.

    `on_values` is called with all shared values at first and after each change, and `on_notice` with each announcement.
    The thread also follows the clock of the server, so that all processes have the same time.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        channel: str,
        opening: int,
        on_values: Callable[[Values], None],
        on_notice: Callable[[str], None],
    ) -> None:
        """Listen, and call `on_values` for the first time."""
        self._connect, self._channel, self._opening = connect, channel, opening
        self._on_values, self._on_notice = on_values, on_notice
        self._closing, self._wakened = socket.socketpair()
        self._is_closed = False
        self._connection = self._listening()
        self._thread = Thread(target=self._main, name="svc-notices", daemon=True)
        self._thread.start()

    def now(self) -> datetime:
        """Return the time of the server in UTC."""
        return datetime.fromtimestamp(self._offset + time.monotonic(), UTC)

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._closing.close()
        self._thread.join()
        self._wakened.close()

    def _listening(self) -> Connection:
        connection = self._connect()
        with on_error(connection.close):
            connection.execute(f'LISTEN "{self._channel}"')
            with connection.transaction():
                connection.execute(_DROP_ENDED, {"opening": self._opening})
                connection.execute(_REGISTER, {"opening": self._opening})
            self._read_clock(connection)
            self._read_values(connection)
        return connection

    def _read_clock(self, driver: Any) -> None:
        """Compare the clocks three times. The shortest round trip has the smallest error."""
        trips = []
        for _ in range(3):
            before = time.monotonic()
            (seconds,) = driver.execute(_NOW).fetchone()
            after = time.monotonic()
            trips.append((after - before, seconds - (before + after) / 2))
        self._offset = min(trips)[1]

    def _read_values(self, driver: Any) -> None:
        values = driver.execute(_VALUES).fetchall()
        self._on_values(values)
        version = max((version for _, _, version in values), default=0)
        with driver.transaction():
            driver.execute(_SEE, {"version": version, "opening": self._opening})
            driver.execute("SELECT pg_notify(%s, %s)", (self._channel, f"{SEEN} {self._opening}"))

    def _main(self) -> None:
        while not self._is_closed:
            try:
                self._receive(self._connection)
            except (psycopg.Error, OSError) as error:
                if not self._is_closed:
                    _log.warning("the connection for announcements of other processes was lost: %s", error)
                self._connect_again()
        with suppress(psycopg.Error):
            self._connection.close()

    def _connect_again(self) -> None:
        while not self._is_closed:
            try:
                self._connection = self._listening()
                self._on_notice(QUEUED)
                return
            except (psycopg.Error, OSError):
                select.select([self._wakened], [], [], _RETRY_SECONDS)

    def _receive(self, driver: Any) -> None:
        looked = time.monotonic()
        while not self._is_closed:
            if time.monotonic() - looked >= _CLOCK_SECONDS:
                self._read_clock(driver)
                looked = time.monotonic()
            payloads = {notice.payload for notice in driver.notifies(timeout=0)} - {f"{QUEUED} {self._opening}"}
            topics = {payload.partition(" ")[0] for payload in payloads}
            if CHANGED in topics:
                self._read_values(driver)
            for topic in topics:
                self._on_notice(topic)
            if not topics:
                select.select([driver.fileno(), self._wakened], [], [], _CLOCK_SECONDS)


class SideConnection:
    """A connection for statements that belong to no transaction. Threads may share it."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._lock = Lock()
        self._statements: PostgresConnection | None = None

    def run(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Run a statement, and return its rows. Raises OSError if the server cannot be reached."""
        with self._lock:
            try:
                self._statements = self._statements or PostgresConnection(self._connected(), self._connected)
                return self._statements.read(statement, values)
            except psycopg.Error as error:
                raise OSError(f"the PostgreSQL server cannot be reached ({type(error).__name__})") from None

    def _connected(self) -> Connection:
        connection = self._connect()
        connection.execute("SET synchronous_commit = off")
        return connection

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._statements:
                self._statements.close()


class ProcessLock:
    """A lock between processes that belongs to a connection, so that a killed process does not keep it."""

    def __init__(self, connect: Callable[[], Connection], schema: int) -> None:
        self._connect, self._schema = connect, schema
        self._connection: Connection | None = None

    def acquire(self, *, blocking: bool) -> bool:
        """Acquire the lock, which this process does not have. Return False if another process has it.

        Raises OSError if another process keeps the lock for too long.
        """
        connection = self._connect()
        function = "pg_advisory_lock" if blocking else "pg_try_advisory_lock"
        try:
            ((taken,),) = connection.execute(f"SELECT {function}(%s, %s)", (_CLOCK_LOCK, self._schema))
        except psycopg.errors.LockNotAvailable:
            connection.close()
            raise DatabaseUnreachable("another process of this store keeps the clock") from None
        if taken is False:
            connection.close()
            return False
        self._connection = connection
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._connection:
            self._connection.close()
        self._connection = None


_WRITE = f"SELECT CASE WHEN {IS_BEHIND} THEN pg_logical_emit_message(true, 'svc', '') END"
_WAIT = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"


class GroupCommit:
    """A connection that confirms the commits that were made while it was open, once for all threads that wait.

    A transaction commits with `synchronous_commit = off`, so it does not keep the lock of the database for the disk.
    Then its thread waits here, without the lock: a later transaction of another connection is on the disk only after
    all transactions that were committed before it.

    A server that was restarted may have lost commits, but then it has ended this connection, too.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        """Connect. Raises OSError if the server cannot be reached."""
        self._statements = PostgresConnection(connect(), connect)
        self._statements.driver.execute(_WAIT)
        self._changed = Condition()
        self._begun = self._ended = 0
        self.is_lost = False

    def wait(self) -> None:
        """Wait until all commits before this call are on the disk. Raises DatabaseUnreachable if they may be lost."""
        with self._changed:
            number = self._begun + 1
            while self._ended < number:
                if self.is_lost:
                    raise DatabaseUnreachable("the PostgreSQL server has ended the connection before a commit was safe")
                if self._begun > self._ended:
                    self._changed.wait()
                else:
                    self._write()

    def _write(self) -> None:
        """Write all commits to the disk. Other threads may begin to wait meanwhile."""
        self._begun += 1
        self._changed.release()
        is_written = False
        try:
            with suppress(psycopg.Error):
                self._statements.run(_WRITE, {})
                is_written = True
        finally:
            self._changed.acquire()
            if is_written:
                self._ended = self._begun
            else:
                self.is_lost = True
            if self.is_lost:
                self._statements.close()
            self._changed.notify_all()

    def close(self) -> None:
        """Close the connection, if necessary when the thread that uses it has ended."""
        with self._changed:
            self.is_lost = True
            if self._begun == self._ended:
                self._statements.close()


# -- the journal and the log of deliveries of all processes
#
# The rows are written outside of the transactions of requests, because they are about requests that fail as well.


_ADDED_BEFORE_TRIM = 100


class KeptRows:
    """A table of JSON documents with numbers. At least its last `most` rows are kept, and no more are shown."""

    def __init__(self, connection: SideConnection, table: str, most: int) -> None:
        self._connection, self._table, self.most = connection, table, most
        self._added = 0

    def add(self, document: Any) -> int:
        """Add a row, and return its number."""
        self._added += 1
        if self._added % _ADDED_BEFORE_TRIM == 0:
            self._run("DELETE FROM {} WHERE n <= (SELECT max(n) FROM {}) - :most", most=self.most)
        added = self._run("INSERT INTO {} (document) VALUES (:document) RETURNING n", document=json.dumps(document))
        return int(added[0][0])

    def replace(self, n: int, document: Any) -> None:
        """Replace the row with the number `n`, if it still exists."""
        self._run("UPDATE {} SET document = :document WHERE n = :n", n=n, document=json.dumps(document))

    def rows(self, since: int = 0) -> list[tuple[int, Any]]:
        """Return the last rows with a number above `since`, oldest first."""
        rows = self._run(
            "SELECT n, document FROM {} WHERE n > :since ORDER BY n DESC LIMIT :most", since=since, most=self.most
        )
        return [(n, json.loads(document)) for n, document in reversed(rows)]

    def last(self) -> int:
        """Return the number of the last row, or 0 without rows."""
        return int(self._run("SELECT coalesce(max(n), 0) FROM {}")[0][0])

    def clear(self) -> None:
        """Delete all rows, and restart the numbers at 1."""
        self._run("TRUNCATE {} RESTART IDENTITY")

    def _run(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        return self._connection.run(sql.replace("{}", self._table), values)


class KeptRecords(NamedTuple):
    """The journal and the log of deliveries of a database."""

    journal: KeptRows
    deliveries: KeptRows
    connection: SideConnection

    @classmethod
    def of(cls, connection: SideConnection, most: int) -> KeptRecords:
        """Return the records of a database, which keep their last `most` rows."""
        return cls(KeptRows(connection, journal.name, most), KeptRows(connection, deliveries.name, most), connection)

    def journal_id(self) -> str:
        """Return the id of the journal, which changes when its numbers restart at 1."""
        rows = self.connection.run(
            "INSERT INTO svc_values (key, value, version) VALUES ('journal', :new, 0)"
            " ON CONFLICT (key) DO UPDATE SET version = 0 RETURNING value",
            {"new": json.dumps(uuid4().hex[:16])},
        )
        return str(json.loads(rows[0][0]))

    def clear(self) -> None:
        """Delete all rows, and give the journal a new id."""
        self.journal.clear()
        self.deliveries.clear()
        self.connection.run("DELETE FROM svc_values WHERE key = 'journal'", {})
