"""Reset, snapshot and restore while requests are under way: what lands afterwards is whole, or does not land."""

import hashlib
import json
import os

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.framed import requester

Q = 262_144
DATA = os.urandom(4 * Q)
FILES = "http://svc.local/storage/v3/files"
UPLOAD = "http://svc.local/upload/storage/v3/files?fields=id,md5Checksum&uploadType="


class Interrupted:
    """A body in whose middle something happens: a callable among its blocks is called when it is its turn."""

    def __init__(self, *blocks):
        self.blocks = list(blocks)

    def read(self, size=-1, /):
        while self.blocks and callable(self.blocks[0]):
            self.blocks.pop(0)()
        if not self.blocks:
            return b""
        block = self.blocks.pop(0)
        if len(block) > size >= 0:
            self.blocks.insert(0, block[size:])
        return block[: size if size >= 0 else None]


@pytest.fixture(params=["memory", "folder"])
def service(request, tmp_path):
    path = None if request.param == "memory" else tmp_path
    with open_service(path, seed=0, policy=Policy(part_size=Q)) as service:
        yield service


def listed(ask):
    return [file["id"] for file in json.loads(ask("GET", FILES).content())["files"]]


def download(ask, file_id):
    return ask("GET", f"{FILES}/{file_id}?alt=media").content()


def test_a_simple_upload_across_a_reset_is_refused_and_leaves_no_broken_file(service):
    ask = requester(service)

    answer = ask("POST", UPLOAD + "media", Interrupted(DATA[: 2 * Q + 5], service.reset, DATA[2 * Q + 5 :]))

    assert answer.status == 503
    assert listed(ask) == []


def test_a_chunk_across_a_reset_finds_its_session_gone(service):
    ask = requester(service)
    uri = ask("POST", UPLOAD + "resumable").headers["Location"]

    answer = ask("PUT", uri, Interrupted(DATA[: 2 * Q], service.reset, DATA[2 * Q :]))

    assert (answer.status, listed(ask)) == (404, [])


@pytest.mark.spec("A3-17")
def test_bytes_of_a_chunk_across_a_restore_do_not_land(service):
    """The snapshot is taken in the middle of a chunk, so that the session looks the same when it is back."""
    ask = requester(service)
    uri = ask("POST", UPLOAD + "resumable").headers["Location"]
    taken = []
    body = Interrupted(
        DATA[: Q + 5],
        lambda: taken.append(service.snapshot()),
        DATA[Q + 5 : 2 * Q + 5],
        lambda: service.restore(taken[0]),
        DATA[2 * Q + 5 :],
    )

    answer = ask("PUT", uri, body, Content_Range=f"bytes 0-{4 * Q - 1}/{4 * Q}", Content_Length=str(4 * Q))

    assert (answer.status, answer.headers["Range"]) == (308, f"bytes=0-{Q - 1}")
    done = ask("PUT", uri, DATA[Q:], Content_Range=f"bytes {Q}-{4 * Q - 1}/{4 * Q}")
    made = json.loads(done.content())
    assert made["md5Checksum"] == hashlib.md5(DATA).hexdigest()
    assert download(ask, made["id"]) == DATA


@pytest.mark.spec("A3-18")
def test_a_final_chunk_that_was_overtaken_by_another_answers_its_file(service):
    """With a pregenerated id: what the other one used must not look like somebody else's."""
    ask = requester(service)
    file_id = json.loads(ask("GET", f"{FILES}/generateIds?count=1").content())["ids"][0]
    uri = ask(
        "POST", UPLOAD + "resumable", json.dumps({"id": file_id}).encode(), Content_Type="application/json"
    ).headers["Location"]
    session = dict(part.split("=") for part in uri.partition("?")[2].split("&"))["upload_id"]

    def overtake():
        service._context.session_locks._locks.pop(session)  # as when the first one could not be cut off in time
        assert ask("PUT", uri, b"hello").status == 200

    answer = ask("PUT", uri, Interrupted(b"hel", overtake, b"lo"), Content_Length="5")

    assert answer.status == 200
    assert json.loads(answer.content())["id"] == file_id
    assert download(ask, file_id) == b"hello"
