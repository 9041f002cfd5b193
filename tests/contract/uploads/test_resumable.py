"""Resumable uploads (A3), with every row of the session table and errors of other servers."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.contract.conftest import BOTH_WAYS, Q, Wire
from tests.contract.differences import choice

pytestmark = BOTH_WAYS

CONTENT = bytes(range(256)) * (2 * Q // 256) + b"the tail"
SIZE = len(CONTENT)


def span(first: int, end: int, total: int | str = SIZE) -> str:
    return f"bytes {first}-{end - 1}/{total}"


class TestInitiation:
    @pytest.mark.spec("A3-01", "A3-01a")
    def test_it_answers_a_session_and_creates_nothing(self, wire: Wire) -> None:
        answer = wire.initiate({"name": "a"})

        assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"", "0")
        location = answer.headers["location"]
        assert location.startswith(f"{wire.base_url}/upload/storage/v3/files?uploadType=resumable&upload_id=")
        assert wire.names() == []

    def test_a_declared_length_is_a_number_and_a_token_never_goes_into_the_location(self, wire: Wire) -> None:
        address = f"/upload/storage/v3/files?uploadType=resumable&access_token={wire.token}"
        by_query = wire.send("POST", address, b"", token=None)

        assert (by_query.status, wire.token in by_query.headers["location"]) == (200, False)
        for length in ("-1", "ten", "99999999999999999999", "1e3"):
            assert wire.initiate(X_Upload_Content_Length=length).status in (400, 413)

    @pytest.mark.spec("A3-02", "A3-02b", "A3-03", "A3-03a", "A3-04", "A3-04c", "U-04")
    def test_it_needs_no_body_and_no_type(self, wire: Wire) -> None:
        answer = wire.send("POST", "/upload/storage/v3/files?uploadType=resumable&fields=*", b"")

        file = wire.put(answer.headers["location"], b"%PDF-").json
        assert (file["name"], file["mimeType"]) == ("Untitled", "application/octet-stream")

    @pytest.mark.spec("A3-04", "A3-04b", "X-03", "X-03b")
    def test_metadata_needs_the_type_of_json_and_a_native_type_no_id(self, wire: Wire) -> None:
        for headers in ({"Content-Type": "text/plain"}, {}):
            answer = wire.send("POST", "/upload/storage/v3/files?uploadType=resumable", b'{"name": "a"}', headers)
            assert answer.status == 400
            with choice("Reasons and locations of errors"):
                assert answer.error["reason"]
        answer = wire.initiate({"id": wire.generated_id(), "mimeType": "application/vnd.svc-apps.document"})
        assert (answer.status, answer.error["reason"]) == (400, "invalid")


class TestWithoutUnit:
    """The interface writes a status query as `*/*`, and as `bytes */<total>`."""

    @pytest.mark.spec("A3-07", "A3-09", "A3-09a", "A3-27")
    @pytest.mark.parametrize("unit", ["", "bytes "])
    @pytest.mark.parametrize("total", ["*", str(2 * Q)])
    def test_a_status_query_tells_what_is_stored_and_needs_no_unit(self, wire: Wire, unit: str, total: str) -> None:
        uri = wire.begin({"name": "a"})
        fresh = wire.put(uri, content_range=f"{unit}*/{total}")
        assert (fresh.status, fresh.body, fresh.headers["content-length"]) == (308, b"", "0")
        assert "range" not in fresh.headers
        wire.put(uri, bytes(Q), f"bytes 0-{Q - 1}/{2 * Q}")

        for _ in range(2):
            answer = wire.put(uri, content_range=f"{unit}*/{total}")
            assert (answer.status, answer.headers["range"], answer.body) == (308, f"bytes=0-{Q - 1}", b"")
        assert wire.put(uri, bytes(Q), f"bytes {Q}-{2 * Q - 1}/{2 * Q}").status == 200
        after = wire.put(uri, content_range=f"{unit}*/{total}")
        assert (after.status, after.json["name"]) == (200, "a")


class TestChunkedInitiation:
    """Content-Length is needed "unless chunked encoding"."""

    @pytest.mark.spec("A3-28")
    @pytest.mark.parametrize("create", [True, False])
    @pytest.mark.parametrize("metadata", [b'{"name": "chunked"}', b""])
    def test_a_session_is_begun_by_a_chunked_request(self, wire: Wire, metadata: bytes, create: bool) -> None:
        file = "" if create else "/" + wire.create(b"before")["id"]
        target = f"/upload/storage/v3/files{file}?uploadType=resumable"
        headers = {"Content-Type": "application/json; charset=UTF-8"} if metadata else {}

        begun = wire.send("POST" if create else "PUT", target, iter([metadata] if metadata else []), headers)

        assert (begun.status, begun.body, begun.headers["content-length"]) == (200, b"", "0")
        made = wire.put(begun.headers["location"], b"hello").json
        assert made["name"] == ("chunked" if metadata else "Untitled")
        assert wire.download(made["id"]).body == b"hello"


CONTRADICTIONS = [
    f"bytes {Q}-{SIZE}/{SIZE}", f"bytes {2 * Q}-{Q}/{SIZE}", f"bytes -5-{Q}/{SIZE}", "bytes a-b/c",
    f"bytes={Q}-{2 * Q - 1}/{SIZE}", f"bytes {Q}-99999999999999999999/*", "bytes */99999999999999999999",
    f"bytes 0-{Q - 2}/{Q - 1}", f"bytes {Q}-{2 * Q - 1}/{SIZE + 5}", "",
]  # fmt: skip


class TestData:
    @pytest.mark.spec("A3-04", "A3-04a", "A3-05")
    @pytest.mark.parametrize(
        "content_range",
        [None, span(0, SIZE), pytest.param("bytes 0-*/*", marks=pytest.mark.choice("A Content-Range without an end"))],
    )
    def test_the_whole_at_once(self, wire: Wire, content_range: str | None) -> None:
        answer = wire.put(wire.begin({"name": "whole"}, X_Upload_Content_Type="text/csv"), CONTENT, content_range)

        assert answer.status == 200
        assert (answer.json["name"], answer.json["mimeType"]) == ("whole", "text/csv")
        assert wire.download(answer.json["id"]).body == CONTENT
        with choice("A chunked body in an upload session"):
            chunked = wire.put(wire.begin(), iter([CONTENT[:7], CONTENT[7:Q], CONTENT[Q:]]))
            assert wire.download(chunked.json["id"]).body == CONTENT

    @pytest.mark.spec("A3-06", "A3-08")
    def test_in_chunks(self, wire: Wire) -> None:
        uri = wire.begin()

        first = wire.put(uri, CONTENT[:Q], span(0, Q))
        second = wire.put(uri, CONTENT[Q : 2 * Q], span(Q, 2 * Q))
        last = wire.put(uri, CONTENT[2 * Q :], span(2 * Q, SIZE))

        assert (first.status, first.headers["range"], first.headers["content-length"]) == (308, f"bytes=0-{Q - 1}", "0")
        with choice("Header values"):
            assert first.reason in ("", "Resume Incomplete")
            assert "location" not in first.headers
        assert (second.status, second.headers["range"]) == (308, f"bytes=0-{2 * Q - 1}")
        assert last.status == 200
        assert wire.download(last.json["id"]).body == CONTENT

    @pytest.mark.spec("A3-15")
    def test_the_total_may_come_last_or_with_a_status_query(self, wire: Wire) -> None:
        uri, other = wire.begin(), wire.begin()
        wire.put(uri, CONTENT[:Q], span(0, Q, "*"))
        assert wire.put(uri, CONTENT[Q : 2 * Q], span(Q, 2 * Q, "*")).status == 308
        wire.put(other, CONTENT[: 2 * Q], span(0, 2 * Q, "*"))

        answer = wire.put(uri, CONTENT[2 * Q :], span(2 * Q, SIZE))

        assert answer.status == 200
        assert wire.download(answer.json["id"]).body == CONTENT
        with choice("A status query with another total"):
            answer = wire.put(other, b"", f"bytes */{2 * Q}")
            assert answer.status == 200
            assert wire.download(answer.json["id"]).body == CONTENT[: 2 * Q]

    @pytest.mark.spec("A3-09", "A3-09b", "A3-18")
    def test_after_completion_everything_answers_the_same_file(self, wire: Wire) -> None:
        uri = wire.begin({"name": "once"})
        done = wire.put(uri, CONTENT)
        whole = f"/storage/v3/files/{done.json['id']}?fields=*"
        before = wire.send("GET", whole).json

        questions = [wire.put(uri, b"", f"bytes */{SIZE}"), wire.put(uri, b"", "bytes */*")]
        again = [*questions, wire.put(uri, CONTENT[2 * Q :], span(2 * Q, SIZE))]
        others = [wire.put(uri, b"", "bytes */7"), wire.put(uri, b"something else")]

        for answer in again:
            assert (answer.status, answer.json["id"]) == (200, done.json["id"])
        with choice("A completed upload session"):
            assert {(a.status, a.body) for a in [*again, *others]} == {(200, done.body)}
            assert wire.send("GET", whole).json == before
        assert wire.names() == ["once"]
        assert wire.download(done.json["id"]).body == CONTENT

    @pytest.mark.spec("A3-16", "A3-16c")
    @pytest.mark.parametrize("content_range", ["bytes */0", None])
    def test_an_empty_file(self, wire: Wire, content_range: str | None) -> None:
        answer = wire.put(wire.begin(query="&fields=id,size"), b"", content_range)

        assert (answer.status, answer.json["size"]) == (200, "0")
        assert wire.download(answer.json["id"]).body == b""

    @pytest.mark.spec("A3-11", "A3-11b")
    @pytest.mark.parametrize("again", [CONTENT[:Q], b"!" * Q + CONTENT[Q : 2 * Q]], ids=["the chunk", "and more"])
    def test_bytes_sent_again_never_touch_what_is_stored(self, wire: Wire, again: bytes) -> None:
        uri = wire.begin()
        first = wire.put(uri, CONTENT[:Q], span(0, Q))

        answer = wire.put(uri, again, span(0, len(again)))

        assert (first.status, first.headers["range"]) == (308, f"bytes=0-{Q - 1}")
        with choice("Bytes sent again"):
            assert (answer.status, answer.headers["range"]) == (308, f"bytes=0-{len(again) - 1}")
        assert wire.finish(uri, CONTENT) == CONTENT

    @pytest.mark.spec("A3-11", "A3-11a")
    def test_a_gap_is_refused_and_the_session_can_be_completed(self, wire: Wire) -> None:
        uri = wire.begin()
        wire.put(uri, CONTENT[:Q], span(0, Q))

        answer = wire.put(uri, CONTENT[2 * Q :], span(2 * Q, SIZE))

        assert answer.status >= 400 or (answer.status, answer.headers["range"]) == (308, f"bytes=0-{Q - 1}")
        with choice("A gap between chunks"):
            assert (answer.status, answer.headers["content-type"].split(";")[0]) == (503, "text/plain")
            assert f"{2 * Q} byte(s), which exceeds already uploaded size of {Q} byte(s)" in answer.body.decode()
        assert wire.finish(uri, CONTENT) == CONTENT

    def test_a_range_that_contradicts_itself_changes_nothing(self, wire: Wire) -> None:
        uri = wire.begin()
        wire.put(uri, CONTENT[:Q], span(0, Q))

        for content_range in CONTRADICTIONS:
            answer = wire.put(uri, CONTENT[Q : 2 * Q], content_range)
            assert answer.status == 400, content_range
            assert answer.body
            assert b"Traceback" not in answer.body
            assert wire.stored(uri) == Q
        assert wire.finish(uri, CONTENT) == CONTENT

    @pytest.mark.spec("A3-10", "A3-10c")
    @pytest.mark.parametrize("size", [1000, Q + 5000])
    def test_the_range_after_an_uneven_chunk_is_true(self, wire: Wire, size: int) -> None:
        """29: in every policy"""
        uri = wire.begin()

        answer = wire.put(uri, CONTENT[:size], span(0, size))

        assert answer.status == 308 or answer.status >= 400
        at = wire.stored(uri)
        assert at <= size
        if answer.status == 308:
            assert answer.headers.get("range") == (f"bytes=0-{at - 1}" if at else None)
        assert wire.finish(uri, CONTENT) == CONTENT

    @pytest.mark.spec("A3-10", "A3-10a")
    @pytest.mark.choice("chunk_rule")
    def test_an_uneven_chunk_is_kept_down_to_the_multiple(self, wire: Wire) -> None:
        uri = wire.begin()

        answer = wire.put(uri, CONTENT[: Q + 5000], span(0, Q + 5000))

        assert (answer.status, answer.headers["range"]) == (308, f"bytes=0-{Q - 1}")
        assert wire.finish(uri, CONTENT) == CONTENT

    @pytest.mark.spec("A3-10", "A3-10b")
    @pytest.mark.choice("chunk_rule")
    def test_a_chunk_below_one_multiple_is_refused(self, wire: Wire) -> None:
        uri = wire.begin()

        answer = wire.put(uri, CONTENT[:1000], span(0, 1000))

        assert (answer.status, answer.headers["content-type"].split(";")[0]) == (400, "text/plain")
        assert "262144" in answer.body.decode()
        assert wire.finish(uri, CONTENT) == CONTENT

    @pytest.mark.spec("A3-03", "A3-03b")
    @pytest.mark.parametrize("body", [CONTENT[:-1], CONTENT + b"?"], ids=["shorter", "longer"])
    def test_a_declared_length_must_be_met(self, wire: Wire, body: bytes) -> None:
        uri = wire.begin(X_Upload_Content_Length=str(SIZE))

        for content_range in (span(0, len(body), len(body)), None):
            assert wire.put(uri, body, content_range).status == 400
        assert wire.names() == []
        with choice("A contradictory Content-Range"):
            assert wire.finish(uri, CONTENT) == CONTENT

    @pytest.mark.spec("A3-02", "A3-02a", "A3-02b")
    def test_the_type_comes_from_metadata_then_from_the_header(self, wire: Wire) -> None:
        by_header = wire.begin({}, X_Upload_Content_Type="text/plain")
        by_both = wire.begin({"mimeType": "text/csv"}, X_Upload_Content_Type="text/plain")

        assert wire.put(by_header, b"%PDF-1.7").json["mimeType"] == "text/plain"
        assert wire.put(wire.begin({"name": "a.csv"}), b"%PDF-1.7").json["mimeType"] == "application/octet-stream"
        with choice("Type detection for resumable uploads"):
            assert wire.put(by_both, b"%PDF-1.7").json["mimeType"] == "text/csv"


@pytest.mark.policy(chunk_rule="strict")
@pytest.mark.spec("A3-10", "A3-10c")
def test_every_uneven_chunk_is_refused(wire: Wire) -> None:
    uri = wire.begin()

    assert wire.put(uri, CONTENT[: Q + 5000], span(0, Q + 5000)).status == 400
    assert wire.stored(uri) == 0


class TestUpdate:
    @pytest.mark.spec("A3-01", "A3-01b", "U-05", "U-05b")
    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    def test_the_old_content_is_there_until_the_new_one_is_complete(self, wire: Wire, method: str) -> None:
        file = wire.create(b"old")
        target = f"/upload/storage/v3/files/{file['id']}?uploadType=resumable"
        answer = wire.send(method, target, b'{"name": "new"}', {"Content-Type": "application/json; charset=UTF-8"})
        uri = answer.headers["location"]
        assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"", "0")
        assert uri.startswith(f"{wire.base_url}/upload/storage/v3/files")
        assert parse_qs(urlsplit(uri).query).keys() >= {"uploadType", "upload_id"}
        wire.put(uri, CONTENT[:Q], span(0, Q))
        assert wire.download(file["id"]).body == b"old"
        assert wire.names() == ["Untitled"]

        assert wire.finish(uri, CONTENT) == CONTENT
        assert wire.names() == ["new"]

    @pytest.mark.spec("L-01", "L-01b", "X-02", "X-02b", "X-02c")
    def test_what_was_checked_at_the_beginning_is_checked_again_at_the_end(self, wire: Wire) -> None:
        file_id = wire.generated_id()
        uris = [wire.begin({"id": file_id, "name": name}) for name in ("first", "second")]

        assert wire.put(uris[0], b"1").status == 200
        late = wire.put(uris[1], b"2")

        assert (late.status, late.error["reason"]) == (409, "fileIdInUse")
        assert wire.names() == ["first"]


class TestEnd:
    @pytest.mark.spec("A3-13", "A3-13b")
    def test_every_request_starts_the_week_again(self, wire: Wire) -> None:
        """Also one that is refused, such as a gap or a short chunk."""
        spans = [(0, Q), (Q, 2 * Q), (0, 9)]
        requests = [(b"", "bytes */*"), *((CONTENT[first:end], span(first, end)) for first, end in spans)]
        sessions = [wire.begin() for _ in requests]
        wire.service.clock.advance(timedelta(days=6, hours=23))
        for uri, (body, content_range) in zip(sessions, requests, strict=True):
            wire.put(uri, body, content_range)
        wire.service.clock.advance(timedelta(days=6, hours=23))

        assert [wire.finish(uri, CONTENT) == CONTENT for uri in sessions] == [True] * 4

    @pytest.mark.spec("A3-13", "A3-13a")
    def test_a_week_of_silence_ends_an_open_and_a_finished_session(self, wire: Wire) -> None:
        uri, finished = wire.begin(), wire.begin({"name": "finished"})
        wire.put(uri, CONTENT[:Q], span(0, Q))
        wire.put(finished, b"x")
        wire.service.clock.advance(timedelta(days=7))

        gone = [
            wire.put(uri, b"", "bytes */*"),
            wire.put(uri, CONTENT),
            wire.send("DELETE", uri),
            wire.put(uri, b"", "?"),
        ]

        assert [answer.status for answer in (*gone, wire.put(finished, b"", "bytes */*"))] == [404] * 5
        assert wire.names() == ["finished"]

    @pytest.mark.spec("A3-14", "A3-14a", "A3-14b")
    def test_an_unknown_or_malformed_session_is_404(self, wire: Wire) -> None:
        target = "/upload/storage/v3/files?uploadType=resumable&upload_id="

        for request in ((b"x",), (b"", "bytes */*")):
            assert wire.put(f"{target}unknown", *request).status == 404
            with choice("A malformed upload_id"):
                for odd in ("..%2F..%2Fetc%2Fpasswd", "'%20OR%201=1--", "x" * 10_000, "%00", "%ff%fe"):
                    assert wire.put(target + odd, *request).status == 404

    @pytest.mark.spec("A3-14", "A3-14a", "T-04", "T-04b")
    def test_the_session_of_another_user_is_404(self, wire: Wire) -> None:
        uri = wire.begin()

        assert wire.send("PUT", uri, b"x", token=wire.service.sign_in("bob@svc.example")).status == 404
        assert wire.put(uri, b"x").status == 200


@pytest.mark.policy(session_uri_is_enough=True)
def test_the_session_uri_alone_suffices_by_policy(wire: Wire) -> None:
    assert wire.send("PUT", wire.begin(), b"x", token=None).status == 200


@pytest.mark.policy(trust_forwarded=True)
@pytest.mark.spec("A3-01", "A3-01a")
@pytest.mark.choice("trust_forwarded")
def test_the_location_has_the_host_that_the_client_uses(wire: Wire) -> None:
    for scheme, port, shown in (("https", "", ""), ("https", ":443", ""), ("http", ":8080", ":8080")):
        location = wire.begin(X_Forwarded_Proto=scheme, X_Forwarded_Host=f"api.example.org{port}")
        assert location.startswith(f"{scheme}://api.example.org{shown}/")
    location = wire.begin(Forwarded='for=192.0.2.1;proto=https;host="api.example.org"')
    assert location.startswith("https://api.example.org/")
