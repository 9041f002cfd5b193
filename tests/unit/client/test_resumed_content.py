import hashlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from svc_notebooks.client.uploads import idempotent_creation
from svc_notebooks.client.uploads.sources import PathSource
from svc_notebooks.client.uploads.uploads import resume_upload, start_upload, upload
from svc_notebooks.core.errors.errors import SourceChanged, UnverifiedUploadWarning
from svc_notebooks.core.http.messages import Request, Response, as_body
from tests.scripted import Fault, Q, Shelf, Stream, lost, reset, session_for

CONTENT = Random(8).randbytes(3 * Q + 99)
CHANGED = bytearray(CONTENT)
for at in (100_000, 2 * Q + 100_000):  # in the first and in the third chunk, outside of the fingerprint
    CHANGED[at : at + 9] = bytes(9)


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def change(path: Path) -> None:
    """Change the content, and keep the size, the times and the fingerprint."""
    times = path.stat()
    path.write_bytes(CHANGED)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "survey.bin"
    path.write_bytes(CONTENT)
    os.utime(path, ns=(10**18, 10**18))
    return path


# -- the ways of resuming an upload; each calls `meanwhile` when the service has stored the first chunk


def the_next_call_by_hand(shelf, session, path, meanwhile):
    begun = start_upload(session, path, chunk_size=Q)
    begun.send_chunk()
    meanwhile(path)
    return begun.run()


def resume_by_hand(shelf, session, path, meanwhile):
    begun = start_upload(session, path, chunk_size=Q)
    begun.send_chunk()
    meanwhile(path)
    return begun.resume()


def the_same_call_again(shelf, session, path, meanwhile):
    start_upload(session, path, chunk_size=Q).send_chunk()
    meanwhile(path)
    return upload(session, path, chunk_size=Q)


def the_same_update_again(shelf, session, path, meanwhile):
    shelf.store(b"old", id="old", mimeType="image/png")
    start_upload(session, path, file_id="old", chunk_size=Q).send_chunk()
    meanwhile(path)
    return upload(session, path, file_id="old", chunk_size=Q)


def resume_upload_of_another_process(shelf, session, path, meanwhile, read=lambda path: path):
    begun = start_upload(session_for(shelf), path, chunk_size=Q)
    begun.send_chunk()
    meanwhile(path)
    return resume_upload(session, begun.session_uri, read(path)).run()


def a_stream_for_the_session_of_another_process(*arguments):
    return resume_upload_of_another_process(*arguments, lambda path: Stream(path.read_bytes()))


def a_response_that_was_lost(shelf, session, path, meanwhile):
    shelf.faults["PUT"] = [None, then(lost, lambda: meanwhile(path))]
    return upload(session, path, chunk_size=Q)


def a_connection_that_was_cut(shelf, session, path, meanwhile):
    shelf.faults["PUT"] = [None, then(reset, lambda: meanwhile(path))]
    return upload(session, path, chunk_size=Q)


def a_chunk_of_which_half_was_stored(shelf, session, path, meanwhile):
    shelf.faults["PUT"] = [None, then(lambda shelf, request: shelf.put(request, limit=Q // 2), lambda: meanwhile(path))]
    return upload(session, path, chunk_size=Q)


def a_file_object(shelf, session, path, meanwhile):
    shelf.faults["PUT"] = [None, then(reset, lambda: meanwhile(path))]
    with path.open("rb", buffering=0) as file:
        return upload(session, file, name="survey.bin", chunk_size=Q)


def a_complete_upload_whose_response_was_lost(shelf, session, path, meanwhile):
    shelf.faults["PUT"] = [None, None, None, lost]
    begun = start_upload(session, path, chunk_size=Q)
    for _ in range(4):
        begun.send_chunk()
    meanwhile(path)
    return upload(session, path, chunk_size=Q)


WAYS = [
    the_next_call_by_hand,
    resume_by_hand,
    the_same_call_again,
    the_same_update_again,
    resume_upload_of_another_process,
    a_stream_for_the_session_of_another_process,
    a_response_that_was_lost,
    a_connection_that_was_cut,
    a_chunk_of_which_half_was_stored,
    a_file_object,
    a_complete_upload_whose_response_was_lost,
]


def then(fault: Fault, action: Callable[[], None]) -> Fault:
    """Return a fault that reads the body, calls `action`, and goes on with another fault."""

    def both(shelf: Shelf, request: Request) -> Response:
        body = as_body(request.body).read()
        action()
        return fault(shelf, Request(request.method, request.url, request.headers, body))

    return both


class WithoutChecksums(Shelf):
    """A service whose responses to uploads have these fields only, and no file has a checksum if `md5` is False."""

    fields = ("id", "size")
    md5 = False

    def _keep(self, metadata: dict[str, Any], content: bytes) -> dict[str, Any]:
        file = super()._keep(metadata, content)
        if not self.md5:
            del file["md5Checksum"]
        return file

    def put(self, request: Request, limit: int | None = None) -> Response:
        response = super().put(request, limit)
        if response.status != 200:
            return response
        file = json.loads(as_body(response.body).read())
        return self._json({name: file[name] for name in self.fields})


class WithPartialResponses(WithoutChecksums):
    md5 = True


@pytest.mark.spec("A3-25")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("service", [Shelf, WithPartialResponses])
def test_a_source_that_changed_is_an_error_that_names_the_stored_file(path, way, service):
    shelf = service()
    session = session_for(shelf)

    with pytest.raises(SourceChanged) as caught:
        way(shelf, session, path, change)

    ((stored, content),) = shelf.contents.items()
    assert content not in (CONTENT, CHANGED) or way is a_complete_upload_whose_response_was_lost
    assert f"({stored}) differs from the source (its md5 is {md5(content)[:12]}..., and" in str(caught.value)
    new = "" if way is the_same_update_again else f", or delete('{stored}') and upload(source)"
    assert str(caught.value).endswith(f"call update('{stored}', source){new}.")
    assert session.pending.all() == [], "the next call must not find the session of this file"
    assert upload(session, path, chunk_size=Q, file_id=stored)["id"] == stored
    assert shelf.contents == {stored: CHANGED}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_source_that_did_not_change_is_compared_with_one_request(path, way):
    shelf = WithPartialResponses()

    way(shelf, session_for(shelf), path, lambda path: None)

    assert list(shelf.contents.values()) == [CONTENT]
    queries = [url.partition("?")[2] for method, url, _ in shelf.requests if method == "GET"]
    assert {*queries} - {"fields=kind,id,mimeType"} == {"fields=kind,id,sha256Checksum,md5Checksum"}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_file_without_a_checksum_was_not_compared(path, way):
    shelf = WithoutChecksums()

    with pytest.warns(UnverifiedUploadWarning, match="was not compared: the service returned no checksum") as shown:
        way(shelf, session_for(shelf), path, change)

    assert len(shown) == 1


@pytest.mark.parametrize("other", [bytes(CHANGED), CONTENT[:-1], b""], ids=["same size", "shorter", "empty"])
@pytest.mark.parametrize("kind", [bytes, io.BytesIO, Stream], ids=lambda kind: kind.__name__)
def test_a_complete_session_is_not_an_upload_of_other_content(other, kind):
    shelf = Shelf()
    begun = start_upload(session_for(shelf), CONTENT, chunk_size=Q)
    begun.run()

    with pytest.raises(SourceChanged, match=r"'Untitled' \(file1\) differs from the source"):
        resume_upload(session_for(shelf), begun.session_uri or "", kind(other)).run()
    assert resume_upload(session_for(shelf), begun.session_uri or "", kind(CONTENT)).run()["id"] == "file1"


@pytest.mark.parametrize("kind", [bytes, io.BytesIO, Stream], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("size", [0, Q + 9])
def test_a_source_that_is_shorter_than_the_stored_bytes_has_changed(size, kind):
    shelf = Shelf()
    begun = start_upload(session_for(shelf), Stream(CONTENT), chunk_size=Q)
    for _ in range(2):
        begun.send_chunk()

    with pytest.raises(SourceChanged):
        resume_upload(session_for(shelf), begun.session_uri or "", kind(CONTENT[:size]), chunk_size=Q).run()
    assert shelf.contents == {}


def test_a_source_that_cannot_be_read_again_is_a_warning(path):
    shelf = Shelf()
    begun = start_upload(session_for(shelf), path, chunk_size=-1)
    shelf.faults["PUT"] = [then(lost, path.unlink)]

    with pytest.warns(UnverifiedUploadWarning, match="was not compared: .*No such file"):
        begun.run()

    begun = start_upload(session_for(Shelf()), Stream(CONTENT), name="a.bin", chunk_size=Q)
    begun.send_chunk()

    with pytest.warns(UnverifiedUploadWarning, match=r"'a.bin' \(file1\) was resumed.*: the source is a stream"):
        begun.resume()


@pytest.mark.parametrize("source", ["path", "bytes", "stream"])
@pytest.mark.parametrize("chunk_size", [Q, -1])
def test_an_upload_that_was_not_resumed_is_not_read_twice(path, source, chunk_size, monkeypatch):
    def digest(*args):
        raise AssertionError

    monkeypatch.setattr(PathSource, "digest", digest)
    monkeypatch.setattr(idempotent_creation, "compare_content", digest)
    shelf = WithPartialResponses({"PUT": [] if source == "path" else [reset]})  # bytes in memory cannot change

    content = {"path": path, "bytes": CONTENT, "stream": Stream(CONTENT)}[source]
    upload(session_for(shelf), content, chunk_size=chunk_size)

    assert list(shelf.contents.values()) == [CONTENT]
