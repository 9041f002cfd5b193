import os
import tracemalloc
from random import Random
from types import SimpleNamespace

import pytest

from svc_notebooks.client.uploads.upload_request import UploadArguments, prepare
from svc_notebooks.client.uploads.uploads import resume_upload, start_upload, upload
from svc_notebooks.core.errors.errors import ContentMismatch, Interrupted, ServiceFailed, SessionExpired
from svc_notebooks.core.http.messages import Headers, Request, Response, as_body
from svc_notebooks.core.uploads.transitions import UploadRule, UploadState
from tests.scripted import Q, Shelf, Stream, Time, answer, envelope, lost, reset, session_for

CONTENT = Random(6).randbytes(2 * Q + 99)
MIB = 1024 * 1024


@pytest.mark.spec("A1-05")
@pytest.mark.parametrize("metadata, small", [(None, "media"), ({"starred": True}, "multipart")])
def test_the_type_is_chosen_by_size_and_metadata(metadata, small):
    sources = {b"": small, bytes(5_000_000): small, bytes(5_000_001): "resumable", Stream(b""): "resumable"}

    for source, kind in sources.items():
        assert prepare(session_for(Shelf()), source, UploadArguments(metadata=metadata)).upload_type == kind


@pytest.mark.spec("U-05", "U-05c")
@pytest.mark.parametrize("options", [{}, {"name": "b"}, {"chunk_size": Q}], ids=["media", "multipart", "resumable"])
def test_an_update_is_a_put_on_the_files_upload_uri(options):
    shelf = Shelf()
    name = shelf.store(b"old")

    upload(session_for(shelf), CONTENT, file_id=name, **options)

    method, url, _ = next(request for request in shelf.requests if request[0] != "GET")
    assert (method, url.partition("?")[0]) == ("PUT", f"https://api.example.org/upload/storage/v3/files/{name}")
    assert shelf.contents == {name: CONTENT}


@pytest.mark.parametrize("size", [0, 1, Q - 1, Q, Q + 1, 2 * Q])
@pytest.mark.parametrize("kind", ["bytes", "stream"])
def test_every_size_arrives_in_chunks(size, kind):
    shelf, content = Shelf(rule=UploadRule(strict=True)), CONTENT[:size]

    file = upload(session_for(shelf), content if kind == "bytes" else Stream(content, 1000), chunk_size=Q)

    assert shelf.contents[str(file["id"])] == content
    assert len(shelf.header_values("Content-Range")) == max(1, -(-size // Q))


@pytest.mark.spec("X-07")
def test_with_an_id_it_is_repeated_and_a_409_means_success():
    shelf = Shelf({"POST": [lost]})

    assert (upload(session_for(shelf), CONTENT, metadata={"id": "mine"})["id"], shelf.made) == ("mine", 1)


def test_a_stream_that_was_read_cannot_be_sent_again():
    shelf = Shelf({"POST": [lambda shelf, request: (as_body(request.body).read(), Response(503))[1]]})

    with pytest.raises(Interrupted, match="stream that cannot be read again"):
        upload(session_for(shelf), Stream(bytes(20 * MIB)), upload_type="media")


@pytest.mark.parametrize(
    "options, error, named",
    [
        *(
            pytest.param({"chunk_size": n}, ValueError, f"chunk_size {n} .*{near}", marks=pytest.mark.spec("A3-24"))
            for n, near in (
                (1, "use 262144"), (300_000, "use 262144 or 524288"), (524_289, "use 524288 or 786432"),
                (0, "262144"), (-5, "262144"),
            )
        ),
        ({"chunk_size": 262144.0}, TypeError, "chunk_size must be .* not float"),
        ({"chunk_size": True}, TypeError, "chunk_size must be .* not bool"),
        ({"chunk_size": Q, "upload_type": "media"}, ValueError, "chunk_size applies only to resumable"),
        ({"upload_type": "best"}, ValueError, "upload_type must be one of auto, media"),
        ({"upload_type": "media", "name": "a"}, ValueError, "media upload carries no metadata"),
        ({"name": 7}, TypeError, "name must be a str, not int"),
        ({"metadata": "x"}, TypeError, "metadata must be .* not str"),
        ({"metadata": {"x": object()}}, TypeError, "metadata cannot be sent as JSON"),
        ({"mime_type": "csv"}, ValueError, "mime_type is 'csv'"),
        ({"mime_type": "text/csv\r\nX-Evil: 1"}, ValueError, "mime_type"),
        ({"file_id": ""}, ValueError, "file_id"),
        ({"file_id": 7}, TypeError, "file_id"),
    ],
    ids=lambda value: str(value).partition(" object at ")[0][:40],
)  # fmt: skip
def test_wrong_arguments_are_named(options, error, named):
    shelf = Shelf()

    with pytest.raises(error, match=named):
        upload(session_for(shelf), CONTENT, **options)
    assert shelf.requests == []


def test_an_upload_can_be_run_step_by_step():
    begun = start_upload(session_for(Shelf()), CONTENT, name="a.bin", chunk_size=Q)

    assert (begun.state, begun.stored, begun.total, begun.done) == (UploadState.OPEN, 0, len(CONTENT), False)
    assert begun.send_chunk()["stored"] == Q
    assert begun.status()["stored"] == Q
    assert begun.send_chunk()["stored"] == 2 * Q
    assert begun.send_chunk()["status"] == 200
    assert begun.done
    assert begun.file is not None
    assert begun.status()["status"] == 200
    assert [row["action"] for row in begun.history] == ["begin", "send", "ask", "send", "send", "ask"]
    assert [row["n"] for row in begun.history] == [1, 2, 3, 4, 5, 6]
    assert repr(begun) == f"<Upload a.bin: {len(CONTENT)} of {len(CONTENT)} bytes, complete>"
    with pytest.raises(ValueError, match="no chunk left"):
        begun.send_chunk()


def test_a_broken_chunk_is_a_row_and_the_next_step_queries_the_status():
    begun = start_upload(session_for(Shelf({"PUT": [reset]})), CONTENT, chunk_size=Q)

    row = begun.send_chunk()
    assert (row["status"], row["error"]) == (None, "reset")
    begun.send_chunk()

    assert [row["action"] for row in begun.history] == ["begin", "send", "wait", "ask", "send"]


def test_a_cancelled_upload_cannot_go_on():
    shelf = Shelf()
    begun = start_upload(session_for(shelf), CONTENT, chunk_size=Q)
    begun.send_chunk()

    assert begun.cancel()["status"] == 499
    assert begun.state is UploadState.CANCELLED
    assert begun.status()["status"] == 499
    with pytest.raises(SessionExpired, match="cancelled"):
        begun.send_chunk()
    assert shelf.files == {}


@pytest.mark.parametrize("answered", [204, 404, 499])
def test_a_cancelled_upload_is_not_opened_again_whatever_the_status(answered):
    shelf = Shelf({"DELETE": [reset, answer(503), answer(answered)]})
    begun = start_upload(session_for(shelf), CONTENT, chunk_size=Q)

    begun.cancel()

    assert shelf.exhausted
    with pytest.raises(SessionExpired, match="cancelled"):
        begun.run()


def test_a_cancel_that_comes_too_late_finds_the_file_and_one_that_is_refused_is_an_error():
    begun = start_upload(session_for(Shelf({"PUT": [lost]})), CONTENT, chunk_size=-1)
    begun.send_chunk()
    begun.cancel()
    assert begun.done

    shelf = Shelf({"DELETE": [answer(403, envelope(403, "insufficientFilePermissions"))]})
    with pytest.raises(Exception, match="insufficientFilePermissions"):
        start_upload(session_for(shelf), CONTENT, chunk_size=Q).cancel()


@pytest.mark.spec("A3-23", "A3-23a", "A3-23b")
def test_an_expired_session_is_shown_and_opened_again_where_its_metadata_is_known():
    shelf = Shelf()
    begun = start_upload(session_for(shelf), CONTENT, name="a.bin", chunk_size=Q)
    begun.send_chunk()
    shelf.sessions.clear()

    with pytest.raises(SessionExpired):
        resume_upload(session_for(shelf), begun.session_uri, CONTENT).run()
    assert shelf.contents == {}
    assert begun.status()["state"] == "expired"
    begun.run()
    assert list(shelf.contents.values()) == [CONTENT]


def test_an_upload_without_a_session_has_no_status_and_no_cancel():
    begun = start_upload(session_for(Shelf()), CONTENT)
    begun.session_uri = None

    for verb in (begun.status, begun.cancel):
        with pytest.raises(ValueError, match="no session yet"):
            verb()


HTML, JSON = (Headers([("Content-Type", kind)]) for kind in ("text/html; charset=utf-8", "application/json"))
LOGIN = Headers([("Location", "https://login.example/x?access_token=hidden-word")])
NO_ID = "it has no id|without a Location header"
ELSEWHERE = r"redirects to https://login\.example/x.*; check base_url"
NOWHERE = ({}, {"Location": "ftp://x/y"}, {"Location": "http://x:p/"})
WRONG_ANSWERS = [
    (Response(200, HTML, b"<html>Sign in</html>"), "sign-in page of a network, .*'<html>Sign"),
    *((Response(200, JSON, body), NO_ID) for body in (b'{"ok": true}', b'{"id": null}')),
    *((Response(status, LOGIN), ELSEWHERE) for status in (301, 302, 303, 307, 308)),
]
WRONG_RESPONSES = [
    *(("POST", Response(200, Headers(headers)), "Location") for headers in NOWHERE),
    ("PUT", Response(200, body=b'{"id": "x", "size": "7"}'), "stored 7 bytes, but"),
    *((method, *wrong) for method in ("POST", "PUT") for wrong in WRONG_ANSWERS),
]


@pytest.mark.parametrize("method, response, words", WRONG_RESPONSES)
def test_a_wrong_response_is_an_error_of_the_service(method, response, words):
    shelf = Shelf({method: [lambda shelf, request: response] * 9})

    with pytest.raises((ServiceFailed, ContentMismatch), match=words) as caught:
        upload(session_for(shelf), CONTENT, chunk_size=Q)

    assert response.status == 200 or caught.value.status == response.status
    assert "hidden-word" not in str(caught.value)
    assert len(shelf.header_values("Content-Range")) == (method == "PUT")
    assert shelf.files == {}


def test_a_chunk_that_is_prepared_while_a_service_behind_a_socket_works_is_sent():
    shelf = Shelf()
    session = session_for(shelf)
    session.in_process = False

    upload(session, CONTENT, chunk_size=Q)

    assert list(shelf.contents.values()) == [CONTENT]
    assert shelf.header_values("Content-Range") == [
        f"bytes 0-{Q - 1}/{len(CONTENT)}",
        f"bytes {Q}-{2 * Q - 1}/{len(CONTENT)}",
        f"bytes {2 * Q}-{2 * Q + 98}/{len(CONTENT)}",
    ]


@pytest.mark.parametrize("wrong", ["", "ftp://x", 7, None])
def test_an_invalid_session_uri_is_refused(wrong):
    with pytest.raises(ValueError, match="session_uri"):
        resume_upload(session_for(Shelf()), wrong, CONTENT)


class Sink(Shelf):
    """A service that reads content and discards it."""

    def put(self, request: Request, limit: int | None = None) -> Response:
        first, size = 0, self._swallow(request)
        named = request.headers.get("Content-Range")
        if named:
            first = int(named.split(" ")[1].split("-")[0])
            if not named.endswith(f"/{first + size}"):
                return Response(308, Headers([("Range", f"bytes=0-{first + size - 1}")]))
        return Response(200, body=b'{"id": "x", "name": "x"}')

    def simple(self, request: Request, kind: str) -> Response:
        self._swallow(request)
        return Response(200, body=b'{"id": "x", "name": "x"}')

    def _swallow(self, request: Request) -> int:
        body = as_body(request.body)
        return sum(len(block) for block in iter(lambda: body.read(MIB), b""))


@pytest.mark.spec("A2-05", "A3-26")
@pytest.mark.parametrize("kind", ["media", "multipart", "resumable", "resumable at once", "resumable stream"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind):
    path = tmp_path / "big.bin"
    path.touch()
    os.truncate(path, 64 * MIB)
    options = {"upload_type": kind.split()[0]}
    chunk = {"resumable": MIB, "resumable at once": -1, "resumable stream": MIB}.get(kind)
    session = session_for(Sink())
    with path.open("rb") as file:
        source = SimpleNamespace(read=file.read) if kind == "resumable stream" else path
        tracemalloc.start()
        try:
            upload(session, source, chunk_size=chunk, **options)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak < 6 * MIB


@pytest.mark.parametrize("upload_type", ["media", "resumable"])
def test_a_full_disk_of_the_service_is_not_retried(upload_type):
    full = answer(507, envelope(507, "insufficientStorage"))
    shelf, time = Shelf(faults={"POST": [full]}), Time()

    with pytest.raises(ServiceFailed, match=r"Delete files.+\(507 insufficientStorage\)"):
        upload(session_for(shelf, time), CONTENT, upload_type=upload_type)

    assert len(shelf.requests) == 1
    assert time.slept == []
