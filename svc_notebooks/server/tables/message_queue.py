"""The queued messages, with one queue for each channel. Only the first message of a queue is sent."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, func, or_, select, update

from ..database.engine import Prepared, Row, TableGroup
from ..database.schema import channels, messages
from .channels import STOPPED, ChannelRow


class Waiting(NamedTuple):
    """A queued message with its channel. `due` is the time of the next delivery attempt in Unix milliseconds."""

    seq: int
    number: int
    state: str
    changed: str
    due: int
    attempts: int
    channel: ChannelRow


_OWN = Waiting._fields[:-1]
JOINED = (
    select(*(messages.c[name] for name in _OWN), *(channels.c[name] for name in ChannelRow._fields))
    .join(channels, channels.c.seq == messages.c.channel)
    .order_by(messages.c.seq)
)
_FIRST = select(func.min(messages.c.seq)).group_by(messages.c.channel)
_DUE = Prepared(JOINED.where(messages.c.seq.in_(_FIRST), messages.c.due <= bindparam("now")))
_NEXT = Prepared(JOINED.where(messages.c.channel == bindparam("key")).limit(1))
_OF_CLOSED_CHANNELS = Prepared(
    JOINED.where(or_(channels.c.state == STOPPED, channels.c.expiration <= bindparam("now")))
)
_LATER = Prepared(select(func.min(messages.c.due)).where(messages.c.due > bindparam("now")))
_NEXT_END = Prepared(
    select(func.min(channels.c.expiration)).where(
        channels.c.expiration > bindparam("now"), channels.c.seq.in_(select(messages.c.channel))
    )
)
_ANY = Prepared(select(messages.c.seq).limit(1))
_COUNT = Prepared(select(func.count()).select_from(messages))
_POSTPONE = Prepared(
    update(messages).where(messages.c.seq == bindparam("key")).values(due=bindparam("then"), attempts=bindparam("made"))
)
_DROP = Prepared(delete(messages).where(messages.c.seq == bindparam("key")))


class Outbox(TableGroup):
    """The message queues of all channels."""

    def take(self, now: int, most: int, seconds: float) -> list[Waiting]:
        """Return the first message of each queue whose first message is due.

        If several processes share the store, return at most `most` messages, of queues that no other process has
        leased, and lease these queues for `seconds`.
        """
        return self._read(_DUE, now=now)

    def next_of(self, channel: int) -> Waiting | None:
        """Return the first message in a channel's queue, whether due or not. Returns None if the queue is empty."""
        waiting = self._read(_NEXT, key=channel)
        return waiting[0] if waiting else None

    def of_closed_channels(self, now: int) -> list[Waiting]:
        """Return the queued messages of channels that were stopped or have expired."""
        return self._read(_OF_CLOSED_CHANNELS, now=now)

    def later(self, now: int) -> int | None:
        """Return the time after `now` when a message is due or a channel with messages expires, or None."""
        instants = [self._database.run(statement, {"now": now})[0][0] for statement in (_LATER, _NEXT_END)]
        return min((when for when in instants if when is not None), default=None)

    def has_pending(self) -> bool:
        """Return whether any message is queued."""
        return self._database.fetch_one(_ANY, {}) is not None

    def count(self) -> int:
        """Return the number of messages in all queues."""
        return int(self._database.run(_COUNT, {})[0][0])

    def is_due(self, now: int) -> bool:
        """Return whether the first message of any queue is due."""
        return bool(self._read(_DUE, now=now))

    def postpone(self, seq: int, *, due: int, attempts: int) -> bool:
        """Store a message's attempts and the time of the next attempt. Return False if the message no longer exists."""
        return self._database.change(_POSTPONE, {"key": seq, "then": due, "made": attempts}) == 1

    def drop(self, seq: int) -> bool:
        """Delete a message. Returns False if the message did not exist any more."""
        return self._database.change(_DROP, {"key": seq}) == 1

    def renew(self, channel: int, seconds: float) -> bool:
        """Lease the queue of a channel for further seconds. Return False if another process has leased it meanwhile."""
        return True

    def release(self, channel: int) -> None:
        """End the lease of a channel's queue."""

    def release_all(self) -> None:
        """End all leases of this process."""

    def is_leased_elsewhere(self) -> bool:
        """Return whether another process delivers messages now."""
        return False

    def _read(self, prepared: Prepared, **values: Any) -> list[Waiting]:
        return [_waiting(row) for row in self._database.run(prepared, values)]


def _waiting(row: Row) -> Waiting:
    own = len(_OWN)
    return Waiting._make((*row[:own], ChannelRow._make(row[own:])))
