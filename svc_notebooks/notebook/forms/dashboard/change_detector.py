"""Whether anything was said to a service, or changed in it, since somebody looked last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....client.session import Session
    from ...sandbox.sandbox import Sandbox

_READS = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Changes:
    """`said`: there were requests, or the clock moved; `changed`: one of them was to change something."""

    said: bool
    changed: bool


class ChangeDetector:
    """Asked from time to time. Of a sandbox it sees what everybody does; of a deployment, what this session does."""

    def __init__(self, session: Session, lab: Sandbox | None) -> None:
        self._session, self._lab = session, lab
        self._mark = self._now()

    def news(self) -> Changes:
        """What happened since this was asked last."""
        before, self._mark = self._mark, self._now()
        if before == self._mark:
            return Changes(said=False, changed=False)
        return Changes(said=True, changed=before[1:] != self._mark[1:] or self._writes(before[0]))

    def _now(self) -> tuple[int, object]:
        """The number of the last request, and what else there is to change."""
        if self._lab is None:
            return self._session.exchanges.last, None
        return self._lab.service.asked, self._lab.clock.now() if self._lab.clock.is_virtual else None

    def _writes(self, since: int) -> bool:
        if self._lab is None:
            return any(one.method not in _READS for one in self._session.exchanges if one.n > since)
        rows = self._lab.service.journal(since=since if since <= self._mark[0] else 0)
        return any(row["method"] not in _READS for row in rows)
