"""The queue of the socket server: users get permits in turn, and threads that wait have none."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event

import pytest

from svc_notebooks.core.thread_permit import release_permit, set_permit
from svc_notebooks.server.transports.connection_queue import BRIEF_SECONDS, LONG_SECONDS, PERMITS, LaneTable, ReadyQueue
from tests.patience import PATIENCE


class Connection:
    def __init__(self, lane: str) -> None:
        self.lane = lane


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(clock: Clock) -> Iterator[ReadyQueue[Connection]]:
    queue: ReadyQueue[Connection] = ReadyQueue(share=8, clock=clock)
    yield queue
    queue.close()


@pytest.fixture
def pool(queue: ReadyQueue[Connection]) -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool
        queue.close()


def put(queue: ReadyQueue[Connection], *users: str) -> list[Connection]:
    connections = [Connection(lane) for lane in users]
    for connection in connections:
        queue.put(connection)
    return connections


def take(queue: ReadyQueue[Connection], clock: Clock, finished: str | None = None) -> Connection | None:
    """Return the next connection when the threads with a permit have run for a while."""
    clock.now += 2 * BRIEF_SECONDS
    return queue.get(finished)


def test_brief_requests_are_served_one_after_the_other(queue, pool):
    first, second, _ = put(queue, "ada", "bob", "eve")
    assert queue.get() is first

    threads = [pool.submit(queue.get), pool.submit(queue.get, "ada")]
    (served,), _ = wait(threads, PATIENCE, FIRST_COMPLETED)

    assert served.result() is second
    assert queue.is_waiting


def test_a_second_thread_runs_if_the_first_one_is_not_brief(queue, pool, clock):
    first, second = put(queue, "ada", "bob")
    assert queue.get() is first
    waiting = pool.submit(queue.get)

    clock.now += 2 * BRIEF_SECONDS

    assert waiting.result(PATIENCE) is second


def test_a_thread_that_has_waited_runs_beside_one_that_is_not_brief(queue, pool, clock):
    waits, wake = Event(), Event()
    put(queue, "ada")

    def serve() -> None:
        with queue.paused(queue.get().lane):
            waits.set()
            assert wake.wait(PATIENCE)

    serving = pool.submit(serve)
    assert waits.wait(PATIENCE)
    (other,) = put(queue, "bob")
    assert queue.get() is other
    wake.set()

    clock.now += 2 * BRIEF_SECONDS

    serving.result(PATIENCE)


def test_a_user_with_many_requests_leaves_a_permit_for_another(queue, clock):
    first, second, third, other = put(queue, "ada", "ada", "ada", "bob")

    assert [take(queue, clock) for _ in range(PERMITS)] == [first, other]
    assert [take(queue, clock, "ada"), take(queue, clock, "ada")] == [second, third]
    assert not queue.is_busy


def test_a_user_with_one_request_gets_the_next_permit(queue, clock):
    first, greedy, _, _ = put(queue, "ada", "bob", "ada", "bob")
    assert [take(queue, clock) for _ in range(PERMITS)] == [first, greedy]

    (human,) = put(queue, "eve")

    assert take(queue, clock, "ada") is human


def test_users_with_many_requests_get_permits_in_turn(queue, clock):
    put(queue, *["ada"] * 3, *["bob"] * 3, *["eve"] * 3)
    served = [take(queue, clock).lane for _ in range(PERMITS)]

    while len(served) < 9:
        served.append(take(queue, clock, served[len(served) - PERMITS]).lane)

    assert served == ["ada", "bob", "eve"] * 3


def test_a_thread_that_runs_for_long_does_not_delay_the_requests_of_its_user(queue, clock):
    first, second, _ = put(queue, "ada", "ada", "ada")
    assert queue.get() is first

    clock.now += LONG_SECONDS

    assert queue.get() is second
    assert queue.is_busy  # the third request waits for one of them


def test_long_requests_of_some_users_do_not_delay_other_users(queue, clock):
    names = [f"user{number}" for number in range(2 * PERMITS + 1)]
    connections = put(queue, *names)
    assert [take(queue, clock) for _ in range(PERMITS)] == connections[:PERMITS]

    clock.now += LONG_SECONDS

    assert [queue.get() for _ in range(PERMITS)] == connections[PERMITS:-1]
    assert queue.is_busy


def test_a_thread_that_waits_has_no_permit(queue, pool, clock):
    waits, wake, continues = Event(), Event(), Event()
    put(queue, "ada")

    def serve() -> None:
        connection = queue.get()
        with queue.paused(connection.lane):
            waits.set()
            assert wake.wait(PATIENCE)
        continues.set()

    serving = pool.submit(serve)
    assert waits.wait(PATIENCE)
    (second,) = put(queue, "ada")
    assert queue.get() is second
    wake.set()
    (other,) = put(queue, "bob")
    assert not continues.is_set()  # the second connection has the permit

    assert queue.get("ada") is other
    assert not continues.is_set()  # the other connection has the permit, which is new
    clock.now += 2 * BRIEF_SECONDS
    assert continues.wait(PATIENCE)
    serving.result(PATIENCE)


def test_permits_are_added_where_all_threads_with_a_permit_wait_for_other_requests(queue, pool, clock):
    *running, waiting = put(queue, *[f"user{number}" for number in range(PERMITS + 1)])
    assert [take(queue, clock) for _ in range(PERMITS)] == running
    assert queue.relieve()  # and no thread is idle

    blocked = pool.submit(queue.get)
    while queue.relieve():
        pass

    assert blocked.result(PATIENCE) is waiting


def test_a_closed_queue_ends_its_threads(queue, pool):
    waits, wake = Event(), Event()
    put(queue, "ada", "ada")

    def serve() -> Connection | None:
        with queue.paused(queue.get().lane):
            waits.set()
            assert wake.wait(PATIENCE)
        return queue.get("ada")

    serving = pool.submit(serve)
    assert waits.wait(PATIENCE)
    assert queue.get().lane == "ada"

    queue.close()
    wake.set()

    assert serving.result(PATIENCE) is None


def test_an_inner_wait_releases_no_second_permit(queue):
    (first,) = put(queue, "ada")
    assert queue.get() is first
    set_permit(queue.paused("ada"))
    try:
        with release_permit(), release_permit():
            assert not queue._running
        assert queue._lane_by_name["ada"].running == 1
    finally:
        set_permit(None)


def test_the_lane_is_the_user_of_a_known_token_or_the_address():
    users = LaneTable({"t1": "ada", "t2": "ada"}.get)

    assert users.lane("t1", "127.0.0.1") == users.lane("wrong", "127.0.0.1") == users.lane(None, "127.0.0.1")
    for token in ("t1", "t2", "wrong", None):
        users.look_up(token)
    assert users.lane("t1", "127.0.0.1") == users.lane("t2", "10.0.0.1") != users.lane("wrong", "127.0.0.1")


def test_a_wait_until_no_thread_runs_ends_when_the_last_thread_has_no_connection(queue, pool):
    put(queue, "ada")
    queue.get()
    waiting = pool.submit(queue.wait_until_paused, PATIENCE)
    thread = pool.submit(queue.get, "ada")  # returns the permit

    waiting.result(PATIENCE / 2)

    assert not thread.done()


def test_a_wait_until_no_thread_runs_ends_when_the_last_thread_pauses(queue, pool):
    put(queue, "ada")
    queue.get()
    waiting = pool.submit(queue.wait_until_paused, PATIENCE)

    with queue.paused("ada"):
        waiting.result(PATIENCE / 2)


def test_a_wait_until_no_thread_runs_ends_after_its_seconds(queue, pool):
    put(queue, "ada")
    queue.get()

    pool.submit(queue.wait_until_paused, BRIEF_SECONDS).result(PATIENCE)
