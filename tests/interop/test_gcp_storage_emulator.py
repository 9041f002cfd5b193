"""Our client against the upload sessions of gcp-storage-emulator, unmodified.

It serves another interface of the family (object storage), so the initiation goes to another path; from there
on an upload needs nothing but the session URI. The tests of what it answers otherwise are named "known wrong".
"""

from random import Random
from typing import Any

import pytest
from gcp_storage_emulator.server import create_server

from svc_notebooks.client.session import Session
from svc_notebooks.client.transport.in_process import TransportError
from svc_notebooks.client.uploads.resumable_upload import ClientUpload
from svc_notebooks.client.uploads.sources import open_source
from svc_notebooks.client.uploads.upload_request import DEFAULT_CHUNK, WHOLE, UploadRequest
from svc_notebooks.client.uploads.uploads import resume_upload
from svc_notebooks.core.errors.errors import ContentMismatch, ServiceFailed, UnverifiedUploadWarning
from svc_notebooks.core.http.messages import Request, Response
from tests.scripted import Stream

pytestmark = pytest.mark.interop

Q = 262_144
CONTENT = Random(12).randbytes(3 * Q + 17)


@pytest.fixture
def session(tmp_path):
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="b")
    server.start()
    address = f"http://127.0.0.1:{server._api._httpd.server_port}"
    with BucketSession(address, None, proxies={}, state_dir=tmp_path / "state", sleep=lambda seconds: None) as session:
        yield session
    server.stop()


class BucketSession(Session):
    """The objects of the emulator are files here."""

    def send(self, request: Request, *bound: Any) -> Response:
        response = super().send(request, *bound)
        content = response.content().replace(b'"storage#object"', b'"storage#file"')
        return Response(response.status, response.headers, content)


class Bucket(UploadRequest):
    """An object of the emulator's, where a file of ours would be."""

    def url(self, session: Session, upload_type: str) -> str:
        return session.url("/upload/storage/v1/b/b/o", {"uploadType": upload_type, "name": "x"})


def begin(session: Session, content: object, chunk: int | None = Q) -> ClientUpload:
    return ClientUpload(session, Bucket(open_source(content), "text/plain", chunk_size=chunk)).begin()


def stored(session: Session) -> bytes:
    return session.send(Request("GET", session.url("/download/storage/v1/b/b/o/x", {"alt": "media"}))).content()


@pytest.mark.spec("A3-20", "A3-25")
@pytest.mark.parametrize("chunk", [Q, 2 * Q, DEFAULT_CHUNK, WHOLE])
@pytest.mark.parametrize("kind", ["bytes", "stream"])
def test_an_upload_arrives_in_chunks_of_any_size(session, chunk, kind):
    source = CONTENT if kind == "bytes" else Stream(CONTENT)

    assert begin(session, source, None if chunk == WHOLE else chunk).run()["name"] == "x"
    assert stored(session) == CONTENT


@pytest.mark.spec("A3-21", "A3-21a", "A3-25")
def test_an_upload_that_another_process_began_is_gone_on_with(session):
    begun = begin(session, CONTENT)
    assert begun.send_chunk()["stored"] == Q
    begun.close()

    upload = resume_upload(session, begun.session_uri, CONTENT, chunk_size=Q)
    # Its files have another address.
    with pytest.warns(UnverifiedUploadWarning, match="was not compared: The service returned 404"):
        upload.run()

    assert [row["first"] for row in upload.history] == [None, Q, 2 * Q, 3 * Q]
    assert stored(session) == CONTENT


@pytest.mark.spec("A3-21", "A3-21a")
def test_a_connection_that_is_cut_is_gone_on_from(session, monkeypatch):
    """The second chunk leaves, and its answer is lost."""
    upload = begin(session, CONTENT)
    send, sent = session._transport.send, []

    def unsteady(request):
        sent.append(request)
        response = send(request)
        if len(sent) == 2:
            response.content()
            raise TransportError("the answer was lost")
        return response

    monkeypatch.setattr(session._transport, "send", unsteady)
    upload.run()

    assert [row["action"] for row in upload.history] == ["begin", "send", "send", "wait", "ask", "send", "send"]
    assert stored(session) == CONTENT


def test_known_wrong_a_complete_session_is_forgotten(session):
    upload = begin(session, CONTENT)
    upload.run()

    assert upload.status()["status"] == 404
    assert upload.done


def test_known_wrong_only_the_next_byte_is_taken_and_a_session_cannot_be_cancelled(session):
    upload = begin(session, CONTENT)
    upload.send_chunk()

    for first in (Q // 2, 2 * Q):
        data = CONTENT[first : first + Q]
        where = ("Content-Range", f"bytes {first}-{first + len(data) - 1}/{len(CONTENT)}")
        headers = session.headers(("Content-Length", str(len(data))), where)
        assert session.send(Request("PUT", upload.session_uri, headers, data)).status == 400
    with pytest.raises(ServiceFailed, match="501"):
        upload.cancel()
    assert upload.run()["name"] == "x"


def test_known_wrong_a_session_without_a_byte_claims_to_have_one(session):
    """Our client believes it only as far as it sent something: here nothing, so it stops."""
    with pytest.raises(ContentMismatch, match="than this upload has sent"):
        begin(session, CONTENT).status()
