import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPException
from operator import itemgetter
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import psycopg
import pytest

from tests.contract.wire import InProcess
from tests.patience import PATIENCE, until
from tests.receivers import receiver as receiving
from tests.scale.conftest import Place, empty_database
from tests.scale.postgres_server import DURABLE, PostgresServer, postgres_server
from tests.scale.workers import Worker, call, sent, workers

pytestmark = pytest.mark.scale

FILES, CHANGES = "/storage/v3/files", "/storage/v3/changes"
EVENTS = "/calendar/v3/calendars/primary/events"
FULL = bool(os.environ.get("SVC_SCALE_FULL"))


@pytest.fixture(scope="module")
def durable() -> Iterator[PostgresServer]:
    with postgres_server(DURABLE) as server:
        yield server


@pytest.fixture
def place(durable: PostgresServer, tmp_path: Path) -> Iterator[Place]:
    with empty_database(durable.address) as address:
        yield Place(address, tmp_path / "content")


def create(worker: Worker, done: Event) -> list[str]:
    """Create files until `done` is set, and return the ids of those that were answered."""
    made = []
    while not done.is_set():
        try:
            status, _, body = call(worker, "POST", FILES, {"name": "x"})
        except (OSError, HTTPException):
            continue  # the worker was killed
        if status == 200:
            made.append(json.loads(body)["id"])
    return made


def follow(running: list[Worker], token: str, is_last: Callable[[], bool]) -> list[str]:
    """Read the list of changes from a page token on, and return the ids of the changed files."""
    seen, number, last = list[str](), 0, False
    while not last:
        last, number = is_last(), number + 1
        while True:
            try:
                status, _, body = call(running[number % 2], "GET", f"{CHANGES}?pageToken={token}&pageSize=100")
            except (OSError, HTTPException):
                number += 1
                continue
            assert status in (200, 503), body
            if status == 503:
                continue
            page = json.loads(body)
            seen += [change["fileId"] for change in page["changes"]]
            token = page.get("nextPageToken") or page["newStartPageToken"]
            if "newStartPageToken" in page:
                break
    return seen


def test_answered_writes_survive_stops_of_the_server_and_kills(durable: PostgresServer, place: Place) -> None:
    random, done = Random(51), Event()
    with workers(place, 2, "t") as running, ThreadPoolExecutor(9) as pool:
        token = sent(running[0], "GET", f"{CHANGES}/startPageToken")["startPageToken"]
        creating = [pool.submit(create, running[number % 2], done) for number in range(8)]
        following = pool.submit(follow, running, token, lambda: all(each.done() for each in creating))
        for number in range(20 if FULL else 4):
            done.wait(random.uniform(0.5, 2))
            if number % 2:
                running[1].kill()
                running[1].start()
            else:
                durable.stop()
                durable.start()
        until(lambda: all(call(worker, "GET", "/readyz")[0] == 200 for worker in running))
        done.set()
        made = [file for each in creating for file in each.result()]
        seen = following.result()
        rows = {file for (file,) in place.execute("SELECT id FROM files")}
    print(f"{len(made)} answered writes")

    assert made
    assert set(made) - rows == set()
    assert set(made) - set(seen) == set()


@pytest.fixture
def waiting(place: Place) -> Iterator[Callable[[], None]]:
    """The server waits for a standby that does not exist, as for a slow disk, until the function is called."""

    def set_standby(name: str) -> None:
        place.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        place.execute("SELECT pg_reload_conf()")
        until(lambda: place.execute("SHOW synchronous_standby_names") == [(name,)])

    set_standby("absent")
    try:
        yield lambda: set_standby("")
    finally:
        set_standby("")


def get(wire: InProcess, target: str) -> Any:
    return wire.send("GET", target).json


def names(place: Place) -> set[object]:
    return {name for (name,) in place.execute("SELECT name FROM files WHERE parent IS NOT NULL")}


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
def test_nobody_is_told_of_a_write_that_is_not_on_the_disk(place, request, shared):
    with place.opened(shared=shared) as service, receiving() as receiver, ThreadPoolExecutor(3) as pool:
        wire = InProcess(service, "http://svc.test")
        wire.register_receiver(receiver)
        token = get(wire, f"{CHANGES}/startPageToken")["startPageToken"]
        watch = {"id": "c", "type": "web_hook", "address": receiver.address}
        wire.post_json(f"{CHANGES}/watch?pageToken={token}", watch)
        receiver.wait_for(1)
        go_on = request.getfixturevalue("waiting")
        writing: list[Future[Any]] = [pool.submit(wire.post_json, FILES, {"name": name}) for name in ("a", "b")]
        until(lambda: names(place) == {"a", "b"})  # the first write does not keep the lock while it waits
        listing = pool.submit(get, wire, f"{CHANGES}?pageToken={token}")

        assert not any(each.done() for each in (*writing, listing))
        assert len(receiver.requests) == 1
        go_on()
        assert {each.result(PATIENCE).json["name"] for each in writing} == {"a", "b"}
        assert listing.result(PATIENCE)["changes"]
        receiver.wait_for(2)


def test_a_write_whose_confirmation_is_lost_is_an_error(place: Place, request: pytest.FixtureRequest) -> None:
    with place.opened(shared=True) as service, ThreadPoolExecutor(1) as pool:
        wire = InProcess(service, "http://svc.test")
        wire.post_json(FILES, {"name": "a"})
        go_on = request.getfixturevalue("waiting")
        writing = pool.submit(wire.post_json, FILES, {"name": "b"})
        until(lambda: "b" in names(place))
        place.disconnect("query LIKE '%pg_logical_emit_message%'")

        assert writing.result(PATIENCE).status == 503
        go_on()


def test_the_server_stands_still_at_random_moments_under_load(durable: PostgresServer, place: Place) -> None:
    random, done = Random(51), Event()
    with ExitStack() as stack:
        running = stack.enter_context(workers(place, 2, "t"))
        pool = stack.enter_context(ThreadPoolExecutor(8))
        creating = [pool.submit(create, running[number % 2], done) for number in range(8)]
        for _ in range(10 if FULL else 2):
            done.wait(random.uniform(0.2, 1))
            with psycopg.connect(f"{durable.address}/postgres") as connection:
                rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()").fetchall()
            stopped = [process for (process,) in rows]
            for process in stopped:
                os.kill(process, signal.SIGSTOP)
            try:
                assert [call(worker, "GET", "/readyz")[0] for worker in running] == [503, 503]
            finally:
                for process in stopped:
                    os.kill(process, signal.SIGCONT)
            until(lambda: all(call(worker, "GET", "/readyz")[0] == 200 for worker in running))
        done.set()
        made = {file for each in creating for file in each.result()}

    assert made
    assert made - {file for (file,) in place.execute("SELECT id FROM files")} == set()


SKEWED = """
import datetime, time

class Type(type):
    def __instancecheck__(cls, value):
        return isinstance(value, real)

class Skewed(datetime.datetime, metaclass=Type):
    @classmethod
    def now(cls, tz=None):
        return real.fromtimestamp(time.time(), tz)

real, datetime.datetime, seconds = datetime.datetime, Skewed, time.time
time.time = lambda: seconds() + {skew}
"""


@pytest.mark.parametrize("skew", [3600, -3600])
def test_modified_times_never_go_back_with_a_worker_whose_clock_is_wrong(place, tmp_path, monkeypatch, skew):
    with ExitStack() as stack:
        right = stack.enter_context(workers(place, 1, "t"))
        (tmp_path / "sitecustomize.py").write_text(SKEWED.format(skew=skew))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        running = right + stack.enter_context(workers(place, 1, "t"))
        file = sent(running[0], "POST", FILES, {"name": "x"})["id"]
        times = [
            sent(running[number % 2], "PATCH", f"{FILES}/{file}?fields=modifiedTime", {"description": str(number)})
            for number in range(20)
        ]
        event = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
        created = [sent(each, "POST", EVENTS, event)["created"] for each in running]

    assert times == sorted(times, key=itemgetter("modifiedTime"))
    assert created == sorted(created)
