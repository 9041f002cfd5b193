"""The thread that delivers: nothing that waits is forgotten, whatever happens between two looks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any, cast

import pytest

from svc_notebooks.core.outbox import Outcome
from svc_notebooks.server.carrier import Carrier
from svc_notebooks.server.clock import SystemClock
from svc_notebooks.server.desk import Desk, Settled
from tests.patience import PATIENCE

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Ticking:
    """A desk with one message that is due after a moment; each look at what is due takes a second."""

    def __init__(self, *, broken: bool = False) -> None:
        self.time, self.message_due = START, START + timedelta(milliseconds=50)
        self.broken, self.settled = broken, Event()
        self.is_virtual = False

    def now(self) -> datetime:
        return self.time

    def later(self) -> datetime | None:
        return self.message_due if self.message_due > self.time and not self.settled.is_set() else None

    def due(self) -> list[Any]:
        if self.broken:
            self.broken = False
            raise OSError("the disk is away")
        found = [self] if self.message_due <= self.time and not self.settled.is_set() else []
        self.time += timedelta(seconds=1)
        return found

    def refusal(self, waiting: Any) -> Outcome:
        return Outcome(200)

    def settle(self, waiting: Any, outcome: Outcome) -> Settled:
        self.settled.set()
        return Settled(None, False)


class Nobody:
    """A poster that is never asked."""

    async def close(self) -> None:
        """Nothing is open."""


def carrier(desk: Ticking) -> Carrier:
    return Carrier(cast(Desk, desk), cast(SystemClock, desk), lambda: cast(Any, Nobody()), {})


@pytest.mark.spec("N-08")
def test_what_becomes_due_while_one_looks_is_not_forgotten() -> None:
    desk = Ticking()
    running = carrier(desk)
    try:
        assert desk.settled.wait(PATIENCE)
    finally:
        running.close()


def test_a_store_that_fails_once_does_not_end_the_thread() -> None:
    desk = Ticking(broken=True)
    running = carrier(desk)
    try:
        running.finish(PATIENCE)
        running.wake()
        assert desk.settled.wait(PATIENCE)
    finally:
        running.close()
