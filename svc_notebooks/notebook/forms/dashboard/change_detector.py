"""Detects by polling whether a service has received requests, and whether the requests may have changed data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....client.session import Session
    from ...sandbox.sandbox import Sandbox

_READS = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Changes:
    """The result of a poll. `active` is True after requests or clock changes, `changed` after possible data changes."""

    active: bool
    changed: bool


class ChangeDetector:
    """Compares the state of a service between two polls. Outside a sandbox, only the session's requests count."""

    def __init__(self, session: Session, lab: Sandbox | None) -> None:
        self._session, self._lab = session, lab
        self._last_state = self._state()

    def poll(self) -> Changes:
        """Return whether there were requests since the previous poll, and whether data may have changed."""
        before, self._last_state = self._last_state, self._state()
        if before == self._last_state:
            return Changes(active=False, changed=False)
        return Changes(active=True, changed=before[1:] != self._last_state[1:] or self._has_writes_since(before[0]))

    def _state(self) -> tuple[int, object]:
        """Return the number of the last request and the time of a virtual clock (None for another clock)."""
        if self._lab is None:
            return self._session.exchanges.last, None
        return self._lab.service.requests_served, self._lab.clock.now() if self._lab.clock.is_virtual else None

    def _has_writes_since(self, since: int) -> bool:
        if self._lab is None:
            return any(exchange.method not in _READS for exchange in self._session.exchanges if exchange.n > since)
        rows = self._lab.service.journal(since=since if since <= self._last_state[0] else 0)
        return any(row["method"] not in _READS for row in rows)
