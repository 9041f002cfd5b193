"""What several processes that share a store must agree on: claims of upload sessions, leases of message queues, and
parts that are deleted later.

Each statement runs in a transaction with the lock of the database, so that processes run them one after another.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, cast

from sqlalchemy import bindparam, delete, func, literal, select, text, update
from sqlalchemy.dialects import postgresql

from ...notifications.tables import JOINED, Outbox, QueuedMessage
from ...uploads.tables import DROP, SAVE, SessionRow, UploadSessionTable
from ..engine import Database, Prepared, TableGroup
from ..schema import messages
from .schema import claims, discarded, leases
from .values import SharedValues
from .windows import SharedWindows

if TYPE_CHECKING:
    from .database import PostgresDatabase


MIN_AGE = timedelta(hours=1)
"""The time for which the parts of a deleted content stay, because another process may be sending them."""

_CLAIM = postgresql.insert(claims).values(session=bindparam("key"), number=1)
_CLAIM_NEXT = Prepared(
    _CLAIM.on_conflict_do_update(index_elements=["session"], set_={"number": claims.c.number + 1})
    .inline()
    .returning(claims.c.number)
)
_CLAIMED = Prepared(select(claims.c.number).where(claims.c.session == bindparam("key")))
_END_CLAIMS = Prepared(update(claims).values(number=claims.c.number + 1))
_DROP_CLAIM = Prepared(delete(claims).where(claims.c.session == bindparam("key")))

_NOW = func.clock_timestamp()
_UNTIL = _NOW + func.make_interval(0, 0, 0, 0, 0, 0, bindparam("seconds"))
_RUNNING = (
    "SELECT w.opening FROM svc_workers AS w JOIN pg_stat_activity AS a ON a.pid = w.pid AND a.backend_start = w.started"
)
_TAKE = Prepared(
    text(
        f"""INSERT INTO svc_leases (channel, holder, until)
    SELECT m.channel, :holder, clock_timestamp() + make_interval(secs => :seconds)
    FROM messages AS m
        JOIN (SELECT min(seq) AS seq FROM messages GROUP BY channel) AS f ON f.seq = m.seq
        LEFT JOIN svc_leases AS l ON l.channel = m.channel
    WHERE m.due <= :now
        AND (l.channel IS NULL OR l.until <= clock_timestamp() OR l.holder NOT IN ({_RUNNING}))
    ORDER BY m.due, m.seq LIMIT :most
    FOR UPDATE OF m SKIP LOCKED
ON CONFLICT (channel) DO UPDATE SET holder = excluded.holder, until = excluded.until
RETURNING channel"""
    )
)
"""Leases queues whose first message is due, unless a running process has a lease that has not ended."""

_FIRST_OF = Prepared(
    JOINED.where(
        messages.c.seq.in_(
            select(func.min(messages.c.seq))
            .where(messages.c.channel == func.any(bindparam("channels")))
            .group_by(messages.c.channel)
        )
    )
)
_RENEW = Prepared(
    update(leases).where(leases.c.channel == bindparam("key"), leases.c.holder == bindparam("own")).values(until=_UNTIL)
)
_LEASED = Prepared(
    select(leases.c.channel).where(
        leases.c.holder != bindparam("holder"), leases.c.until > _NOW, leases.c.holder.in_(text(_RUNNING))
    )
)
_RELEASE = Prepared(
    delete(leases).where(leases.c.channel == bindparam("channel"), leases.c.holder == bindparam("holder"))
)
_RELEASE_ALL = Prepared(delete(leases).where(leases.c.holder == bindparam("holder")))

_DISCARD = Prepared(
    postgresql.insert(discarded).values(part=bindparam("part"), since=_NOW).on_conflict_do_nothing().inline()
)
_TAKE_OLD = Prepared(delete(discarded).where(discarded.c.since <= _NOW - literal(MIN_AGE)).returning(discarded.c.part))


class SharedUploadSessions(UploadSessionTable):
    """The table of upload sessions, whose claims are in the database."""

    def claim(self, key: str) -> SessionRow | None:
        """Claim an upload session and return its row, or None if the id is unknown. Earlier claims become invalid."""
        with self._database.transaction():
            row = self.get(key)
            if row is None:
                return None
            claimed = self._database.change_one(_CLAIM_NEXT, {"key": key})
            assert claimed
        return row._replace(claim=claimed[0])

    def invalidate_claims(self) -> None:
        """Invalidate all claims, so that requests in progress can no longer change their sessions."""
        self._database.change(_END_CLAIMS, {})

    def save(self, row: SessionRow) -> bool:
        """Save the row of a session. Returns False, and saves nothing, if a later request has claimed the session."""
        with self._database.transaction():
            claimed = self._database.run(_CLAIMED, {"key": row.id})
            return claimed == [(row.claim,)] and self._database.change(SAVE, {**row._asdict(), "key": row.id}) == 1

    def drop(self, key: str) -> None:
        """Delete the row of a session."""
        with self._database.transaction():
            self._database.change(_DROP_CLAIM, {"key": key})
            self._database.change(DROP, {"key": key})


class SharedOutbox(Outbox):
    """The message queues of all channels, each of which one process at a time has leased."""

    def take(self, now: int, most: int, seconds: float) -> list[QueuedMessage]:
        """Lease at most `most` queues whose first message is due, and return these messages."""
        values = {"holder": self._database.opening, "now": now, "most": most, "seconds": seconds}
        taken = [channel for (channel,) in self._database.change_all(_TAKE, values)]
        return self._read(_FIRST_OF, channels=taken) if taken else []

    def of_closed_channels(self, now: int) -> list[QueuedMessage]:
        """Return the queued messages of closed channels, without queues that another process has leased."""
        rows = super().of_closed_channels(now)
        leased = set(self._leased_elsewhere()) if rows else ()
        return [row for row in rows if row.channel.seq not in leased]

    def renew(self, channel: int, seconds: float) -> bool:
        """Lease the queue of a channel for further seconds. Return False if another process has leased it meanwhile."""
        values = {"key": channel, "own": self._database.opening, "seconds": seconds}
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
        self._database.change(_RELEASE_ALL, {"holder": self._database.opening})


class DiscardedParts(TableGroup):
    """The parts of deleted contents, which are deleted after `MIN_AGE` because other processes may be sending them."""

    def deletable(self, parts: Iterable[str]) -> list[str]:
        """Add parts, and return the parts that were added long ago, which the caller must delete now."""
        with self._database.transaction():
            for part in parts:
                self._database.change(_DISCARD, {"part": part})
            return [part for (part,) in self._database.change_all(_TAKE_OLD, {})]


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
