import errno
import json
import os
from unittest.mock import Mock

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import open_service
from svc_notebooks.server.store import contents, maintenance
from svc_notebooks.server.store.blob_store import StoredPart
from svc_notebooks.server.store.contents import Content
from svc_notebooks.server.store.directory_blob_store import DirectoryBlobStore
from svc_notebooks.server.store.maintenance import check_store
from tests.framed import requester

Q = 262_144
DATA = os.urandom(5 * Q)
FILES = "http://svc.local/storage/v3/files"
UPLOAD = "http://svc.local/upload/storage/v3/files?uploadType=resumable"


class Client:
    """Uploads `data` in chunks of 256 KiB to a service in this process."""

    def __init__(self, service, data=DATA):
        self.service, self.data = service, data
        self.token = service.sign_in()
        self.uri = None

    def ask(self, *request, **headers):
        return requester(self.service, self.token)(*request, **headers)

    def begin(self):
        self.uri = self.ask("POST", UPLOAD).headers["Location"]
        return self

    def send(self, *numbers):
        for number in numbers:
            first = number * Q
            content_range = f"bytes {first}-{first + Q - 1}/{len(self.data)}"
            response = self.ask("PUT", self.uri, self.data[first : first + Q], Content_Range=content_range)
        return response

    def stored(self):
        response = self.ask("PUT", self.uri, Content_Range="bytes */*")
        assert response.status == 308
        stored = response.headers.get("Range")
        return int(stored.removeprefix("bytes=0-")) + 1 if stored else 0

    def download(self, response):
        assert response.status == 200
        return self.ask("GET", f"{FILES}/{json.loads(response.content())['id']}?alt=media").content()


def sizes(folder):
    return sorted(path.stat().st_size for path in (folder / "parts").glob("??/*"))


@pytest.fixture
def client(tmp_path):
    with open_service(tmp_path / "store", seed=0) as service:
        yield Client(service).begin()


def test_the_chunks_of_an_upload_are_one_file(client, tmp_path):
    for number in range(4):
        client.send(number)
        assert sizes(tmp_path / "store") == [(number + 1) * Q]

    assert client.download(client.send(4)) == DATA
    assert sizes(tmp_path / "store") == [5 * Q]


def test_a_chunk_that_crosses_the_size_of_a_part_fills_one_and_begins_another(tmp_path):
    with open_service(tmp_path, seed=0, policy=Policy(part_size=Q + 1000)) as service:
        client = Client(service).begin()

        assert client.download(client.send(*range(5))) == DATA
    assert sizes(tmp_path) == [5 * Q - 4 * (Q + 1000), *4 * [Q + 1000]]


@pytest.mark.spec("A3-19", "A3-19b")
def test_bytes_that_no_row_counts_are_ignored_after_a_kill(tmp_path):
    with open_service(tmp_path, seed=0) as service:
        client = Client(service).begin()
        client.send(0, 1)
    (path,) = (tmp_path / "parts").glob("??/*")
    with path.open("ab") as file:
        file.write(b"bytes of a chunk that was not committed")

    with open_service(tmp_path, seed=0) as client.service:
        assert client.stored() == 2 * Q
        assert client.download(client.send(2, 3, 4)) == DATA
    assert check_store(tmp_path).problems == []


@pytest.mark.spec("A3-12")
def test_the_bytes_of_a_chunk_whose_commit_fails_are_deleted(client, tmp_path, monkeypatch):
    client.send(0)

    fail = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    with monkeypatch.context() as patch:
        patch.setattr(client.service._context.store.database, "_commit", fail)
        refused = client.send(1)

    assert refused.status == 507
    assert sizes(tmp_path / "store") == [Q]
    assert client.stored() == Q
    assert client.download(client.send(1, 2, 3, 4)) == DATA


def test_the_oldest_of_many_open_parts_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "_MAX_OPEN_WRITERS", 2)
    with open_service(tmp_path, seed=0) as service:
        clients = [Client(service, data=os.urandom(3 * Q)).begin() for _ in range(3)]
        for number in range(2):
            for client in clients:
                client.send(number)
        assert len(service._context.content._open_writers) == 2

        assert [client.download(client.send(2)) for client in clients] == [client.data for client in clients]


@pytest.mark.parametrize("closes", [True, False], ids=["", "a chunk ends while another thread restores"])
def test_a_part_of_another_state_is_not_extended(tmp_path, monkeypatch, closes):
    """Contents of two states can have the same number and the same size."""
    with open_service(tmp_path, seed=0) as service:
        first, second = Client(service), Client(service, data=os.urandom(5 * Q))
        empty = service.snapshot()
        first.begin().send(0, 1)
        begun = service.snapshot()
        service.restore(empty)
        second.begin().send(0, 1)
        if not closes:
            monkeypatch.setattr(Content, "close_writers", lambda self: None)
        service.restore(begun)

        if not closes:
            refused = first.send(2)
            assert (refused.status, refused.headers["Range"]) == (308, f"bytes=0-{2 * Q - 1}")
        assert first.download(first.send(2, 3, 4)) == DATA


def test_a_backup_has_the_counted_bytes_of_a_part_that_grows_meanwhile(client, tmp_path, monkeypatch):
    client.send(0)
    other = json.loads(client.ask("POST", UPLOAD.replace("resumable", "media"), b"other").content())["id"]
    copies = []
    copy_database, copy_parts = maintenance.copy_database, maintenance._copy_parts

    def copy_and_grow(source, target):
        copy_database(source, target)
        copies.append(target)
        client.send(len(copies))

    def copy_all_but_the_first_time(*arguments):
        is_whole = copy_parts(*arguments)
        if len(copies) == 1:
            client.ask("DELETE", f"{FILES}/{other}")
            return False
        return is_whole

    monkeypatch.setattr(maintenance, "copy_database", copy_and_grow)
    monkeypatch.setattr(maintenance, "_copy_parts", copy_all_but_the_first_time)
    done = maintenance.back_up(tmp_path / "store", tmp_path / "backup")

    assert (len(copies), done.parts, done.size, done.damaged) == (2, 1, 2 * Q, [])
    assert sizes(tmp_path / "backup") == [2 * Q]
    with open_service(tmp_path / "backup", seed=0) as client.service:
        assert client.stored() == 2 * Q
        assert client.download(client.send(2, 3, 4)) == DATA


@pytest.mark.parametrize("sync", [False, True])
def test_a_committed_part_grows_and_can_lose_the_bytes_after_a_size(tmp_path, sync):
    parts = DirectoryBlobStore(tmp_path, sync=sync)
    writer = parts.writer()
    writer.write(b"first")
    first = StoredPart(writer.commit(), writer.size, writer.checksum)
    writer.write(b", second")
    second = StoredPart(writer.commit(), writer.size, writer.checksum)
    writer.write(b", third")
    writer.abort(second.size)

    assert first.key == second.key
    assert [b"".join(parts.read(part, 0, part.size)) for part in (first, second)] == [b"first", b"first, second"]
    assert [parts.problem(part) for part in (first, second)] == [None, None]
    assert (tmp_path / first.key[:2] / first.key).read_bytes() == b"first, second"
