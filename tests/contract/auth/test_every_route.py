"""Every route of the OpenAPI document checks the access token before anything else (T-01)."""

from typing import Any

import pytest

from svc_notebooks.core.api.openapi import document
from svc_notebooks.core.brand_names import Names
from svc_notebooks.core.policy import Policy
from tests.contract.conftest import Answer, Wire

PATHS: dict[str, dict[str, Any]] = document(Names(), Policy(), "http://svc.test")["paths"]
KNOWN = {"{fileId}": "root", "{calendarId}": "primary"}
ROUTES = [
    (method.upper(), path)
    for path, methods in PATHS.items()
    for method, operation in methods.items()
    if operation.get("security")
]
SESSION = {("PUT", "/upload/storage/v3/files"), ("DELETE", "/upload/storage/v3/files")}
QUERY = "?uploadType=media&fields=*&mimeType=text/plain&pageToken=1&destination=x"


def filled(template: str) -> str:
    """Return a path with a value for each parameter."""
    return "/".join(KNOWN.get(part, part.strip("{}")) for part in template.split("/"))


def ask(wire: Wire, method: str, path: str, *headers: tuple[str, str]) -> Answer:
    """Send a valid request of the route."""
    body = b"{}" if method in ("POST", "PUT", "PATCH") else None
    query = "?upload_id=x" if (method, path) in SESSION else QUERY
    pairs = [("Content-Type", "application/json"), *headers]
    return wire.send(method, filled(path) + query, body, pairs, token=None)


@pytest.mark.spec("T-01", "T-01c")
def test_a_token_that_has_expired_opens_no_route(wire: Wire) -> None:
    token = wire.service.sign_in(expires_in=60)
    wire.service.clock.advance(60)

    for route in ROUTES:
        answer = ask(wire, *route, ("Authorization", f"Bearer {token}"))
        assert (answer.status, answer.error["reason"]) == (401, "authError"), route


@pytest.mark.spec("T-01", "T-01a")
def test_nobody_is_let_in_without_a_token(wire: Wire) -> None:
    for route in ROUTES:
        answer = ask(wire, *route)
        assert (answer.status, answer.error["reason"]) == (401, "required"), route
        assert answer.error["location"] == "Authorization"
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert "error=" not in answer.headers["WWW-Authenticate"]  # RFC 6750, 3.1: nothing was wrong, it was missing


BAD = {
    "an unknown token": ("Bearer nobody", "unknown or has expired"),
    "an empty one": ("Bearer ", "the token is empty"),
    "another scheme": ("Basic bm9ib2R5Ong=", 'does not begin with the word "Bearer"'),
    "the scheme Token": ("Token nobody", 'does not begin with the word "Bearer"'),
    "no scheme": ("nobody", 'does not begin with the word "Bearer"'),
    "a lone scheme": ("Bearer", "the token is empty"),
    "the scheme twice": ("Bearer bearer nobody", 'the token begins with the word "Bearer"'),
    "quotes": ("Bearer 'nobody'", "the token has quotes"),
    "bytes": ("Bearer b'nobody'", "use token.decode()"),
    "two words": ("Bearer a b", "without spaces"),
    "a token that is long": ("Bearer " + "x" * 4000, "unknown or has expired"),
    "odd letters": ("Bearer \u00e9\u00ff", "must be printable ASCII"),
}
"""The value of the header, and a part of the message."""


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("case", BAD)
def test_bad_credentials_are_told_so(wire: Wire, case: str) -> None:
    for method, path in ROUTES[::6]:
        answer = ask(wire, method, path, ("Authorization", BAD[case][0]))

        assert (answer.status, answer.error["reason"]) == (401, "authError")
        assert BAD[case][1] in answer.error["message"]
        assert b"nobody" not in answer.body
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    twice = [("Authorization", f"Bearer {wire.token}")] * 2
    assert wire.send("GET", "/storage/v3/files", None, twice, token=None).status == 401


@pytest.mark.spec("T-01", "T-01b", "T-03", "T-03a", "T-03b")
@pytest.mark.choice("Scopes for files")
def test_each_documented_scope_is_enough_and_no_other_is(wire: Wire) -> None:
    """Only a missing scope counts here, because the success of a call depends on more."""
    samples = ("storage", "storage.readonly", "storage.metadata.readonly", "calendar", "calendar.readonly")
    tokens = {scope: wire.service.sign_in(scopes=[scope]) for scope in samples}

    for method, path in ROUTES:
        security = PATHS[path][method.lower()]["security"]
        enough = {requirement["oauth2"][0].rpartition("/")[2] for requirement in security}
        for scope, token in tokens.items():
            answer = ask(wire, method, path, ("Authorization", f"Bearer {token}"))
            kept_out = answer.status == 403 and str(answer.error["reason"]) == "insufficientPermissions"
            assert kept_out == (scope not in enough), (method, path, scope)
            if kept_out:
                assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
