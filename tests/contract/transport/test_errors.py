import pytest

from tests.contract.conftest import Wire

FILES = "/storage/v3/files"


def test_the_scheme_has_no_case_and_the_query_may_carry_the_token(wire: Wire) -> None:
    assert wire.send("GET", FILES, headers={"Authorization": f"bearer {wire.token}"}, token=None).status == 200
    assert wire.send("GET", f"{FILES}?access_token={wire.token}", token=None).status == 200


@pytest.mark.spec("X-01", "V-01", "V-01a")
@pytest.mark.choice("Unknown paths and methods")
@pytest.mark.parametrize("target", [
    "/", "/nothing", "/storage/v3", "/storage/v2/files", "/storage/files", "/storage/v3/cakes", "/%2e%2e/etc/passwd",
    "/storage/v3/files/a/b/c",
])  # fmt: skip
def test_an_unknown_address_is_404(wire: Wire, target: str) -> None:
    answer = wire.send("GET", target)

    reason = "unknownOperation" if target.startswith(("/storage/v2/", "/storage/v3/")) else "notFound"
    assert (answer.status, answer.error["reason"]) == (404, reason)


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

    assert answer.json == {
        "error": {
            "errors": [
                {
                    "domain": "global",
                    "reason": "notFound",
                    "message": "File not found: nobody.",
                    "locationType": "parameter",
                    "location": "fileId",
                }
            ],
            "code": 404,
            "message": "File not found: nobody.",
        }
    }
    assert answer.headers["content-type"] == "application/json; charset=UTF-8"


def test_json_is_indented_unless_pretty_print_is_false(wire: Wire) -> None:
    assert b'\n  "kind"' in wire.send("GET", FILES).body
    assert b"\n" not in wire.send("GET", f"{FILES}?prettyPrint=false").body.strip()


@pytest.mark.parametrize(
    "file_id", ["..%2F..%2Fetc%2Fpasswd", "%00", "'%20OR%201=1", "x" * 10_000, "%ff%fe", "%F0%9F%97%82", "a%2Fb", "%25"]
)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PATCH"])
def test_an_id_with_special_characters_is_not_found(wire: Wire, file_id: str, method: str) -> None:
    body, headers = (b"{}", {"Content-Type": "application/json"}) if method == "PATCH" else (None, {})

    answer = wire.send(method, f"{FILES}/{file_id}", body, headers)

    assert answer.status in (400, 404)


def test_oversized_metadata_is_413(wire: Wire) -> None:
    body = b'{"name": "' + b"x" * 2_000_000 + b'"}'

    answers = [
        wire.send("POST", target, body, {"Content-Type": "application/json"})
        for target in (FILES, "/upload/storage/v3/files?uploadType=resumable")
    ]

    assert [a.status for a in answers] == [413, 413]
    assert wire.names() == []


@pytest.mark.spec("T-05", "T-05a")
@pytest.mark.parametrize("name", ["access_token", "access%5ftoken", "o%61uth_token"])
def test_a_token_in_a_url_is_not_in_the_journal(wire: Wire, name: str) -> None:
    assert wire.send("GET", f"/storage/v3/files?{name}={wire.token}&q=trashed=false", token=None).status == 200

    assert wire.token not in str(wire.service.journal())
    assert "q=trashed=false" in str(wire.service.journal())


def test_the_journal_records_requests_and_responses(wire: Wire) -> None:
    wire.create(b"hello")
    wire.download("nobody")

    created, missed = wire.service.journal()[-2:]

    assert (created["operation"], created["status"], created["received"]) == ("files.create", 200, 5)
    assert (missed["operation"], missed["status"], missed["method"]) == ("files.get", 404, "GET")
    assert list(created) == [
        "n", "time", "operation", "method", "path", "query", "user", "client", "scopes", "declared", "received",
        "status", "sent", "offset_before", "offset_after", "fault", "decided_by",
    ]  # fmt: skip
    assert wire.token not in str(wire.service.journal())
