"""Contents in a bucket: what is written, refused, read and deleted there, and how errors are named."""

from __future__ import annotations

import io
import logging
import socket
from collections.abc import Iterator

import obstore
import pytest
from obstore.exceptions import GenericError, PermissionDeniedError
from obstore.store import S3Store

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.store.blob_store import BLOCK, StoredPart
from svc_notebooks.server.store.s3 import MULTIPART, Bucket, BucketAddress, S3BlobStore, parse_bucket_address
from tests.contract.wire import InProcess

pytestmark = pytest.mark.scale

MARKER = "svc-contents.json"


def opened(address: str, bucket: str, **options: object) -> Service:
    return open_service(address, content=bucket, seed=0, **options)


def bucket_of(address: str) -> Bucket:
    return Bucket(parse_bucket_address(address))


def names(bucket: str) -> set[str]:
    return {row.key for row in bucket_of(bucket).objects()}


def test_contents_are_objects_below_the_prefix(address: str, bucket: str) -> None:
    with opened(address, bucket, policy=Policy(part_size=4)) as service:
        wire = InProcess(service, "http://svc.test")
        file = wire.create(b"0123456789")
        answer = wire.send("GET", f"/storage/v3/files/{file['id']}?alt=media", headers={"Range": "bytes=3-8"})

        assert (answer.status, answer.body) == (206, b"345678")
        assert {name.partition("/")[0] for name in names(bucket)} == {MARKER, "parts"}
        assert len(names(bucket)) == 4
        wire.send("DELETE", f"/storage/v3/files/{file['id']}")
        assert names(bucket) == {MARKER}


def test_a_snapshot_a_saved_state_and_a_fork_have_all_contents(address: str, bucket: str) -> None:
    with opened(address, bucket) as service:
        wire = InProcess(service, "http://svc.test")
        file = wire.create(b"first")
        snapshot, saved = service.snapshot(), io.BytesIO()
        service.dump(saved)
        with service.fork() as fork:
            copy = InProcess(fork, "http://svc.test")
            assert copy.send("GET", f"/storage/v3/files/{file['id']}?alt=media").body == b"first"
        for restore in (lambda: service.restore(snapshot), lambda: service.load(saved)):
            wire.send("DELETE", f"/storage/v3/files/{file['id']}")
            wire.create(b"second")
            restore()

            assert wire.send("GET", f"/storage/v3/files/{file['id']}?alt=media").body == b"first"
            assert len(wire.send("GET", "/storage/v3/files").json["files"]) == 1
            assert wire.send("POST", "/storage/v3/files").status == 200  # its row has a number that is free
    assert len(names(bucket)) == 2


def test_a_prefix_with_other_objects_is_refused_and_not_changed(address: str, bucket: str) -> None:
    bucket_of(bucket).create("thesis.txt", b"mine")
    with pytest.raises(OSError, match="neither empty nor the folder of a store"):
        opened(address, bucket)

    assert names(bucket) == {"thesis.txt"}


def test_a_missing_object_is_named_before_the_response_begins(address: str, bucket: str) -> None:
    with opened(address, bucket) as service:
        file = InProcess(service, "http://svc.test").create(b"lost")
    store = bucket_of(bucket)
    store.delete([name for name in names(bucket) if name != MARKER])
    with opened(address, bucket) as service:
        answer = InProcess(service, "http://svc.test").send("GET", f"/storage/v3/files/{file['id']}?alt=media")

    assert answer.status == 500
    assert "is missing" in answer.error["message"]


def test_a_deletion_that_fails_is_logged_and_leaves_the_object(bucket, monkeypatch, caplog):
    parts = S3BlobStore(bucket_of(bucket))
    key = written(parts, b"kept").key

    def fail(*_: object) -> None:
        raise GenericError("no connection")

    monkeypatch.setattr(obstore, "delete", fail)
    with caplog.at_level(logging.WARNING):
        parts.delete([key])

    assert "1 parts stay in the bucket" in caplog.text
    assert parts.has_all([key])


def written(parts: S3BlobStore, content: bytes) -> StoredPart:
    writer = parts.writer()
    writer.write(content)
    return StoredPart(writer.commit(), writer.size, writer.checksum)


def test_a_large_part_is_a_multipart_upload(bucket: str) -> None:
    parts = S3BlobStore(bucket_of(bucket))
    content = bytes(range(256)) * (2 * MULTIPART // 256) + b"end"
    part = written(parts, content)
    etag = obstore.head(parts.bucket._store, f"parts/{part.key}")["e_tag"]

    assert etag
    assert etag.strip('"').endswith("-3")
    assert b"".join(parts.read(part, 0, part.size)) == content


def test_a_part_is_read_in_blocks_and_only_as_far_as_they_are_taken(bucket: str) -> None:
    parts = S3BlobStore(bucket_of(bucket))
    part = written(parts, bytes(4 << 20))
    reading = parts.read(part, 1, part.size)

    assert 0 < len(next(reading)) <= BLOCK
    reading.close()


class _Ended:
    """A response that ends with an error after its first block, unless it has none."""

    def __init__(self, result: obstore.GetResult, blocks: int) -> None:
        self._result, self._blocks = result, blocks
        self.meta = result.meta

    def stream(self, min_chunk_size: int) -> Iterator[memoryview]:
        for _, block in zip(range(self._blocks), self._result.stream(min_chunk_size=min_chunk_size), strict=False):
            yield memoryview(block)
        raise GenericError("the response was cut off")


@pytest.mark.parametrize("blocks", [1, 0])
def test_a_response_that_is_cut_off_is_continued_while_it_makes_progress(bucket, monkeypatch, blocks):
    parts = S3BlobStore(bucket_of(bucket))
    content = bytes(range(256)) * (4 << 12)
    part = written(parts, content)
    get, requests = obstore.get, list[object]()

    def cut_off(store: S3Store, name: str, **options: object) -> _Ended:
        requests.append(options)
        return _Ended(get(store, name, **options), blocks)

    monkeypatch.setattr(obstore, "get", cut_off)
    if blocks:
        assert b"".join(parts.read(part, 0, part.size)) == content
        assert len(requests) > 1
    else:
        with pytest.raises(OSError, match="cannot be used"):
            list(parts.read(part, 0, part.size))
        assert len(requests) == 1


@pytest.mark.parametrize(
    "error, status",
    [
        (GenericError("no connection"), 503),
        (PermissionDeniedError("<Code>AccessDenied</Code>"), 503),
        (GenericError("status code: 503"), 503),
        (GenericError("<Code>XMinioStorageFull</Code>"), 507),
    ],
)
def test_requests_get_503_or_507_while_the_bucket_refuses_requests(address, bucket, monkeypatch, error, status):
    def refuse(*arguments: object, **options: object) -> None:
        raise error

    with opened(address, bucket) as service:
        wire = InProcess(service, "http://svc.test")
        token, file = wire.token, wire.create(b"kept")
    with opened(address, bucket) as service, monkeypatch.context() as patched:  # no part is known to exist
        wire = InProcess(service, "http://svc.test")
        wire.token = token
        for name in ("get", "head", "put"):
            patched.setattr(obstore, name, refuse)

        assert wire.send("POST", "/upload/storage/v3/files?uploadType=media", b"lost").status == status
        assert wire.send("GET", f"/storage/v3/files/{file['id']}?alt=media").status == status
        assert set(service.monitor.problems()) == {"contents"}
        patched.undo()
        assert wire.send("GET", f"/storage/v3/files/{file['id']}?alt=media").body == b"kept"
        assert service.monitor.problems() == {}

        with monkeypatch.context() as again:  # the part is known to exist, and the first block cannot be read
            again.setattr(obstore, "get", refuse)
            assert wire.send("GET", f"/storage/v3/files/{file['id']}?alt=media").status == status


@pytest.mark.usefixtures("endpoint")  # which sets credentials
def test_a_bucket_that_does_not_answer_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        bucket = Bucket(BucketAddress("tests", "x", address, "us-east-1"))
        with pytest.raises(OSError, match="cannot be used"):
            bucket.size("part")


@pytest.mark.parametrize(
    "content,message",
    [
        ("s3://key:hush-hush@tests/x", "must have no credentials"),
        ("s3://tests/x?secret=hush-hush", "must be of the form"),
        ("s3:///x", "must be of the form"),
        ("s3://missing/x?endpoint={}", "cannot be used .NoSuchBucket"),
        ("s3://tests/x?endpoint=http://127.0.0.1:1", "cannot be used .no response"),
        ("gs://tests/hush-hush", "a URL of the scheme 'gs'"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_secrets(address, endpoint, content, message):
    with pytest.raises((OSError, ValueError), match=message) as refused:
        opened(address, content.format(endpoint))

    assert "hush-hush" not in f"{refused.value!r} {refused.value.__cause__!r} {refused.value.__context__!r}"
