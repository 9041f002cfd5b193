"""The thread that delivers: nothing that waits is forgotten, whatever happens between two looks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Condition, Event
from typing import Any, cast

import pytest

from svc_notebooks.core.notifications.delivery_schedule import AttemptOutcome
from svc_notebooks.server.notifications.delivery_queue import AttemptResult, DeliveryQueue
from svc_notebooks.server.notifications.delivery_service import DeliveryService
from svc_notebooks.server.notifications.delivery_worker import DeliveryWorker
from svc_notebooks.server.storage.clock import SystemClock, VirtualClock
from tests.patience import PATIENCE

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Ticking:
    """A queue with one message that is due after a moment; each look at what is due takes a second."""

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
        due = [self] if self.message_due <= self.time and not self.settled.is_set() else []
        self.time += timedelta(seconds=1)
        return due

    def check_allowed(self, waiting: Any) -> AttemptOutcome:
        return AttemptOutcome(200)

    def record_outcome(self, waiting: Any, outcome: AttemptOutcome) -> AttemptResult:
        self.settled.set()
        return AttemptResult(None, False)


class Nobody:
    """A poster that is never used."""

    async def close(self) -> None:
        """Nothing is open."""


def started_worker(queue: Ticking) -> DeliveryWorker:
    return DeliveryWorker(cast(DeliveryQueue, queue), cast(SystemClock, queue), lambda: cast(Any, Nobody()), {})


@pytest.mark.spec("N-08", "N-08b")
def test_what_becomes_due_while_one_looks_is_not_forgotten() -> None:
    queue = Ticking()
    worker = started_worker(queue)
    try:
        assert queue.settled.wait(PATIENCE)
    finally:
        worker.close()


def test_a_store_that_fails_once_does_not_end_the_thread() -> None:
    queue = Ticking(broken=True)
    worker = started_worker(queue)
    try:
        worker.finish(PATIENCE)
        worker.wake()
        assert queue.settled.wait(PATIENCE)
    finally:
        worker.close()


class Mailbox:
    """A queue whose messages are only counted."""

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
        due = [self] * (self._posted - self._taken)
        self._taken += len(due)
        return due

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
def delivery_service(mailbox: Mailbox) -> Iterator[DeliveryService]:
    delivery_service = DeliveryService(
        cast(DeliveryQueue, mailbox), VirtualClock(), lambda: cast(Any, Nobody()), background=True
    )
    yield delivery_service
    delivery_service.close()


def delivery_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "svc-delivery"]


def test_a_thread_with_nothing_to_do_ends_and_is_begun_again(
    mailbox: Mailbox, delivery_service: DeliveryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_notebooks.server.notifications.delivery_worker._IDLE_SECONDS", 0.01)
    others = delivery_threads()
    for _ in range(3):
        mailbox.post()
        delivery_service.wake()
        assert mailbox.empties()
        for thread in delivery_threads():
            if thread not in others:
                thread.join(PATIENCE)

        assert delivery_threads() == others
        delivery_service.deliver(PATIENCE)  # with nothing to deliver nothing is begun
        assert delivery_threads() == others


def test_no_message_is_lost_between_a_thread_that_ends_and_the_next(
    mailbox: Mailbox, delivery_service: DeliveryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_notebooks.server.notifications.delivery_worker._IDLE_SECONDS", 0.001)
    chance = Random(0)
    for number in range(400):
        mailbox.post()
        if number % 2:
            delivery_service.wake()
            assert mailbox.empties()
        else:
            delivery_service.deliver(PATIENCE)
            assert not mailbox.has_pending()
        Event().wait(chance.random() * 0.002)  # so that the next message comes before, while and after the thread ends
