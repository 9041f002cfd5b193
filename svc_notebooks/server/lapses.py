"""What comes to its end by itself: upload sessions, channels and tokens, each at its time."""

from __future__ import annotations

from ..core.wire import Query
from .house import House


def expire_session(house: House, query: Query, user: str | None) -> bool:
    """Let the upload session that a URI names be as old as if its week had gone by; False: it is not this user's."""
    row = house.store.sessions.claim(query.get("upload_id") or "")
    if row is None or row.owner != user:
        return False
    ended = house.clock.now().timestamp() - house.policy.session_lifetime
    return house.store.sessions.save(row._replace(touched=ended))
