"""Stores notification channels and queues the messages to them.

The messages to all channels of one resource are queued by two statements, however many channels there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, literal, or_, select, update

from ...core.notifications.channels import ChannelState
from ..database.engine import Database, Prepared, inserting
from ..database.schema import channels, messages
from .files import BELOW, FOLLOWING

ACTIVE, STOPPED = ChannelState.ACTIVE.value, ChannelState.STOPPED.value


class ChannelRow(NamedTuple):
    """One channel; `expiration` in Unix milliseconds, `number` that of its last message."""

    id: str
    watched: str
    resource_id: str
    resource_uri: str
    of_changes: int
    user: str
    client: str
    service_account: int
    address: str
    token: str | None
    expiration: int | None
    state: str
    number: int
    seq: int = 0


_NEW = ChannelRow._fields[:-1]
_COLUMNS = tuple(channels.c[name] for name in ChannelRow._fields)
_ACTIVE = (
    channels.c.state == ACTIVE,
    or_(channels.c.expiration.is_(None), channels.c.expiration > bindparam("now")),
)
_WATCHING = (channels.c.watched == bindparam("watched"), *_ACTIVE)
_MESSAGE = ("channel", "number", "state", "changed", "due", "attempts")

_ADD = inserting(channels, _NEW)
_GET = Prepared(select(*_COLUMNS).where(channels.c.id == bindparam("key")))
_ANY = Prepared(select(channels.c.seq).limit(1))
_WATCHERS = Prepared(select(*_COLUMNS).where(*_WATCHING).order_by(channels.c.seq))
_WATCHED_BELOW = {
    following: Prepared(
        select(channels.c.watched).where(*_ACTIVE, channels.c.watched.in_(select(tree.c.id))).distinct()
    )
    for following, tree in ((False, BELOW), (True, FOLLOWING))
}
_SET_STATE = Prepared(update(channels).where(channels.c.seq == bindparam("key")).values(state=bindparam("then")))
_STOP_ALL = Prepared(update(channels).values(state=bindparam("then")))
_ADVANCE_NUMBERS = Prepared(update(channels).where(*_WATCHING).values(number=channels.c.number + bindparam("step")))
_QUEUE = Prepared(
    insert(messages).from_select(
        _MESSAGE,
        select(
            channels.c.seq, channels.c.number, bindparam("what"), bindparam("changed"), bindparam("now"), literal(0)
        ).where(*_WATCHING),
    )
)
_ADVANCE_NUMBER = Prepared(
    update(channels)
    .where(channels.c.seq == bindparam("key"))
    .values(number=channels.c.number + bindparam("step"))
    .returning(channels.c.number)
)
_QUEUE_ONE = inserting(messages, _MESSAGE)


class Channels:
    """The channels that the project remembers."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._any: bool | None = None
        self.on_change: Callable[[], None] = lambda: None
        """Called after each transaction that queued a message or changed the state of a channel."""

    def stop_all(self) -> None:
        """Stop all of them, and take back what is queued."""
        with self._database.transaction():
            self._database.delete_all(messages)
            self._database.change(_STOP_ALL, {"then": STOPPED})

    def add(self, row: ChannelRow) -> int:
        """A new channel; its number in the store."""
        self._any = True
        return self._database.insert(_ADD, {name: getattr(row, name) for name in _NEW})

    def get(self, key: str) -> ChannelRow | None:
        """A channel by its id."""
        row = self._database.fetch_one(_GET, {"key": key})
        return ChannelRow._make(row) if row else None

    def any(self) -> bool:
        """Whether anything is or was watched at all; every change asks, so the answer is kept."""
        if self._any is None:
            self._any = self._database.fetch_one(_ANY, {}) is not None
        return self._any

    def forget(self) -> None:
        """Ask the database again: it has changed under us."""
        self._any = None

    def watchers(self, watched: str, now: int) -> list[ChannelRow]:
        """The channels that are told of this resource."""
        return [ChannelRow._make(row) for row in self._database.run(_WATCHERS, {"watched": watched, "now": now})]

    def watched_below(self, top: str, now: int, *, following: bool = False) -> list[str]:
        """The files below this folder that somebody watches; `following`: that go into the trash with it."""
        return [key for (key,) in self._database.run(_WATCHED_BELOW[following], {"top": top, "now": now})]

    def set_state(self, channel: int, state: str) -> None:
        """Where a channel stands now."""
        self._database.change(_SET_STATE, {"key": channel, "then": state})
        self._database.after_commit(self.on_change)

    def enqueue_message(self, watched: str, state: str, changed: str, *, step: int, now: int) -> bool:
        """Queue a message for every channel of a resource, numbered `step` on; whether there is any."""
        values: dict[str, Any] = {"watched": watched, "now": now}
        has_watchers = self._database.change(_ADVANCE_NUMBERS, {**values, "step": step})
        if has_watchers:
            self._database.change(_QUEUE, {**values, "what": state, "changed": changed})
            self._database.after_commit(self.on_change)
        return bool(has_watchers)

    def enqueue_for_channel(self, channel: int, state: str, changed: str, *, step: int, now: int) -> None:
        """Queue a message for one channel."""
        counted = self._database.change_one(_ADVANCE_NUMBER, {"key": channel, "step": step})
        assert counted
        values = {"channel": channel, "number": counted[0], "state": state, "changed": changed}
        self._database.change(_QUEUE_ONE, {**values, "due": now, "attempts": 0})
        self._database.after_commit(self.on_change)
