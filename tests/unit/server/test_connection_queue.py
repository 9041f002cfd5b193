from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event
from types import SimpleNamespace

import pytest

from svc_notebooks.server.transports.connection_queue import BRIEF_SECONDS, LONG_SECONDS, FlowTable, ReadyQueue
from tests.patience import PATIENCE


@pytest.fixture
def clock():
    return SimpleNamespace(now=0.0)


@pytest.fixture
def queue(clock):
    queue = ReadyQueue(share=8, clock=lambda: clock.now)
    yield queue
    queue.close()


@pytest.fixture
def pool(queue):
    with ThreadPoolExecutor(4) as pool:
        yield pool
        queue.close()


def put(queue: ReadyQueue, *users: str) -> list[SimpleNamespace]:
    connections = [SimpleNamespace(flow=flow) for flow in users]
    for connection in connections:
        queue.put(connection)
    return connections


def test_brief_requests_are_served_one_after_the_other(queue, pool):
    first, second, _ = put(queue, "ada", "bob", "eve")
    assert queue.get() is first

    (served,), _ = wait([pool.submit(queue.get), pool.submit(queue.get, "ada")], PATIENCE, FIRST_COMPLETED)

    assert served.result() is second
    assert queue.is_waiting


def test_a_thread_that_runs_for_long_does_not_delay_the_requests_of_its_user(queue, clock):
    first, second, _ = put(queue, "ada", "ada", "ada")
    assert queue.get() is first

    clock.now += LONG_SECONDS

    assert queue.get() is second
    assert queue.is_busy  # the third request waits for one of them


def test_long_work_pauses_until_another_user_is_served(queue, clock):
    long, other = put(queue, "ada", "bob")
    assert queue.get() is long
    assert queue.others_wait("ada")

    clock.now += BRIEF_SECONDS
    assert queue.get() is other
    assert queue.others_wait("ada")  # with a permit of its own, bob would wait for the interpreter

    queue.pause("bob")
    assert not queue.others_wait("ada")


def test_a_thread_that_waits_has_no_permit(queue, pool, clock):
    waits, wake, continues = Event(), Event(), Event()
    put(queue, "ada")

    def serve():
        connection = queue.get()
        with queue.paused(connection.flow):
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


def test_a_closed_queue_ends_its_threads(queue, pool):
    waits, wake = Event(), Event()
    put(queue, "ada", "ada")

    def serve():
        with queue.paused(queue.get().flow):
            waits.set()
            assert wake.wait(PATIENCE)
        return queue.get("ada")

    serving = pool.submit(serve)
    assert waits.wait(PATIENCE)
    assert queue.get().flow == "ada"

    queue.close()
    wake.set()

    assert serving.result(PATIENCE) is None


def test_the_flow_is_the_user_of_a_known_token_or_the_address():
    users = FlowTable({"t1": "ada", "t2": "ada"}.get)

    assert users.flow("t1", "127.0.0.1") == users.flow("wrong", "127.0.0.1") == users.flow(None, "127.0.0.1")
    for token in ("t1", "t2", "wrong", None):
        users.look_up(token)
    assert users.flow("t1", "127.0.0.1") == users.flow("t2", "10.0.0.1") != users.flow("wrong", "127.0.0.1")
