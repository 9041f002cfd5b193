"""Waits until commits are on the disk of the server, once for all threads that wait at the same time.

A transaction commits with `synchronous_commit = off`, so it does not keep the lock of the database for the disk. Then
its thread waits here, without the lock: a later transaction of another connection is on the disk only after all
transactions that were committed before it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Condition

import psycopg
from sqlalchemy import Connection

from ..engine import IS_BEHIND, Compiled
from ..errors import DatabaseUnreachable
from .connection import PostgresConnection

_WRITE = Compiled(f"SELECT CASE WHEN {IS_BEHIND} THEN pg_logical_emit_message(true, 'svc', '') END", {})
_WAIT = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"


class GroupCommit:
    """A connection that confirms the commits that were made while it was open.

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
