"""A service with a full disk, its responses, its data, and deletions that free space."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.directory_blob_store import DirectoryBlobStore
from tests.contract.conftest import InProcess, Q, Wire

CONTENT = Random(7).randbytes(3 * Q)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the permission to mount a file system")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.fixture
def service(small_disk: Path) -> Iterator[Service]:
    with open_service(small_disk / "store", seed=0, policy=Policy(part_size=Q)) as service:
        yield service


def fill(disk: Path) -> None:
    for size in (64 * 1024, 512):
        with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
            while True:
                file.write(bytes(size))
    assert os.statvfs(disk).f_bavail == 0


def make_room(disk: Path) -> None:
    (disk / "filler").unlink()


@pytest.mark.choice("A full disk")
def test_an_upload_is_answered_507_and_leaves_nothing(wire: Wire, small_disk: Path) -> None:
    kept = wire.create(CONTENT)["id"]
    fill(small_disk)

    answer = wire.send("POST", "/upload/storage/v3/files?uploadType=media", CONTENT)

    assert (answer.status, answer.error["reason"]) == (507, "insufficientStorage")
    assert wire.download(kept).body == CONTENT
    assert wire.send("GET", f"/storage/v3/files/{kept}?fields=md5Checksum").status == 200
    assert [file["id"] for file in wire.files()] == [kept]
    make_room(small_disk)
    assert [file["id"] for file in wire.files()] == [kept]
    assert wire.download(kept).body == CONTENT
    assert len(list((small_disk / "store" / "parts").glob("??/*"))) == 3


def test_an_upload_session_goes_on_when_there_is_room(wire: Wire, small_disk: Path) -> None:
    uri = wire.begin({"name": "big"})
    assert wire.put(uri, CONTENT[:Q], f"bytes 0-{Q - 1}/{3 * Q}").status == 308
    fill(small_disk)

    full = wire.put(uri, CONTENT[Q:], f"bytes {Q}-{3 * Q - 1}/{3 * Q}")
    asked_meanwhile = [wire.put(uri, b"", f"bytes */{3 * Q}") for _ in range(3)]
    make_room(small_disk)
    status = wire.put(uri, b"", f"bytes */{3 * Q}")
    done = wire.put(uri, CONTENT[Q:], f"bytes {Q}-{3 * Q - 1}/{3 * Q}")

    assert (full.status, full.error["reason"]) == (507, "insufficientStorage")
    for answer in (*asked_meanwhile, status):
        assert (answer.status, answer.headers["range"]) == (308, f"bytes=0-{Q - 1}")
    assert wire.download(done.json["id"]).body == CONTENT


def test_a_deletion_makes_room(wire: Wire, small_disk: Path) -> None:
    """So do the second one and those that follow, because the room is reserved again."""
    files = [wire.create(CONTENT)["id"] for _ in range(4)]
    wire.json_request("PATCH", f"/storage/v3/files/{files[3]}", {"trashed": True})
    uri = wire.begin()
    wire.put(uri, CONTENT[:Q], "bytes 0-262143/*")
    fill(small_disk)

    for file_id in files[:3]:
        assert wire.send("DELETE", f"/storage/v3/files/{file_id}").status == 204
        fill(small_disk)
    assert wire.send("POST", "/upload/storage/v3/files?uploadType=media", CONTENT).status == 507
    assert wire.send("DELETE", uri).status == 499
    fill(small_disk)
    assert wire.send("DELETE", "/storage/v3/files/trash").status == 204
    assert not list((small_disk / "store" / "parts").glob("??/*"))
    assert wire.create(CONTENT[:Q])["size"] == str(Q)


def test_a_service_starts_on_a_full_disk_and_deletes(small_disk: Path) -> None:
    with open_service(small_disk / "store", seed=0) as service:
        file_id = InProcess(service, "http://svc.test").create(CONTENT)["id"]
    fill(small_disk)

    with open_service(small_disk / "store", seed=0) as service:
        wire = InProcess(service, "http://svc.test")
        kept, deleted = wire.download(file_id).body, wire.send("DELETE", f"/storage/v3/files/{file_id}").status
        again = wire.create(CONTENT[:Q])

    assert (kept, deleted, again["size"]) == (CONTENT, 204, str(Q))


def test_a_new_store_on_a_full_disk_is_refused_with_one_sentence(small_disk: Path) -> None:
    fill(small_disk)
    command = [sys.executable, "-m", "svc_notebooks.cli", "serve", "--store", str(small_disk / "new")]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stdout == ""
    assert "No space left on device" in done.stderr or "is full" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


class TestWithoutAMount:
    """The same without a mount, with a database of limited size and parts that cannot be written."""

    @pytest.fixture
    def service(self, tmp_path: Path) -> Iterator[Service]:
        with open_service(tmp_path / "store", seed=0, policy=Policy(part_size=Q)) as service:
            yield service

    def test_a_full_database_is_507_and_the_next_request_is_served(self, wire: Wire) -> None:
        driver = wire.service._context.store.database._driver
        file_id = wire.create(CONTENT)["id"]
        driver.execute("PRAGMA max_page_count = 1")  # SQLite takes the present size

        answer = wire.post_json("/storage/v3/files", {"description": "x" * 100_000})
        driver.execute("PRAGMA max_page_count = 1000000")

        assert (answer.status, answer.error["reason"]) == (507, "insufficientStorage")
        assert [file["id"] for file in wire.files()] == [file_id]
        assert wire.create(CONTENT)["size"] == str(len(CONTENT))

    def test_a_part_that_cannot_be_written_is_507(self, wire, tmp_path, monkeypatch):
        writer_of = DirectoryBlobStore.writer

        def full(parts: DirectoryBlobStore) -> object:
            writer: Any = writer_of(parts)
            writer._file.close()
            writer._file = open("/dev/full", "wb", buffering=0)  # noqa: SIM115, PTH123
            return writer

        monkeypatch.setattr(DirectoryBlobStore, "writer", full)
        answer = wire.send("POST", "/upload/storage/v3/files?uploadType=media", CONTENT)
        monkeypatch.undo()

        assert (answer.status, answer.error["reason"]) == (507, "insufficientStorage")
        assert not list((tmp_path / "store" / "parts").glob("??/*"))
        assert wire.create(CONTENT)["size"] == str(len(CONTENT))
