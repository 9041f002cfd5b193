"""An upload declares the length of its body, also 0, or sends it chunked."""

from __future__ import annotations

import json

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


def test_a_length_of_zero_is_accepted(wire: Wire) -> None:
    file = wire.create(b"before")

    assert wire.send("POST", f"{FILES}?uploadType=media", b"").status == 200
    assert wire.send("PUT", f"{FILES}/{file['id']}?uploadType=media", b"").status == 200
    assert wire.initiate().status == 200
    assert wire.put(wire.begin()).status == 200
    assert wire.download(file["id"]).body == b""


def test_the_chunked_coding_needs_no_length(wire: Wire) -> None:
    metadata = json.dumps({"name": "chunked"}).encode()
    headers = {"Content-Type": "application/json; charset=UTF-8"}

    assert wire.send("POST", f"{FILES}?uploadType=media", iter([b"hello"])).status == 200
    begun = wire.send("POST", f"{FILES}?uploadType=resumable", iter([metadata]), headers)
    assert wire.put(begun.headers["location"], iter([b"world"])).json["name"] == "chunked"


def test_other_requests_need_no_length(wire: Wire) -> None:
    file = wire.create(b"hello")
    uri = wire.begin()

    assert without_length(wire, "GET", f"/storage/v3/files/{file['id']}?alt=media").status == 200
    assert without_length(wire, "POST", "/storage/v3/files").status == 200
    assert without_length(wire, "DELETE", f"/storage/v3/files/{file['id']}").status == 204
    assert without_length(wire, "DELETE", uri).status == 499


def test_a_missing_token_is_reported_first(wire: Wire) -> None:
    assert wire.send("POST", f"{FILES}?uploadType=media", token=None).status == 401
