"""Damaged content gets into no saved service, no fork and no snapshot."""

from __future__ import annotations

import errno
import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_saved, open_service
from svc_notebooks.server.store.blob_store import DamagedContent
from svc_notebooks.server.transports.control_api import Control
from tests.framed import framed

TOKEN = "svc.a-token-of-this-test"


def ask(service: Service, method: str, target: str, body: bytes = b"") -> Any:
    headers = Headers([("Authorization", f"Bearer {TOKEN}")])
    request = framed(Request(method, f"http://svc.test{target}", headers, body))
    response = service.handle(request)
    return response.status, response.content()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def service(folder: Path) -> Iterator[Service]:
    """Store two files of two parts each, and damage a part of the first."""
    with open_service(folder, seed=0, policy=Policy(part_size=10)) as service:
        service.sign_in(token=TOKEN)
        for letter in b"ab":
            ask(service, "POST", "/upload/storage/v3/files?uploadType=media", bytes([letter]) * 15)
        next(path for path in parts(folder) if path.read_bytes() == b"a" * 5).write_bytes(b"aaxaa")
        yield service


def parts(folder: Path) -> list[Path]:
    return list((folder / "parts").glob("??/*"))


@pytest.mark.parametrize("act", [Service.fork, lambda service: service.dump(io.BytesIO())], ids=["fork", "save"])
def test_a_rotten_part_is_named_with_its_file(service: Service, act: Any) -> None:
    with pytest.raises(DamagedContent, match=r"Untitled \(.+\) is damaged: part .+ has a wrong checksum"):
        act(service)


@pytest.mark.parametrize(
    "act",
    [Service.fork, Service.snapshot, lambda service: service.dump(io.BytesIO())],
    ids=["fork", "snapshot", "save"],
)
def test_all_missing_parts_are_named(service: Service, folder: Path, act: Any) -> None:
    for path in parts(folder):
        path.unlink()

    with pytest.raises(DamagedContent) as caught:
        act(service)

    assert len(caught.value.problems) == 4
    assert len(caught.value.files) == 2
    assert "and 1 more parts" in str(caught.value)


def test_a_failed_save_leaves_the_file_as_it_was(service: Service, tmp_path: Path) -> None:
    target = tmp_path / "lab.svc"
    with open_service(seed=0) as other:
        other.save(target)
    before = target.read_bytes()

    with pytest.raises(OSError, match="damaged"):
        service.save(target)

    assert target.read_bytes() == before
    assert list(tmp_path.glob(".*")) == []


def test_a_save_to_a_full_disk_names_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_service(seed=0) as memory:
        monkeypatch.setattr("svc_notebooks.server.store.atomic_write.os.fsync", full)
        with pytest.raises(OSError, match=r"lab\.svc' cannot be written: No space left on device"):
            memory.save(tmp_path / "lab.svc")

    assert not list(tmp_path.glob("*lab*"))


def test_a_failed_snapshot_leaves_no_folder(service: Service, folder: Path) -> None:
    parts(folder)[0].unlink()

    with pytest.raises(DamagedContent):
        service.snapshot()

    assert not list(folder.glob("kept/*"))


def test_a_service_without_its_damaged_file_can_be_saved(service: Service, tmp_path: Path) -> None:
    with pytest.raises(DamagedContent) as caught:
        service.save(tmp_path / "lab.svc")
    file_id = caught.value.files[0].partition("(")[2].rstrip(")")
    ask(service, "DELETE", f"/storage/v3/files/{file_id}")

    with open_saved(service.save(tmp_path / "lab.svc")) as opened:
        assert len(opened._context.store.contents.parts()) == 2


def test_a_restored_snapshot_still_knows_the_checksums(service: Service, folder: Path) -> None:
    """Damage between a snapshot and its restore is detected when the content is read."""
    snapshot = service.snapshot()
    rotten = next(path for path in parts(folder) if path.read_bytes() == b"b" * 5)
    rotten.write_bytes(b"bbxbb")

    service.restore(snapshot)

    with pytest.raises(DamagedContent) as caught:
        service.fork()
    assert len(caught.value.problems) == 2


def test_what_is_loaded_into_a_folder_has_checksums(tmp_path: Path) -> None:
    """So has a service that was in memory without checksums."""
    file = io.BytesIO()
    with open_service(seed=0) as memory:
        memory.sign_in(token=TOKEN)
        ask(memory, "POST", "/upload/storage/v3/files?uploadType=media", b"content")
        memory.dump(file)
    with open_service(tmp_path, seed=0) as service:
        service.load(file)
        next((tmp_path / "parts").glob("??/*")).write_bytes(b"Content")

        with pytest.raises(DamagedContent, match="wrong checksum"):
            service.fork()


def as_version_1(folder: Path) -> None:
    """Turn the database into one of version 1, without checksums."""
    with closing(sqlite3.connect(folder / "svc.sqlite")) as database:
        database.execute("ALTER TABLE rope DROP COLUMN checksum")
        database.execute("ALTER TABLE sessions ADD COLUMN generation INTEGER NOT NULL DEFAULT 0")
        database.execute("PRAGMA user_version = 1")


@pytest.fixture
def old_folder(tmp_path: Path) -> Path:
    """Create a store of version 1, without checksums, with a file for each letter of "abc"."""
    with open_service(tmp_path, seed=0) as service:
        service.sign_in(token=TOKEN)
        for letter in b"abc":
            ask(service, "POST", "/upload/storage/v3/files?uploadType=media", bytes([letter]) * 15)
    as_version_1(tmp_path)
    return tmp_path


def part_of(folder: Path, letter: bytes) -> Path:
    return next(path for path in parts(folder) if path.read_bytes()[:1] == letter)


def problems(service: Service) -> int:
    """Return the number of damaged parts."""
    try:
        service.fork().close()
    except DamagedContent as error:
        return len(error.problems)
    return 0


def test_an_upgrade_records_the_checksum_of_every_part(old_folder: Path) -> None:
    with open_service(old_folder) as service:
        assert problems(service) == 0
        for letter in (b"a", b"b", b"c"):
            part_of(old_folder, letter).write_bytes(letter * 14 + b"x")

        assert problems(service) == 3


def test_an_upgrade_records_no_checksums_of_damaged_parts(old_folder: Path) -> None:
    missing, short = part_of(old_folder, b"a"), part_of(old_folder, b"b")
    stored = missing.read_bytes()
    missing.unlink()
    short.write_bytes(b"bbb")

    with open_service(old_folder) as service:
        before = problems(service)
        missing.write_bytes(stored)  # from a backup
        after = problems(service)
    open_service(old_folder).close()
    with open_service(old_folder) as service:
        short.write_bytes(b"b" * 15)
        missing.write_bytes(b"x" * 15)
        recorded = problems(service)

    assert (before, after, recorded) == (2, 1, 1)


def test_a_control_call_reports_the_damage(service: Service, folder: Path) -> None:
    for path in parts(folder):
        path.unlink()
    response = Control(service).handle(Request("POST", "http://svc.test/_control/snapshot"))

    assert response.status == 500
    assert b"contentDamaged" in response.content()
