"""The lifetime of tokens, with tokeninfo, expiry and revocation (T-01, RFC 7009)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.contract.apps import JWT_BEARER, SCOPE, App, ask, is_token_valid, oauth_error, register_app
from tests.contract.calendar_client import BOB
from tests.contract.conftest import Wire

# The interface says that tokens are needed, and nothing of where they come from.
pytestmark = pytest.mark.choice("Tokens, consent and the OpenAPI document")


@pytest.fixture
def app(wire: Wire) -> App:
    return register_app(wire)


@pytest.mark.spec("T-01", "T-01b")
def test_tokeninfo_says_whom_a_token_is_for(wire: Wire, app: App) -> None:
    token = app.tokens("storage.readonly", user=BOB)["access_token"]
    wire.service.clock.advance("100s")

    by_query = wire.send("GET", f"/tokeninfo?access_token={token}", token=None).json
    by_form = ask(wire, "/tokeninfo", {"access_token": token}).json

    assert by_query == by_form
    assert (by_query["aud"], by_query["azp"], by_query["email"]) == (app.id, app.id, BOB)
    assert by_query["scope"] == SCOPE + "storage.readonly"
    assert int(by_query["expires_in"]) in (3499, 3500)
    assert int(by_query["exp"]) - int(by_query["expires_in"]) == int(wire.service.clock.now().timestamp())


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("token", ["nobody", "", "\u20ac", "a b", "x" * 5000])
def test_tokeninfo_of_what_is_no_token_is_a_refusal(wire: Wire, token: str) -> None:
    answer = wire.send("GET", f"/tokeninfo?{urlencode({'access_token': token})}", token=None)

    status, error = oauth_error(answer)
    assert (status, error in ("invalid_token", "invalid_request")) == (400, True)


@pytest.mark.spec("T-01", "T-01c")
def test_a_token_ends_on_the_second(wire: Wire, app: App) -> None:
    token = app.tokens()
    lives = token["expires_in"]
    wire.service.clock.advance(lives - 1)
    assert is_token_valid(wire, token["access_token"])

    wire.service.clock.advance(1)
    answer = wire.send("GET", "/storage/v3/files", token=token["access_token"])

    assert (answer.status, answer.error["reason"]) == (401, "authError")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    info = wire.send("GET", f"/tokeninfo?access_token={token['access_token']}", token=None)
    assert oauth_error(info) == (400, "invalid_token")
    assert is_token_valid(wire, app.refresh(token["refresh_token"]).json["access_token"])


@pytest.mark.spec("T-01", "T-01c")
def test_an_upload_outlives_the_token_that_began_it(wire: Wire, app: App) -> None:
    tokens = app.tokens()
    begun = wire.send("POST", "/upload/storage/v3/files?uploadType=resumable", b"", token=tokens["access_token"])
    wire.service.clock.advance("2h")

    refused_put = wire.send("PUT", begun.headers["location"], b"late", token=tokens["access_token"])
    renewed = app.refresh(tokens["refresh_token"]).json["access_token"]
    done = wire.send("PUT", begun.headers["location"], b"late", token=renewed)

    assert (refused_put.status, refused_put.error["reason"]) == (401, "authError")
    assert done.status == 200


@pytest.mark.spec("T-01", "T-01b")
def test_a_revoked_token_is_good_for_nothing(wire: Wire, app: App) -> None:
    tokens = app.tokens()
    token = tokens["access_token"]
    assert is_token_valid(wire, token)

    assert ask(wire, "/revoke", {"token": token}).status == 200

    assert not is_token_valid(wire, token)
    assert oauth_error(wire.send("GET", f"/tokeninfo?access_token={token}", token=None)) == (400, "invalid_token")
    assert oauth_error(ask(wire, "/revoke", {"token": token})) == (400, "invalid_token")


@pytest.mark.spec("T-01", "T-01b")
def test_who_revokes_a_refresh_token_ends_the_consent_and_no_other(wire: Wire, app: App) -> None:
    gone, stays = app.tokens(), app.tokens()
    renewed = app.refresh(gone["refresh_token"]).json["access_token"]

    assert ask(wire, "/revoke", {"token": gone["refresh_token"]}).status == 200

    assert not is_token_valid(wire, gone["access_token"])
    assert not is_token_valid(wire, renewed)
    assert oauth_error(app.refresh(gone["refresh_token"])) == (400, "invalid_grant")
    assert is_token_valid(wire, stays["access_token"])


@pytest.mark.spec("T-01", "T-01b")
def test_nothing_is_revoked_by_a_link(wire: Wire, app: App) -> None:
    token = app.tokens()["access_token"]

    assert wire.send("GET", f"/revoke?token={token}", token=None).status == 405
    assert is_token_valid(wire, token)


@pytest.mark.spec("T-01", "T-01b")
def test_oauth_libraries_find_the_endpoints(wire: Wire) -> None:
    metadata = wire.send("GET", "/.well-known/oauth-authorization-server", token=None).json

    base = metadata["issuer"]
    assert metadata["authorization_endpoint"] == f"{base}/authorize"
    assert metadata["token_endpoint"] == f"{base}/token"
    assert metadata["response_types_supported"] == ["code"]
    assert "S256" in metadata["code_challenge_methods_supported"]
    assert set(metadata["grant_types_supported"]) == {"authorization_code", "refresh_token", JWT_BEARER}
