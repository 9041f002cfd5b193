"""Sends prepared statements to PostgreSQL through libpq, several of them in one round trip.

A round trip costs more CPU time than most statements, and a cursor of psycopg costs as much again. So a statement whose
result is not needed waits in a queue, and is sent together with the next statement whose result is needed.
"""

from __future__ import annotations

import re
import select
import selectors
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus

from ..engine import Row

Check = Callable[[list[Row]], None]
Connection = psycopg.Connection[Any]

# SQL that tells whether PostgreSQL may have commits that are not on its disk, or not on its standby servers.
IS_BEHIND = (
    "(pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn() OR current_setting('synchronous_standby_names') <> '')"
)

_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")

# Replaces U+0000 in a text that is searched for. No stored text contains U+0000, so the text must not be found.
_NOT_STORED = "\ufffe"

_MOST_PREPARED = 500
_ROLL_BACK = b"ROLLBACK"
_LOST = "the connection was closed"
_LONGEST_WAIT = 90  # the seconds for which a statement waits, longer than the limits of a shared store (see opening.py)
_SILENT = f"no answer for {_LONGEST_WAIT} s"


class StatementResult(NamedTuple):
    """The number of rows that a statement changed or returned, and the rows that it returned."""

    rowcount: int
    rows: list[Row]


@lru_cache(maxsize=1000)
def _numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement with the parameters $1, $2 and so on, and their names in this order."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(statement)))
    return _PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", statement), names


class _Queued(NamedTuple):
    sql: str
    parameters: Sequence[Any]
    check: Check | None


class PostgresConnection:
    """A connection that one thread uses at a time, with a queue of statements that are sent with the next one.

    Errors of the server are raised as psycopg.Error. A connection that is lost before a transaction has begun is
    replaced by a new one.
    """

    def __init__(self, connection: Connection, connect: Callable[[], Connection]) -> None:
        """Take over an open connection, and the function that returns a new one."""
        self._connect = connect
        self._queue: list[_Queued] = []
        self._opening = 0  # the number of queued statements that begin a transaction
        self._is_begun = False  # whether they have been sent
        self._use(connection)

    def _use(self, connection: Connection) -> None:
        self.driver = connection
        self._libpq: Any = self.driver.pgconn
        self._transformer = Transformer(self.driver)
        self._names: dict[str, bytes] = {}
        self._wait = _waiter(self._libpq.socket)
        self._is_rolling_back = False

    # -- statements -----------------------------------------------------------------------------------------------

    def queue(self, statement: str, values: dict[str, Any], check: Check | None = None) -> None:
        """Queue a statement. Its rows are passed to `check`, which may raise an error.

        The values are sent as text, and the server finds their types in the statement. Raises psycopg.DataError for a
        value that PostgreSQL cannot store.
        """
        sql, names = _numbered(statement)
        parameters = [values[name] for name in names]
        dumped = self._transformer.dump_sequence(parameters, [PyFormat.TEXT] * len(parameters))
        self._queue.append(_Queued(sql, dumped, check))

    def run(self, statement: str, values: dict[str, Any]) -> StatementResult:
        """Send the queue and a statement that may change rows, and return the result of the statement."""
        self.queue(statement, values)
        return self._send_queue(repeats=self._opening > 0)

    def read(self, statement: str, values: dict[str, Any]) -> list[Row]:
        """Send the queue and a statement that reads, and return its rows. A text with U+0000 is not found."""
        try:
            self.queue(statement, values)
        except psycopg.DataError:
            texts = {name: value.replace("\0", _NOT_STORED) for name, value in values.items() if isinstance(value, str)}
            self.queue(statement, {**values, **texts})
        return self._send_queue(repeats=True).rows

    def send_queue(self) -> None:
        """Send the queued statements, so that the driver can run another statement."""
        if self._queue:
            self._send_queue(repeats=self._opening > 0)
        elif self.driver.closed and not self._is_begun:
            self._use(self._connect())
        else:
            self._finish_roll_back()

    # -- transactions ---------------------------------------------------------------------------------------------

    def begin(self, *statements: tuple[str, Check | None]) -> None:
        """Queue the statements that begin a transaction, each with the check of its rows."""
        for statement, check in statements:
            self.queue(statement, {}, check)
        self._opening = len(self._queue)

    def is_begun(self) -> bool:
        """Send the statements that begin the transaction. Return False if it has no other statement to commit."""
        if self._opening == len(self._queue):
            self._queue.clear()
        elif self._opening:
            self.send_queue()  # apart from the COMMIT, which cannot be sent again if the connection is lost
        self._opening = 0
        return self._is_begun

    def commit(self) -> None:
        """Commit the transaction."""
        self.run("COMMIT", {})
        self._is_begun = False

    def roll_back(self) -> None:
        """Roll back the transaction without waiting for the server."""
        self._queue.clear()
        self._opening = 0
        if self._is_begun and not self.driver.closed:
            with suppress(psycopg.OperationalError):  # a lost connection has rolled back
                self._libpq.send_query(_ROLL_BACK)
                self._is_rolling_back = True
                self._flush()
        self._is_begun = False

    def close(self) -> None:
        """Close the connection."""
        with suppress(psycopg.Error):
            self._finish_roll_back()
            self.driver.close()

    def _finish_roll_back(self) -> None:
        if self._is_rolling_back:
            self._is_rolling_back = False
            while self._receive() is not None:
                pass

    # -- messages of the protocol ---------------------------------------------------------------------------------

    def _send_queue(self, *, repeats: bool) -> StatementResult:
        """Send the queue and return the last result. If `repeats`, send it again on a new connection if one is lost."""
        repeats = repeats and not self._is_begun
        self._is_begun = self._is_begun or self._opening > 0
        queue, self._queue, self._opening = self._queue, [], 0
        try:
            results = self._send(queue)
        except psycopg.OperationalError:
            if not (repeats and self.driver.closed):
                raise
            self._use(self._connect())
            results = self._send(queue)
        for statement, result in zip(queue, results, strict=True):
            if statement.check:
                statement.check(self._result(result).rows)
        return self._result(results[-1])

    def _result(self, result: Any) -> StatementResult:
        self._transformer.set_pgresult(result)
        return StatementResult(result.command_tuples or 0, self._transformer.load_rows(0, result.ntuples, tuple))

    def _send(self, queue: Sequence[_Queued]) -> list[Any]:
        if len(self._names) > _MOST_PREPARED:  # searches have statements without end
            self._finish_roll_back()
            self.driver.execute("DEALLOCATE ALL")
            self._names.clear()
        names = [self._names.get(statement.sql) or self._prepare(statement) for statement in queue]
        try:
            self._finish_roll_back()
            self._libpq.enter_pipeline_mode()
            for name, statement in zip(names, queue, strict=True):
                self._libpq.send_query_prepared(name, statement.parameters)
            self._libpq.pipeline_sync()
            self._flush()
            results = [self._next_result() for _ in queue]
            end = self._receive()  # of the pipeline, which commits statements without a transaction
            if end is None or end.status == ExecStatus.FATAL_ERROR:
                raise psycopg.OperationalError(_LOST)
            if self._libpq.status == ConnStatus.OK:
                self._libpq.exit_pipeline_mode()
        except BaseException:
            self.driver.close()  # it may have results that nobody reads
            raise
        for result in results:
            if result.status == ExecStatus.FATAL_ERROR:
                raise error_from_result(result)
        return results

    def _prepare(self, statement: _Queued) -> bytes:
        self._finish_roll_back()
        name = f"svc_{len(self._names)}".encode()
        result = self._libpq.prepare(name, statement.sql.encode())
        if result.status == ExecStatus.FATAL_ERROR:
            raise psycopg.OperationalError(_LOST) if self.driver.closed else error_from_result(result)
        self._names[statement.sql] = name
        return name

    def _next_result(self) -> Any:
        result = self._receive()
        if result is None:
            raise psycopg.OperationalError(_LOST)
        self._receive()  # None after each result
        return result

    def _receive(self) -> Any:
        while self._libpq.is_busy():
            if not self._wait():
                raise psycopg.OperationalError(_SILENT)
            self._libpq.consume_input()
        return self._libpq.get_result()

    def _flush(self) -> None:
        while self._libpq.flush():
            with selectors.DefaultSelector() as selector:
                selector.register(self._libpq.socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
                if not selector.select(_LONGEST_WAIT):
                    raise psycopg.OperationalError(_SILENT)
            self._libpq.consume_input()


def _waiter(socket: int) -> Callable[[], object]:
    """Return a function that waits until a socket is readable, and returns a false value if it waited for too long.

    `get_result` would wait with the interpreter lock.
    """
    if sys.platform == "win32":
        return lambda: select.select([socket], [], [], _LONGEST_WAIT)[0]
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return partial(poll.poll, _LONGEST_WAIT * 1000)
