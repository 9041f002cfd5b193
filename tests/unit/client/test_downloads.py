import io
import json
import os
import re
import subprocess
import tracemalloc
from collections.abc import Iterator
from errno import ENAMETOOLONG, ENOSPC
from random import Random

import pytest

from svc_notebooks.client.downloads.downloads import Download, as_range, target_path
from svc_notebooks.client.downloads.ranged_download import PartFile
from svc_notebooks.core.errors.errors import AbusiveFileWarning, Interrupted, NotAllowed, PathExists, ServiceFailed
from svc_notebooks.core.http.messages import Disconnected, Headers, Request, Response
from svc_notebooks.core.http.ranges import ByteRange
from tests.contents import read_content, save_content
from tests.scripted import Fault, Shelf, Time, answer, answered_with, envelope, reset, session_for

CONTENT = Random(8).randbytes(300_000)
MIB = 1024 * 1024


def cut(size: int) -> Fault:
    """Make a fault that cuts the connection after this many bytes of a valid response."""

    def fault(shelf: Shelf, request: Request) -> Response:
        full = shelf.act(request)

        def blocks() -> Iterator[bytes]:
            yield full.content()[:size]
            raise Disconnected("cut")

        return Response(full.status, full.headers, blocks())

    return fault


@pytest.fixture
def shelf():
    shelf = Shelf()
    shelf.store(CONTENT, id="f", name="a.bin")
    return shelf


RANGES = [
    ((0, 99), "bytes=0-99", slice(0, 100)),
    ((100, 999_999), "bytes=100-999999", slice(100, 300_000)),
    ("bytes=299999-", "bytes=299999-", slice(299_999, None)),
    (slice(10, 20), "bytes=10-19", slice(10, 20)),
    (slice(-7, None), "bytes=-7", slice(-7, None)),
    (slice(None, 5), "bytes=0-4", slice(0, 5)),
    (ByteRange(None, 3), "bytes=-3", slice(-3, None)),
]


@pytest.mark.parametrize("byte_range, sent, part", RANGES, ids=str)
def test_a_range_may_be_given_in_many_forms(byte_range, sent, part, shelf, tmp_path):
    session = session_for(shelf)

    assert read_content(session, "f", size=len(CONTENT), byte_range=byte_range) == CONTENT[part]
    assert shelf.header_values("Range", "GET") == [sent]
    assert save_content(session, "f", tmp_path / "x", byte_range=byte_range).path.read_bytes() == CONTENT[part]


@pytest.mark.parametrize(
    "wrong, error",
    [
        ("0-x", ValueError),
        ("bytes=9-1", ValueError),
        ((9, 1), ValueError),
        ((1, 2, 3), TypeError),
        ((0.0, 1.0), TypeError),
        (7, TypeError),
        (slice(0, 10, 2), ValueError),
        (slice(5, 5), ValueError),
        (slice(-5, -1), ValueError),
    ],
    ids=str,
)
def test_an_invalid_range_is_refused(wrong, error):
    with pytest.raises(error, match="byte_range"):
        as_range(wrong)


@pytest.mark.spec("A6-06", "A6-06c", "A6-06d")
def test_a_broken_download_continues_and_the_checksum_is_compared(shelf, tmp_path):
    plain = answered_with(json.dumps({"id": "f", "size": str(len(CONTENT))}).encode())
    shelf.faults["GET"] = [plain, cut(100_000), answer(503), reset, cut(50_000)]
    time = Time()

    assert save_content(session_for(shelf, time), "f", tmp_path / "x").path.read_bytes() == CONTENT
    assert shelf.header_values("Range", "GET")[1:6] == [None, *["bytes=100000-"] * 3, "bytes=150000-"]
    assert "md5Checksum" in shelf.requests[-1][1]
    assert shelf.exhausted
    assert len(time.slept) == 4


def changed(content: bytes, status: int | None = None) -> Fault:
    """Make a fault that stores other content first, and then answers, with a status or as ever."""

    def fault(shelf: Shelf, request: Request) -> Response:
        shelf.store(content, id="f", name="a.bin")
        return Response(status) if status else shelf.act(request)

    return fault


def whole(*blocks: bytes) -> Fault:
    """A response of a service that ignores Range."""
    length = Headers([("Content-Length", str(len(CONTENT)))])
    return lambda shelf, request: Response(200, length, blocks)


BREAK, CHANGE = pytest.mark.spec("A6-06", "A6-06c"), pytest.mark.spec("A6-06", "A6-06d")
LENGTH = str(len(CONTENT))


@pytest.mark.parametrize(
    "byte_range, faults, expected",
    [
        pytest.param(None, [cut(100_000), whole(CONTENT)], CONTENT, id="a 200 after a break", marks=BREAK),
        pytest.param("bytes=1000-200000", [cut(70_000)], CONTENT[1000:200_001], id="a range", marks=BREAK),
        pytest.param("bytes=-250000", [cut(70_000)], CONTENT[-250_000:], id="the last bytes", marks=BREAK),
        pytest.param((990, 1009), [whole(CONTENT[:1000], CONTENT[1000:])], CONTENT[990:1010], id="a 200 for a range"),
        pytest.param(None, [answer(200, CONTENT[:1000], Content_Length=LENGTH)], CONTENT, id="less than its length"),
        pytest.param(None, [cut(100_000), changed(CONTENT[::-1], 503)], CONTENT[::-1], id="other", marks=CHANGE),
        *(
            pytest.param(None, [cut(100_000), changed(bytes(size))], bytes(size), id=f"{size} bytes", marks=BREAK)
            for size in (50_000, 100_000, 400_000)
        ),
    ],
)
def test_a_download_that_breaks_ends_with_the_right_bytes(byte_range, faults, expected, shelf, tmp_path):
    shelf.faults["GET"] = [None, *faults]
    assert save_content(session_for(shelf), "f", tmp_path / "x", byte_range=byte_range).path.read_bytes() == expected

    shelf.store(CONTENT, id="f", name="a.bin")
    shelf.faults["GET"] = list(faults)
    assert read_content(session_for(shelf), "f", size=len(CONTENT), byte_range=byte_range) == expected
    assert shelf.exhausted


@pytest.mark.parametrize("size", [1, 300_000, 400_000])
def test_a_part_file_of_another_content_is_discarded(size, shelf, tmp_path):
    (tmp_path / "x.part").write_bytes(bytes(size))

    save_content(session_for(shelf), "f", tmp_path / "x")

    assert (tmp_path / "x").read_bytes() == CONTENT
    assert (tmp_path / "x.part").read_bytes() == bytes(size)  # it is somebody's own file
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "x.part"]


def test_a_token_that_expires_is_renewed_and_other_bytes_than_requested_are_an_error(shelf):
    tokens = iter("ab")
    shelf.faults["GET"] = [cut(1000), answer(401)]
    assert read_content(session_for(shelf, token=lambda: next(tokens)), "f", size=len(CONTENT)) == CONTENT

    shelf.faults["GET"] = [answer(206, b"abc", Content_Range="bytes 5-7/300000"), answer(206, b"abc")]
    session = session_for(shelf)

    for _ in range(2):
        with pytest.raises(ServiceFailed):
            read_content(session, "f", size=len(CONTENT), byte_range=(0, 2))


@pytest.mark.spec("A3-22", "A3-22b")
def test_patience_counts_from_the_last_byte(shelf):
    shelf.faults["GET"] = [reset] * 200
    time = Time()

    with pytest.raises(Interrupted):
        read_content(session_for(shelf, time), "f", size=len(CONTENT))
    assert 299.9 < sum(time.slept) < 400


@pytest.mark.spec("A6-04", "A6-04b")
def test_an_abusive_file_is_acknowledged_by_an_explicit_argument_alone(shelf):
    flagged = answer(403, envelope(403, "cannotDownloadAbusiveFile"))
    shelf.faults["GET"] = [flagged]
    with pytest.raises(NotAllowed):
        read_content(session_for(shelf), "f", size=len(CONTENT))
    shelf.faults["GET"] = [flagged]

    with pytest.warns(AbusiveFileWarning, match=re.escape("a.bin (f) was flagged")) as shown:
        assert Download(session_for(shelf), {"id": "f", "size": "300000"}, acknowledge_abuse=True).read() == CONTENT

    queries = [url.partition("?")[2] for _, url, _ in shelf.requests if "?alt" in url]
    assert queries == ["alt=media", "alt=media", "alt=media&acknowledgeAbuse=true"]
    assert shown[0].filename == __file__


def test_a_path_that_cannot_be_written_is_named_as_given(shelf, tmp_path):
    place = tmp_path / ("n" * 253)

    with pytest.raises(OSError, match=r"n' cannot be written: .*; choose another place") as caught:
        save_content(session_for(shelf), "f", place)
    assert caught.value.errno == ENAMETOOLONG
    assert ".part" not in str(caught.value)


def test_an_invalid_path_and_one_that_another_download_writes_are_refused(shelf, tmp_path):
    other = PartFile(tmp_path / "x", {"base_url": "elsewhere", "id": "g"})
    with other, pytest.raises(Interrupted, match="Another download"):
        save_content(session_for(shelf), "f", tmp_path / "x")
    with pytest.raises(FileNotFoundError, match="folder does not exist"):
        target_path(tmp_path / "no" / "x.bin", "a.bin")
    with pytest.raises(TypeError, match=r"to must be .* not int"):
        target_path(7, "a.bin")


@pytest.mark.parametrize("other", [b"mine", CONTENT[::-1]], ids=["another size", "the same size"])
def test_other_content_stays_and_nothing_is_transferred(other, shelf, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(other)
    os.utime(path, (0, 1_767_600_000))

    with pytest.raises(FileExistsError) as caught:
        save_content(session_for(shelf), "f", path)

    assert isinstance(caught.value, PathExists)
    facts = f"{len(other):,} bytes, modified 2026-01-05 08:00 UTC; the new content has 300,000 bytes"
    advice = "Nothing was written. Use overwrite=True to replace it, or another path."
    assert str(caught.value) == f"{str(path)!r} exists with other content ({facts}). {advice}"
    assert (caught.value.path, caught.value.size, caught.value.replaceable) == (path, len(other), True)
    assert caught.value.filename == str(path)
    assert not any("alt=media" in url for _, url, _ in shelf.requests)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x", other)]


@pytest.mark.spec("A6-06", "A6-06a")
def test_memory_does_not_grow_with_the_file(tmp_path):
    size = 64 * MIB

    def handler(request):
        if "alt" not in request.query:
            return Response(200, body=b'{"id": "f", "name": "x"}')
        return Response(200, Headers([("Content-Length", str(size))]), (bytes(MIB) for _ in range(64)))

    session = session_for(handler)
    tracemalloc.start()
    try:
        save_content(session, "f", tmp_path / "x")
        peak = tracemalloc.get_traced_memory()[1]
        read_content(session, "f", size=len(CONTENT))
        in_memory = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert (tmp_path / "x").stat().st_size == size
    assert peak < 4 * MIB
    assert in_memory < 1.3 * size


@pytest.fixture
def full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the permission to mount a file system")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_error_has_the_missing_bytes_and_keeps_the_part_file(shelf, full_disk):
    session = session_for(shelf)
    words = r"a\.bin' cannot be written, its disk is full \(\d+,\d+ more bytes needed, 0 free\)"
    with pytest.raises(OSError, match=words):
        save_content(session, "f", full_disk)
    kept = (full_disk / "a.bin.part").stat().st_size

    subprocess.run(["mount", "-o", "remount,size=1m", str(full_disk)], check=True)
    save_content(session, "f", full_disk)

    assert 0 < kept < len(CONTENT)
    assert f"bytes={kept}-" in [headers.get("Range") for _, _, headers in shelf.requests]
    assert (full_disk / "a.bin").read_bytes() == CONTENT
    assert sorted(path.name for path in full_disk.iterdir()) == ["a.bin"]


def test_a_full_disk_error_of_a_small_file_has_its_path_and_leaves_nothing(shelf, full_disk):
    shelf.store(CONTENT[:50_000], id="s", name="s.bin")
    (full_disk / "mine").write_bytes(bytes(180_000))

    with pytest.raises(OSError, match=r"s\.bin' cannot be written, its disk is full"):
        save_content(session_for(shelf), "s", full_disk)

    assert [path.name for path in full_disk.iterdir()] == ["mine"]


def test_a_full_disk_without_a_mount(tmp_path):
    part = PartFile(tmp_path / "x", {"base_url": "", "id": "f"})
    part._file.close()
    part._file = io.FileIO("/dev/full", "r+")
    part.end = 5_000

    words = r"x' cannot be written, its disk is full \(5,000 more bytes needed"
    with part, pytest.raises(OSError, match=words) as caught:
        part.write(b"bytes")

    assert caught.value.errno == ENOSPC
