"""What comes to its end by itself: upload sessions, channels and tokens, each at its time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ...core.clock import format_time, from_millis, to_millis
from ...core.http.messages import Query
from ..context.service_context import ServiceContext
from ..store.deadlines import TimeSpan

_NEVER = 2**62


def expire_session(context: ServiceContext, query: Query, user: str | None) -> bool:
    """Let the upload session that a URI names be as old as if its week had gone by; False: it is not this user's."""
    row = context.store.upload_sessions.claim(query.get("upload_id") or "")
    if row is None or row.owner != user:
        return False
    ended = context.clock.now().timestamp() - context.policy.session_lifetime
    return context.store.upload_sessions.save(row._replace(touched=ended))


def upcoming_events(context: ServiceContext, since: datetime | None, until: datetime | None) -> list[dict[str, Any]]:
    """What ends or is sent by itself behind `since` (None: now) and not after `until`, in the order of time."""
    span = TimeSpan(to_millis(since) if since else context.millis(), to_millis(until) if until else _NEVER)
    found = [*_uploads(context, span), *_channels(context, span), *_tokens(context, span), *_messages(context, span)]
    return [_row(*one) for one in sorted(found)]


_Item = tuple[int, str, str, str, str]


def _row(millis: int, what: str, user: str, subject: str, detail: str) -> dict[str, Any]:
    time = format_time(from_millis(millis))
    return {"time": time, "what": what, "user": user, "subject": subject, "detail": detail}


def _uploads(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    lifetime = context.policy.session_lifetime
    for one in context.store.deadlines.sessions(span, lifetime):
        name = json.loads(one.metadata).get("name") or context.policy.default_name
        size = f"{one.stored:,} bytes" if one.total is None else f"{one.stored:,} of {one.total:,} bytes"
        yield round((one.touched + lifetime) * 1000), "upload expires", one.owner, str(name), size


def _channels(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    for one in context.store.deadlines.channels(span):
        yield one.expiration, "channel expires", one.user, one.id, one.address


def _tokens(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    for one in context.store.deadlines.tokens(span):
        yield round(one.expires * 1000), "token expires", one.user, one.client, one.scopes


def _messages(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    for one in context.store.deadlines.messages(span):
        yield one.due, "message is sent", one.user, one.channel, f"{one.state}, attempt {one.attempts + 1}"
