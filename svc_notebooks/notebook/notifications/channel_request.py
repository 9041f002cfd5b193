"""Checks the arguments of `watch_file` and `watch_changes` before anything is sent (A8, A9)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...core.clock import to_millis
from ...core.durations import parse_duration
from ..arguments import optional_text
from ..times import python_time
from .open_receiver import receivers_of
from .receiver import Receiver

if TYPE_CHECKING:
    from ...client.session import Session

_BEARER = re.compile(r"\s*bearer\s", re.IGNORECASE)
_MILLISECONDS = re.compile(r"-?[0-9]+")
_REFUSED = (
    "token {reason}, and every message would send the credential to the receiver. Give a str that is not a credential,"
    " or leave token out: for a receiver() of this kernel a random token is generated"
)


def receiver_for(session: Session, to: object) -> Receiver | str:
    """Return `to`, or the session's latest receiver for None. Raises TypeError, or ValueError without a receiver."""
    if to is None and not (receivers := receivers_of(session)):
        raise ValueError("there is no receiver yet; call receiver() first, or give an https address")
    receiver = receivers[-1] if to is None else to
    if not isinstance(receiver, Receiver | str):
        raise TypeError(f"receiver must be a Receiver, an https address or None, not {type(to).__name__}")
    return receiver


def channel_token(session: Session, token: object) -> str | None:
    """Return the channel token unchanged. Raises ValueError if the token looks like a credential."""
    text = optional_text("token", token)
    if text and _BEARER.match(text):
        raise ValueError(_REFUSED.format(reason="begins with 'Bearer ', as a credential does"))
    if text and session.is_own_token(text.strip()):
        raise ValueError(_REFUSED.format(reason="is the access token of this session"))
    return text


def expiration_time(session: Session, expires_in: Any, expiration: object) -> int | str | None:
    """Return the expiration time of a channel as Unix time in milliseconds, or None if both arguments are None.

    A number keeps its type, int or str. Raises TypeError or ValueError if an argument is not valid or both are given.
    """
    if expiration is None:
        return None if expires_in is None else to_millis(session.clock.now() + parse_duration(expires_in, "expires_in"))
    if expires_in is not None:
        raise ValueError("expires_in and expiration both set when the channel ends; give only one of them")
    if isinstance(expiration, int) and not isinstance(expiration, bool):
        return expiration
    if isinstance(expiration, str) and _MILLISECONDS.fullmatch(expiration):
        return expiration
    moment = python_time("expiration", expiration)
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ValueError(f"expiration is {expiration!r}; give a time with its zone, like 2026-11-02 10:00+01:00")
    return to_millis(moment)
