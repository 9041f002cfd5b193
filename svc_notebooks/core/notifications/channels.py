"""Notification channels: what a watch request may say, and where a channel stands (A8 to A10, States).

              CHANGE
              ┌────┐
NONE ──WATCH──► ACTIVE ──LOSS──► ENDED
                   │               │
                   └─STOP, EXPIRY──┴──► STOPPED
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..errors.catalogue import ApiError, Row, row
from ..field_mask import ANY_KEY, Shape
from ..http.messages import JSONObject

MAX_ID_LENGTH = 64
MAX_TOKEN_LENGTH = 256
_MAX_ADDRESS = 2048

CHANNEL_SHAPE: Shape = {
    "kind": None, "id": None, "resourceId": None, "resourceUri": None, "token": None, "expiration": None,
    "type": None, "address": None, "payload": None, "params": ANY_KEY,
}  # fmt: skip
"""The names that a mask may have; `type` and `address` are of the request, and no answer has them."""


class ChannelState(Enum):
    """Where a channel stands."""

    NONE = "none"
    ACTIVE = "active"
    ENDED = "ended"
    STOPPED = "stopped"


class ChannelEvent(Enum):
    """What happens to a channel."""

    WATCH = "a watch request is accepted"
    CHANGE = "the watched resource changes"
    LOSS = "the resource is deleted, or no longer shared with the channel's user"
    STOP = "a stop request"
    EXPIRY = "the expiration time is reached"


TRANSITIONS: dict[tuple[ChannelState, ChannelEvent], ChannelState] = {
    (ChannelState.NONE, ChannelEvent.WATCH): ChannelState.ACTIVE,
    (ChannelState.ACTIVE, ChannelEvent.CHANGE): ChannelState.ACTIVE,
    (ChannelState.ACTIVE, ChannelEvent.LOSS): ChannelState.ENDED,
    (ChannelState.ACTIVE, ChannelEvent.EXPIRY): ChannelState.STOPPED,
    (ChannelState.ACTIVE, ChannelEvent.STOP): ChannelState.STOPPED,
    (ChannelState.ENDED, ChannelEvent.EXPIRY): ChannelState.STOPPED,
    (ChannelState.ENDED, ChannelEvent.STOP): ChannelState.STOPPED,
}
"""The interface's table. A channel that has ended tells of nothing more, but what is queued still goes out."""


class IllegalChannelTransition(Exception):
    """An event that cannot happen in this state."""


def next_state(state: ChannelState, event: ChannelEvent) -> ChannelState:
    """What follows from this event in this state.

    >>> next_state(ChannelState.ENDED, ChannelEvent.STOP)
    <ChannelState.STOPPED: 'stopped'>
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalChannelTransition(f"{event.value}: impossible for a channel that is {state.value}") from None


def transitions_of(event: ChannelEvent) -> dict[ChannelState, ChannelState]:
    """Where this event leads from each state in which it can happen.

    >>> transitions_of(ChannelEvent.LOSS)
    {<ChannelState.ACTIVE: 'active'>: <ChannelState.ENDED: 'ended'>}
    """
    return {before: then for (before, trigger), then in TRANSITIONS.items() if trigger is event}


@dataclass(frozen=True, slots=True)
class ChannelRequest:
    """A watch request whose properties are valid. `expiration` in Unix milliseconds, as it was asked for."""

    id: str
    address: str
    token: str | None = field(repr=False)
    expiration: int | None
    extra: JSONObject


def check_channel(body: JSONObject, *, now: int, types: tuple[str, ...] = ("web_hook",)) -> ChannelRequest:
    """The request that a body is. `now` in Unix milliseconds. Raises ApiError (400) with everything that is wrong.

    >>> asked = {"id": "c1", "type": "web_hook", "address": "https://hooks.example/in"}
    >>> check_channel(asked, now=0).address
    'https://hooks.example/in'
    """
    problems = [
        *_required(body, "id", _id),
        *_required(body, "type", lambda value: _type(value, types)),
        *_required(body, "address", _address),
        *_optional(body, "token", _token),
        *_optional(body, "expiration", lambda value: _expiration(value, now)),
        *_optional(body, "payload", _payload),
        *_optional(body, "params", _params),
    ]
    if problems:
        raise ApiError(problems)
    expiration, token = _as_integer(body.get("expiration")), body.get("token")
    return ChannelRequest(
        id=str(body["id"]),
        address=str(body["address"]),
        token=None if token is None else str(token),
        expiration=None if expiration is None else int(str(expiration)),
        extra={name: body[name] for name in ("payload", "params") if body.get(name) is not None},
    )


Check = Callable[[Any], "Row | None"]


def _required(body: Mapping[str, Any], name: str, check: Check) -> Iterator[Row]:
    if body.get(name) in (None, ""):
        yield row("required", field=name)
        return
    yield from _optional(body, name, check)


def _optional(body: Mapping[str, Any], name: str, check: Check) -> Iterator[Row]:
    value = body.get(name)
    if value is not None and (problem := check(value)):
        yield problem


def _id(value: Any) -> Row | None:
    return _header_text("id", value, MAX_ID_LENGTH)


def _token(value: Any) -> Row | None:
    return _header_text("token", value, MAX_TOKEN_LENGTH)


def _header_text(name: str, value: Any, limit: int) -> Row | None:
    """It is echoed in a header of every message, which carries no line ends and no blanks around it."""
    if not isinstance(value, str) or len(value) > limit:
        return row("invalid", field=name, message=f"expected a text of at most {limit} characters.")
    if value != value.strip() or re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]", value):
        return row("invalid", field=name, message="it goes into a header: no control characters, no blanks around it.")
    return None


def _type(value: Any, types: tuple[str, ...]) -> Row | None:
    return None if value in types else row("channelType", value=repr(value)[:60], allowed=" or ".join(types))


def _address(value: Any) -> Row | None:
    parts = _split(value)
    if parts is None:
        return row("invalid", field="address", message="expected a URL like https://example.com/notifications.")
    if parts.scheme != "https":
        return row("webhookNotHttps", address=value[:200])
    if not parts.hostname or parts.username is not None or len(value) > _MAX_ADDRESS:
        return row("invalid", field="address", message="expected https, a host and a path, and no user or password.")
    return None


def _split(value: Any) -> SplitResult | None:
    """The parts of a URL that a request line and a Host header can carry."""
    if not isinstance(value, str) or not re.fullmatch(r"[^\s\x00-\x20\x7f-\x9f\\\ud800-\udfff]+", value):
        return None
    try:
        parts = urlsplit(value)
        host_of(value)
        return parts if parts.scheme and parts.netloc and parts.port != 0 else None
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def host_of(address: str) -> str:
    """The host of an address, as domains are compared: in ASCII, lower case, without a last dot. Raises ValueError.

    >>> host_of("https://Hooks.Example.:8443/in"), host_of("https://[::1]:8443/in")
    ('hooks.example', '::1')
    """
    return plain_host(urlsplit(address).hostname or "")


def plain_host(host: str) -> str:
    """A host's name as domains are compared. Raises ValueError for what is no host."""
    host = host.lower().removesuffix(".")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError as error:
        raise ValueError(f"{host!r} is no host name: {error}") from None


def _as_integer(value: Any) -> Any:
    """JSON has one kind of number: 3.6e12 is a whole one, as 3600000000000 is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _expiration(value: Any, now: int) -> Row | None:
    value = _as_integer(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and not (isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value)):
        return row("invalid", field="expiration", message="expected a Unix time in milliseconds.")
    if int(value) <= now:
        return row("invalid", field="expiration", message=f"it is over: it is {now} now, in milliseconds.")
    return None


def _payload(value: Any) -> Row | None:
    return None if isinstance(value, bool) else row("invalid", field="payload", message="expected true or false.")


def _params(value: Any) -> Row | None:
    texts = isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    return None if texts else row("invalid", field="params", message="expected an object of texts.")


def actual_expiration(requested: int | None, *, now: int, default: float | None, limit: float) -> int | None:
    """When a channel ends: the lesser of what was asked for, or of the default, and the limit (A8-07).

    `now` and the result in Unix milliseconds, `default` and `limit` in seconds; None: it does not end.

    >>> actual_expiration(None, now=0, default=3600, limit=5000), actual_expiration(10**9, now=0, default=None, limit=9)
    (3600000, 9000)
    """
    if requested is None:
        return None if default is None else now + int(min(default, limit) * 1000)
    return min(requested, now + int(limit * 1000))
