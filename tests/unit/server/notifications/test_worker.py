"""The thread that delivers forgets no message, whatever happens between two looks at the queue."""

import threading
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Condition, Event
from typing import Any
from unittest.mock import AsyncMock

import pytest

from svc_notebooks.server.notifications.delivery_worker import DeliveryWorker
from svc_notebooks.server.notifications.push import PushNotifications
from svc_notebooks.server.service import open_service
from tests.patience import PATIENCE

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class TickingQueue:
    """A queue with one message that is due after a moment; each look at what is due takes a second."""

    def __init__(self, *, broken: bool = False) -> None:
        self.time, self.message_due = START, START + timedelta(milliseconds=50)
        self.broken, self.drained = broken, Event()
        self.is_virtual = False

    def now(self) -> datetime:
        return self.time

    def later(self) -> datetime | None:
        return self.message_due if self.message_due > self.time and not self.drained.is_set() else None

    def due(self) -> list[Any]:
        if self.broken:
            self.broken = False
            raise OSError("the disk is away")
        due = [self] if self.message_due <= self.time and not self.drained.is_set() else []
        self.time += timedelta(seconds=1)
        return due

    async def drain(self, first: Any, send: Any) -> bool:
        self.drained.set()
        return False


@pytest.mark.spec("N-08", "N-08b")
@pytest.mark.parametrize("broken", [False, True])
def test_a_message_that_becomes_due_during_a_look_or_after_a_store_failed_is_not_forgotten(broken):
    queue = TickingQueue(broken=broken)
    worker = DeliveryWorker(queue, queue, AsyncMock(), {})
    try:
        if broken:
            worker.finish(PATIENCE)
            worker.wake()
        assert queue.drained.wait(PATIENCE)
    finally:
        worker.close()


class CountingQueue:
    def __init__(self) -> None:
        self._changed = Condition()
        self._queued, self._taken, self._sent = 0, 0, 0

    def enqueue(self) -> None:
        self._queued += 1

    def has_pending(self) -> bool:
        return self._sent < self._queued

    def later(self) -> None:
        return None

    def due(self) -> list[Any]:
        due = [self] * (self._queued - self._taken)
        self._taken += len(due)
        return due

    async def drain(self, first: Any, send: Any) -> bool:
        with self._changed:
            self._sent += 1
            self._changed.notify_all()
        return False

    def wait_until_empty(self) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self.has_pending(), PATIENCE)


@pytest.fixture
def queue():
    return CountingQueue()


@pytest.fixture
def push(queue):
    with open_service(seed=0, background=False) as service:
        push = PushNotifications(service._context, background=True)
        push.queue = queue
        yield push
        push.close()


def delivery_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "svc-delivery"]


def test_an_idle_thread_ends_and_a_new_one_is_started(queue, push, monkeypatch):
    monkeypatch.setattr("svc_notebooks.server.notifications.delivery_worker._IDLE_SECONDS", 0.01)
    others = delivery_threads()
    for _ in range(3):
        queue.enqueue()
        push.wake()
        assert queue.wait_until_empty()
        for thread in delivery_threads():
            if thread not in others:
                thread.join(PATIENCE)

        assert delivery_threads() == others
        push.deliver(PATIENCE)  # with nothing to deliver nothing is begun
        assert delivery_threads() == others


def test_no_message_is_lost_between_a_thread_that_ends_and_the_next(queue, push, monkeypatch):
    monkeypatch.setattr("svc_notebooks.server.notifications.delivery_worker._IDLE_SECONDS", 0.001)
    chance = Random(0)
    for number in range(400):
        queue.enqueue()
        if number % 2:
            push.wake()
            assert queue.wait_until_empty()
        else:
            push.deliver(PATIENCE)
            assert not queue.has_pending()
        Event().wait(chance.random() * 0.002)  # so that the next message comes before, while and after the thread ends
