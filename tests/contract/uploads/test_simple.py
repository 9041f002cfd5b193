import hashlib

import pytest

from tests.contract.conftest import BOTH_WAYS, Wire
from tests.contract.differences import choice
from tests.contract.wire import RELATED, multipart_body

pytestmark = BOTH_WAYS

UPLOAD = "/upload/storage/v3/files?uploadType=media"


@pytest.mark.spec("A1-01", "A1-02", "U-01", "U-01a", "U-04", "U-05", "U-05a")
def test_the_body_is_stored_and_the_metadata_answered(wire: Wire) -> None:
    content = b"a,b\n1,2\r\n\r" + bytes(range(256))

    answer = wire.send("POST", UPLOAD, content, {"Content-Type": "text/csv"})

    assert answer.status == 200
    assert (answer.json["name"], answer.json["mimeType"]) == ("Untitled", "text/csv")
    with choice("Default fields of a response"):
        assert answer.json | {"id": ""} == {"kind": "svc#file", "id": "", "name": "Untitled", "mimeType": "text/csv"}
    assert wire.download(answer.json["id"]).body == content


@pytest.mark.spec("A1-03", "A1-03a", "A3-16", "A3-16a")
def test_a_chunked_body_needs_no_length_and_an_empty_file_is_a_file(wire: Wire) -> None:
    answer = wire.send("POST", UPLOAD, iter([b"one ", b"two"]), {"Content-Type": "text/plain"})
    empty = wire.create(b"")

    assert answer.status == 200
    assert wire.download(answer.json["id"]).body == b"one two"
    assert (empty["size"], empty["md5Checksum"]) == ("0", hashlib.md5(b"").hexdigest())
    assert wire.download(empty["id"]).body == b""


@pytest.mark.spec("A1-04", "U-01", "U-01a", "U-05", "U-05b")
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_an_update_replaces_the_content_and_keeps_id_and_name(wire: Wire, method: str) -> None:
    file = wire.create(b"old")
    wire.json_request("PATCH", f"/storage/v3/files/{file['id']}", {"name": "notes.txt"})

    target = f"/upload/storage/v3/files/{file['id']}?uploadType=media"
    answer = wire.send(method, target, b"new!", {"Content-Type": "text/plain"})

    assert answer.status == 200
    assert (answer.json["id"], answer.json["name"]) == (file["id"], "notes.txt")
    assert wire.download(file["id"]).body == b"new!"


@pytest.mark.spec("U-06")
@pytest.mark.parametrize("kind, content", [("media", b"x"), ("resumable", b"")])
def test_an_update_of_an_unknown_file_is_404_and_stores_nothing(wire: Wire, kind: str, content: bytes) -> None:
    answer = wire.send("PUT", f"/upload/storage/v3/files/nobody?uploadType={kind}", content, {"Content-Type": "a/b"})

    assert (answer.status, answer.error["reason"]) == (404, "notFound")
    assert wire.names() == []


@pytest.mark.spec("U-03")
@pytest.mark.choice("Type detection for other uploads")
def test_the_type_of_known_content_is_detected(wire: Wire) -> None:
    assert wire.send("POST", UPLOAD, b"%PDF-1.7\n").json["mimeType"] == "application/pdf"


TWO_PARTS = multipart_body({}, b"words", "Content-Type: text/plain")


@pytest.mark.spec("U-02", "U-02a")
def test_each_upload_type_is_read_as_itself(wire: Wire) -> None:
    """One body is content for media and two parts for multipart. A session gets its content later."""
    uploads = "/upload/storage/v3/files?uploadType="

    media = wire.send("POST", f"{uploads}media", TWO_PARTS, {"Content-Type": "text/plain"})
    multipart = wire.send("POST", f"{uploads}multipart", TWO_PARTS, RELATED)
    resumable = wire.send("POST", f"{uploads}resumable", b"{}", {"Content-Type": "application/json"})

    assert [answer.status for answer in (media, multipart, resumable)] == [200] * 3
    assert wire.download(media.json["id"]).body == TWO_PARTS
    assert wire.download(multipart.json["id"]).body == b"words"
    assert "upload_id=" in resumable.headers["location"]
    assert len(wire.names()) == 2


@pytest.mark.spec("U-01", "U-01b", "U-02", "U-02b")
def test_another_upload_type_and_content_at_the_metadata_url_are_refused(wire: Wire) -> None:
    for kind in ("uploadType=", "uploadType=fast", "", "uploadType=MEDIA2"):
        answer = wire.send("POST", f"/upload/storage/v3/files?{kind}", b"x", {"Content-Type": "text/plain"})
        assert (answer.status, answer.error["location"]) == (400, "uploadType")
    for query in ("", "?uploadType=media"):
        answer = wire.send("POST", f"/storage/v3/files{query}", b"raw bytes", {"Content-Type": "text/plain"})
        assert answer.status == 400
    assert wire.names() == []


@pytest.mark.spec("A1-06")
@pytest.mark.parametrize("kind", ["media", "multipart"])
@pytest.mark.parametrize("chunked", [False, True])
def test_content_above_5_mb_is_accepted(wire: Wire, kind: str, chunked: bool) -> None:
    content = bytes(range(256)) * (6 * 1024 * 4)
    body, content_type = content, "application/x-large"
    if kind == "multipart":
        body = multipart_body({"name": "large"}, content, "Content-Type: application/x-large")
        content_type = RELATED["Content-Type"]
    target = f"/upload/storage/v3/files?uploadType={kind}&fields=id,size"

    answer = wire.send("POST", target, iter([body]) if chunked else body, {"Content-Type": content_type})

    assert (answer.status, answer.json["size"]) == (200, str(len(content)))
    assert wire.download(answer.json["id"]).body == content
