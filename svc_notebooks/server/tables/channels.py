"""Stores notification channels, trusted domains and certificate authorities, and queues messages to the channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, insert, literal, or_, select, update

from ...core.notifications.channels import ChannelState
from ..database.engine import Database, Prepared, TableGroup, inserting
from ..database.schema import authorities, channels, domains, messages
from .files import BELOW, FOLLOWING

ACTIVE, STOPPED = ChannelState.ACTIVE.value, ChannelState.STOPPED.value


class ChannelRow(NamedTuple):
    """A database row of a notification channel.

    `watched` is a file id or the name of a change log. `expiration` is in Unix milliseconds. `number` is the number of
    the last message, and `seq` is the number of the channel.
    """

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
_ACTIVE = (channels.c.state == ACTIVE, or_(channels.c.expiration.is_(None), channels.c.expiration > bindparam("now")))
_WATCHING = (channels.c.watched == bindparam("watched"), *_ACTIVE)
_MESSAGE = ("channel", "number", "state", "changed", "due", "attempts")

_ADD = Prepared(insert(channels).values({name: bindparam(name) for name in _NEW}).returning(channels.c.seq))
_GET = Prepared(select(*_COLUMNS).where(channels.c.id == bindparam("key")))
_ANY = Prepared(select(channels.c.seq).limit(1))
_COUNT = Prepared(select(func.count()).select_from(channels).where(channels.c.user == bindparam("user"), *_ACTIVE))
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
    """The table of notification channels, and the message queue to which messages are added."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._any: bool | None = None
        self.on_change: Callable[[], None] = lambda: None
        """A function that is called after each transaction that queued a message or changed a channel's state."""

    def stop_all(self) -> None:
        """Stop all channels, and delete all queued messages."""
        with self._database.transaction():
            self._database.delete_all(messages)
            self._database.change(_STOP_ALL, {"then": STOPPED})

    def add(self, row: ChannelRow) -> int:
        """Add a channel and return its number, which is the `seq` of the row."""
        self._any = True
        added = self._database.change_one(_ADD, {name: getattr(row, name) for name in _NEW})
        assert added
        return int(added[0])

    def get(self, key: str) -> ChannelRow | None:
        """Return the channel with an id, or None if the id is unknown."""
        row = self._database.fetch_one(_GET, {"key": key})
        return ChannelRow._make(row) if row else None

    def any(self) -> bool:
        """Return whether the table has any channel. The result is cached, because every change of a file uses it."""
        if self._any is None or (self._database.is_shared and not self._any):
            self._any = self._database.fetch_one(_ANY, {}) is not None
        return self._any

    def forget(self) -> None:
        """Clear the cached result of `any`. Called after the database was replaced."""
        self._any = None

    def count_active(self, user: str, now: int) -> int:
        """Return the number of a user's channels that are neither stopped nor expired."""
        return int(self._database.run(_COUNT, {"user": user, "now": now})[0][0])

    def watchers(self, watched: str, now: int) -> list[ChannelRow]:
        """Return the channels on a resource that are neither stopped nor expired."""
        return [ChannelRow._make(row) for row in self._database.run(_WATCHERS, {"watched": watched, "now": now})]

    def find_watched(self, top: str, now: int, owner: str | None = None) -> list[str]:
        """Return the ids of the files with an active channel below a folder.

        With an `owner`, return only the files that are trashed and untrashed together with the folder of this owner.
        """
        values = {"top": top, "now": now} | ({"owner": owner} if owner else {})
        return [key for (key,) in self._database.run(_WATCHED_BELOW[owner is not None], values)]

    def set_state(self, channel: int, state: str) -> None:
        """Set the state of the channel with the number `channel`."""
        with self._database.transaction():
            self._database.change(_SET_STATE, {"key": channel, "then": state})
            self._announce()

    def enqueue_message(self, watched: str, state: str, changed: str, *, step: int, now: int) -> bool:
        """Queue a message for every active channel on a resource. Returns False if there is no such channel.

        The message number is the number of the channel's last message plus `step`.
        """
        values: dict[str, Any] = {"watched": watched, "now": now}
        has_watchers = self._database.change(_ADVANCE_NUMBERS, {**values, "step": step})
        if has_watchers:
            self._database.change(_QUEUE, {**values, "what": state, "changed": changed})
            self._announce()
        return bool(has_watchers)

    def enqueue_for_channel(self, channel: int, state: str, changed: str, *, step: int, now: int) -> None:
        """Queue a message for the channel with the number `channel`."""
        counted = self._database.change_one(_ADVANCE_NUMBER, {"key": channel, "step": step})
        assert counted
        values = {"channel": channel, "number": counted[0], "state": state, "changed": changed}
        self._database.change(_QUEUE_ONE, {**values, "due": now, "attempts": 0})
        self._announce()

    def _announce(self) -> None:
        if self._database.is_shared:
            self._database.announce("queued")
        self._database.after_commit(self.on_change)


_ADD_DOMAIN = inserting(domains, ("domain",), otherwise="IGNORE")
_DOMAIN = Prepared(select(domains.c.domain).where(domains.c.domain == bindparam("domain")))
_DOMAINS = Prepared(select(domains.c.domain).order_by(domains.c.domain))
_ADD_AUTHORITY = inserting(authorities, ("pem",), otherwise="IGNORE")
_AUTHORITIES = Prepared(select(authorities.c.pem))


class Trusted(TableGroup):
    """The tables of domains that may receive notifications, and of certificate authorities that deliveries trust."""

    def add_domain(self, domain: str) -> None:
        """Register a domain, unless the domain is already registered."""
        self._database.change(_ADD_DOMAIN, {"domain": domain})

    def has_domain(self, domain: str) -> bool:
        """Return whether a domain is registered."""
        return self._database.fetch_one(_DOMAIN, {"domain": domain}) is not None

    def all_domains(self) -> list[str]:
        """Return the registered domains in alphabetical order."""
        return [domain for (domain,) in self._database.run(_DOMAINS, {})]

    def add_authority(self, pem: str) -> None:
        """Trust the certificate authorities in a PEM text."""
        self._database.change(_ADD_AUTHORITY, {"pem": pem})

    def authorities(self) -> list[str]:
        """Return the PEM texts with the trusted certificate authorities."""
        return [pem for (pem,) in self._database.run(_AUTHORITIES, {})]
