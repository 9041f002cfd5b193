import pytest

from tests.contract.conftest import Wire

FILES = "/storage/v3/files"


def test_the_scheme_has_no_case_the_query_may_carry_the_token_and_json_is_indented(wire: Wire) -> None:
    by_header = wire.send("GET", FILES, headers={"Authorization": f"bearer {wire.token}"}, token=None)
    by_query = wire.send("GET", f"{FILES}?access_token={wire.token}&prettyPrint=false", token=None)

    assert (by_header.status, b'\n  "kind"' in by_header.body) == (200, True)
    assert (by_query.status, b"\n" in by_query.body.strip()) == (200, False)


UNKNOWN = ["/", "/nothing", "/storage/v3", "/storage/v2/files", "/storage/files", "/storage/v3/cakes",
           "/%2e%2e/etc/passwd", "/storage/v3/files/a/b/c"]  # fmt: skip


@pytest.mark.spec("X-01", "V-01", "V-01a")
@pytest.mark.choice("Unknown paths and methods")
def test_an_unknown_address_is_404(wire: Wire) -> None:
    for target in UNKNOWN:
        answer = wire.send("GET", target)
        reason = "unknownOperation" if target.startswith(("/storage/v2/", "/storage/v3/")) else "notFound"
        assert (answer.status, answer.error["reason"]) == (404, reason), target


@pytest.mark.spec("X-01")
@pytest.mark.choice("Unknown paths and methods")
def test_a_405_lists_the_allowed_methods(wire: Wire) -> None:
    answer = wire.send("DELETE", FILES)

    assert answer.status == 405
    assert answer.error
    assert set(answer.headers["allow"].replace(" ", "").split(",")) >= {"GET", "POST"}


@pytest.mark.spec("X-01")
@pytest.mark.choice("The error envelope")
def test_the_envelope_has_one_shape(wire: Wire) -> None:
    answer = wire.send("GET", f"{FILES}/nobody")

    message = "File not found: nobody."
    entry = {"domain": "global", "reason": "notFound", "message": message}
    entry |= {"locationType": "parameter", "location": "fileId"}
    assert answer.json == {"error": {"errors": [entry], "code": 404, "message": message}}
    assert answer.headers["content-type"] == "application/json; charset=UTF-8"


@pytest.mark.parametrize(
    "file_id", ["..%2F..%2Fetc%2Fpasswd", "%00", "'%20OR%201=1", "x" * 10_000, "%ff%fe", "%F0%9F%97%82", "a%2Fb", "%25"]
)
def test_an_id_with_special_characters_is_not_found(wire: Wire, file_id: str) -> None:
    path = f"{FILES}/{file_id}"

    for answer in (wire.send("GET", path), wire.send("DELETE", path), wire.json_request("PATCH", path, {})):
        assert answer.status in (400, 404)


def test_oversized_metadata_is_413(wire: Wire) -> None:
    body = b'{"name": "' + b"x" * 2_000_000 + b'"}'

    for target in (FILES, "/upload/storage/v3/files?uploadType=resumable"):
        assert wire.send("POST", target, body, {"Content-Type": "application/json"}).status == 413
    assert wire.names() == []


@pytest.mark.spec("T-05", "T-05a")
def test_the_journal_records_requests_and_responses_and_no_token(wire: Wire) -> None:
    wire.create(b"hello")
    wire.download("nobody")
    for name in ("access_token", "access%5ftoken", "o%61uth_token"):
        assert wire.send("GET", f"/storage/v3/files?{name}={wire.token}&q=trashed=false", token=None).status == 200

    created, missed, *by_query = wire.service.journal()[-5:]

    assert (created["operation"], created["status"], created["received"]) == ("files.create", 200, 5)
    assert (missed["operation"], missed["status"], missed["method"]) == ("files.get", 404, "GET")
    assert list(created) == [
        "n", "time", "operation", "method", "path", "query", "user", "client", "scopes", "declared", "received",
        "status", "sent", "offset_before", "offset_after", "fault", "decided_by",
    ]  # fmt: skip
    assert all("q=trashed=false" in row["query"] for row in by_query)
    assert wire.token not in str(wire.service.journal())
