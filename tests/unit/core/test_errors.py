import json

import pytest

from svc_notebooks.core.errors import errors
from svc_notebooks.core.errors.catalogue import CATALOGUE, envelope, refuse, row
from svc_notebooks.core.errors.errors import error_from, warn_caller

FILLED = {
    "fileId": "f", "message": "m", "field": "name", "name": "q", "value": "v", "source": "a/b", "target": "c/d",
    "operation": "files.get", "key": "name", "method": "PUT", "allowed": "GET", "limit": 1, "seconds": 30, "size": 1,
    "address": "https://hooks.example/in", "id": "c1", "permissionId": "p",
    "calendarId": "primary", "eventId": "e", "role": "writer", "most": 5, "count": 6,
    "host": "evil.example", "origin": "https://evil.example", "file": "f", "problem": "a part is missing",
    "user": "bob@svc.example", "hint": "", "scopes": "storage", "absent": "apps", "near": "",
}  # fmt: skip


@pytest.mark.spec("X-01", "X-06", "X-06a", "X-06b")
@pytest.mark.parametrize("key", CATALOGUE)
def test_every_row_has_the_same_shape_in_a_response_and_becomes_an_error_with_advice(key):
    refusal = refuse(key, **FILLED)
    body = envelope(refusal)["error"]
    error = error_from(refusal.status, json.dumps(envelope(refusal)).encode())

    assert list(body) == ["errors", "code", "message"]
    assert body["code"] == CATALOGUE[key].status
    assert body["errors"][0] == {
        k: v
        for k, v in {
            "domain": CATALOGUE[key].domain,
            "reason": CATALOGUE[key].reason,
            "message": body["message"],
            "locationType": CATALOGUE[key].location_type,
            "location": row(key, **FILLED).location,
        }.items()
        if v is not None
    }
    assert "{" not in body["message"]
    assert (error.status, error.reason) == (refusal.status, refusal.rows[0].reason)
    assert error.location == refusal.rows[0].location
    assert error.advice or error.reason == "badRequest"  # whose message says what is not possible
    is_open = error.advice and error.message[-1] not in ".!?:"
    assert str(error).startswith(f"{error.message}{'.' if is_open else ''} {error.advice}".strip())


@pytest.mark.spec("X-06", "X-06a")
@pytest.mark.parametrize(
    "status, reason, leaf",
    [
        (400, "invalid", "BadRequest"),
        (401, "authError", "NotSignedIn"),
        (403, "insufficientPermissions", "NotAllowed"),
        (403, "userRateLimitExceeded", "RateLimited"),
        (404, "notFound", "NotFound"),
        (409, "fileIdInUse", "AlreadyExists"),
        (413, "uploadTooLarge", "BadRequest"),
        (416, "requestedRangeNotSatisfiable", "BadRequest"),
        (429, "rateLimitExceeded", "RateLimited"),
        (500, "backendError", "ServiceFailed"),
        (503, None, "ServiceFailed"),
    ],
)
def test_a_status_and_a_reason_determine_the_exception(status, reason, leaf):
    assert errors.error_class(status, reason).__name__ == leaf


@pytest.mark.spec("X-06", "X-06a")
@pytest.mark.parametrize(
    "status, reason, advice",
    [
        (403, "storageQuotaExceeded", "The account is full"),
        (403, "downloadQuotaExceeded", "wait a day"),
        (403, "accessNotConfigured", "Enable this interface"),
        (403, "fieldNotWritable", "Leave this field out"),
        (403, "cannotDownloadAbusiveFile", "acknowledge_abuse=True"),
        (412, "conditionNotMet", "Read the event again"),
    ],
)
def test_advice_fits_the_reason_of_a_403(status, reason, advice):
    body = {"error": {"code": status, "message": "No.", "errors": [{"domain": "global", "reason": reason}]}}

    text = str(error_from(status, json.dumps(body).encode()))

    assert advice in text
    assert "scope" not in text


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"{}", b'{"error": "flat"}', b'{"error": {"errors": 5}}', b"\xff\xfe", b"[" * 100_000],
)
def test_an_unreadable_error_body_never_hides_the_error(body):
    error = error_from(502, body)

    assert error.status == 502
    assert "<html>" not in str(error)


def test_a_warning_is_shown_at_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="hello") as caught:
        warn_caller("hello")

    assert caught[0].filename == __file__
