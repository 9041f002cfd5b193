"""The whole service, with seeds, reset, restore and reopening."""

from __future__ import annotations

import json
import shutil

import pytest

from svc_notebooks.core.errors.errors import Unsupported
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.framed import framed


def create(service, token, name="a"):
    headers = Headers([("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")])
    body = json.dumps({"name": name}).encode()
    answer = service.handle(Request("POST", "http://svc.local/storage/v3/files", headers, body))
    return json.loads(answer.content())["id"]


def names(service, token):
    headers = Headers([("Authorization", f"Bearer {token}")])
    answer = service.handle(Request("GET", "http://svc.local/storage/v3/files", headers))
    return [file["name"] for file in json.loads(answer.content())["files"]]


def test_a_seed_repeats_ids_and_tokens():
    with open_service(seed=7) as first_service, open_service(seed=7) as second_service:
        token = first_service.sign_in()
        first = [create(first_service, token) for _ in range(3)]
        assert (second_service.sign_in(), [create(second_service, token) for _ in range(3)]) == (token, first)


def test_each_reset_begins_new_ids_that_a_seed_repeats():
    """A row from before a reset does not name a file created after it."""
    with open_service(seed=7) as first_service, open_service(seed=7) as second_service:
        drawn = []
        for service in (first_service, second_service):
            token = service.sign_in()
            drawn.append([create(service, token)])
            for _ in range(2):
                service.reset()
                assert names(service, token) == []
                drawn[-1].append(create(service, token))

    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3


class Watched:
    """A body that calls a function before each block."""

    def __init__(self, content, tell):
        self.content, self.tell = content, tell

    def read(self, size=-1, /):
        self.tell(len(self.content))
        block, self.content = self.content[:size], self.content[size:]
        return block


@pytest.mark.spec("A3-19", "A3-19b")
def test_a_chunk_interrupted_by_a_kill_can_be_resumed(tmp_path):
    """After a kill -9 the whole parts count, and the rest is missing."""
    content, unit = bytes(range(256)) * 4096, 262_144
    url, end = "http://svc.local/upload/storage/v3/files?uploadType=resumable", len(content) - 1

    def put(service, uri, body, content_range):
        headers = Headers([("Authorization", "Bearer T"), ("Content-Range", content_range)])
        return service.handle(framed(Request("PUT", uri, headers, body)))

    def left_behind(missing):
        if missing == len(content) - 3 * unit:
            shutil.copytree(tmp_path / "one", tmp_path / "other")

    with open_service(tmp_path / "one", seed=0, policy=Policy(part_size=unit)) as service:
        token = Headers([("Authorization", f"Bearer {service.sign_in(token='T')}")])
        uri = service.handle(framed(Request("POST", url, token))).headers["Location"]
        put(service, uri, Watched(content, left_behind), f"bytes 0-{end}/{end + 1}")

    with open_service(tmp_path / "other", seed=0, policy=Policy(part_size=unit)) as service:
        at = int(put(service, uri, b"", "bytes */*").headers["Range"].removeprefix("bytes=0-")) + 1
        file = json.loads(put(service, uri, content[at:], f"bytes {at}-{end}/{end + 1}").content())
        media = f"http://svc.local/storage/v3/files/{file['id']}?alt=media"
        assert (at % unit, service.handle(Request("GET", media, token)).content()) == (0, content)


def test_a_closed_service_refuses_requests_with_advice(caplog):
    service = open_service(seed=0)
    service.close()

    with pytest.raises(Unsupported, match="The service is closed") as error:
        service.handle(Request("GET", "http://svc.local/storage/v3/files"))

    assert "svc.sandbox()" in error.value.advice
    assert not caplog.records
