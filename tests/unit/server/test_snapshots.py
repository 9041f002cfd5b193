"""Reset, snapshot and restore while requests are under way: what lands afterwards is whole, or does not land."""

import json
import os

import pytest

from svc_notebooks.core.errors.errors import Unsupported
from svc_notebooks.core.http.messages import Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.contract.wire import InProcess
from tests.framed import requester

Q = 262_144
DATA = os.urandom(4 * Q)
UPLOAD = "/upload/storage/v3/files?uploadType=media"


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


@pytest.fixture
def wire(service):
    return InProcess(service, "http://svc.test")


@pytest.fixture
def ask(service, wire):
    return requester(service, wire.token)


def test_an_upload_across_a_reset_is_refused_and_leaves_no_broken_file(service, wire, ask):
    assert ask("POST", UPLOAD, Interrupted(DATA[: 2 * Q + 5], service.reset, DATA[2 * Q + 5 :])).status == 503
    assert ask("PUT", wire.begin(), Interrupted(DATA[: 2 * Q], service.reset, DATA[2 * Q :])).status == 404
    assert wire.names() == []


@pytest.mark.spec("A3-17")
def test_bytes_of_a_chunk_across_a_restore_do_not_land(service, wire, ask):
    """The snapshot is taken in the middle of a chunk, so that the session looks the same when it is back."""
    uri = wire.begin()
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
    assert wire.download(json.loads(done.content())["id"]).body == DATA


@pytest.mark.spec("A3-18")
def test_a_final_chunk_that_was_overtaken_by_another_answers_its_file(service, wire, ask):
    """With a pregenerated id: what the other one used must not look like somebody else's."""
    file_id = wire.generated_id()
    uri = wire.begin({"id": file_id})
    session = dict(part.split("=") for part in uri.partition("?")[2].split("&"))["upload_id"]

    def overtake():
        service._context.session_locks._locks.pop(session)  # as when the first one could not be cut off in time
        assert ask("PUT", uri, b"hello").status == 200

    answer = ask("PUT", uri, Interrupted(b"hel", overtake, b"lo"), Content_Length="5")

    assert answer.status == 200
    assert json.loads(answer.content())["id"] == file_id
    assert wire.download(file_id).body == b"hello"


def test_each_reset_begins_new_ids_that_a_seed_repeats():
    """A row from before a reset does not name a file created after it."""
    with open_service(seed=7) as first_service, open_service(seed=7) as second_service:
        drawn = []
        for service in (first_service, second_service):
            wire = InProcess(service, "http://svc.test")
            drawn.append([wire.create()["id"]])
            for _ in range(2):
                service.reset()
                assert wire.names() == []
                drawn[-1].append(wire.create()["id"])

    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3


def test_a_closed_service_refuses_requests_with_advice(caplog):
    service = open_service(seed=0)
    service.close()

    with pytest.raises(Unsupported, match="The service is closed") as error:
        service.handle(Request("GET", "http://svc.local/storage/v3/files"))

    assert "svc.sandbox()" in error.value.advice
    assert not caplog.records
