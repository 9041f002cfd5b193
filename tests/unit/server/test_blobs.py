"""Parts in memory and in a folder, and contents whose files change meanwhile."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
import time
from zlib import crc32

import pytest

from svc_notebooks.server.blobs.blob_store import BLOCK, MemoryBlobStore, StoredPart
from svc_notebooks.server.blobs.directory import DirectoryBlobStore
from svc_notebooks.server.storage.content_io import Content
from svc_notebooks.server.tables import Store, open_database


@pytest.fixture(params=["memory", "folder"])
def parts(request, tmp_path):
    return (
        MemoryBlobStore()
        if request.param == "memory"
        else DirectoryBlobStore(tmp_path / "parts", sync=True, snapshots=tmp_path / "snapshots")
    )


def written(parts, *blocks, keep=None):
    writer = parts.writer()
    for block in blocks:
        writer.write(block)
    if keep is not None:
        writer.truncate(keep)
    return writer.commit()


def test_written_bytes_are_read_in_any_range(parts):
    blocks = [b"ab", b"c" * 70_000, b"de", b"f" * BLOCK * 2]
    whole = b"".join(blocks)
    key = written(parts, *blocks)

    for start, stop in ((0, len(whole)), (1, 3), (70_001, 70_005), (len(whole) - 1, len(whole))):
        assert b"".join(parts.read(key, start, stop)) == whole[start:stop]


def test_the_folder_of_a_first_part_is_synced_into_its_parent(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("svc_notebooks.server.blobs.directory.sync_folder", synced.append)
    parts = DirectoryBlobStore(tmp_path / "parts", sync=True)
    assert list((tmp_path / "parts").iterdir()) == []
    key = written(parts, b"ab")

    assert synced == [tmp_path / "parts", tmp_path / "parts" / key[:2]]


@pytest.mark.parametrize("keep", [0, 1, 2, 70_001, 70_004])
def test_a_truncated_part_ends_where_it_was_cut(parts, keep):
    key = written(parts, b"ab", b"c" * 70_000, b"de", keep=keep)

    assert b"".join(parts.read(key, 0, keep)) == (b"ab" + b"c" * 70_000 + b"de")[:keep]


@pytest.mark.parametrize("keep", [None, 0, 1, 70_001, 70_004])
def test_the_checksum_is_of_the_bytes_that_are_kept(tmp_path, keep):
    writer = DirectoryBlobStore(tmp_path, sync=False).writer()
    for block in (b"ab", b"c" * 70_000, b"de"):
        writer.write(block)
    if keep is not None:
        writer.truncate(keep)
    key = writer.commit()

    stored = (tmp_path / key[:2] / key).read_bytes()
    assert writer.checksum == crc32(stored)
    assert len(stored) == writer.size == (70_004 if keep is None else keep)


def test_a_verified_part_is_not_read_again_before_its_file_changes(tmp_path):
    parts = DirectoryBlobStore(tmp_path, sync=False)
    writer = parts.writer()
    writer.write(b"stored")
    part = StoredPart(writer.commit(), writer.size, writer.checksum)
    path = tmp_path / part.key[:2] / part.key
    os.utime(path, ns=(0, 10))
    assert parts.problem(part) is None

    path.write_bytes(b"rotten")
    os.utime(path, ns=(0, 10))  # so that only a look at the bytes would tell
    unread = parts.problem(part)
    os.utime(path, ns=(0, 11))

    assert unread is None
    assert "wrong checksum" in parts.problem(part)


def test_a_part_that_has_just_been_written_is_read_each_time(tmp_path):
    """Two changes within one tick of the file system's clock have the same time."""
    parts = DirectoryBlobStore(tmp_path, sync=False)
    writer = parts.writer()
    writer.write(b"stored")
    part = StoredPart(writer.commit(), writer.size, writer.checksum)
    path = tmp_path / part.key[:2] / part.key
    now = time.time_ns()
    os.utime(path, ns=(now, now))
    assert parts.problem(part) is None

    path.write_bytes(b"rotten")
    os.utime(path, ns=(now, now))

    assert "wrong checksum" in parts.problem(part)


def test_without_a_checksum_the_length_is_compared(tmp_path):
    parts = DirectoryBlobStore(tmp_path, sync=False)
    key = written(parts, b"stored")

    assert parts.problem(StoredPart(key, 6, None)) is None
    assert "6 bytes instead of 7" in parts.problem(StoredPart(key, 7, None))


def test_a_part_that_cannot_be_committed_leaves_no_file(tmp_path, monkeypatch):
    parts = DirectoryBlobStore(tmp_path, sync=True)
    writer = Content(None, parts, part_size=100).writer(0, None)
    writer.write(b"bytes")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        writer.finish(5)
    writer.abort()

    assert list(tmp_path.glob("??/*")) == []


def test_unknown_parts_are_swept(parts):
    kept, lost = written(parts, b"kept"), written(parts, b"lost")
    parts.writer().abort()

    assert parts.sweep({kept}) == 1
    parts.delete([lost, kept])
    assert parts.sweep(set()) == 0


@pytest.fixture
def store():
    store = Store(open_database(None, "process"))
    yield store
    store.close()


def test_a_download_goes_on_when_its_content_is_deleted(parts, store):
    content = Content(store, parts, part_size=4)
    number = store.contents.begin()
    writer = content.writer(0, lambda piece: store.contents.append(number, piece))
    writer.write(b"0123456789")
    store.contents.append(number, writer.finish(10))
    reading = iter(content.read(number, 1, 9))
    first = next(reading)

    content.discard(number, store.contents.drop(number))

    assert first + b"".join(reading) == b"12345678"
    assert parts.sweep(set()) == 0


HELD = """
import psutil
from svc_notebooks.server.blobs.blob_store import MemoryBlobStore

bytes(24 << 20)  # from here on the C library takes blocks of this size from its heap
parts, keys, between = MemoryBlobStore(), [], []
for _ in range(16):
    writer = parts.writer()
    for _ in range(16):
        writer.write(bytes(b"x") * (256 << 10))
        between.append(b"y" * 1000)
    keys.append(writer.commit())
before = psutil.Process().memory_info().rss
parts.delete(keys)
print((before - psutil.Process().memory_info().rss) >> 20)
"""


@pytest.mark.skipif(not (sys.platform == "linux" and platform.libc_ver()[0] == "glibc"), reason="a matter of glibc")
def test_the_memory_of_deleted_parts_returns_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True)

    assert int(done.stdout) > 48, "of 64 MiB"
