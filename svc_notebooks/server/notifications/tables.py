"""The tables of channels, queued messages, trusted domains and certificate authorities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...core.notifications.channels import ChannelState
from ..files.tables import BELOW, FOLLOWING
from ..store.engine import Database, TableGroup, column_names, inserting
from ..store.schema import authorities, channels, domains, messages

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
_ACTIVE = f"state = '{ACTIVE}' AND (expiration IS NULL OR expiration > :now)"
_WATCHING = f"watched = :watched AND {_ACTIVE}"
_CHANNELS = f"SELECT {column_names(ChannelRow._fields)} FROM channels"
_MESSAGE = ("channel", "number", "state", "changed", "due", "attempts")

_ANY = "SELECT seq FROM channels LIMIT 1"
_COUNT = f'SELECT COUNT(*) FROM channels WHERE "user" = :user AND {_ACTIVE}'
_WATCHERS = f"{_CHANNELS} WHERE {_WATCHING} ORDER BY seq"
_WATCHED_BELOW = {
    following: f"{tree} SELECT DISTINCT watched FROM channels WHERE {_ACTIVE} AND watched IN (SELECT id FROM tree)"
    for following, tree in ((False, BELOW), (True, FOLLOWING))
}
_ADVANCE_NUMBERS = f"UPDATE channels SET number = number + :step WHERE {_WATCHING}"
_QUEUE = inserting(
    messages, _MESSAGE, source=f"SELECT seq, number, :state, :changed, :now, 0 FROM channels WHERE {_WATCHING}"
)
_ADVANCE_NUMBER = "UPDATE channels SET number = number + :step WHERE seq = :seq RETURNING number"
_QUEUE_ONE = inserting(messages, _MESSAGE)


class Channels(TableGroup):
    """The table of notification channels, and the message queue to which messages are added."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._any: bool | None = None
        database.prefetch(_ANY)
        # A function that is called after each transaction that queued a message or changed a channel's state.
        self.on_change: Callable[[], None] = lambda: None

    def stop_all(self) -> None:
        """Stop all channels, and delete all queued messages."""
        with self._database.transaction():
            self._database.delete_all(messages)
            self._database.change("UPDATE channels SET state = :state", {"state": STOPPED})

    def add(self, row: ChannelRow) -> int:
        """Add a channel and return its number, which is the `seq` of the row."""
        self._any = True
        return int(self._database.change_all(f"{inserting(channels, _NEW)} RETURNING seq", row._asdict())[0][0])

    def get(self, key: str) -> ChannelRow | None:
        """Return the channel with an id, or None if the id is unknown."""
        row = self._database.fetch_one(f"{_CHANNELS} WHERE id = :id", {"id": key})
        return ChannelRow._make(row) if row else None

    def any(self) -> bool:
        """Return whether the table has any channel. The result is cached, because every change of a file uses it."""
        if self._any is None or (self._database.is_shared and not self._any):
            self._any = bool(self._database.prefetched(_ANY))
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

    def set_state(self, channel: int, state: ChannelState) -> None:
        """Set the state of the channel with the number `channel`."""
        with self._database.transaction():
            values = {"seq": channel, "state": state.value}
            self._database.change("UPDATE channels SET state = :state WHERE seq = :seq", values)
            self._announce()

    def end(self, channel: int, state: str, *, step: int, now: int) -> None:
        """Queue the last message of a channel whose user can no longer see the watched resource."""
        self.enqueue_for_channel(channel, state, step=step, now=now)
        self.set_state(channel, ChannelState.ENDED)

    def enqueue_message(self, watched: str, state: str, changed: str, *, step: int, now: int) -> bool:
        """Queue a message for every active channel on a resource. Returns False if there is no such channel.

        The message number is the number of the channel's last message plus `step`.
        """
        values: dict[str, Any] = {"watched": watched, "now": now}
        has_watchers = self._database.change(_ADVANCE_NUMBERS, {**values, "step": step})
        if has_watchers:
            self._database.change(_QUEUE, {**values, "state": state, "changed": changed})
            self._announce()
        return bool(has_watchers)

    def enqueue_for_channel(self, channel: int, state: str, *, step: int, now: int) -> None:
        """Queue a message for the channel with the number `channel`, without a list of changes (N-04)."""
        ((number,),) = self._database.change_all(_ADVANCE_NUMBER, {"seq": channel, "step": step})
        values = {"channel": channel, "number": number, "state": state, "changed": "", "due": now, "attempts": 0}
        self._database.change(_QUEUE_ONE, values)
        self._announce()

    def _announce(self) -> None:
        if self._database.is_shared:
            self._database.announce("queued")
        self._database.after_commit(self.on_change)


_ADD_DOMAIN = inserting(domains, ("domain",), otherwise="IGNORE")
_ADD_AUTHORITY = inserting(authorities, ("pem",), otherwise="IGNORE")


class Trusted(TableGroup):
    """The tables of domains that may receive notifications, and of certificate authorities that deliveries trust."""

    def add_domain(self, domain: str) -> None:
        """Register a domain, unless the domain is already registered."""
        self._database.change(_ADD_DOMAIN, {"domain": domain})

    def has_domain(self, domain: str) -> bool:
        """Return whether a domain is registered."""
        return bool(self._database.run("SELECT domain FROM domains WHERE domain = :domain", {"domain": domain}))

    def all_domains(self) -> list[str]:
        """Return the registered domains in alphabetical order."""
        return [domain for (domain,) in self._database.run("SELECT domain FROM domains ORDER BY domain", {})]

    def add_authority(self, pem: str) -> None:
        """Trust the certificate authorities in a PEM text."""
        self._database.change(_ADD_AUTHORITY, {"pem": pem})

    def authorities(self) -> list[str]:
        """Return the PEM texts with the trusted certificate authorities."""
        return [pem for (pem,) in self._database.run("SELECT pem FROM authorities", {})]


class QueuedMessage(NamedTuple):
    """A queued message with its channel. `due` is the time of the next delivery attempt in Unix milliseconds."""

    seq: int
    number: int
    state: str
    changed: str
    due: int
    attempts: int
    channel: ChannelRow


_OWN = QueuedMessage._fields[:-1]
_JOINED = f"""SELECT {column_names(_OWN, "messages.")}, {column_names(ChannelRow._fields, "channels.")}
    FROM messages JOIN channels ON channels.seq = messages.channel"""
_FIRST = "messages.seq IN (SELECT MIN(seq) FROM messages GROUP BY channel)"
FIRST_OF = f"{_JOINED} WHERE {_FIRST} AND channel = ANY(:channels) ORDER BY messages.seq"
_DUE = f"{_JOINED} WHERE {_FIRST} AND due <= :now ORDER BY messages.seq"
_OF_CLOSED_CHANNELS = (
    f"{_JOINED} WHERE channels.state = '{STOPPED}' OR channels.expiration <= :now ORDER BY messages.seq"
)
_LATER = "SELECT MIN(due) FROM messages WHERE due > :now"
_NEXT_END = "SELECT MIN(expiration) FROM channels WHERE expiration > :now AND seq IN (SELECT channel FROM messages)"
_POSTPONE = "UPDATE messages SET due = :due, attempts = :attempts WHERE seq = :seq"


class Outbox(TableGroup):
    """The message queues of all channels."""

    def take(self, now: int, most: int, seconds: float) -> list[QueuedMessage]:
        """Return the first message of each queue whose first message is due.

        If several processes share the store, return at most `most` messages, of queues that no other process has
        leased, and lease these queues for `seconds`.
        """
        return self._read(_DUE, now=now)

    def next_of(self, channel: int) -> QueuedMessage | None:
        """Return the first message in a channel's queue, whether due or not. Returns None if the queue is empty."""
        waiting = self._read(f"{_JOINED} WHERE channel = :channel ORDER BY messages.seq LIMIT 1", channel=channel)
        return waiting[0] if waiting else None

    def of_closed_channels(self, now: int) -> list[QueuedMessage]:
        """Return the queued messages of channels that were stopped or have expired."""
        return self._read(_OF_CLOSED_CHANNELS, now=now)

    def later(self, now: int) -> int | None:
        """Return the time after `now` when a message is due or a channel with messages expires, or None."""
        instants = [self._database.run(statement, {"now": now})[0][0] for statement in (_LATER, _NEXT_END)]
        return min((when for when in instants if when is not None), default=None)

    def has_pending(self) -> bool:
        """Return whether any message is queued."""
        return self._database.fetch_one("SELECT seq FROM messages LIMIT 1", {}) is not None

    def count(self) -> int:
        """Return the number of messages in all queues."""
        return int(self._database.run("SELECT COUNT(*) FROM messages", {})[0][0])

    def is_due(self, now: int) -> bool:
        """Return whether the first message of any queue is due."""
        return bool(self._read(_DUE, now=now))

    def postpone(self, seq: int, *, due: int, attempts: int) -> bool:
        """Store a message's attempts and the time of the next attempt. Return False if the message no longer exists."""
        return self._database.change(_POSTPONE, {"seq": seq, "due": due, "attempts": attempts}) == 1

    def drop(self, seq: int) -> bool:
        """Delete a message. Returns False if the message did not exist any more."""
        return self._database.change("DELETE FROM messages WHERE seq = :seq", {"seq": seq}) == 1

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

    def _read(self, statement: str, **values: Any) -> list[QueuedMessage]:
        own, rows = len(_OWN), self._database.run(statement, values)
        return [QueuedMessage._make((*row[:own], ChannelRow._make(row[own:]))) for row in rows]
