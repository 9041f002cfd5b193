import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from tests.contract.calendar_client import CalendarClient, path
from tests.contract.conftest import BOTH_WAYS, Answer, OverSocket, Q, Wire
from tests.contract.transport.test_connections import connected
from tests.contract.wire import RELATED, multipart_body, read_to_end

FILES = "/storage/v3/files"
EVENTS = "/calendar/v3/calendars/primary/events"
MEDIA = "/upload/storage/v3/files?uploadType=media"
MULTIPART = "/upload/storage/v3/files?uploadType=multipart"
RESUMABLE = "/upload/storage/v3/files?uploadType=resumable"
JSON = {"Content-Type": "application/json; charset=UTF-8"}
CONTENT = b"a,b\n1,2\n" * 40
CODED = gzip.compress(CONTENT, mtime=0)
DAY = {"start": {"date": "2026-12-01"}, "end": {"date": "2026-12-02"}}

pytestmark = pytest.mark.choice("Codings and digests of a request body")


def raw_deflate(content: bytes) -> bytes:
    return zlib.compress(content)[2:-4]


def digest(algorithm: str, content: bytes) -> str:
    return base64.b64encode(hashlib.new(algorithm, content).digest()).decode()


def assert_refused(answer: Answer, status: int, location: str, wire: Wire) -> None:
    assert (answer.status, answer.error["location"]) == (status, location)
    assert wire.names() == []


CODINGS: dict[str, Any] = {
    "gzip": CODED,
    "X-GZIP": CODED,
    "deflate": zlib.compress(CONTENT),
    " deflate ": raw_deflate(CONTENT),
    "identity": CONTENT,
    "": CONTENT,
    "gzip, identity": gzip.compress(CONTENT[:9], mtime=0) + gzip.compress(CONTENT[9:], mtime=0),
    "deflate, gzip": gzip.compress(zlib.compress(CONTENT), mtime=0),
    "gzip,gzip": gzip.compress(CODED, mtime=0),
}


@BOTH_WAYS
@pytest.mark.parametrize("coding", CODINGS)
def test_a_coded_body_is_decoded(wire: Wire, coding: str) -> None:
    answer = wire.send("POST", MEDIA, CODINGS[coding], {"Content-Type": "text/csv", "Content-Encoding": coding})

    assert (answer.status, answer.json["mimeType"]) == (200, "text/csv")
    assert wire.download(answer.json["id"]).body == CONTENT


@BOTH_WAYS
@pytest.mark.parametrize("chunked", [False, True])
def test_every_kind_of_request_is_decoded(wire: Wire, chunked: bool) -> None:
    def send(method: str, target: str, body: bytes, headers: dict[str, str]) -> Answer:
        coded = gzip.compress(body)
        blocks: Iterator[bytes] = iter([coded[:5], coded[5:]])
        return wire.send(method, target, blocks if chunked else coded, headers | {"Content-Encoding": "gzip"})

    file = send("POST", FILES, b'{"name": "json"}', JSON).json
    assert send("PATCH", f"{FILES}/{file['id']}", b'{"name": "changed"}', JSON).json["name"] == "changed"
    send("PUT", f"/upload/storage/v3/files/{file['id']}?uploadType=media", CONTENT, {"Content-Type": "text/csv"})
    assert wire.download(file["id"]).body == CONTENT
    multipart = send("POST", MULTIPART, multipart_body({"name": "a"}, CONTENT, "Content-Type: text/csv"), RELATED).json
    assert wire.download(multipart["id"]).body == CONTENT
    uri = send("POST", RESUMABLE, b'{"name": "session"}', JSON).headers["location"]
    whole = send("PUT", uri, CONTENT, {})
    assert (whole.json["name"], wire.download(whole.json["id"]).body) == ("session", CONTENT)
    assert send("POST", EVENTS, json.dumps({"summary": "coded", **DAY}).encode(), JSON).json["summary"] == "coded"
    batch = b"--b\r\nContent-Type: application/http\r\n\r\nGET /storage/v3/about?fields=user HTTP/1.1\r\n\r\n\r\n--b--"
    mixed = {"Content-Type": "multipart/mixed; boundary=b", "Content-MD5": digest("md5", gzip.compress(batch))}
    assert b"HTTP/1.1 200 OK" in send("POST", "/batch/storage/v3", batch, mixed).body


BAD_BODIES = {
    "cut": CODED[:-1],
    "not gzip": CONTENT,
    "another checksum": CODED[:-8] + bytes(4) + CODED[-4:],
    "bytes at the end": CODED + b"\0more",
    "one byte": b"\x1f",
}


@BOTH_WAYS
@pytest.mark.parametrize("case", BAD_BODIES)
def test_a_body_that_cannot_be_decoded_is_refused(wire: Wire, case: str) -> None:
    uri = wire.begin()
    for method, target in (("POST", MEDIA), ("POST", FILES), ("POST", MULTIPART), ("PUT", uri)):
        kind = {"Content-Type": "text/csv"} if target == MEDIA else RELATED
        answer = wire.send(method, target, BAD_BODIES[case], kind | {"Content-Encoding": "gzip"})
        assert_refused(answer, 400, "Content-Encoding", wire)
    status = wire.put(uri, content_range="bytes */*")
    assert (status.status, "range" in status.headers) == (308, False)


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, br", "aws-chunked", ",".join(["gzip"] * 2000)])
def test_another_coding_is_415(wire: Wire, coding: str) -> None:
    uri = wire.begin()
    for method, target in (("POST", MEDIA), ("POST", FILES), ("PUT", uri), ("POST", EVENTS)):
        answer = wire.send(method, target, b"{}", {"Content-Encoding": coding})
        assert_refused(answer, 415, "Content-Encoding", wire)
        assert answer.headers["Accept-Encoding"] == "gzip, deflate"
    assert wire.send("POST", MEDIA, b"{}", {"Content-Encoding": coding}, token=None).status == 401


@BOTH_WAYS
@pytest.mark.parametrize(
    "content_range",
    [None, "bytes 0-*/*", f"bytes 0-{len(CODED) - 1}/{len(CODED)}", f"bytes 0-{len(CONTENT) - 1}/{len(CONTENT)}"],
)
def test_a_coded_body_with_the_whole_content_completes_an_upload(wire: Wire, content_range: str | None) -> None:
    uri = wire.begin(X_Upload_Content_Length=str(len(CONTENT)))
    headers = {"Content-Encoding": "gzip"} | ({"Content-Range": content_range} if content_range else {})

    answer = wire.send("PUT", uri, CODED, headers)

    assert wire.download(answer.json["id"]).body == CONTENT


@pytest.mark.parametrize(
    "content_range", ["bytes 0-9/100", f"bytes 0-{Q - 1}/*", "bytes 10-19/20", "bytes 5-*/*", "bytes 0-9/*"]
)
def test_a_coded_chunk_is_415_and_the_upload_stays_open(wire: Wire, content_range: str) -> None:
    uri = wire.begin()

    answer = wire.send("PUT", uri, CODED, {"Content-Encoding": "gzip", "Content-Range": content_range})

    assert_refused(answer, 415, "Content-Encoding", wire)
    assert answer.headers["Accept-Encoding"] == "identity"
    assert wire.send("PUT", uri, CONTENT).status == 200


@pytest.mark.policy(max_upload_size=5000, max_metadata_size=1000)
@pytest.mark.parametrize("size, status", [(5000, 200), (5001, 413)])
def test_an_upload_has_at_most_this_many_decoded_bytes(wire: Wire, size: int, status: int) -> None:
    for method, target in (("POST", MEDIA), ("PUT", wire.begin())):
        answer = wire.send(method, target, gzip.compress(bytes(size)), {"Content-Encoding": "gzip"})
        assert answer.status == status
    assert len(wire.names()) == (2 if status == 200 else 0)


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """160 MiB of zeros, which are 160 KiB with the coding."""
    compressor = zlib.compressobj(wbits=31)
    return b"".join(compressor.compress(bytes(1 << 20)) for _ in range(160)) + compressor.flush()


@pytest.mark.parametrize("target", [MEDIA, FILES, MULTIPART, "/token", "/batch/storage/v3"])
def test_a_bomb_is_413(wire: Wire, bomb: bytes, target: str) -> None:
    types = {MULTIPART: "multipart/related; boundary=b", "/batch/storage/v3": "multipart/mixed; boundary=b"}
    headers = {"Content-Type": types.get(target, "text/csv")}

    answer = wire.send("POST", target, bomb, headers | {"Content-Encoding": "gzip"})

    assert (answer.status, answer.error["reason"]) == (413, "uploadTooLarge")
    assert wire.names() == []


DIGESTS = {
    "Content-MD5": digest("md5", CONTENT),
    "Content-Digest": f"sha-256=:{digest('sha256', CONTENT)}:",
    "Digest": f"md5={digest('md5', CONTENT)}, SHA-512={digest('sha512', CONTENT)}, crc32c=x",
    "Repr-Digest": f"sha-512=:{digest('sha512', CONTENT)}:, other=:AA==:",
}


@BOTH_WAYS
@pytest.mark.parametrize("name", DIGESTS)
def test_a_digest_is_verified(wire: Wire, name: str) -> None:
    uri = wire.begin()
    for method, target in (("POST", MEDIA), ("POST", FILES), ("PUT", uri)):
        answer = wire.send(method, target, CONTENT + b"x", {name: DIGESTS[name]})
        assert_refused(answer, 400, name, wire)
    assert wire.send("POST", MEDIA, CONTENT, {name: DIGESTS[name]}).status == 200
    assert wire.send("PUT", uri, CONTENT, {name: DIGESTS[name]}).status == 200


def test_a_chunk_has_the_digest_of_its_bytes_and_not_that_of_the_content(wire: Wire) -> None:
    uri, content = wire.begin(), bytes(Q) + b"end"
    headers = {"Content-Range": f"bytes 0-{Q - 1}/{Q + 3}", "Digest": f"md5={digest('md5', content)}"}

    assert wire.send("PUT", uri, content[:Q], headers | {"Content-MD5": digest("md5", content)}).status == 400
    assert wire.put(uri, content_range="bytes */*").headers.get("range") is None
    assert wire.send("PUT", uri, content[:Q], headers | {"Content-MD5": digest("md5", content[:Q])}).status == 308
    assert wire.put(uri, content[Q:], f"bytes {Q}-{Q + 2}/{Q + 3}").status == 200


PARTS = {
    "base64": ("Content-Transfer-Encoding: base64", base64.encodebytes(CONTENT)),
    "quoted-printable": ("Content-Transfer-Encoding: Quoted-Printable", CONTENT.replace(b"a,", b"=61=\r\n=2C")),
    "binary": ("Content-Transfer-Encoding: binary", CONTENT),
    "a digest": (f"Content-MD5: {DIGESTS['Content-MD5']}", CONTENT),
}


@BOTH_WAYS
@pytest.mark.parametrize("case", PARTS)
def test_the_encoding_of_a_part_is_undone(wire: Wire, case: str) -> None:
    headers, content = PARTS[case]

    answer = wire.send("POST", MULTIPART, multipart_body({"name": "a"}, content, headers), RELATED)

    assert wire.download(answer.json["id"]).body == CONTENT


@pytest.mark.parametrize("kind", ["related", "mixed", "form-data"])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_multipart_body_of_a_simple_upload_is_refused(wire: Wire, kind: str, method: str) -> None:
    before = wire.create(b"before")
    target = MEDIA if method == "POST" else f"/upload/storage/v3/files/{before['id']}?uploadType=media"

    answer = wire.send(method, target, multipart_body({}, CONTENT), {"Content-Type": f"Multipart/{kind}; boundary=b"})

    assert (answer.status, answer.error["location"]) == (400, "Content-Type")
    assert "uploadType=multipart" in answer.error["message"]
    assert wire.download(before["id"]).body == b"before"


ETAGS = [
    ("If-Match", '"1", {etag}', 200),
    ("If-Match", '{etag} , "1,2"', 200),
    ("If-Match", "*", 200),
    ("If-Match", '"1", W/{etag}', 412),
    ("If-Match", '"1"', 412),
    ("If-Match", "", 412),
    ("If-None-Match", '"1", W/{etag}', 412),
    ("If-None-Match", "*", 412),
    ("If-None-Match", '"1"', 200),
]


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("name, value, status", ETAGS)
def test_a_condition_on_an_event(ada: CalendarClient, method: str, name: str, value: str, status: int) -> None:
    event = ada.made(summary="Tea")
    headers = JSON | {name: value.format(etag=event["etag"])}
    body = json.dumps(DAY if method == "PUT" else {}).encode()
    if method == "GET" and (name, status) == ("If-None-Match", 412):
        status = 304

    answer = ada.wire.send(method, path("primary", event["id"]), body, headers, token=ada.token)

    assert answer.status == (204 if (method, status) == ("DELETE", 200) else status)
    if status == 412:
        assert (answer.error["reason"], answer.error["location"]) == ("conditionNotMet", name)


def test_a_condition_on_a_file_which_has_no_etag(wire: Wire) -> None:
    file = wire.create(b"before")["id"]
    failing, holding = ({"If-Match": '"1"'}, {"If-None-Match": "*"}), ({"If-Match": "*"}, {"If-None-Match": '"1"'})

    for condition, (method, status) in product(failing + holding, (("PATCH", 200), ("DELETE", 204))):
        answer = wire.send(method, f"{FILES}/{file}", b'{"name": "x"}', JSON | condition)
        assert answer.status == (412 if condition in failing else status)
        assert wire.download(file).status == (404 if answer.status == 204 else 200)
        file = file if answer.status != 204 else wire.create(b"before")["id"]


@pytest.mark.parametrize(
    "name, value, status",
    [("Content-Range", "bytes 0-1/2", 400), ("Expect", "200-ok", 417), ("Expect", "100-continue, other", 417)],
)
def test_a_header_that_cannot_be_obeyed_is_refused(wire: Wire, name: str, value: str, status: int) -> None:
    file = wire.create(b"before")

    for method, target in (("POST", FILES), ("PATCH", f"{FILES}/{file['id']}")):
        answer = wire.send(method, target, b'{"name": "x"}', JSON | {name: value})
        assert (answer.status, answer.error["location"]) == (status, name)
    assert [each["name"] for each in wire.files()] == [file["name"]]


THEN = "Sat, 29 Oct 1994 19:43:31 GMT"
IGNORED = {
    "Accept": "text/html;q=1, */*;q=0", "Accept-Charset": "latin-1", "Accept-Encoding": "gzip, identity;q=0",
    "Accept-Language": "de", "Content-Disposition": "attachment; filename=x", "Content-Language": "de",
    "Content-Location": "/other", "Date": "yesterday", "Expect": "100-Continue", "From": "a@b.example",
    "If-Modified-Since": "Sat, 29 Oct 2044 19:43:31 GMT", "If-Range": '"1", "2"', "If-Unmodified-Since": THEN,
    "Last-Modified": THEN, "Max-Forwards": "0", "Prefer": "return=minimal", "Range": "bytes=0-0",
    "TE": "trailers, gzip", "Trailer": "Content-MD5", "Upgrade": "h2c", "Via": "1.1 x",
    "Want-Content-Digest": "sha-256=1",
}  # fmt: skip


def test_a_header_without_a_meaning_here_is_ignored(wire: Wire) -> None:
    for name, value in IGNORED.items():
        answer = wire.send("POST", MEDIA, CONTENT, {"Content-Type": "text/csv", name: value})
        changed = wire.send("PATCH", f"{FILES}/{answer.json['id']}", b'{"name": "changed"}', JSON | {name: value})
        assert (answer.status, changed.json["name"]) == (200, "changed"), name
        assert "Content-Encoding" not in changed.headers
        whole = wire.download(answer.json["id"], **({} if name == "Range" else {name: value}))
        assert (whole.status, whole.body) == (200, CONTENT), name


@pytest.mark.parametrize("way", ["socket"])
@pytest.mark.parametrize(
    "coding, status", [("gzip, chunked", 501), ("chunked, gzip", 400), ("gzip", 400), ("chunked, chunked", 400)]
)
def test_another_transfer_coding_is_refused(wire: OverSocket, coding: str, status: int) -> None:
    start = f"POST {MEDIA} HTTP/1.1\r\nHost: x\r\n{{token}}Transfer-Encoding: {coding}\r\n\r\n0\r\n\r\n"
    with connected(wire, start) as connection:
        answer = read_to_end(connection)

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"\r\nConnection: close\r\n" in answer
    assert wire.names() == []
