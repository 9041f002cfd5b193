import hashlib
import io
import os
import pickle
import socket
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from svc_notebooks.client.uploads.sources import SourceStream, StreamSource, open_source
from svc_notebooks.core.errors.errors import SourceChanged
from tests.scripted import Stream

CONTENT = Random(4).randbytes(300_000)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_bytes(CONTENT)
    return path


def test_names_and_types_come_from_the_source(path):
    with path.open("rb") as file:
        assert open_source(file).name == "survey.csv"
    assert (open_source(path).name, open_source(path).media_type) == ("survey.csv", "text/csv")
    assert open_source(path, name="other.pdf").media_type == "application/pdf"
    assert open_source(b"%PDF-1.7").media_type == "application/pdf"
    assert open_source(b"what is it").media_type == "application/octet-stream"
    assert open_source(Stream(b"\x89PNG\r\n\x1a\n....")).media_type == "image/png"


class PathOfBytes(os.PathLike[bytes]):
    def __fspath__(self) -> bytes:
        return b"a.csv"


NO_SOURCES: list[Any] = [
    *((lambda _, wrong=wrong: wrong, TypeError, r"source is .*give a path, bytes, or a file object")
      for wrong in (7, None, ["a.csv"], {"a": 1}, {"content": 5}, object())),
    (lambda _: io.StringIO("text"), TypeError, r"source.getvalue\(\).encode\(\)"),
    (lambda path: path.open(), TypeError, "mode 'rb'"),
    (lambda _: SimpleNamespace(read=lambda size=-1: "text"), TypeError, "must return bytes, not str"),
    (lambda _: "", ValueError, "source is empty; give the path of a file"),
    (lambda path: path.parent, IsADirectoryError, r"source .* is a folder"),
    (lambda _: "no.csv", FileNotFoundError, r"source 'no\.csv' does not exist"),
    (lambda _: PathOfBytes(), TypeError, "path of type bytes"),
    (lambda path: os.mkfifo(path.parent / "pipe") or path.parent / "pipe", ValueError, "not a regular file"),
]  # fmt: skip


@pytest.mark.parametrize("make, error, words", NO_SOURCES)
def test_an_invalid_source_is_named(make, error, words, path):
    source = make(path)

    with pytest.raises(error, match=words):
        open_source(source).read(0, 4)

    if isinstance(source, io.TextIOBase):
        source.close()


def test_a_file_object_at_its_end_is_refused(path):
    buffer = io.BytesIO()
    buffer.write(b"something")  # a program has just written it, so all of it is meant

    with path.open("rb") as file:
        file.seek(0, io.SEEK_END)
        with pytest.raises(ValueError, match=r"seek\(0\)"):
            open_source(file)
    assert open_source(buffer).size == 9
    assert open_source(io.BytesIO()).size == 0


@pytest.mark.parametrize("change", ["shrinks", "grows", "is written to"])
def test_a_file_that_changes_is_noticed(path, change):
    source = open_source(path)
    source.read(0, 1000)
    path.write_bytes({"shrinks": CONTENT[:-1], "grows": CONTENT + b"!", "is written to": CONTENT}[change])
    os.utime(path, ns=(0, 5))

    with pytest.raises(SourceChanged, match=r"survey.csv changed"):
        source.read(1000, 1000)
    source.close()


def test_a_fingerprint_changes_with_the_content(path):
    first = open_source(path).fingerprint()
    assert open_source(path).fingerprint() == first
    os.utime(path, ns=(0, 5))
    assert open_source(path).fingerprint() != first

    assert open_source(b"a").fingerprint() == open_source(bytearray(b"a")).fingerprint()
    assert open_source(b"a").fingerprint() != open_source(b"b").fingerprint()
    assert open_source(io.BytesIO(b"a")).fingerprint() is None
    assert open_source(Stream(b"a")).fingerprint() is None


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
@pytest.mark.parametrize("kind", ["path", "bytes", "file object", "stream"])
def test_a_digest_is_that_of_all_bytes(path, kind, algorithm):
    with path.open("rb") as file:
        kinds = {"path": path, "bytes": CONTENT, "file object": file, "stream": Stream(CONTENT, 7000)}
        source = open_source(kinds[kind])
        source.keep_digests()
        source.keep(1000)
        source.read(0, 5000)
        source.close()

        assert source.digest(algorithm) == hashlib.new(algorithm, CONTENT).hexdigest()
        assert source.digest("sha512") is None or kind != "stream"


@pytest.fixture(params=[0, 4096, len(CONTENT) + 1, len(CONTENT) - 1])
def unsized(path, request):
    """Return the source of a file for which the system returns a wrong size, such as 0 in /proc and 4096 in /sys."""
    facts = SimpleNamespace(st_size=request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("svc_notebooks.client.uploads.sources.os.fstat", lambda descriptor: facts)
        return open_source(path, name="a.bin")


def test_a_file_of_unknown_size_is_read_like_a_stream(unsized):
    unsized.keep(1000)

    assert (unsized.size, unsized.path, unsized.fingerprint()) == (None, None, None)
    assert (unsized.name, unsized.media_type) == ("a.bin", "application/octet-stream")
    assert unsized.read(0, 1000) == CONTENT[:1000]
    assert pickle.loads(pickle.dumps(unsized)).read(1000, len(CONTENT)) == CONTENT[1000:]


def test_a_stream_keeps_the_last_bytes_and_no_more():
    source = StreamSource(Stream(CONTENT, step=777))
    source.keep(1000)

    assert source.read(0, 1000) == CONTENT[:1000]
    assert source.read(500, 1000) == CONTENT[500:1500]
    assert source.lowest == 500
    assert source.read(500, 1000) == CONTENT[500:1500]
    with pytest.raises(ValueError, match="byte 499 of the stream is no longer available"):
        source.read(499, 10)


def test_a_pipe_that_does_not_block_is_an_error():
    left, right = socket.socketpair()
    left.setblocking(False)
    with left, right, left.makefile("rb", buffering=0) as file, pytest.raises(BlockingIOError):
        open_source(file).read(0, 10)


def test_a_body_is_a_piece_of_a_source_between_two_texts():
    reports = []
    source = open_source(b"0123456789")
    body = SourceStream(source, 2, 5, lambda at, total: reports.append((at, total)), head=b"<<", tail=b">>")

    assert body.read(1) + body.read(100) + body.read(3) + body.read() == b"<<23456>>"
    assert body.read(10) == b""
    assert reports == [(5, 10), (7, 10)]


def test_a_stream_of_another_size_than_declared_and_a_body_that_ends_early_have_changed():
    for read in (
        lambda: open_source(Stream(b"abc"), size=2).read(0, 2),
        lambda: open_source(Stream(b"abc"), size=4).read(0, 4),
        SourceStream(open_source(b"0123"), 2, 5).read,
    ):
        with pytest.raises(SourceChanged):
            read()
