import pytest

from tests.contract.conftest import Wire
from tests.contract.differences import choice

CONTENT = bytes(range(256)) * 4


@pytest.mark.spec("A6-01")
def test_the_stored_bytes_come_back_with_their_type(wire: Wire) -> None:
    file = wire.create(CONTENT, "image/x-test")

    answer = wire.download(file["id"])

    assert (answer.status, answer.body) == (200, CONTENT)
    assert answer.headers["content-type"] == "image/x-test"
    with choice("Header values"):
        assert answer.headers["content-length"] == "1024"


@pytest.mark.spec("A6-02", "A6-02a")
@pytest.mark.parametrize(
    "header, first, end",
    [
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, 1024),
        ("bytes=-24", 1000, 1024),
        ("bytes=1000-9999", 1000, 1024),
        ("bytes=0-0", 0, 1),
        ("bytes=-9999", 0, 1024),
        ("bytes=1000-99999999999999999999", 1000, 1024),
    ],
)
def test_a_range_is_partial_content(wire: Wire, header: str, first: int, end: int) -> None:
    file = wire.create(CONTENT)

    answer = wire.download(file["id"], Range=header)

    assert (answer.status, answer.body) == (206, CONTENT[first:end])
    assert answer.headers["content-range"] == f"bytes {first}-{end - 1}/1024"
    with choice("Header values"):
        assert answer.headers["content-length"] == str(end - first)


@pytest.mark.spec("A6-02", "A6-02b")
@pytest.mark.parametrize("header", ["bytes=1024-", "bytes=5000-6000", "bytes=-0", "bytes=99999999999999999999-"])
def test_a_range_outside_is_416(wire: Wire, header: str) -> None:
    answer = wire.download(wire.create(CONTENT)["id"], Range=header)

    assert (answer.status, answer.error["reason"]) == (416, "requestedRangeNotSatisfiable")
    with choice("Header values"):
        assert answer.headers["content-range"] == "bytes */1024"


@pytest.mark.choice("A Range with If-Range")
@pytest.mark.parametrize("known", ['"a mark"', 'W/"a mark"', "Sat, 21 Nov 2026 19:04:53 GMT"])
def test_if_range_returns_the_whole(wire: Wire, known: str) -> None:
    """RFC 9110, 13.1.5: nothing proves that the content is unchanged, and halves of two contents are not a file."""
    answer = wire.download(wire.create(CONTENT)["id"], Range="bytes=0-99", **{"If-Range": known})

    assert (answer.status, answer.body) == (200, CONTENT)


def test_another_range_is_ignored_and_head_has_all_headers_and_no_body(wire: Wire) -> None:
    file = wire.create(CONTENT)["id"]

    for header in ("bytes=5-2", "bytes=0-1,5-6", "lines=0-1", "nonsense", "bytes=-"):
        answer = wire.download(file, Range=header)
        assert (answer.status, answer.body) == (200, CONTENT)
    for status, size, headers in ((200, "1024", {}), (206, "10", {"Range": "bytes=0-9"})):
        head = wire.send("HEAD", f"/storage/v3/files/{file}?alt=media", headers=headers)
        assert (head.status, head.headers["content-length"], head.body) == (status, size, b"")
    acknowledged = wire.send("GET", f"/storage/v3/files/{file}?acknowledgeAbuse=true")
    assert (acknowledged.status, acknowledged.error["reason"]) == (403, "invalidAbuseAcknowledgment")


@pytest.mark.spec("A6-02", "A6-02a")
def test_ranges_walk_over_the_parts_of_a_chunked_upload(wire: Wire) -> None:
    q = 262_144
    content = bytes(range(256)) * (3 * q // 256) + b"tail"
    uri = wire.begin()
    for first in range(0, len(content), q):
        piece = content[first : first + q]
        answer = wire.put(uri, piece, f"bytes {first}-{first + len(piece) - 1}/{len(content)}")
    file_id = answer.json["id"]

    for first, last in ((0, len(content) - 1), (q - 1, q), (q, 2 * q - 1), (5, 3 * q + 1), (3 * q, 3 * q + 3)):
        assert wire.download(file_id, Range=f"bytes={first}-{last}").body == content[first : last + 1]


@pytest.mark.spec("A6-07")
@pytest.mark.parametrize("native_type", ["document", "folder"])
def test_what_has_no_binary_content_points_to_export(wire: Wire, native_type: str) -> None:
    file = wire.post_json("/storage/v3/files", {"mimeType": f"application/vnd.svc-apps.{native_type}"}).json

    answer = wire.download(file["id"])

    assert (answer.status, answer.error["reason"]) == (403, "fileNotDownloadable")
    assert "export" in answer.error["message"].lower()
