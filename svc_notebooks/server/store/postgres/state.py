"""What several processes that share a store must agree on: claims of upload sessions, leases of message queues, and
parts that are deleted later.

Each statement runs in a transaction with the lock of the database, so that processes run them one after another.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, cast

from ...notifications.tables import FIRST_OF, Outbox, QueuedMessage
from ...uploads.tables import DROP, SAVE, SessionRow, UploadSessionTable
from ..engine import Database, TableGroup
from .values import SharedValues
from .windows import SharedWindows

if TYPE_CHECKING:
    from .database import PostgresDatabase


MIN_AGE = timedelta(hours=1)
"""The time for which the parts of a deleted content stay, because another process may be sending them."""

_CLAIM_NEXT = """INSERT INTO svc_claims AS c (session, number) VALUES (:id, 1)
    ON CONFLICT (session) DO UPDATE SET number = c.number + 1 RETURNING number"""
_RUNNING = (
    "SELECT w.opening FROM svc_workers AS w JOIN pg_stat_activity AS a ON a.pid = w.pid AND a.backend_start = w.started"
)
_UNTIL = "clock_timestamp() + make_interval(secs => :seconds)"
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
"""Leases queues whose first message is due, unless a running process has a lease that has not ended."""

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
            claimed = self._database.change_one(_CLAIM_NEXT, {"id": key})
            assert claimed
        return row._replace(claim=claimed[0])

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


class DiscardedParts(TableGroup):
    """The parts of deleted contents, which are deleted after `MIN_AGE` because other processes may be sending them."""

    def deletable(self, parts: Iterable[str]) -> list[str]:
        """Add parts, and return the parts that were added long ago, which the caller must delete now."""
        with self._database.transaction():
            for part in parts:
                self._database.change(_DISCARD, {"part": part})
            return [part for (part,) in self._database.change_all(_TAKE_OLD, {"age": MIN_AGE.total_seconds()})]


class SharedTables(NamedTuple):
    """The tables of a store that several processes share."""

    upload_sessions: SharedUploadSessions
    outbox: SharedOutbox
    discarded: DiscardedParts
    windows: SharedWindows
    values: SharedValues


def shared_tables(database: Database) -> SharedTables:
    """Return the tables of a store that several processes share, and follow the other processes."""
    groups = SharedUploadSessions(database), SharedOutbox(database), DiscardedParts(database), SharedWindows(database)
    return SharedTables(*groups, SharedValues(cast("PostgresDatabase", database)))
