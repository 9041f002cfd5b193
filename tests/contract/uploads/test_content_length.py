import pytest

from tests.contract.conftest import BOTH_WAYS, Answer, Q, Wire

FILES = "/upload/storage/v3/files"
LENGTH_REQUIRED = "An upload without a length"

pytestmark = [BOTH_WAYS, pytest.mark.spec("A1-03", "A1-03b"), pytest.mark.choice(LENGTH_REQUIRED)]


def without_length(wire: Wire, method: str, target: str, **headers: str) -> Answer:
    """Send a request with neither Content-Length nor Transfer-Encoding, and so without a body."""
    return wire.send(method, target, None, {name.replace("_", "-"): value for name, value in headers.items()})


def assert_refused(answer: Answer) -> None:
    assert (answer.status, answer.error["reason"]) == (411, "lengthRequired")
    assert answer.error["location"] == "Content-Length"


@pytest.mark.parametrize("kind", ["media", "multipart", "resumable"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_every_upload_type_is_refused_without_a_length(wire: Wire, kind: str, method: str) -> None:
    before = wire.create(b"before")
    target = f"{FILES}?uploadType={kind}" if method == "POST" else f"{FILES}/{before['id']}?uploadType={kind}"
    content_type = "multipart/related; boundary=x" if kind == "multipart" else "application/json"

    assert_refused(without_length(wire, method, target, Content_Type=content_type))
    assert [file["id"] for file in wire.files()] == [before["id"]]
    assert wire.download(before["id"]).body == b"before"


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("content_range", [None, "bytes */*", f"bytes */{2 * Q}"])
def test_every_session_request_is_refused_without_a_length(wire: Wire, method: str, content_range: str | None) -> None:
    uri = wire.begin({"name": "a"})
    wire.put(uri, bytes(Q), f"bytes 0-{Q - 1}/{2 * Q}")

    assert_refused(without_length(wire, method, uri, **({"Content_Range": content_range} if content_range else {})))

    status = wire.put(uri, content_range=f"bytes */{2 * Q}")
    assert (status.status, status.headers["range"]) == (308, f"bytes=0-{Q - 1}")
    assert wire.put(uri, bytes(Q), f"bytes {Q}-{2 * Q - 1}/{2 * Q}").status == 200
