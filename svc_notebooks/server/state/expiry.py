"""Lists upcoming expirations and deliveries, and lets an upload session expire."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ...core.clock import format_time, from_millis, to_millis
from ...core.http.messages import Query
from ..context.service_context import ServiceContext

_NEVER = 2**62


def expire_session(context: ServiceContext, query: Query, user: str | None) -> bool:
    """Let the upload session of a session URI expire.

    Returns False if the session is unknown, belongs to another user, or was claimed by another request meanwhile.
    """
    row = context.store.upload_sessions.claim(query.get("upload_id") or "")
    if row is None or row.owner != user:
        return False
    ended = context.clock.now().timestamp() - context.policy.session_lifetime
    return context.store.upload_sessions.save(row._replace(touched=ended))


def upcoming_events(context: ServiceContext, since: datetime | None, until: datetime | None) -> list[dict[str, Any]]:
    """Return the expirations and deliveries later than `since` and not later than `until`, sorted by time.

    By default `since` is now. A dict has the keys `time`, `what`, `user`, `subject` and `detail`.
    """
    first, last = to_millis(since) if since else context.millis(), to_millis(until) if until else _NEVER
    deadlines = context.store.deadlines.between(first, last, context.policy.session_lifetime)
    return [
        {
            "time": format_time(from_millis(deadline.time)),
            "what": deadline.event,
            "user": deadline.user,
            "subject": deadline.subject or context.policy.default_name,
            "detail": deadline.detail,
        }
        for deadline in deadlines
    ]
