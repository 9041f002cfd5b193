"""What several processes that share a store must agree on: claims of upload sessions, leases of message queues, parts
that are deleted later, windows of rate limits, and values such as the clock and the fault plans.

Each statement runs in a transaction with the lock of the database, so that processes run them one after another.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from threading import Condition
from typing import TYPE_CHECKING, Any, cast

from ...notifications.tables import FIRST_OF, Outbox, QueuedMessage
from ...uploads.tables import DROP, SAVE, SessionRow, UploadSessionTable
from ..engine import Database, TableGroup, inserting
from ..values import QUOTA, EditedValue, LimitWindow, Windows
from .schema import values as values_table, windows
from .side_connections import CHANGED, QUEUED

if TYPE_CHECKING:
    from .database import PostgresDatabase
    from .side_connections import ProcessLock, Values


# The time for which the parts of a deleted content stay, because another process may be sending them.
MIN_AGE = timedelta(hours=1)

_CLAIM_NEXT = """INSERT INTO svc_claims AS c (session, number) VALUES (:id, 1)
    ON CONFLICT (session) DO UPDATE SET number = c.number + 1 RETURNING number"""
_RUNNING = (
    "SELECT w.opening FROM svc_workers AS w JOIN pg_stat_activity AS a ON a.pid = w.pid AND a.backend_start = w.started"
)
_UNTIL = "clock_timestamp() + make_interval(secs => :seconds)"
# Leases queues whose first message is due, unless a running process has a lease that has not ended.
_TAKE = f"""INSERT INTO svc_leases (channel, holder, until)
    SELECT m.channel, :holder, {_UNTIL}
    FROM messages AS m
        JOIN (SELECT min(seq) AS seq FROM messages GROUP BY channel) AS f ON f.seq = m.seq
        LEFT JOIN svc_leases AS l ON l.channel = m.channel
    WHERE m.due <= :now
        AND (l.channel IS NULL OR l.until <= clock_timestamp() OR l.holder NOT IN ({_RUNNING}))
    ORDER BY m.due, m.seq LIMIT :most
    FOR UPDATE OF m SKIP LOCKED
ON CONFLICT (channel) DO UPDATE SET holder = excluded.holder, until = excluded.until
RETURNING channel"""

_RENEW = f"UPDATE svc_leases SET until = {_UNTIL} WHERE channel = :channel AND holder = :holder"
_LEASED = f"""SELECT channel FROM svc_leases
    WHERE holder <> :holder AND until > clock_timestamp() AND holder IN ({_RUNNING})"""
_RELEASE = "DELETE FROM svc_leases WHERE channel = :channel AND holder = :holder"
_DISCARD = "INSERT INTO svc_discarded (part, since) VALUES (:part, clock_timestamp()) ON CONFLICT DO NOTHING"
_TAKE_OLD = "DELETE FROM svc_discarded WHERE since <= clock_timestamp() - make_interval(secs => :age) RETURNING part"


class SharedUploadSessions(UploadSessionTable):
    """The table of upload sessions, whose claims are in the database."""

    def claim(self, key: str) -> SessionRow | None:
        """Claim an upload session and return its row, or None if the id is unknown. Earlier claims become invalid."""
        with self._database.transaction():
            row = self.get(key)
            if row is None:
                return None
            ((claim,),) = self._database.change_all(_CLAIM_NEXT, {"id": key})
        return row._replace(claim=claim)

    def invalidate_claims(self) -> None:
        """Invalidate all claims, so that requests in progress can no longer change their sessions."""
        self._database.change("UPDATE svc_claims SET number = number + 1", {})

    def save(self, row: SessionRow) -> bool:
        """Save the row of a session. Returns False, and saves nothing, if a later request has claimed the session."""
        with self._database.transaction():
            claimed = self._database.run("SELECT number FROM svc_claims WHERE session = :id", {"id": row.id})
            return claimed == [(row.claim,)] and self._database.change(SAVE, row._asdict()) == 1

    def drop(self, key: str) -> None:
        """Delete the row of a session."""
        with self._database.transaction():
            self._database.change("DELETE FROM svc_claims WHERE session = :id", {"id": key})
            self._database.change(DROP, {"id": key})


class SharedOutbox(Outbox):
    """The message queues of all channels, each of which one process at a time has leased."""

    def take(self, now: int, most: int, seconds: float) -> list[QueuedMessage]:
        """Lease at most `most` queues whose first message is due, and return these messages."""
        values = {"holder": self._database.opening, "now": now, "most": most, "seconds": seconds}
        taken = [channel for (channel,) in self._database.change_all(_TAKE, values)]
        return self._read(FIRST_OF, channels=taken) if taken else []

    def of_closed_channels(self, now: int) -> list[QueuedMessage]:
        """Return the queued messages of closed channels, without queues that another process has leased."""
        rows = super().of_closed_channels(now)
        leased = set(self._leased_elsewhere()) if rows else ()
        return [row for row in rows if row.channel.seq not in leased]

    def renew(self, channel: int, seconds: float) -> bool:
        """Lease the queue of a channel for further seconds. Return False if another process has leased it meanwhile."""
        values = {"channel": channel, "holder": self._database.opening, "seconds": seconds}
        return self._database.change(_RENEW, values) == 1

    def is_leased_elsewhere(self) -> bool:
        """Return whether another process delivers messages now."""
        return bool(self._leased_elsewhere())

    def _leased_elsewhere(self) -> list[int]:
        return [channel for (channel,) in self._database.run(_LEASED, {"holder": self._database.opening})]

    def release(self, channel: int) -> None:
        """End the lease of a queue."""
        self._database.change(_RELEASE, {"channel": channel, "holder": self._database.opening})

    def release_all(self) -> None:
        """End all leases of this process."""
        self._database.change("DELETE FROM svc_leases WHERE holder = :holder", {"holder": self._database.opening})


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_GET_WINDOW = 'SELECT ends, spent FROM svc_windows WHERE "user" = :user AND kind = :kind'
_PUT_WINDOW = inserting(windows, ("user", "kind", "ends", "spent"), otherwise="REPLACE")


class SharedWindows(TableGroup, Windows):
    """The windows of users by kind, for all processes that share a store."""

    def __init__(self, database: Database) -> None:
        TableGroup.__init__(self, database)

    def _exclusive(self) -> AbstractContextManager[object]:
        return self._database.transaction(durable=False)

    def get(self, user: str, kind: str) -> LimitWindow | None:
        """Return the last window of a user, or None."""
        rows = self._database.run(_GET_WINDOW, {"user": user, "kind": kind})
        return LimitWindow(_EPOCH + rows[0][0] * _MICROSECOND, rows[0][1]) if rows else None

    def _put(self, user: str, kind: str, window: LimitWindow, now: datetime) -> None:
        ends = (window.ends - _EPOCH) // _MICROSECOND
        self._database.change(_PUT_WINDOW, {"user": user, "kind": kind, "ends": ends, "spent": window.spent})

    def close(self, user: str, kind: str) -> None:
        """Close the window of a user."""
        values = {"user": user, "kind": kind}
        self._database.change('DELETE FROM svc_windows WHERE "user" = :user AND kind = :kind', values)

    def clear(self) -> None:
        """Close all windows on the clock of the service."""
        self._database.change("DELETE FROM svc_windows WHERE kind <> :quota", {"quota": QUOTA})


# The longest time to wait for a process that does not read a change, for example because it is suspended.
_FOLLOW_SECONDS = 10.0

_CHECK_SECONDS = 0.02

_PUT_VALUE = inserting(values_table, ("key", "value", "version"), otherwise="REPLACE")
# Counts the other running processes that have not read a version yet.
_BEHIND = """SELECT COUNT(*) FROM svc_workers AS w JOIN pg_stat_activity AS a
    ON a.pid = w.pid AND a.backend_start = w.started WHERE w.seen < :version AND w.opening <> :own"""


class SharedValues:
    """The shared values of a store by key: the clock, the fault plans and the limits of single users.

    A process keeps a copy of all values. A change is announced, and returns when every process has read the change, so
    that the next request is handled with the new value, whichever process it reaches. Requests need no statement for
    this.
    """

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._values: dict[str, tuple[int, str, Any]] = {}
        self._changed = Condition()
        # Called when another process has queued messages, and when a value has changed.
        self.on_notice: Callable[[], None] = lambda: None
        self.clock_lock: ProcessLock = database.clock_lock()  # the lock of the process that moves the clock
        self._listener = database.listen(self._follow, self._receive)
        self.now = self._listener.now

    def get(self, key: str) -> Any:
        """Return a value, or None. The caller must not change it."""
        known = self._values.get(key)
        return known[2] if known else None

    @contextmanager
    def editing(self, key: str) -> Iterator[EditedValue]:
        """Change a value in a `with` block, which has the latest value, while no other process can change it."""
        with self._database.transaction():
            rows = self._database.run("SELECT value FROM svc_values WHERE key = :key", {"key": key})
            edited = EditedValue(json.loads(rows[0][0]) if rows else None)
            yield edited
            last = self._database.run("SELECT COALESCE(MAX(version), 0) FROM svc_values", {})[0][0]
            version = int(last) + edited.is_announced
            content = json.dumps(edited.value)
            self._database.change(_PUT_VALUE, {"key": key, "value": content, "version": version})
            if edited.is_announced:
                self._database.announce(CHANGED)
        if edited.is_announced:
            self._follow([(key, content, version)])
            others = {"version": version, "own": self._database.opening}
            end = time.monotonic() + _FOLLOW_SECONDS
            self.wait_for(lambda: not self._database.run(_BEHIND, others)[0][0], end)  # all processes follow

    def set(self, key: str, value: Any) -> None:
        """Set a value, and wait until all processes follow."""
        with self.editing(key) as edited:
            edited.value = value

    def _follow(self, rows: Values) -> None:
        """Store values that were read from the database, unless newer ones are known."""
        with self._changed:
            for key, content, version in rows:
                known = self._values.get(key)
                if known is None or (version >= known[0] and content != known[1]):
                    self._values[key] = version, content, json.loads(content)

    def _receive(self, topic: str) -> None:
        if topic in (QUEUED, CHANGED):
            self.on_notice()
        with self._changed:
            self._changed.notify_all()

    def wait_for(self, condition: Callable[[], bool], end: float) -> None:
        """Wait until a condition about other processes is true, or until a time of the monotonic clock."""
        while not condition() and time.monotonic() < end:
            with self._changed:
                self._changed.wait(_CHECK_SECONDS)

    def close(self) -> None:
        """End the thread that receives the changes of other processes."""
        self._listener.close()


class SharedTables(TableGroup):
    """The tables of a store that several processes share."""

    def __init__(self, database: Database) -> None:
        """Follow the other processes."""
        super().__init__(database)
        self.upload_sessions, self.outbox = SharedUploadSessions(database), SharedOutbox(database)
        self.windows, self.values = SharedWindows(database), SharedValues(cast("PostgresDatabase", database))

    def deletable(self, parts: Iterable[str]) -> list[str]:
        """Add parts of deleted contents, and return those that were added `MIN_AGE` ago: the caller must delete them.

        Until then other processes may be sending them.
        """
        with self._database.transaction():
            for part in parts:
                self._database.change(_DISCARD, {"part": part})
            return [part for (part,) in self._database.change_all(_TAKE_OLD, {"age": MIN_AGE.total_seconds()})]
