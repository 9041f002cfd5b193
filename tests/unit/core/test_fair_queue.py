"""Fair queues, with users in turn, a share for each, and abandoned conversions."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from svc_notebooks.convert.pool.admission import Abandoned, Admission, FairQueue


def turns(share: int, *items: tuple[str, str]) -> FairQueue[str]:
    queue: FairQueue[str] = FairQueue(share)
    for key, item in items:
        queue.add(key, item)
    return queue


def taken(queue: FairQueue[str]) -> list[str]:
    """Take all items that can be taken while no item is done."""
    return [item for _, item in iter(queue.take, None)]


def test_keys_are_taken_in_turn():
    queue = turns(9, ("ada", "a1"), ("ada", "a2"), ("ada", "a3"), ("bob", "b1"), ("eve", "e1"))

    assert taken(queue) == ["a1", "b1", "e1", "a2", "a3"]


def test_no_key_exceeds_its_share():
    queue = turns(2, ("ada", "a1"), ("ada", "a2"), ("ada", "a3"), ("bob", "b1"))

    assert taken(queue) == ["a1", "b1", "a2"]
    assert queue.ready == 0
    queue.finish("ada")
    assert taken(queue) == ["a3"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["add", "take", "done"]))), st.integers(1, 3))
def test_every_item_is_taken_once_and_in_the_order_of_its_key(steps: list[tuple[str, str]], share: int):
    queue: FairQueue[int] = FairQueue(share)
    added: dict[str, list[int]] = {key: [] for key in "abc"}
    seen: dict[str, list[int]] = {key: [] for key in "abc"}
    at_work: list[str] = []

    def take() -> bool:
        if pair := queue.take():
            seen[pair[0]].append(pair[1])
            at_work.append(pair[0])
            assert at_work.count(pair[0]) <= share
        return pair is not None

    for number, (key, step) in enumerate(steps):
        if step == "add":
            queue.add(key, number)
            added[key].append(number)
        elif step == "take":
            take()
        elif at_work:
            queue.finish(at_work.pop())
    while take() or at_work:
        if not queue.ready:
            queue.finish(at_work.pop())

    assert seen == added


def never() -> bool:
    return False


def always() -> bool:
    return True


def test_a_client_that_disconnects_leaves_the_queue():
    admission = Admission(max_running=1, max_waiting=8)
    with admission.turn("ada", never), pytest.raises(Abandoned), admission.turn("bob", always):
        pytest.fail("it is not bob's turn")

    with admission.turn("bob", never):
        pass


# -- conversions ------------------------------------------------------------------------------------------------------


# -- pace -------------------------------------------------------------------------------------------------------------
