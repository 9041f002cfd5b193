import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

import pytest

from svc_notebooks.server.service import open_service
from svc_notebooks.server.store import engine
from svc_notebooks.server.store.opening import open_database
from svc_notebooks.server.store.store import Store
from tests.contract.wire import InProcess

SECONDS = 30  # after which a thread that waits for a lock fails its test


@pytest.fixture
def store(tmp_path):
    kept = Store(open_database(tmp_path / "svc.sqlite", "process"))
    yield kept
    kept.close()


@contextmanager
def writing(store: Store) -> Iterator[None]:
    begun, ended = Event(), Event()

    def write() -> None:
        with store.transaction():
            store.users.add_user("ada", "root")
            begun.set()
            ended.wait(SECONDS)

    thread = Thread(target=write)
    thread.start()
    assert begun.wait(SECONDS)
    try:
        yield
    finally:
        ended.set()
        thread.join()


def in_thread(function: Callable[[], Any]) -> Any:
    """Run a function in another thread. Raises TimeoutError if the thread waits for a lock."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(SECONDS)


def emails(store: Store) -> list[str]:
    with store.reading():
        return store.users.emails()


def test_a_reader_waits_for_no_writer_sees_only_commits_and_changes_nothing(store):
    with writing(store):
        assert in_thread(lambda: emails(store)) == []
    with store.reading(), pytest.raises(Exception, match="readonly"):
        store.database._reader._driver.execute("DELETE FROM users")

    assert emails(store) == ["ada"]


@pytest.mark.parametrize("change", ["statement", "transaction", "lock"])
def test_a_change_ends_the_snapshot_of_its_thread(store, change):
    with store.reading():
        seen = store.users.ensure_named_value("number", "0") if change == "statement" else store.users.emails()
        assert seen in ("0", [])
        in_thread(lambda: store.users.add_user("ada", "root"))
        if change == "statement":
            store.users.add_user("bob", "root")
        else:
            with store.transaction() if change == "transaction" else store.exclusive():
                assert store.users.emails() == ["ada"]
        assert store.users.emails() == ["ada", "bob"][: 2 if change == "statement" else 1]


def test_a_cached_row_is_never_older_than_a_commit_that_was_answered(store):
    store.users.ensure_named_value("number", "0")

    def read(last):
        with store.reading():
            last.append(int(store.users.ensure_named_value("number", "0")))

    with ThreadPoolExecutor(4) as pool:
        for number in range(1, 150):
            store.users.set_named_value("number", str(number))
            seen = []
            for future in [pool.submit(read, seen) for _ in range(4)]:
                future.result(SECONDS)
            assert seen == [number] * 4


def test_the_log_is_shortened_although_some_reader_always_reads(store, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "_COMMITS_PER_CHECK", 1)
    monkeypatch.setattr(engine, "_MAX_LOG_SIZE", 0)
    emails(store)
    with store.transaction():
        store.users.add_user("ada", "root")

    assert (tmp_path / "svc.sqlite-wal").stat().st_size == 0


def test_lists_and_metadata_wait_for_no_writer(tmp_path):
    with open_service(tmp_path / "store") as service:
        wire = InProcess(service, "http://svc.test")
        root = wire.send("GET", "/storage/v3/files/root").json["id"]
        targets = ["/storage/v3/files", f"/storage/v3/files/{root}", "/storage/v3/about?fields=*"]
        targets += ["/storage/v3/changes/startPageToken", "/calendar/v3/calendars/primary/events"]
        for target in targets:  # the first list of events creates the calendar
            assert wire.send("GET", target).status == 200
        with writing(service._context.store):
            for target in targets:
                assert in_thread(lambda target=target: wire.send("GET", target)).status == 200


HOLDER = """
import os, sys
from svc_notebooks.server.service import open_service
service = open_service(sys.argv[1])
with service._context.store.reading():
    service._context.store.users.emails()
if sys.argv[2:] and os.fork() == 0:
    os.close(1)
    import signal
    signal.pause()
print(os.getpid(), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
def test_a_killed_process_leaves_no_lock_even_if_its_child_lives(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "store", "fork"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert int(holder.stdout.readline()) == holder.pid
        holder.kill()
        holder.wait()

        with open_service(tmp_path / "store") as service:
            assert emails(service._context.store) == []
    finally:
        os.killpg(holder.pid, signal.SIGKILL)
        holder.stdin.close()
        holder.stdout.close()


@pytest.fixture
def database():
    opened = open_database(None, "process")
    yield opened
    opened.close()


def test_called_once_after_the_outermost_commit(database):
    calls = []

    def record():
        calls.append("in a transaction" if database.driver.in_transaction else "after it")

    with database.transaction():
        with database.transaction():
            database.after_commit(record)
        database.after_commit(record)
        assert calls == []

    assert calls == ["after it"]


def test_not_called_after_a_rollback(database):
    calls = []

    with suppress(ZeroDivisionError), database.transaction():
        database.after_commit(lambda: calls.append("rolled back"))
        raise ZeroDivisionError
    with database.transaction():
        pass

    assert calls == []


def test_called_at_once_without_a_transaction(database):
    calls = []

    database.after_commit(lambda: calls.append("now"))

    assert calls == ["now"]
