"""The arguments of a watch call, checked before anything is sent (A8, A9)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...core.clock import parse_duration, to_millis
from ..arguments import optional_text
from ..times import python_time
from .open_receiver import receivers_of
from .receiver import Receiver

if TYPE_CHECKING:
    from ...client.session import Session

_BEARER = re.compile(r"\s*bearer\s", re.IGNORECASE)
_MILLISECONDS = re.compile(r"-?[0-9]+")
_REFUSED = (
    "token {reason}: every message would carry it to the receiver. Give a text that opens nothing else,"
    " or leave token out: a receiver() of this kernel then has one drawn"
)


def receiver_for(session: Session, to: object) -> Receiver | str:
    """The receiver, or the address of one elsewhere; None: the one that was made last. Raises TypeError, ValueError."""
    if to is None and not (receivers := receivers_of(session)):
        raise ValueError("there is no receiver yet: make one with receiver(), or give an https address")
    receiver = receivers[-1] if to is None else to
    if not isinstance(receiver, Receiver | str):
        raise TypeError(f"receiver must be a receiver(), an https address or None, not {type(to).__name__}")
    return receiver


def channel_token(session: Session, token: object) -> str | None:
    """The token, if it does not look like a credential (ruling 42). Raises TypeError, ValueError; neither shows it."""
    text = optional_text("token", token)
    if text and _BEARER.match(text):
        raise ValueError(_REFUSED.format(reason="begins with 'Bearer ', as a credential does"))
    if text and session.is_own_token(text.strip()):
        raise ValueError(_REFUSED.format(reason="is the access token of this session"))
    return text


def expiration_time(session: Session, expires_in: Any, expiration: object) -> int | str | None:
    """Unix time in milliseconds: so long from now, or as it is given. Raises TypeError, ValueError."""
    if expiration is None:
        return None if expires_in is None else to_millis(session.clock.now() + parse_duration(expires_in))
    if expires_in is not None:
        raise ValueError("expires_in and expiration are two ways to say when the channel ends: give one of them")
    if isinstance(expiration, int) and not isinstance(expiration, bool):
        return expiration
    if isinstance(expiration, str) and _MILLISECONDS.fullmatch(expiration):
        return expiration
    moment = python_time("expiration", expiration)
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ValueError(f"expiration is {expiration!r}; give a time with its zone, like 2026-11-02 10:00+01:00")
    return to_millis(moment)
