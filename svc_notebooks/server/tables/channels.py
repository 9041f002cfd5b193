"""Stores notification channels, queues the messages to them, and stores the trusted domains and authorities.

The messages to all channels of one resource are queued by two statements, however many channels there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, literal, or_, select, update

from ...core.notifications.channels import ChannelState
from ..database.engine import Database, Prepared, TableGroup, inserting
from ..database.schema import authorities, channels, domains, messages
from .files import BELOW, FOLLOWING

ACTIVE, STOPPED = ChannelState.ACTIVE.value, ChannelState.STOPPED.value


class ChannelRow(NamedTuple):
    """A notification channel. The expiration is in Unix milliseconds, `number` is that of the last message."""

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


class Channels(TableGroup):
    """The notification channels."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._any: bool | None = None
        self.on_change: Callable[[], None] = lambda: None
        """Called after each transaction that queued a message or changed the state of a channel."""

    def stop_all(self) -> None:
        """Stop all channels, and delete the queued messages."""
        with self._database.transaction():
            self._database.delete_all(messages)
            self._database.change(_STOP_ALL, {"then": STOPPED})

    def add(self, row: ChannelRow) -> int:
        """Add a channel and return its number."""
        self._any = True
        return self._database.insert(_ADD, {name: getattr(row, name) for name in _NEW})

    def get(self, key: str) -> ChannelRow | None:
        """Return a channel by its id, or None."""
        row = self._database.fetch_one(_GET, {"key": key})
        return ChannelRow._make(row) if row else None

    def any(self) -> bool:
        """Return whether there is any channel. The answer is cached, because every change needs it."""
        if self._any is None:
            self._any = self._database.fetch_one(_ANY, {}) is not None
        return self._any

    def forget(self) -> None:
        """Drop the cached answer, after the database was replaced."""
        self._any = None

    def watchers(self, watched: str, now: int) -> list[ChannelRow]:
        """Return the active channels of a resource."""
        return [ChannelRow._make(row) for row in self._database.run(_WATCHERS, {"watched": watched, "now": now})]

    def find_watched(self, top: str, now: int, *, following: bool = False) -> list[str]:
        """Return the watched files below a folder, with `following` only those that are trashed with it."""
        return [key for (key,) in self._database.run(_WATCHED_BELOW[following], {"top": top, "now": now})]

    def set_state(self, channel: int, state: str) -> None:
        """Set the state of a channel."""
        self._database.change(_SET_STATE, {"key": channel, "then": state})
        self._database.after_commit(self.on_change)

    def enqueue_message(self, watched: str, state: str, changed: str, *, step: int, now: int) -> bool:
        """Queue a message for every channel of a resource, and return whether there is one.

        The number of a message is `step` more than the last one of its channel.
        """
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


_ADD_DOMAIN = inserting(domains, ("domain",), otherwise="IGNORE")
_DOMAIN = Prepared(select(domains.c.domain).where(domains.c.domain == bindparam("domain")))
_DOMAINS = Prepared(select(domains.c.domain).order_by(domains.c.domain))
_ADD_AUTHORITY = inserting(authorities, ("pem",), otherwise="IGNORE")
_AUTHORITIES = Prepared(select(authorities.c.pem))


class Trusted(TableGroup):
    """The domains to which notifications are delivered, and the certificate authorities that deliveries trust."""

    def add_domain(self, domain: str) -> None:
        """Register a domain."""
        self._database.change(_ADD_DOMAIN, {"domain": domain})

    def has_domain(self, domain: str) -> bool:
        """Return whether a domain is registered."""
        return self._database.fetch_one(_DOMAIN, {"domain": domain}) is not None

    def all_domains(self) -> list[str]:
        """Return the registered domains in alphabetical order."""
        return [domain for (domain,) in self._database.run(_DOMAINS, {})]

    def add_authority(self, pem: str) -> None:
        """Trust an authority."""
        self._database.change(_ADD_AUTHORITY, {"pem": pem})

    def authorities(self) -> list[str]:
        """Return the certificates of the trusted authorities."""
        return [pem for (pem,) in self._database.run(_AUTHORITIES, {})]
