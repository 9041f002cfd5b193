"""Parts in memory, in a folder and in a bucket (`make scale`), and contents whose files change meanwhile."""

import errno
import os
import time
from uuid import uuid4
from zlib import crc32

import pytest

from svc_notebooks.server.store.blob_store import BLOCK, DamagedContent, MemoryBlobStore, StoredPart
from svc_notebooks.server.store.contents import Content
from svc_notebooks.server.store.directory_blob_store import DirectoryBlobStore
from svc_notebooks.server.store.opening import open_database
from svc_notebooks.server.store.store import Store
from tests.s3_server import address_of, s3_endpoint


@pytest.fixture(scope="module")
def endpoint():
    with s3_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(params=["memory", "folder", pytest.param("bucket", marks=pytest.mark.scale)])
def parts(request, tmp_path):
    match request.param:
        case "memory":
            return MemoryBlobStore()
        case "folder":
            return DirectoryBlobStore(tmp_path / "parts", sync=True, snapshots=tmp_path / "snapshots")
    from svc_notebooks.server.store.s3 import Bucket, S3BlobStore, parse_bucket_address

    address = address_of(request.getfixturevalue("endpoint"), f"blobs/{tmp_path.name}-{uuid4().hex}")
    return S3BlobStore(Bucket(parse_bucket_address(address)))


def written(parts, *blocks, keep=None):
    writer = parts.writer()
    for block in blocks:
        writer.write(block)
    if keep is not None:
        writer.truncate(keep)
    return StoredPart(writer.commit(), writer.size, writer.checksum)


def test_written_bytes_are_read_in_any_range(parts):
    blocks = [b"ab", b"c" * 70_000, b"de", b"f" * BLOCK * 2]
    whole = b"".join(blocks)
    part = written(parts, *blocks)

    for start, stop in ((0, len(whole)), (1, 3), (70_001, 70_005), (len(whole) - 1, len(whole))):
        assert b"".join(parts.read(part, start, stop)) == whole[start:stop]


@pytest.mark.parametrize("keep", [None, 0, 1, 2, 70_001, 70_004])
def test_a_part_has_the_bytes_the_size_and_the_checksum_of_what_is_kept(parts, keep):
    part = written(parts, b"ab", b"c" * 70_000, b"de", keep=keep)

    kept = (b"ab" + b"c" * 70_000 + b"de")[:keep]
    assert (b"".join(parts.read(part, 0, part.size)), part.size) == (kept, len(kept))
    assert part.checksum == (None if isinstance(parts, MemoryBlobStore) else crc32(kept))


@pytest.mark.parametrize("is_new", [False, True])
def test_a_verified_part_is_not_read_again_before_its_file_changes_unless_it_is_new(tmp_path, is_new):
    """Two changes within one tick of the file system's clock have the same time."""
    parts, moment = DirectoryBlobStore(tmp_path, sync=False), time.time_ns() if is_new else 10
    part = written(parts, b"stored")
    path = tmp_path / part.key[:2] / part.key
    os.utime(path, ns=(moment, moment))
    assert parts.problem(part) is None

    path.write_bytes(b"rotten")
    os.utime(path, ns=(moment, moment))  # so that only a look at the bytes would tell
    assert (parts.problem(part) is None) == (not is_new)
    os.utime(path, ns=(0, 11))
    assert "wrong checksum" in parts.problem(part)


def test_a_part_that_cannot_be_committed_leaves_no_file(tmp_path, monkeypatch):
    writer = Content(None, DirectoryBlobStore(tmp_path, sync=True), part_size=100).writer(0, None)
    writer.write(b"bytes")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        writer.finish(5)
    writer.abort()

    assert list(tmp_path.glob("??/*")) == []


@pytest.mark.parametrize("change", [{"size": 3}, {"size": 5}, {"checksum": 1}])
def test_damage_is_found_at_the_latest_before_the_end(parts, change):
    part = written(parts, b"kept")
    if part.checksum is None:
        pytest.skip("parts in memory cannot be damaged")

    damaged = part._replace(**change)
    with pytest.raises(DamagedContent):
        list(parts.read(damaged, 0, damaged.size))
    assert parts.problem(damaged)
    assert parts.problem(part) is None


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
