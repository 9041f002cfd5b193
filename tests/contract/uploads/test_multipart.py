import json
from typing import Any

import pytest

from tests.contract.conftest import BOTH_WAYS, Answer, Wire
from tests.contract.differences import choice

pytestmark = BOTH_WAYS

UPLOAD = "/upload/storage/v3/files?uploadType=multipart&fields=*"
RELATED = "multipart/related; boundary=foo_bar"
JSON_PART = b"Content-Type: application/json; charset=UTF-8"


def related(metadata: bytes, content: bytes, kind: bytes = b"text/plain") -> bytes:
    first, second = (b"--foo_bar", JSON_PART, b"", metadata), (b"--foo_bar", b"Content-Type: " + kind, b"", content)
    return b"\r\n".join([*first, *second, b"--foo_bar--", b""])


def post(wire: Wire, body: bytes, content_type: str = RELATED, target: str = UPLOAD, method: str = "POST") -> Answer:
    return wire.send(method, target, body, {"Content-Type": content_type})


@pytest.mark.spec("A2-01", "L-01", "L-01b")
def test_metadata_and_content_arrive_together(wire: Wire) -> None:
    metadata = {"id": wire.generated_id(), "name": "a.txt", "description": "first"}

    answer = post(wire, related(json.dumps(metadata).encode(), b"hello"))

    assert (answer.status, answer.json["id"]) == (200, metadata["id"])
    assert (answer.json["name"], answer.json["mimeType"]) == ("a.txt", "text/plain")
    with choice("Default fields of a response"):
        assert answer.json["description"] == "first"
    assert wire.download(answer.json["id"]).body == b"hello"


@pytest.mark.spec("A2-02", "A2-02a")
def test_the_spellings_of_the_boundary_are_accepted(wire: Wire) -> None:
    for content_type in ('multipart/related; boundary="foo_bar"', "Multipart/Related;BOUNDARY=foo_bar",
                         'multipart/related ; type="application/json" ; boundary=foo_bar'):  # fmt: skip
        assert post(wire, related(b"{}", b"x"), content_type).status == 200


WHOLE, END = related(b"{}", b"x"), b"\r\n\r\n{}\r\n--foo_bar--\r\n"
THIRD = b"x\r\n--foo_bar\r\nContent-Type: text/plain\r\n\r\na third part"
BAD_BODIES: dict[str, Any] = {
    "empty": b"",
    "no boundary": b"no boundary at all",
    "one part": b"--foo_bar\r\n" + JSON_PART + END,
    "not closed": WHOLE.removesuffix(b"--foo_bar--\r\n"),
    "cut": WHOLE[:-30],
    "no JSON": related(b"{not json", b"x"),
    "no object": related(b"[]", b"x"),
    "wrong field": related(b'{"name": 5}', b"x"),
    # which its type alone tells from metadata
    "swapped": b"--foo_bar\r\nContent-Type: text/plain\r\n\r\n{}\r\n--foo_bar\r\n" + JSON_PART + END,
    "three": pytest.param(related(b"{}", THIRD), marks=pytest.mark.choice("A third part")),
    "other boundary": WHOLE.replace(b"foo_bar", b"another"),
}


@pytest.mark.spec("A2-02", "A2-02b")
@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES)
def test_a_body_that_is_not_two_parts_is_refused_and_stores_nothing(wire: Wire, body: bytes) -> None:
    answer = post(wire, body)

    assert answer.status == 400
    with choice("Reasons and locations of errors"):
        assert answer.error["reason"]
    assert wire.names() == []


@pytest.mark.spec("A2-02", "A2-02b")
def test_a_body_without_a_boundary_is_refused(wire: Wire) -> None:
    for parameters in ("", "; boundary=", f"; boundary={'x' * 71}"):
        assert post(wire, WHOLE, f"multipart/related{parameters}").status == 400
    assert post(wire, WHOLE, "text/plain").status == 400


@pytest.mark.spec("A2-03", "A3-16", "A3-16b")
def test_content_survives_byte_for_byte(wire: Wire) -> None:
    almost = b"a\r\n--foo_bar_baz\r\n--foo_ba\r\n\r\n"
    for content in (b"", b"\r\n", b"x--foo_bar", almost, b"\r\n--foo_bar-\r\n", bytes(range(256)) * 999):
        answer = post(wire, related(b"{}", content, kind=b"application/x"))
        assert wire.download(answer.json["id"]).body == content


@pytest.mark.spec("A2-04", "A2-04a")
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_an_update_changes_both(wire: Wire, method: str) -> None:
    file = wire.create(b"old")

    answer = post(wire, related(b'{"name": "new"}', b"content"), target=update_of(file), method=method)

    assert (answer.status, answer.json["id"], answer.json["name"]) == (200, file["id"], "new")
    assert wire.download(file["id"]).body == b"content"


@pytest.mark.spec("A2-04", "A2-04b")
@pytest.mark.parametrize("body", [related(b'{"size": "5"}', b"content"), related(b'{"name": "new"}', b"content")[:-20]])
def test_an_update_that_fails_changes_neither(wire: Wire, body: bytes) -> None:
    file = wire.create(b"old")

    answer = post(wire, body, target=update_of(file), method="PUT")

    assert 400 <= answer.status < 500
    assert wire.send("GET", f"/storage/v3/files/{file['id']}?fields=*").json == file
    assert wire.download(file["id"]).body == b"old"


def update_of(file: dict[str, str]) -> str:
    return f"/upload/storage/v3/files/{file['id']}?uploadType=multipart&fields=*"
