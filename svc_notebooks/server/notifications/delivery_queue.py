"""Hands out the messages that are due, and keeps a log of the delivery attempts."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from datetime import datetime
from operator import itemgetter
from random import Random
from typing import TYPE_CHECKING, TypedDict

from ...core.http.messages import Headers, Request, Response
from ...core.notifications.channels import ChannelState
from ...core.notifications.deliveries import RETRIED, AttemptOutcome, DeliveryStatus, Message, next_attempt
from ...core.times import format_millis, from_millis
from ..dispatch.service_context import ServiceContext
from .channels import is_registered, receiver_owner
from .tables import QueuedMessage

if TYPE_CHECKING:
    from ..store.postgres.side_connections import KeptRows


class DeliveryRow(TypedDict):
    """A delivery attempt as plain data, as `Sandbox.deliveries` and the control API return it."""

    channel_id: str
    resource_id: str
    message_number: int
    state: str
    attempt: int
    due: str
    time: str
    status: int | None
    outcome: str
    error: str | None


class DeliveryLog:
    """The last `length` attempts in memory, or those of all processes that use a database, in its table."""

    def __init__(self, length: int, table: KeptRows | None) -> None:
        # The rows of the attempts, each with a key that sorts them in time.
        self._entries: deque[tuple[tuple[int, ...], DeliveryRow]] = deque(maxlen=length)
        self._table = table

    def add(self, waiting: QueuedMessage, attempt: int, began: int, outcome: AttemptOutcome, status: str) -> None:
        """Add an attempt, which began at a time in Unix milliseconds.

        `attempt` is 0 if the message was cancelled before any attempt.
        """
        row: DeliveryRow = {
            "channel_id": waiting.channel.id,
            "resource_id": waiting.channel.resource_id,
            "message_number": waiting.number,
            "state": waiting.state,
            "attempt": attempt,
            "due": format_millis(waiting.due),
            "time": format_millis(began),
            "status": outcome.status,
            "outcome": status,
            "error": outcome.error,
        }
        entry = (began, waiting.seq, attempt), row
        if self._table:
            self._table.add(entry)
        else:
            self._entries.append(entry)

    def rows(self) -> list[DeliveryRow]:
        """Return a row for each attempt, in the order of their times."""
        entries = [entry for _, entry in self._table.rows()] if self._table else list(self._entries)
        return [row for _, row in sorted(entries, key=itemgetter(0))]

    def clear(self) -> None:
        """Delete all attempts."""
        (self._table or self._entries).clear()


_log = logging.getLogger(__name__)

# The lease of a queue ends after so many timeouts of a delivery and so many seconds, unless an attempt renews it.
_LEASED_TIMEOUTS, _LEASED_SECONDS = 3, 10.0

# The number of queues that one process leases at a time, so that the others get their share.
MOST_LEASED = 64

# The interval in which the queue of a shared store is read, because a killed process may have left messages.
POLL_SECONDS = 2.0

# A receiver in this process, which returns the response to a message.
Handler = Callable[[Request], Response]

# Sends headers and a body to an address. A failure is returned as an outcome and not raised.
Send = Callable[[str, list[tuple[str, str]], bytes], Awaitable[AttemptOutcome]]


class DeliveryQueue:
    """The waiting messages of one service, in one queue for each channel, and the log of the delivery attempts."""

    def __init__(self, context: ServiceContext) -> None:
        self._context = context
        # The time for which the other processes of a shared store do not deliver to a channel during an attempt.
        self._lease_seconds = _LEASED_TIMEOUTS * context.policy.delivery_timeout + _LEASED_SECONDS
        self._store = context.store
        self._in_flight: dict[int, tuple[QueuedMessage, int]] = {}  # by channel, its message and the start time
        self._has_left_some = False  # because this process had leased as many queues as it may
        self._allowed: set[str] = set()  # addresses whose domain is registered; registrations are permanent
        # Called before the queue is read.
        self.before_reading: Callable[[], None] = lambda: None
        self.attempts = Counter[str]()
        records = context.records
        self._log = DeliveryLog(context.policy.deliveries_length, records and records.deliveries)

    def _may_receive(self, user: str, address: str) -> bool:
        """Return whether the channels of a user may send messages to an address."""
        owner = receiver_owner(self._store, address)
        if owner is not None:
            return owner == user
        if address in self._allowed or is_registered(self._store, self._context.policy, address):
            self._allowed.add(address)
            return True
        return False

    def due(self) -> list[QueuedMessage]:
        """Mark the first due message of each idle channel as in flight, and return these messages."""
        self.before_reading()
        if self._store.is_shared and not self.has_pending():
            return []  # without the lock that keeps the other processes from writing
        now = self._context.millis()
        with self._store.transaction():
            self._cancel_for_closed_channels(now)
            most = max(0, MOST_LEASED - len(self._in_flight))
            taken = self._store.outbox.take(now, most, self._lease_seconds)
            due = [waiting for waiting in taken if waiting.channel.seq not in self._in_flight]
            self._in_flight.update((waiting.channel.seq, (waiting, now)) for waiting in due)
            self._has_left_some = self._store.is_shared and len(taken) == most
        return due

    def later(self) -> datetime | None:
        """Return when the next message is due or its channel expires, or None if no message waits."""
        millis = self._store.outbox.later(self._context.millis())
        return None if millis is None else from_millis(millis)

    def has_pending(self) -> bool:
        """Return True if any message waits, even if it is not due yet."""
        return self._store.outbox.has_pending()

    async def drain(self, first: QueuedMessage, send: Send) -> bool:
        """Send the due messages of a channel, from `first` on. Return True if `due` must be called again."""
        waiting: QueuedMessage | None = first
        look_again = False
        while waiting:
            channel = waiting.channel
            message = Message(
                channel_id=channel.id,
                number=waiting.number,
                resource_id=channel.resource_id,
                state=waiting.state,
                resource_uri=channel.resource_uri,
                changed=tuple(waiting.changed.split(",")) if waiting.changed else (),
                expiration=channel.expiration,
                token=channel.token,
                of_changes=bool(channel.of_changes),
            )
            address = channel.address
            if self._may_receive(channel.user, address):
                names = self._context.names
                outcome = await send(address, message.headers(names), message.body(names))
            else:
                outcome = AttemptOutcome(None, "the domain of the address is not registered")
            with self._store.transaction():
                under_way, began = self._in_flight.get(channel.seq, (None, 0))
                if under_way is not waiting:
                    return True  # `forget` was called during the attempt
                del self._in_flight[channel.seq]
                look_again |= self._record(waiting, outcome, began)
                waiting = self._next_due(channel.seq)
                if waiting is None:
                    self._store.outbox.release(channel.seq)
        return look_again or self._has_left_some

    def _record(self, waiting: QueuedMessage, outcome: AttemptOutcome, began: int) -> bool:
        """Record a delivery attempt, and delete or postpone its message. Return True if another attempt follows."""
        attempt = waiting.attempts + 1
        # Random, but the same for each attempt in every run, regardless of the order in which the receivers respond.
        seed = f"{self._context.secret} {waiting.channel.id} {waiting.number} {attempt}"
        chance = Random(seed).random() if outcome.status in RETRIED else 0.0
        status, wait = next_attempt(outcome, attempt, self._context.policy.schedule, chance)
        self._log.add(waiting, attempt, began, outcome, status.value)
        self.attempts[status.value] += 1
        if wait is None:
            self._store.outbox.drop(waiting.seq)
            return False
        due = self._context.millis() + round(wait * 1000)
        return self._store.outbox.postpone(waiting.seq, due=due, attempts=attempt)

    def _next_due(self, channel: int) -> QueuedMessage | None:
        """Mark a channel's next message as in flight and return the message, or None if no message is due."""
        waiting = self._store.outbox.next_of(channel)
        if waiting is None or waiting.due > (now := self._context.millis()):
            return None
        expiration = waiting.channel.expiration
        if waiting.channel.state == ChannelState.STOPPED.value or (expiration is not None and expiration <= now):
            self._cancel_for_closed_channels(now)
            return None
        if not self._store.outbox.renew(channel, self._lease_seconds):
            return None
        self._in_flight[channel] = (waiting, now)
        return waiting

    def _cancel_for_closed_channels(self, now: int) -> None:
        """Delete the messages of stopped and expired channels, except messages in flight, and log them as cancelled."""
        with self._store.transaction():
            for waiting in self._store.outbox.of_closed_channels(now):
                if waiting.channel.seq not in self._in_flight and self._store.outbox.drop(waiting.seq):
                    stopped = waiting.channel.state == ChannelState.STOPPED.value
                    outcome = AttemptOutcome(None, f"the channel {'was stopped' if stopped else 'has expired'}")
                    self._log.add(waiting, waiting.attempts, now, outcome, DeliveryStatus.CANCELLED.value)

    def deliveries(self, last: int | None = None) -> list[DeliveryRow]:
        """Return a row for each delivery attempt and for each cancelled message, in the order of their times.

        With `last`, return only so many of the latest rows.
        """
        self._cancel_for_closed_channels(self._context.millis())
        rows = self._log.rows()
        return rows[-last:] if last else rows

    def is_busy_elsewhere(self) -> bool:
        """Return whether another process of a shared store delivers messages, or has not yet begun with a due one."""
        return self._store.outbox.is_leased_elsewhere() or self._store.outbox.is_due(self._context.millis())

    def forget(self) -> None:
        """Clear the messages in flight and the log, because the store has been replaced."""
        self._store.outbox.release_all()
        self._in_flight.clear()
        self._allowed.clear()
        self._log.clear()


def call_receiver(handler: Handler, address: str, headers: list[tuple[str, str]], body: bytes) -> AttemptOutcome:
    """Pass a message to a receiver in this process and return an outcome with the status or the error."""
    fields = Headers([*headers, ("Content-Length", str(len(body)))])
    try:
        return AttemptOutcome(handler(Request("POST", address, fields, body)).status)
    except Exception as error:
        _log.exception("the receiver at %s failed", address)
        return AttemptOutcome(None, f"the receiver failed: {error}")
