"""The states of notification channels, and the checks of a watch request (A8 to A10).

              CHANGE
              ┌────┐
NONE ──WATCH──► ACTIVE ──LOSS──► ENDED
                   │               │
                   └─STOP, EXPIRY──┴──► STOPPED
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from ..errors.catalogue import ApiError, Row, row
from ..field_mask import shape_of
from ..http.messages import JSONObject
from ..resources.files import ChannelResource

MAX_ID_LENGTH = 64
MAX_TOKEN_LENGTH = 256
_MAX_ADDRESS = 2048

# The fields that a `fields` mask for a channel may contain. Responses never contain `type` and `address`.
CHANNEL_SHAPE = shape_of(ChannelResource)


class ChannelState(Enum):
    """The states of a channel. A channel is ENDED after the loss of its resource, STOPPED after a stop or expiry.

    An ended channel delivers only messages that are already queued.
    """

    ACTIVE = "active"
    ENDED = "ended"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ChannelRequest:
    """A valid watch request. `expiration` is the requested expiration time in Unix milliseconds."""

    id: str
    address: str
    token: str | None = field(repr=False)
    expiration: int | None
    extra: JSONObject


def check_channel(body: JSONObject, *, now: int, types: tuple[str, ...] = ("web_hook",)) -> ChannelRequest:
    """Return the watch request from a request body. Raises ApiError (400) with all problems. `now` is in Unix ms.

    >>> asked = {"id": "c1", "type": "web_hook", "address": "https://hooks.example/in"}
    >>> check_channel(asked, now=0).address
    'https://hooks.example/in'
    """
    allowed = " or ".join(types)
    no_boolean = row("invalid", field="payload", message="expected true or false.")
    checks: tuple[tuple[str, Callable[[Any], Row | None]], ...] = (
        ("id", lambda value: _check_header_text("id", value, MAX_ID_LENGTH)),
        ("type", lambda value: None if value in types else row("channelType", value=repr(value)[:60], allowed=allowed)),
        ("address", _check_address),
        ("token", lambda value: _check_header_text("token", value, MAX_TOKEN_LENGTH)),
        ("expiration", lambda value: _check_expiration(value, now)),
        ("payload", lambda value: None if isinstance(value, bool) else no_boolean),
        ("params", _check_params),
    )
    problems: list[Row] = []
    for name, check in checks:
        value = body.get(name)
        if name in ("id", "type", "address") and value in (None, ""):
            problems.append(row("required", field=name))
        elif value is not None and (problem := check(value)):
            problems.append(problem)
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


def _check_header_text(name: str, value: Any, limit: int) -> Row | None:
    """Return an error row for a text that is too long or has characters unfit for a header, or None if valid."""
    if not isinstance(value, str) or len(value) > limit:
        return row("invalid", field=name, message=f"expected text of at most {limit} characters.")
    if value != value.strip() or re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]", value):
        message = "expected text without control characters and without spaces at the start or end."
        return row("invalid", field=name, message=message)
    return None


def _check_address(value: Any) -> Row | None:
    no_url = row("invalid", field="address", message="expected a URL like https://example.com/notifications.")
    # The URL must fit a request line and a Host header.
    if not isinstance(value, str) or not re.fullmatch(r"[^\s\x00-\x20\x7f-\x9f\\\ud800-\udfff]+", value):
        return no_url
    try:
        parts = urlsplit(value)
        host_of(value)
        if not parts.scheme or not parts.netloc or parts.port == 0:
            return no_url
    except ValueError:
        return no_url
    if parts.scheme != "https":
        return row("webhookNotHttps", address=value[:200])
    if not parts.hostname or parts.username is not None or len(value) > _MAX_ADDRESS:
        return row("invalid", field="address", message="expected https, a host and a path, without user and password.")
    return None


@lru_cache(maxsize=1024)
def host_of(address: str) -> str:
    """Return a URL's host in lower-case ASCII, without a final dot. Raises ValueError if invalid.

    >>> host_of("https://Hooks.Example.:8443/in"), host_of("https://[::1]:8443/in")
    ('hooks.example', '::1')
    """
    return plain_host(urlsplit(address).hostname or "")


def plain_host(host: str) -> str:
    """Convert a host name to lower-case ASCII, without a final dot. Raises ValueError if invalid."""
    host = host.lower().removesuffix(".")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError as error:
        raise ValueError(f"{host!r} is not a host name: {error}") from None


def _as_integer(value: Any) -> Any:
    """Convert a float without a fraction to an integer, as JSON has one number type. Other values are unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check_expiration(value: Any, now: int) -> Row | None:
    value = _as_integer(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole and not (isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value)):
        return row("invalid", field="expiration", message="expected a Unix time in milliseconds.")
    if int(value) <= now:
        message = f"expected a time in the future; the current time is {now} ms."
        return row("invalid", field="expiration", message=message)
    return None


def _check_params(value: Any) -> Row | None:
    texts = isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    return None if texts else row("invalid", field="params", message="expected an object of strings.")


def actual_expiration(requested: int | None, *, now: int, default: float | None, limit: float) -> int | None:
    """Return a channel's expiration time in Unix milliseconds, or None if the channel never expires (A8-07).

    The time is `requested`, or `now` plus `default`, at most `now` plus `limit`. `requested` and `now` are in Unix
    milliseconds, `default` and `limit` in seconds.

    >>> actual_expiration(None, now=0, default=3600, limit=5000), actual_expiration(10**9, now=0, default=None, limit=9)
    (3600000, 9000)
    """
    if requested is None:
        return None if default is None else now + int(min(default, limit) * 1000)
    return min(requested, now + int(limit * 1000))
