"""Lists the expirations and deliveries that are ahead, and expires upload sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ...core.clock import format_time, from_millis, to_millis
from ...core.http.messages import Query
from ..context.service_context import ServiceContext
from ..tables.deadlines import TimeSpan

_NEVER = 2**62


def expire_session(context: ServiceContext, query: Query, user: str | None) -> bool:
    """Let the upload session of a URI expire, and return whether it is this user's."""
    row = context.store.upload_sessions.claim(query.get("upload_id") or "")
    if row is None or row.owner != user:
        return False
    ended = context.clock.now().timestamp() - context.policy.session_lifetime
    return context.store.upload_sessions.save(row._replace(touched=ended))


def upcoming_events(context: ServiceContext, since: datetime | None, until: datetime | None) -> list[dict[str, Any]]:
    """Return the expirations and deliveries after `since` (by default now) until `until`, in the order of time."""
    span = TimeSpan(to_millis(since) if since else context.millis(), to_millis(until) if until else _NEVER)
    deadlines = [
        *_uploads(context, span),
        *_channels(context, span),
        *_tokens(context, span),
        *_messages(context, span),
    ]
    return [_row(*deadline) for deadline in sorted(deadlines)]


_Item = tuple[int, str, str, str, str]


def _row(millis: int, event: str, user: str, subject: str, detail: str) -> dict[str, Any]:
    time = format_time(from_millis(millis))
    return {"time": time, "what": event, "user": user, "subject": subject, "detail": detail}


def _uploads(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    lifetime = context.policy.session_lifetime
    for session in context.store.deadlines.sessions(span, lifetime):
        name = json.loads(session.metadata).get("name") or context.policy.default_name
        total = "" if session.total is None else f" of {session.total:,}"
        size = f"{session.stored:,}{total} bytes"
        yield round((session.touched + lifetime) * 1000), "upload expires", session.owner, str(name), size


def _channels(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    for channel in context.store.deadlines.channels(span):
        yield channel.expiration, "channel expires", channel.user, channel.id, channel.address


def _tokens(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    for token in context.store.deadlines.tokens(span):
        yield round(token.expires * 1000), "token expires", token.user, token.client, token.scopes


def _messages(context: ServiceContext, span: TimeSpan) -> Iterator[_Item]:
    for message in context.store.deadlines.messages(span):
        detail = f"{message.state}, attempt {message.attempts + 1}"
        yield message.due, "message is sent", message.user, message.channel, detail
