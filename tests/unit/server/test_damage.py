"""Damaged content gets into no saved service, no fork and no snapshot."""

import errno
import io
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.blob_store import DamagedContent
from tests.contract.wire import InProcess


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def service(folder):
    """Store two files of two parts each, and damage a part of the first."""
    with open_service(folder, seed=0, policy=Policy(part_size=10)) as service:
        wire = InProcess(service, "http://svc.test")
        for letter in b"ab":
            wire.create(bytes([letter]) * 15)
        next(path for path in parts(folder) if path.read_bytes() == b"a" * 5).write_bytes(b"aaxaa")
        yield service


def parts(folder: Path) -> list[Path]:
    return list((folder / "parts").glob("??/*"))


@pytest.mark.parametrize("act", [Service.fork, lambda service: service.dump(io.BytesIO())], ids=["fork", "save"])
def test_a_rotten_part_is_named_with_its_file(service, act):
    with pytest.raises(DamagedContent, match=r"Untitled \(.+\) is damaged: part .+ has a wrong checksum"):
        act(service)


def test_a_save_to_a_full_disk_names_the_path(tmp_path, monkeypatch):
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    with open_service(seed=0) as memory:
        monkeypatch.setattr("svc_notebooks.server.store.atomic_write.os.fsync", full)
        with pytest.raises(OSError, match=r"lab\.svc' cannot be written: No space left on device"):
            memory.save(tmp_path / "lab.svc")

    assert not list(tmp_path.glob("*lab*"))


@pytest.fixture
def old_folder(tmp_path):
    """Create a store of version 1, without checksums, with a file for each letter of "abc"."""
    with open_service(tmp_path, seed=0) as service:
        wire = InProcess(service, "http://svc.test")
        for letter in b"abc":
            wire.create(bytes([letter]) * 15)
    with closing(sqlite3.connect(tmp_path / "svc.sqlite")) as database:
        database.execute("ALTER TABLE rope DROP COLUMN checksum")
        database.execute("ALTER TABLE sessions ADD COLUMN generation INTEGER NOT NULL DEFAULT 0")
        database.execute("PRAGMA user_version = 1")
    return tmp_path


def part_of(folder: Path, letter: bytes) -> Path:
    return next(path for path in parts(folder) if path.read_bytes()[:1] == letter)


def problems(service: Service) -> int:
    try:
        service.fork().close()
    except DamagedContent as error:
        return len(error.problems)
    return 0


def test_an_upgrade_records_the_checksum_of_every_part(old_folder):
    with open_service(old_folder) as service:
        assert problems(service) == 0
        for letter in (b"a", b"b", b"c"):
            part_of(old_folder, letter).write_bytes(letter * 14 + b"x")

        assert problems(service) == 3


def test_an_upgrade_records_no_checksums_of_damaged_parts(old_folder):
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
