"""The whole service, with seeds, reset, restore and reopening."""

from __future__ import annotations

import json
import shutil
from io import BytesIO

import pytest

from svc_notebooks.core.errors.errors import Unsupported
from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from tests.broken_body import BrokenBody
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


def test_a_restore_brings_the_files_back():
    with open_service(seed=0) as service:
        token = service.sign_in()
        create(service, token, "kept")
        snapshot = service.snapshot()
        create(service, token, "lost")
        service.clock.advance("1d")

        service.restore(snapshot)

        assert names(service, token) == ["kept"]
        assert service.clock.now().isoformat() == "2026-01-05T09:00:00+00:00"
        with pytest.raises(ValueError, match="is not a snapshot"):
            service.restore("x")


def test_a_reopened_folder_has_its_files_and_new_ids(tmp_path):
    with open_service(tmp_path, seed=0) as service:
        token = service.sign_in(token="T")
        first = create(service, token, "kept")

    with open_service(tmp_path, seed=0) as service:
        assert names(service, "T") == ["kept"]
        assert create(service, "T", "next") != first


def test_a_token_expires_and_sees_only_files_of_its_user():
    with open_service(seed=0) as service:
        ada, bob = service.sign_in(), service.sign_in("bob@svc.example", expires_in=60)
        file_id = create(service, ada)
        headers = Headers([("Authorization", f"Bearer {bob}")])
        ask = Request("GET", f"http://svc.local/storage/v3/files/{file_id}", headers)

        assert service.handle(ask).status == 404
        service.clock.advance(60)
        assert service.handle(ask).status == 401


METADATA = b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\nContent-Type: text/plain\r\n\r\n"
SOME_PARTS = b"x" * (3 * 65_536 + 9)
WORKBOOK = METADATA.replace(b"{}", b'{"mimeType": "application/vnd.svc-apps.spreadsheet"}').replace(
    b"text/plain", b"%s"
)
XLSX = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.mark.spec("A2-02", "A2-02b", "A5-02", "U-06")
@pytest.mark.parametrize(
    "method, target, body, status",
    [
        ("POST", "?uploadType=media", BrokenBody(SOME_PARTS), 499),
        ("POST", "?uploadType=multipart", METADATA + SOME_PARTS, 400),
        ("POST", "?uploadType=multipart", METADATA + SOME_PARTS + b"\r\n--b\r\n\r\n\r\n--b--\r\n", 400),
        ("POST", "?uploadType=multipart", (WORKBOOK % XLSX) + b"PK\x03\x04" + SOME_PARTS + b"\r\n--b--\r\n", 400),
        ("PUT", "/nobody?uploadType=media", SOME_PARTS, 404),
    ],
    ids=["its sender leaves", "not closed", "three parts", "no workbook", "no such file"],
)
def test_a_refused_upload_stores_no_byte(tmp_path, method, target, body, status):
    with open_service(tmp_path, seed=0, policy=Policy(part_size=65_536)) as service:
        media_type = "multipart/related; boundary=b" if "multipart" in target else "text/plain"
        headers = Headers([("Authorization", f"Bearer {service.sign_in()}"), ("Content-Type", media_type)])
        url = f"http://svc.local/upload/storage/v3/files{target}"

        assert service.handle(framed(Request(method, url, headers, body))).status == status

        assert [path.name for path in (tmp_path / "parts").rglob("*") if path.is_file()] == []


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


@pytest.mark.parametrize("surplus, status", [(0, 200), (1, 413)])
def test_an_upload_of_unknown_length_may_reach_the_limit(surplus, status):
    part, limit = 65_536, 5 * 65_536
    url, token = (
        "http://svc.local/upload/storage/v3/files?uploadType=resumable",
        Headers([("Authorization", "Bearer T")]),
    )

    with open_service(seed=0, policy=Policy(part_size=part, max_upload_size=limit)) as service:
        service.sign_in(token="T")
        uri = service.handle(framed(Request("POST", url, token))).headers["Location"]
        response = service.handle(framed(Request("PUT", uri, token, BytesIO(bytes(limit + surplus)))))

    assert response.status == status


def test_a_closed_service_refuses_requests_with_advice(caplog):
    service = open_service(seed=0)
    service.close()

    with pytest.raises(Unsupported, match="The service is closed") as error:
        service.handle(Request("GET", "http://svc.local/storage/v3/files"))

    assert "svc.sandbox()" in error.value.advice
    assert not caplog.records
