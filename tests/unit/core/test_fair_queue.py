"""Conversions that wait, with users in turn, a share for each, and abandoned conversions; the pace of transfers."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import pytest

from svc_notebooks.convert.pool.converter import Abandoned, Admission, TooManyWaiting
from svc_notebooks.server.transports.client_connection import TransferBudget
from tests.patience import PATIENCE


def never() -> bool:
    return False


def test_one_user_leaves_room_for_another():
    admission = Admission(max_running=2, max_waiting=8)
    started, release = {name: Event() for name in ("a1", "a2", "b1")}, Event()

    def convert(name):
        with admission.turn(name[0], never):
            started[name].set()
            assert release.wait(PATIENCE)

    with ThreadPoolExecutor(3) as pool:
        pool.submit(convert, "a1")
        assert started["a1"].wait(PATIENCE)
        later = pool.submit(convert, "a2")
        pool.submit(convert, "b1")
        assert started["b1"].wait(PATIENCE)
        assert not started["a2"].is_set()
        release.set()
        later.result(PATIENCE)


def test_users_take_turns():
    admission, order = Admission(max_running=1, max_waiting=8), list[str]()

    def convert(name):
        with admission.turn(name[0], never):
            order.append(name)

    with ThreadPoolExecutor(5) as pool:
        with admission.turn("a", never):
            waiting = []
            for name in ("a1", "a2", "a3", "b1", "c1"):
                waiting.append(pool.submit(convert, name))
                while len(admission._waiting) < len(waiting):
                    sleep(0.01)
        for conversion in waiting:
            conversion.result(PATIENCE)

    assert order == ["b1", "c1", "a1", "a2", "a3"]


@pytest.mark.parametrize(
    "most, is_gone, error",
    [(8, lambda: True, Abandoned), (0, never, TooManyWaiting)],
    ids=["the client disconnects", "too many wait"],
)
def test_a_conversion_that_leaves_the_queue_keeps_no_place(most, is_gone, error):
    admission = Admission(max_running=1, max_waiting=most)
    with admission.turn("ada", never), pytest.raises(error), admission.turn("ada", is_gone):
        pytest.fail("one runs already")

    with admission.turn("ada", never):
        pass


def test_a_peer_may_be_silent_for_a_time_and_must_keep_a_rate_over_a_longer_one():
    patience = TransferBudget(60, rate=500)
    for _ in range(1000):  # a telephone at 2 kB/s, with a hole of half a minute in every two
        patience.spend(90, moved=90 * 2000)
        patience.spend(30, moved=0)
        assert patience.left > 0

    seconds = 0
    while patience.left > 0:  # a byte a second, whatever came before
        patience.spend(1, moved=1)
        seconds += 1
    assert 30 <= seconds <= 61
