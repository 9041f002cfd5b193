"""Tests of process pools that use one service (`fork`, `forkserver`, `spawn`, joblib)."""

import hashlib
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import joblib
import pytest

import svc_notebooks as svc
from svc_notebooks.client.session import make_current
from svc_notebooks.notebook.sandbox.sandbox import Sandbox
from tests.processes import Sent, connected_send, drawn, files, is_answered, send

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),  # Python 3.12 warns of threads
]

FORK = multiprocessing.get_context("fork") if hasattr(os, "fork") else None
STARTED_ANEW = ["forkserver", "spawn"]


class Connected:
    """A sandbox behind a socket, with a session of this process."""

    def __init__(self, lab: Sandbox, *, tls: bool) -> None:
        server = lab.serve(tls=tls)
        self.arguments = (server.base_url, lab.service.sign_in())
        svc.connect(*self.arguments, verify=server.ca)

    def check(self, sent: list[Sent]) -> None:
        stored = [(file, hashlib.md5(svc.read(file)).hexdigest()) for file, _ in sent]
        assert [content for content, expected in zip(stored, sent, strict=True) if content != expected] == []


@pytest.fixture(params=["http", "https"])
def connected(request):
    with svc.sandbox(seed=None) as lab:
        yield Connected(lab, tls=request.param == "https")
        make_current(None)


@pytest.mark.parametrize("connected", ["http"], indirect=True)
def test_no_answer_of_1000_calls_from_forked_pools_is_anothers(connected):
    ids = [svc.upload(str(number).encode(), name=f"{number}.txt")["id"].iloc[0] for number in range(25)]

    answers = []
    for _ in range(4):
        with FORK.Pool(4) as pool:
            answers += pool.map(is_answered, ids * 10, chunksize=1)

    assert answers == [True] * 1000


@pytest.mark.parametrize("connected", ["http"], indirect=True)
def test_no_bytes_of_200_uploads_from_forked_pools_are_anothers(connected):
    sent = []
    for begin in range(0, 200, 50):
        svc.files()  # a connection of the parent is open when it forks
        with FORK.Pool(4) as pool:
            sent += pool.map(send, range(begin, begin + 50), chunksize=1)

    connected.check(sent)
    assert len(svc.files()) == 200


def test_forked_children_and_their_parent_work_at_the_same_time(connected):
    """The end of the children closes no connection of the parent, with or without TLS."""
    with FORK.Pool(4) as pool:
        waiting = pool.map_async(send, range(8), chunksize=1)
        ours = [send(number) for number in range(8, 16)]
        sent = waiting.get()

    connected.check([*ours, *sent])


@pytest.mark.parametrize("connected", ["http"], indirect=True)
@pytest.mark.parametrize("method", STARTED_ANEW)
def test_processes_that_are_started_anew_connect_by_an_initializer(connected, method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, context, initializer=svc.connect, initargs=connected.arguments) as pool:
        connected.check(list(pool.map(send, range(6))))


@pytest.mark.parametrize("connected", ["http"], indirect=True)
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib_uploads_with_each_of_its_backends(connected, backend):
    jobs = (joblib.delayed(connected_send)(*connected.arguments, number) for number in range(6))

    connected.check(joblib.Parallel(n_jobs=2, backend=backend)(jobs))


@pytest.mark.parametrize("connected", ["http"], indirect=True)
def test_forked_children_draw_different_boundaries(connected):
    with FORK.Pool(3) as pool:
        numbers = dict(line.split() for line in pool.map(drawn, range(30), chunksize=1))

    assert len(set(numbers.values())) == len(numbers)


@pytest.mark.parametrize("path", [None, "store"], ids=["memory", "folder"])
def test_an_upload_to_a_sandbox_from_a_forked_child_is_an_error_and_not_lost(tmp_path, path):
    words = f"belongs to process {os.getpid()} .* Use threads; or call lab.serve"
    expected = pytest.raises(svc.Unsupported, match=words)
    with svc.sandbox(path and tmp_path / path):
        with FORK.Pool(2) as pool, expected:
            pool.map(send, range(4))
        with ProcessPoolExecutor(1, FORK) as pool, expected:
            pool.submit(files).result()
        assert files() == []


def test_a_forked_child_can_make_a_sandbox_of_its_own(tmp_path):
    with svc.sandbox(tmp_path), FORK.Pool(1) as pool:
        assert pool.apply(_in_a_new_sandbox) == ["theirs"]
        assert files() == []


def _in_a_new_sandbox() -> list[str]:
    with svc.sandbox():
        svc.upload(b"x", name="theirs")
        return files()


@pytest.mark.parametrize("connected, method", [("http", "forkserver"), ("https", "spawn")], indirect=["connected"])
def test_a_process_that_is_started_anew_has_no_session_and_takes_no_objects_of_this_one(connected, method):
    words = r"in this process, which was started by another one: call connect\("
    with multiprocessing.get_context(method).Pool(1) as pool:
        with pytest.raises(RuntimeError, match=words):
            pool.apply(files)
        begun = svc.start_upload(b"x", name="x")
        with svc.sandbox() as lab:
            for unpicklable, sentence in (
                (svc.current_session(), "a sandbox cannot be pickled or moved to another process"),
                (lab, "a sandbox cannot be pickled or moved to another process"),
                (begun, "an Upload cannot be pickled: pass session_uri to the other process"),
                (begun._session, "a Session cannot be pickled, because the pickle would contain the access token"),
            ):
                with pytest.raises(TypeError, match=sentence):
                    pool.apply(repr, (unpicklable,))


def test_a_receiver_says_in_a_forked_child_where_it_listens():
    expected = pytest.raises(svc.Unsupported, match=f"This receiver belongs to process {os.getpid()}")
    with svc.sandbox(), svc.receiver() as receiver:
        svc.watch_changes(receiver)
        with FORK.Pool(1, initializer=_receivers.append, initargs=(receiver,)) as pool:
            with expected:
                pool.apply(_wait)
            pool.apply(_close)
        assert receiver.wait_for("sync")["verified"].tolist() == [True]


_receivers: list[Any] = []


def _wait() -> None:
    _receivers[0].wait_for("sync", timeout=1000)


def _close() -> None:
    _receivers[0].close()
