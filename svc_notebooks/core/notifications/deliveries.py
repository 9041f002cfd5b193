"""Notification messages (N): their headers and bodies, which a receiver reads, and when a message is sent again."""

from __future__ import annotations

import json
from collections.abc import Callable, Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from enum import Enum
from functools import lru_cache
from typing import Any

from ..brand_names import Names
from ..http.backoff import growing_delay
from ..http.messages import Headers

# The states of messages about calendars, which the interface does not name. After `not_exists` no message follows.
EXISTS, NOT_EXISTS = "exists", "not_exists"

# The values of X-Svc-Resource-State (N-06).
STATES = ("sync", "add", "remove", "update", "trash", "untrash", "change", EXISTS, NOT_EXISTS)

# The values of X-Svc-Changed, in their order in a message (N-04).
CHANGED = ("content", "properties", "parents", "children", "permissions")

# The headers of every message. The media type is also that of messages without a body (N-07).
_COMMON_HEADERS = [("User-Agent", "APIs-Svc"), ("Content-Type", "application/json; utf-8")]

# The message number of a channel's sync message (N-01).
FIRST_NUMBER = 1


@dataclass(frozen=True, slots=True)
class Message:
    """A notification message. `expiration` is the channel's expiration in Unix milliseconds, or None."""

    channel_id: str
    number: int
    resource_id: str
    state: str
    resource_uri: str
    changed: tuple[str, ...] = ()
    expiration: int | None = None
    token: str | None = field(default=None, repr=False)
    of_changes: bool = False

    def body(self, names: Names) -> bytes:
        """Return the body, which is JSON for a change log channel and empty for a file channel (N-07)."""
        return json.dumps({"kind": names.kind("changes")}).encode() if self.of_changes else b""

    def headers(self, names: Names) -> list[tuple[str, str]]:
        """Return the headers of the message, those of the table if they have a value (N-03 to N-05)."""
        headers = list(_COMMON_HEADERS)
        for row in HEADERS:
            value = getattr(self, row.attribute)
            if value not in (None, ()):
                headers.append((names.header_prefix + row.name, row.to_text(value)))
        return headers


@lru_cache(maxsize=1024)
def _http_date(millis: int) -> str:
    return format_datetime(datetime.fromtimestamp(millis // 1000, UTC), usegmt=True)


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """A row of the interface's table of message headers.

    `name` has no prefix. `attribute` is the Message field with the value, which `to_text` formats.
    """

    name: str
    meaning: str
    attribute: str
    to_text: Callable[[Any], str] = str


# fmt: off
HEADERS: tuple[HeaderRow, ...] = (
    HeaderRow("Channel-ID",         "the id of the channel",                         "channel_id"),
    HeaderRow("Message-Number",     "1 for sync, then increasing, with gaps",        "number"),
    HeaderRow("Resource-ID",        "the id of the resource in all API versions",    "resource_id"),
    HeaderRow("Resource-State",     "what happened to the resource",                 "state"),
    HeaderRow("Resource-URI",       "its URL in this version of the service",        "resource_uri"),
    HeaderRow("Changed",            "what changed in it, never with sync",           "changed", ",".join),
    HeaderRow("Channel-Expiration", "when the channel expires, if it does",          "expiration", _http_date),
    HeaderRow("Channel-Token",      "the token of the channel, if it has one",       "token"),
)
# fmt: on


def in_order(changed: AbstractSet[str]) -> tuple[str, ...]:
    """Sort the change types of a message into the order of the interface's table."""
    return tuple(name for name in CHANGED if name in changed)


@dataclass(frozen=True, slots=True)
class Notification:
    """A message as a receiver reads it. The field of a missing or invalid header is None."""

    channel_id: str | None
    number: int | None
    resource_id: str | None
    state: str | None
    resource_uri: str | None
    changed: tuple[str, ...]
    expiration: datetime | None
    token: str | None = field(repr=False)
    kind: str | None


def read_notification(headers: Headers, body: bytes, names: Names) -> Notification:
    """Parse a message's headers and body. Accepts blanks in X-Svc-Changed, and reads the state `changed` as `change`.

    >>> names, message = Names(), Message("c", 1, "r", "sync", "https://svc.example/storage/v3/files/f?alt=json")
    >>> read_notification(Headers(message.headers(names)), b"", names).state
    'sync'
    """
    texts: dict[str, str] = {}
    for row in HEADERS:
        text = headers.get(names.header_prefix + row.name)
        if text is not None:
            texts[row.attribute] = text if text.isascii() else _utf8(text)
    number, state = texts.get("number", ""), texts.get("state")
    return Notification(
        channel_id=texts.get("channel_id"),
        number=int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None,
        resource_id=texts.get("resource_id"),
        state="change" if state == "changed" else state,
        resource_uri=texts.get("resource_uri"),
        changed=tuple(word for part in texts.get("changed", "").split(",") if (word := part.strip())),
        expiration=_instant(texts.get("expiration")),
        token=texts.get("token"),
        kind=_kind(body),
    )


def _instant(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
    except (ValueError, OverflowError):  # an offset of twenty digits
        return None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def _kind(body: bytes) -> str | None:
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return None
    kind = parsed.get("kind") if isinstance(parsed, dict) else None
    return kind if isinstance(kind, str) else None


def _utf8(value: str) -> str:
    """Decode UTF-8 in a header value that was decoded as Latin-1. Returns any other value unchanged."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


# The response statuses for which a message counts as delivered.
DELIVERED = frozenset({102, 200, 201, 202, 204})

# The response statuses after which a message is sent again. Statuses not here or in `DELIVERED` are failures.
RETRIED = frozenset({500, 502, 503, 504})


class DeliveryStatus(Enum):
    """The delivery status of a message or of a delivery attempt."""

    DELIVERED = "delivered"
    RETRY = "retry"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """The result of a delivery attempt. `status` is the receiver's HTTP status, or None with an `error` text."""

    status: int | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The maximum number of delivery attempts, and the waits between them in seconds.

    Each wait is twice the previous one (N-08), up to `cap`. `jitter` is the largest fraction to remove at random.

    >>> [Schedule(jitter=0).wait(n, 0.5) for n in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 32.0]
    """

    attempts: int = 5
    first: float = 1.0
    cap: float = 32.0
    jitter: float = 0.25

    def wait(self, attempt: int, chance: float) -> float:
        """Return the seconds to wait after attempt number `attempt`, counted from 1. `chance` is random from 0 to 1."""
        return growing_delay(self.first, self.cap, attempt, self.jitter * chance)


def next_attempt(
    outcome: AttemptOutcome, attempt: int, schedule: Schedule, chance: float
) -> tuple[DeliveryStatus, float | None]:
    """Return whether a message was delivered, is sent again or has failed after an attempt, and the seconds to wait.

    Returns None for the seconds without a next attempt. `attempt` is 1 for the first attempt. `chance` is a random
    number from 0 to 1, which shortens the wait.

    >>> next_attempt(AttemptOutcome(204), 1, Schedule(), 0.0)
    (<DeliveryStatus.DELIVERED: 'delivered'>, None)
    >>> next_attempt(AttemptOutcome(503), 1, Schedule(), 0.0)
    (<DeliveryStatus.RETRY: 'retry'>, 1.0)
    """
    if outcome.status in DELIVERED:
        return DeliveryStatus.DELIVERED, None
    if outcome.status in RETRIED and attempt < schedule.attempts:
        return DeliveryStatus.RETRY, schedule.wait(attempt, chance)
    return DeliveryStatus.FAILED, None
