"""The thread that delivers: nothing that waits is forgotten, whatever happens between two looks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Condition, Event
from typing import Any, cast

import pytest

from svc_notebooks.core.delivery_schedule import AttemptOutcome
from svc_notebooks.server.notifications.delivery import DeliveryService
from svc_notebooks.server.notifications.outbox import AttemptResult, DeliveryQueue
from svc_notebooks.server.notifications.worker import DeliveryWorker
from svc_notebooks.server.storage.clock import SystemClock, VirtualClock
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

    def check_allowed(self, waiting: Any) -> AttemptOutcome:
        return AttemptOutcome(200)

    def record_outcome(self, waiting: Any, outcome: AttemptOutcome) -> AttemptResult:
        self.settled.set()
        return AttemptResult(None, False)


class Nobody:
    """A poster that is never asked."""

    async def close(self) -> None:
        """Nothing is open."""


def carrier(desk: Ticking) -> DeliveryWorker:
    return DeliveryWorker(cast(DeliveryQueue, desk), cast(SystemClock, desk), lambda: cast(Any, Nobody()), {})


@pytest.mark.spec("N-08", "N-08b")
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


class Mailbox:
    """A desk whose messages are only counted."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._posted, self._taken, self._settled = 0, 0, 0

    def post(self) -> None:
        self._posted += 1

    def has_pending(self) -> bool:
        return self._settled < self._posted

    def later(self) -> None:
        return None

    def due(self) -> list[Any]:
        found = [self] * (self._posted - self._taken)
        self._taken += len(found)
        return found

    def check_allowed(self, waiting: Any) -> AttemptOutcome:
        return AttemptOutcome(200)

    def record_outcome(self, waiting: Any, outcome: AttemptOutcome) -> AttemptResult:
        with self._changed:
            self._settled += 1
            self._changed.notify_all()
        return AttemptResult(None, False)

    def empties(self) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self.has_pending(), PATIENCE)


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def courier(mailbox: Mailbox) -> Iterator[DeliveryService]:
    courier = DeliveryService(
        cast(DeliveryQueue, mailbox), VirtualClock(), lambda: cast(Any, Nobody()), background=True
    )
    yield courier
    courier.close()


def couriers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "svc-courier"]


def test_a_thread_with_nothing_to_do_ends_and_is_begun_again(
    mailbox: Mailbox, courier: DeliveryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_notebooks.server.notifications.worker._IDLE_SECONDS", 0.01)
    others = couriers()
    for _ in range(3):
        mailbox.post()
        courier.wake()
        assert mailbox.empties()
        for thread in couriers():
            if thread not in others:
                thread.join(PATIENCE)

        assert couriers() == others
        courier.deliver(PATIENCE)  # with nothing to deliver nothing is begun
        assert couriers() == others


def test_no_message_is_lost_between_a_thread_that_ends_and_the_next(
    mailbox: Mailbox, courier: DeliveryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_notebooks.server.notifications.worker._IDLE_SECONDS", 0.001)
    chance = Random(0)
    for number in range(400):
        mailbox.post()
        if number % 2:
            courier.wake()
            assert mailbox.empties()
        else:
            courier.deliver(PATIENCE)
            assert not mailbox.has_pending()
        Event().wait(chance.random() * 0.002)  # so that the next message comes before, while and after the thread ends
