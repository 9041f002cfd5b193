"""Authorization codes, with exchange, refresh, proof keys and every error (T-01).

Written from RFC 6749 (grants and their errors) and 7636 (proof keys), and the choices of the service for what those
leave open.
"""

from __future__ import annotations

from base64 import b64encode

import pytest

from tests.contract.apps import (
    BACK,
    CHALLENGE,
    FORM,
    SCOPE,
    VERIFIER,
    App,
    ask,
    is_token_valid,
    oauth_error,
    register_app,
)
from tests.contract.calendar_client import BOB
from tests.contract.conftest import Wire
from tests.contract.web_user import WebUser

# The interface says that tokens are needed, and nothing of where they come from.
pytestmark = pytest.mark.choice("Tokens, consent and the OpenAPI document")


@pytest.fixture
def app(wire: Wire) -> App:
    return register_app(wire)


@pytest.mark.spec("T-01", "T-01a", "T-04", "T-04a")
def test_a_code_is_exchanged_for_tokens_of_the_user(wire: Wire, app: App) -> None:
    bobs = wire.post_json("/storage/v3/files", {"name": "bob's"}, token=wire.service.sign_in(BOB)).json["id"]

    answer = ask(wire, "/token", app.form(app.code("storage calendar.readonly", user=BOB)))
    tokens = answer.json

    assert answer.status == 200
    assert "no-store" in answer.headers["Cache-Control"]
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] in (3599, 3600)
    assert set(tokens["scope"].split()) == {SCOPE + "storage", SCOPE + "calendar.readonly"}
    assert wire.send("GET", f"/storage/v3/files/{bobs}", token=tokens["access_token"]).status == 200


@pytest.mark.spec("T-01", "T-01b", "T-03", "T-03b")
def test_a_refresh_may_ask_for_less_and_not_for_more(wire: Wire, app: App) -> None:
    refresh = app.tokens("storage.readonly calendar")["refresh_token"]

    less = app.refresh(refresh, scope=SCOPE + "calendar").json
    more = app.refresh(refresh, scope=f"{SCOPE}calendar {SCOPE}storage")
    again = app.refresh(refresh).json

    assert less["scope"] == SCOPE + "calendar"
    assert wire.send("GET", "/storage/v3/files", token=less["access_token"]).status == 403
    assert oauth_error(more) == (400, "invalid_scope")
    assert is_token_valid(wire, again["access_token"])


@pytest.mark.spec("T-03", "T-03b")
def test_a_cleared_scope_is_not_granted(wire: Wire, app: App) -> None:
    tokens = app.tokens("storage calendar.readonly", untick=("storage",))

    assert tokens["scope"] == SCOPE + "calendar.readonly"
    assert wire.send("GET", "/storage/v3/files", token=tokens["access_token"]).status == 403


@pytest.mark.spec("T-01", "T-01b")
def test_a_replayed_code_revokes_its_tokens(wire: Wire, app: App) -> None:
    code = app.code()
    first = ask(wire, "/token", app.form(code)).json
    assert is_token_valid(wire, first["access_token"])

    assert oauth_error(ask(wire, "/token", app.form(code))) == (400, "invalid_grant")

    assert not is_token_valid(wire, first["access_token"])
    assert oauth_error(app.refresh(first["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.spec("T-01", "T-01c")
def test_a_code_expires(wire: Wire, app: App) -> None:
    code = app.code()
    wire.service.clock.advance("11m")

    assert oauth_error(ask(wire, "/token", app.form(code))) == (400, "invalid_grant")


@pytest.mark.spec("T-01", "T-01b")
def test_basic_credentials_are_accepted_like_those_in_the_form(wire: Wire, app: App) -> None:
    basic = "Basic " + b64encode(f"{app.id}:{app.secret}".encode()).decode()
    form = app.form(app.code(), client_id=None, client_secret=None)

    assert ask(wire, "/token", form, Authorization=basic).status == 200


@pytest.mark.spec("T-01", "T-01b")
def test_a_public_client_needs_a_code_challenge(wire: Wire) -> None:
    public = register_app(wire, public=True)
    code = public.code()

    assert (
        oauth_error(ask(wire, "/token", public.form(code, client_secret=None, code_verifier=None)))[1]
        == "invalid_grant"
    )
    assert ask(wire, "/token", public.form(code, client_secret=None)).status == 200
    without = WebUser(wire, wire.service.sign_in()).consent(
        public.address(code_challenge=None, code_challenge_method=None)
    )
    assert without["error"] == "invalid_request"


WRONG_VERIFIERS = {
    "missing": None,
    "empty": "",
    "another": VERIFIER[:-1] + "x",
    "the challenge itself": CHALLENGE,
    "too short": VERIFIER[:42],
    "with a blank": VERIFIER + " ",
}


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("wrong", WRONG_VERIFIERS)
def test_only_the_verifier_matches_the_challenge(wire: Wire, app: App, wrong: str) -> None:
    form = app.form(app.code(), code_verifier=WRONG_VERIFIERS[wrong])

    assert oauth_error(ask(wire, "/token", form)) == (400, "invalid_grant")


@pytest.mark.spec("T-01", "T-01b")
def test_a_plain_challenge_is_its_own_verifier(wire: Wire, app: App) -> None:
    code = app.code(code_challenge=VERIFIER, code_challenge_method="plain")

    assert ask(wire, "/token", app.form(code)).status == 200


@pytest.mark.spec("T-01", "T-01b")
def test_a_verifier_for_a_request_that_had_no_challenge_is_a_downgrade(wire: Wire, app: App) -> None:
    code = app.code(code_challenge=None, code_challenge_method=None)

    assert oauth_error(ask(wire, "/token", app.form(code))) == (400, "invalid_grant")


REFUSALS: dict[str, tuple[dict[str, str | None], tuple[int, str]]] = {
    "no grant_type": ({"grant_type": None}, (400, "invalid_request")),
    "an empty grant_type": ({"grant_type": ""}, (400, "invalid_request")),
    "a password": ({"grant_type": "password"}, (400, "unsupported_grant_type")),
    "client credentials": ({"grant_type": "client_credentials"}, (400, "unsupported_grant_type")),
    "no code": ({"code": None}, (400, "invalid_request")),
    "an unknown code": ({"code": "4/nothing"}, (400, "invalid_grant")),
    "a code with odd letters": ({"code": "\x00\u20ac'--"}, (400, "invalid_grant")),
    "another redirect": ({"redirect_uri": "https://app.example/other"}, (400, "invalid_grant")),
    "a redirect of another case": ({"redirect_uri": BACK.replace("app", "APP")}, (400, "invalid_grant")),
    "no redirect": ({"redirect_uri": None}, (400, "invalid_grant")),
    "an unknown client": ({"client_id": "nobody"}, (401, "invalid_client")),
    "no client": ({"client_id": None}, (401, "invalid_client")),
    "a wrong secret": ({"client_secret": "wrong"}, (401, "invalid_client")),
    "no secret": ({"client_secret": None}, (401, "invalid_client")),
    "a secret that begins well": ({"client_secret": ""}, (401, "invalid_client")),
}


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("case", REFUSALS)
def test_the_token_endpoint_names_the_error(wire: Wire, app: App, case: str) -> None:
    changes, expected = REFUSALS[case]

    assert oauth_error(ask(wire, "/token", app.form(app.code(), **changes))) == expected


@pytest.mark.spec("T-04", "T-04b")
def test_a_code_and_a_refresh_token_belong_to_one_client(wire: Wire, app: App) -> None:
    other, code, refresh = register_app(wire, "Other"), app.code(), app.tokens()["refresh_token"]

    assert oauth_error(ask(wire, "/token", other.form(code))) == (400, "invalid_grant")
    assert oauth_error(other.refresh(refresh)) == (400, "invalid_grant")
    assert ask(wire, "/token", app.form(code)).status == 200


@pytest.mark.spec("T-01", "T-01b")
def test_a_code_is_neither_a_refresh_token_nor_an_access_token(wire: Wire, app: App) -> None:
    code = app.code()

    assert oauth_error(app.refresh(code)) == (400, "invalid_grant")
    assert not is_token_valid(wire, code)
    refresh = app.tokens()["refresh_token"]
    assert not is_token_valid(wire, refresh)
    assert oauth_error(ask(wire, "/token", app.form(refresh))) == (400, "invalid_grant")


@pytest.mark.spec("T-01", "T-01b")
def test_wrong_basic_credentials_get_a_basic_challenge(wire: Wire, app: App) -> None:
    form = app.form(app.code(), client_id=None, client_secret=None)

    for basic in (f"{app.id}:wrong", "nobody:x", ":"):
        answer = ask(wire, "/token", form, Authorization="Basic " + b64encode(basic.encode()).decode())
        assert oauth_error(answer) == (401, "invalid_client")
        assert answer.headers["WWW-Authenticate"].startswith("Basic")
    for header in ("Basic !!!", "Basic", "Bearer x", "Basic /w=="):
        assert oauth_error(ask(wire, "/token", form, Authorization=header)) == (401, "invalid_client")


@pytest.mark.spec("T-01", "T-01b")
def test_credentials_in_two_places_are_refused(wire: Wire, app: App) -> None:
    basic = "Basic " + b64encode(f"{app.id}:{app.secret}".encode()).decode()

    assert oauth_error(ask(wire, "/token", app.form(app.code()), Authorization=basic)) == (400, "invalid_request")


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize(
    "body, kind",
    [
        (b'{"grant_type": "authorization_code"}', "application/json"),
        (b"\xff\xfe", FORM["Content-Type"]),
        (b"a" * 200_000, FORM["Content-Type"]),
        (b"&".join(b"a%d=1" % n for n in range(2000)), FORM["Content-Type"]),
        (b"", FORM["Content-Type"]),
        (b"grant_type=%", FORM["Content-Type"]),
        (b"grant_type=%ff", FORM["Content-Type"]),
    ],
    ids=["JSON", "bytes", "huge", "many fields", "empty", "half an escape", "an escape that is no text"],
)
def test_a_body_that_is_not_a_form_is_refused(wire: Wire, body: bytes, kind: str) -> None:
    answer = wire.send("POST", "/token", body, {"Content-Type": kind}, token=None)

    status, error = oauth_error(answer)
    assert status in (400, 413)
    assert error in ("invalid_request", "unsupported_grant_type")
