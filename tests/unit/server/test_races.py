"""Requests on one upload session at the same time: one wins or waits, bytes never mix."""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from svc_notebooks.core.http.messages import Disconnected
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.framed import requester
from tests.patience import PATIENCE

Q = 262_144
DATA = os.urandom(2 * Q)


class Stalled:
    """A body that gives what it has, then waits until it is aborted or told to go on."""

    def __init__(self, content):
        self.content = content
        self.waiting = Event()
        self.go_on = Event()
        self.aborted = False

    def read(self, size=-1, /):
        if self.content:
            block, self.content = self.content[:size], self.content[size:]
            return block
        self.waiting.set()
        self.go_on.wait(PATIENCE)
        raise Disconnected

    def abort(self):
        self.aborted = True
        self.go_on.set()


@pytest.fixture(params=["memory", "folder"])
def service(request, tmp_path):
    path = None if request.param == "memory" else tmp_path
    with open_service(path, seed=0, policy=Policy(takeover_after=0.2)) as made:
        yield made


@pytest.fixture
def ask(service):
    return requester(service)


@pytest.fixture
def uri(ask):
    answer = ask("POST", "http://svc.local/upload/storage/v3/files?uploadType=resumable&fields=id,md5Checksum")
    return answer.headers["Location"]


def chunk(ask, uri, first, last):
    return ask("PUT", uri, DATA[first:last], Content_Range=f"bytes {first}-{last - 1}/{2 * Q}")


@pytest.mark.spec("A3-12", "A3-17")
def test_a_question_cuts_a_stalled_chunk_and_what_had_come_counts_in_whole_units(ask, uri):
    body = Stalled(DATA[: Q + 1000])
    with ThreadPoolExecutor(1) as pool:
        pool.submit(ask, "PUT", uri, body, Content_Range=f"bytes 0-{2 * Q - 1}/{2 * Q}", Content_Length=str(2 * Q))
        body.waiting.wait(PATIENCE)

        answer = ask("PUT", uri, Content_Range="bytes */*")

    assert body.aborted
    assert (answer.status, answer.headers["Range"]) == (308, f"bytes=0-{Q - 1}")


@pytest.mark.spec("A3-17")
def test_a_chunk_takes_over_from_one_that_cannot_be_cut_and_late_bytes_do_not_land(ask, uri):
    body = Stalled(b"x" * Q)
    body.abort = lambda: None
    with ThreadPoolExecutor(1) as pool:
        headers = {"Content_Range": f"bytes 0-{2 * Q - 1}/{2 * Q}", "Content_Length": str(2 * Q)}
        late = pool.submit(ask, "PUT", uri, body, **headers)
        body.waiting.wait(PATIENCE)
        taken = chunk(ask, uri, 0, Q)
        body.go_on.set()
        late.result(PATIENCE)

    done = chunk(ask, uri, Q, 2 * Q)
    assert taken.headers["Range"] == f"bytes=0-{Q - 1}"
    assert json.loads(done.content())["md5Checksum"] == hashlib.md5(DATA).hexdigest()


def test_a_cancellation_is_not_lost_if_another_process_claims_the_session_meanwhile(service, ask, uri, monkeypatch):
    sessions, claims = service._context.store.upload_sessions, []
    claim = sessions.claim

    def claim_and_be_overtaken(key):
        claims.append(claim(key))
        if len(claims) == 1:
            claim(key)  # of a chunk that another process receives
        return claims[-1]

    monkeypatch.setattr(sessions, "claim", claim_and_be_overtaken)

    assert ask("DELETE", uri).status == 499
    assert len(claims) == 2
    assert ask("PUT", uri, DATA, Content_Range=f"bytes 0-{2 * Q - 1}/{2 * Q}").status == 499
