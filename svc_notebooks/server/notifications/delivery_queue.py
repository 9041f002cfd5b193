"""Hands out the messages that are due and records the outcome of each attempt.

delivery_service.py sends them. Every step is one short transaction, so that a service that is killed between two steps
goes on where it was (N-11).
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import NamedTuple

from ...core.brand_names import Names
from ...core.clock import from_millis, to_millis
from ...core.notifications.channels import ChannelState
from ...core.notifications.delivery_schedule import RETRIED, AttemptOutcome, DeliveryStatus, next_attempt
from ...core.notifications.messages import CONTENT_TYPE, USER_AGENT, Message
from ...core.policy import Policy
from ..storage.clock import SystemClock, VirtualClock
from ..tables import Store
from ..tables.outbox import Waiting
from .delivery_log import Delivery, DeliveryLog
from .domains import is_registered

_STOPPED = "the channel was stopped"
_EXPIRED = "the channel has expired"
_UNREGISTERED = "the domain of the address is not registered"


class AttemptResult(NamedTuple):
    """What follows from an attempt: the channel's next message, and whether this one is tried again later."""

    following: Waiting | None
    postponed: bool


class DeliveryQueue:
    """Hands out messages, one of each channel at a time, and takes back how it went."""

    def __init__(
        self, store: Store, clock: SystemClock | VirtualClock, policy: Policy, names: Names, secret: str
    ) -> None:
        self._store = store
        self._clock = clock
        self._policy = policy
        self._names = names
        self._secret = secret
        self._in_flight: dict[int, tuple[Waiting, int]] = {}  # of each channel the message that is out, and since when
        self._allowed: set[str] = set()  # addresses whose domain is registered: it stays so
        self.deliveries = DeliveryLog(policy.deliveries_length)

    def due(self) -> list[Waiting]:
        """The messages that go out now: of every queue that has none out the first, where it is due."""
        self.sweep()
        now = self._now()
        ready = [waiting for waiting in self._store.outbox.due(now) if waiting.channel.seq not in self._in_flight]
        self._in_flight.update((waiting.channel.seq, (waiting, now)) for waiting in ready)
        return ready

    def later(self) -> datetime | None:
        """When something will be due that is not yet, a message or the end of a channel with messages."""
        millis = self._store.outbox.later(self._now())
        return None if millis is None else from_millis(millis)

    def has_pending(self) -> bool:
        """Whether any message waits, now or for later."""
        return self._store.outbox.has_pending()

    def check_allowed(self, waiting: Waiting) -> AttemptOutcome | None:
        """Why this message must not be sent at all."""
        address = waiting.channel.address
        if address not in self._allowed:
            if not is_registered(self._store, self._policy, address):
                return AttemptOutcome(None, _UNREGISTERED)
            self._allowed.add(address)
        return None

    def headers(self, waiting: Waiting) -> list[tuple[str, str]]:
        """The headers of a message, the family's and HTTP's own."""
        return [("User-Agent", USER_AGENT), ("Content-Type", CONTENT_TYPE), *_message(waiting).headers(self._names)]

    def body(self, waiting: Waiting) -> bytes:
        """The body of a message."""
        return _message(waiting).body(self._names)

    def record_outcome(self, waiting: Waiting, outcome: AttemptOutcome) -> AttemptResult:
        """An attempt is over: write down what follows."""
        with self._store.exclusive():
            out, began = self._in_flight.get(waiting.channel.seq, (None, 0))
            if out is not waiting:
                return AttemptResult(None, False)  # everything was forgotten meanwhile
            del self._in_flight[waiting.channel.seq]
            postponed = self._conclude(waiting, outcome, began)
            return AttemptResult(self._following(waiting.channel.seq), postponed)

    def _conclude(self, waiting: Waiting, outcome: AttemptOutcome, began: int) -> bool:
        """Whether there will be another attempt."""
        attempt = waiting.attempts + 1
        chance = self._chance(waiting, attempt) if outcome.status in RETRIED else 0.0
        verdict = next_attempt(outcome, attempt, self._policy.schedule, chance)
        self.deliveries.add(Delivery(waiting, attempt, began, outcome, verdict.status))
        if verdict.wait is None:
            self._store.outbox.drop(waiting.seq)
            return False
        due = self._now() + round(verdict.wait * 1000)
        return self._store.outbox.postpone(waiting.seq, due=due, attempts=attempt)

    def _following(self, channel: int) -> Waiting | None:
        """The message of this channel that goes out next, if it is due and the channel is not over."""
        waiting, now = self._store.outbox.next_of(channel), self._now()
        if waiting is None or waiting.due > now:
            return None
        if _is_over(waiting, now):
            self.sweep()
            return None
        self._in_flight[channel] = (waiting, now)
        return waiting

    def _chance(self, waiting: Waiting, attempt: int) -> float:
        """The same for the same attempt, in whatever order the receivers answer."""
        return Random(f"{self._secret} {waiting.channel.id} {waiting.number} {attempt}").random()

    def sweep(self) -> None:
        """Take back what waits for a channel that is over, unless it is on its way already."""
        now = self._now()
        with self._store.exclusive():
            for waiting in self._store.outbox.of_closed_channels(now):
                if waiting.channel.seq not in self._in_flight and self._store.outbox.drop(waiting.seq):
                    self._cancel(waiting, now)

    def _cancel(self, waiting: Waiting, now: int) -> None:
        reason = _STOPPED if waiting.channel.state == ChannelState.STOPPED.value else _EXPIRED
        self.deliveries.add(
            Delivery(waiting, waiting.attempts, now, AttemptOutcome(None, reason), DeliveryStatus.CANCELLED)
        )

    def forget(self) -> None:
        """The store has changed under us: what is out belongs to nobody."""
        self._in_flight.clear()
        self._allowed.clear()
        self.deliveries.clear()

    def _now(self) -> int:
        return to_millis(self._clock.now())


def _is_over(waiting: Waiting, now: int) -> bool:
    channel = waiting.channel
    return channel.state == ChannelState.STOPPED.value or (channel.expiration is not None and channel.expiration <= now)


def _message(waiting: Waiting) -> Message:
    channel = waiting.channel
    return Message(
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
