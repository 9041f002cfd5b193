"""Authorization codes, with exchange, refresh, proof keys and every error (T-01).

Written from RFC 6749 (grants and their errors) and 7636 (proof keys), and the choices of the service for what those
leave open.
"""

from base64 import b64encode
from urllib.parse import urlencode

import pytest

from tests.contract import apps
from tests.contract.calendar_client import ADA, BOB
from tests.contract.conftest import Wire
from tests.contract.web_user import WebUser, redirect_params

# The interface says that tokens are needed, and nothing of where they come from.
pytestmark = pytest.mark.choice("Tokens, consent and the OpenAPI document")


@pytest.fixture
def app(wire: Wire) -> apps.App:
    return apps.register_app(wire)


@pytest.mark.spec("T-01", "T-01a", "T-04", "T-04a")
def test_a_code_is_exchanged_for_tokens_of_the_user(wire: Wire, app: apps.App) -> None:
    bobs = wire.post_json("/storage/v3/files", {"name": "bob's"}, token=wire.service.sign_in(BOB)).json["id"]

    answer = apps.ask(wire, "/token", app.form(app.code("storage calendar.readonly", user=BOB)))
    tokens = answer.json

    assert answer.status == 200
    assert "no-store" in answer.headers["Cache-Control"]
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] in (3599, 3600)
    assert set(tokens["scope"].split()) == {apps.SCOPE + "storage", apps.SCOPE + "calendar.readonly"}
    assert wire.send("GET", f"/storage/v3/files/{bobs}", token=tokens["access_token"]).status == 200


@pytest.mark.spec("T-01", "T-01b", "T-03", "T-03b")
def test_a_refresh_may_ask_for_less_and_not_for_more(wire: Wire, app: apps.App) -> None:
    refresh = app.tokens("storage.readonly calendar")["refresh_token"]

    less = app.refresh(refresh, scope=apps.SCOPE + "calendar").json
    more = app.refresh(refresh, scope=f"{apps.SCOPE}calendar {apps.SCOPE}storage")
    again = app.refresh(refresh).json

    assert less["scope"] == apps.SCOPE + "calendar"
    assert wire.send("GET", "/storage/v3/files", token=less["access_token"]).status == 403
    assert apps.oauth_error(more) == (400, "invalid_scope")
    assert apps.is_token_valid(wire, again["access_token"])


@pytest.mark.spec("T-03", "T-03b")
def test_a_user_grants_the_scopes_that_they_have_and_leave_ticked(wire: Wire, app: apps.App) -> None:
    tokens = app.tokens("storage calendar.readonly", untick=("storage",))
    reader = WebUser(wire, wire.service.sign_in(ADA, scopes=["storage.readonly"]))
    code = reader.consent(app.address("storage storage.readonly"))["code"]

    assert tokens["scope"] == apps.SCOPE + "calendar.readonly"
    assert wire.send("GET", "/storage/v3/files", token=tokens["access_token"]).status == 403
    assert apps.ask(wire, "/token", app.form(code)).json["scope"] == apps.SCOPE + "storage.readonly"


@pytest.mark.spec("T-01", "T-01b")
def test_a_replayed_code_revokes_its_tokens(wire: Wire, app: apps.App) -> None:
    code = app.code()
    first = apps.ask(wire, "/token", app.form(code)).json
    assert apps.is_token_valid(wire, first["access_token"])

    assert apps.oauth_error(apps.ask(wire, "/token", app.form(code))) == (400, "invalid_grant")

    assert not apps.is_token_valid(wire, first["access_token"])
    assert apps.oauth_error(app.refresh(first["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.spec("T-01", "T-01b")
def test_credentials_are_in_the_header_or_in_the_form(wire: Wire, app: apps.App) -> None:
    form = app.form(app.code(), client_id=None, client_secret=None)
    twice = [*app.form(app.code()).items(), ("grant_type", "authorization_code")]

    for credentials in (f"{app.id}:wrong", "nobody:x", ":"):
        answer = apps.ask(wire, "/token", form, Authorization=basic(credentials))
        assert apps.oauth_error(answer) == (401, "invalid_client")
        assert answer.headers["WWW-Authenticate"].startswith("Basic")
    for header in ("Basic !!!", "Basic", "Bearer x", "Basic /w=="):
        assert apps.oauth_error(apps.ask(wire, "/token", form, Authorization=header)) == (401, "invalid_client")
    good = basic(f"{app.id}:{app.secret}")
    in_both = apps.ask(wire, "/token", app.form(app.code()), Authorization=good)
    assert apps.oauth_error(in_both) == apps.oauth_error(apps.ask(wire, "/token", twice)) == (400, "invalid_request")
    assert apps.ask(wire, "/token", form, Authorization=good).status == 200


def basic(credentials: str) -> str:
    return "Basic " + b64encode(credentials.encode()).decode()


@pytest.mark.spec("T-01", "T-01b")
def test_a_verifier_belongs_to_the_challenge_which_a_public_client_needs(wire: Wire, app: apps.App) -> None:
    public, none = apps.register_app(wire, public=True), {"code_challenge": None, "code_challenge_method": None}
    plain = app.code(code_challenge=apps.VERIFIER, code_challenge_method="plain")
    form = public.form(public.code(), client_secret=None)

    unproved = {name: value for name, value in form.items() if name != "code_verifier"}
    assert apps.oauth_error(apps.ask(wire, "/token", unproved)) == (400, "invalid_grant")
    assert apps.ask(wire, "/token", form).status == 200
    without = WebUser(wire, wire.service.sign_in()).consent(public.address(**none))
    assert without["error"] == "invalid_request"
    assert apps.ask(wire, "/token", app.form(plain)).status == 200
    assert apps.oauth_error(apps.ask(wire, "/token", app.form(app.code(**none)))) == (400, "invalid_grant"), (
        "a downgrade"
    )


REFUSALS: dict[str, tuple[dict[str, str | None], tuple[int, str]]] = {
    "no grant_type": ({"grant_type": None}, (400, "invalid_request")),
    "an empty grant_type": ({"grant_type": ""}, (400, "invalid_request")),
    "a password": ({"grant_type": "password"}, (400, "unsupported_grant_type")),
    "client credentials": ({"grant_type": "client_credentials"}, (400, "unsupported_grant_type")),
    "no code": ({"code": None}, (400, "invalid_request")),
    "an unknown code": ({"code": "4/nothing"}, (400, "invalid_grant")),
    "a code with odd letters": ({"code": "\x00\u20ac'--"}, (400, "invalid_grant")),
    "another redirect": ({"redirect_uri": "https://app.example/other"}, (400, "invalid_grant")),
    "a redirect of another case": ({"redirect_uri": apps.BACK.replace("app", "APP")}, (400, "invalid_grant")),
    "no redirect": ({"redirect_uri": None}, (400, "invalid_grant")),
    "an unknown client": ({"client_id": "nobody"}, (401, "invalid_client")),
    "no client": ({"client_id": None}, (401, "invalid_client")),
    "a wrong secret": ({"client_secret": "wrong"}, (401, "invalid_client")),
    "no secret": ({"client_secret": None}, (401, "invalid_client")),
    "a secret that begins well": ({"client_secret": ""}, (401, "invalid_client")),
    "no verifier": ({"code_verifier": None}, (400, "invalid_grant")),
    "an empty verifier": ({"code_verifier": ""}, (400, "invalid_grant")),
    "another verifier": ({"code_verifier": apps.VERIFIER[:-1] + "x"}, (400, "invalid_grant")),
    "the challenge itself": ({"code_verifier": apps.CHALLENGE}, (400, "invalid_grant")),
    "a verifier that is too short": ({"code_verifier": apps.VERIFIER[:42]}, (400, "invalid_grant")),
    "a verifier with a blank": ({"code_verifier": apps.VERIFIER + " "}, (400, "invalid_grant")),
}


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("case", REFUSALS)
def test_the_token_endpoint_names_the_error(wire: Wire, app: apps.App, case: str) -> None:
    changes, expected = REFUSALS[case]

    assert apps.oauth_error(apps.ask(wire, "/token", app.form(app.code(), **changes))) == expected


@pytest.mark.spec("T-04", "T-04b")
def test_a_code_and_a_refresh_token_belong_to_one_client(wire: Wire, app: apps.App) -> None:
    other, code, refresh = apps.register_app(wire, "Other"), app.code(), app.tokens()["refresh_token"]

    assert apps.oauth_error(apps.ask(wire, "/token", other.form(code))) == (400, "invalid_grant")
    assert apps.oauth_error(other.refresh(refresh)) == (400, "invalid_grant")
    assert apps.ask(wire, "/token", app.form(code)).status == 200


@pytest.mark.spec("T-01", "T-01b")
def test_a_body_that_is_not_a_form_is_refused(wire: Wire) -> None:
    many_fields = b"&".join(b"a%d=1" % n for n in range(2000))
    bodies = [b"\xff\xfe", b"a" * 200_000, many_fields, b"", b"grant_type=%", b"grant_type=%ff"]

    json_body = b'{"grant_type": "authorization_code"}', {"Content-Type": "application/json"}
    for body, headers in (json_body, *((body, apps.FORM) for body in bodies)):
        status, error = apps.oauth_error(wire.send("POST", "/token", body, headers, token=None))
        assert status in (400, 413), body[:20]
        assert error in ("invalid_request", "unsupported_grant_type"), body[:20]


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("state", ["plain", "a b&c=d", "\u20ac/?#", "x" * 500])
def test_the_state_is_returned_unchanged(wire: Wire, app: apps.App, state: str) -> None:
    person = WebUser(wire, wire.service.sign_in())

    assert person.consent(app.address(state=state))["state"] == state
    denied = person.consent(app.address(state=state), button="deny")
    assert denied | {"error_description": ""} == {
        "from": "svc", "state": state, "error": "access_denied", "error_description": "",
    }  # fmt: skip


SENT_BACK: dict[str, tuple[dict[str, str | None], str]] = {
    "a token at once": ({"response_type": "token"}, "unsupported_response_type"),
    "no response_type": ({"response_type": None}, "unsupported_response_type"),
    "an unknown scope": ({"scope": apps.SCOPE + "nothing"}, "invalid_scope"),
    "no scope": ({"scope": None}, "invalid_scope"),
    "an unknown method": ({"code_challenge_method": "S512"}, "invalid_request"),
    "a challenge that is too short": ({"code_challenge": "x"}, "invalid_request"),
}


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("case", SENT_BACK)
def test_the_client_gets_the_error_of_its_request(wire: Wire, app: apps.App, case: str) -> None:
    changes, error = SENT_BACK[case]
    answer = WebUser(wire, wire.service.sign_in()).open(app.address(**changes))

    parameters = redirect_params(answer)
    assert answer.headers["Location"].startswith("https://app.example/back?")
    assert (parameters["from"], parameters["state"]) == ("svc", "s")
    assert parameters["error"] in (error, "invalid_request")
    assert "code" not in parameters


NOT_SENT: dict[str, dict[str, str | None]] = {
    "an unknown client": {"client_id": "nobody"},
    "no client": {"client_id": None},
    "no redirect": {"redirect_uri": None},
    "another host": {"redirect_uri": "https://evil.example/back?from=svc"},
    "another path": {"redirect_uri": "https://app.example/back/../evil?from=svc"},
    "more behind it": {"redirect_uri": apps.BACK + "&to=evil"},
    "another port": {"redirect_uri": apps.BACK.replace("app.example", "app.example:8443")},
    "a user in it": {"redirect_uri": apps.BACK.replace("app.example", "app.example@evil.example")},
    "a fragment": {"redirect_uri": apps.BACK + "#x"},
    "a line break": {"redirect_uri": apps.BACK + "\r\nSet-Cookie: a=b"},
    "a script": {"redirect_uri": "javascript:alert(1)"},
}


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("case", NOT_SENT)
def test_no_browser_is_redirected_to_an_unregistered_address(wire: Wire, app: apps.App, case: str) -> None:
    answer = WebUser(wire, wire.service.sign_in()).open(app.address(**NOT_SENT[case]))

    assert answer.status == 400
    assert "Location" not in answer.headers


@pytest.mark.spec("T-01", "T-01b")
def test_a_loopback_client_may_listen_on_any_port(wire: Wire) -> None:
    made = wire.service.oauth_client("Desktop", redirect_uris=["http://127.0.0.1/cb"])
    app, person = apps.App(wire, made["client_id"], made["client_secret"]), WebUser(wire, wire.service.sign_in())

    for port in ("", ":1", ":49152"):
        answer = person.press(person.open(app.address(redirect_uri=f"http://127.0.0.1{port}/cb")), "allow")
        assert answer.headers["Location"].startswith(f"http://127.0.0.1{port}/cb?")
    for wrong in ("http://127.0.0.1:\uff18\uff10/cb", "http://127.0.0.1:80:80/cb", "http://127.0.0.1.evil.example/cb"):
        assert person.open(app.address(redirect_uri=wrong)).status == 400


@pytest.mark.spec("T-01", "T-01b", "T-04", "T-04b")
def test_consent_needs_the_user_and_the_form_of_the_page_which_runs_no_script(wire: Wire) -> None:
    """Another site cannot consent in a user's name, because it cannot read the signature of the page."""
    app = apps.register_app(wire, "<script>alert(1)</script>")
    stranger, person = WebUser(wire), WebUser(wire, wire.service.sign_in())
    form = urlencode({"decision": "allow", "scope.storage": "on"}).encode()

    page = person.open(app.address())

    for user in (person, stranger):
        posted = user.send("POST", app.address(), form, Content_Type=apps.FORM["Content-Type"])
        assert "code=" not in posted.headers.get("Location", "")
    assert "code=" not in stranger.open(app.address()).headers.get("Location", "")
    assert b"<script>" not in page.body
    policy = page.headers["Content-Security-Policy"] + page.headers.get("X-Frame-Options", "")
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy or "DENY" in policy


@pytest.mark.spec("T-01", "T-01b")
def test_tokeninfo_says_whom_a_token_is_for(wire: Wire, app: apps.App) -> None:
    token = app.tokens("storage.readonly", user=BOB)["access_token"]
    wire.service.clock.advance("100s")

    by_query = wire.send("GET", f"/tokeninfo?access_token={token}", token=None).json
    by_form = apps.ask(wire, "/tokeninfo", {"access_token": token}).json

    assert by_query == by_form
    assert (by_query["aud"], by_query["azp"], by_query["email"]) == (app.id, app.id, BOB)
    assert by_query["scope"] == apps.SCOPE + "storage.readonly"
    assert int(by_query["expires_in"]) in (3499, 3500)
    assert int(by_query["exp"]) - int(by_query["expires_in"]) == int(wire.service.clock.now().timestamp())
    for other in ("nobody", "", "\u20ac", "a b", "x" * 5000):
        status, error = apps.oauth_error(
            wire.send("GET", f"/tokeninfo?{urlencode({'access_token': other})}", token=None)
        )
        assert (status, error in ("invalid_token", "invalid_request")) == (400, True)


@pytest.mark.spec("T-01", "T-01c")
def test_a_token_ends_on_the_second(wire: Wire, app: apps.App) -> None:
    token = app.tokens()
    lives = token["expires_in"]
    wire.service.clock.advance(lives - 1)
    assert apps.is_token_valid(wire, token["access_token"])

    wire.service.clock.advance(1)
    answer = wire.send("GET", "/storage/v3/files", token=token["access_token"])

    assert (answer.status, answer.error["reason"]) == (401, "authError")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    info = wire.send("GET", f"/tokeninfo?access_token={token['access_token']}", token=None)
    assert apps.oauth_error(info) == (400, "invalid_token")
    assert apps.is_token_valid(wire, app.refresh(token["refresh_token"]).json["access_token"])


@pytest.mark.spec("T-01", "T-01c")
def test_an_upload_outlives_the_token_that_began_it(wire: Wire, app: apps.App) -> None:
    tokens = app.tokens()
    begun = wire.send("POST", "/upload/storage/v3/files?uploadType=resumable", b"", token=tokens["access_token"])
    wire.service.clock.advance("2h")

    refused_put = wire.send("PUT", begun.headers["location"], b"late", token=tokens["access_token"])
    renewed = app.refresh(tokens["refresh_token"]).json["access_token"]
    done = wire.send("PUT", begun.headers["location"], b"late", token=renewed)

    assert (refused_put.status, refused_put.error["reason"]) == (401, "authError")
    assert done.status == 200


@pytest.mark.spec("T-01", "T-01b")
def test_a_revoked_access_token_ends_alone_and_a_refresh_token_with_its_consent(wire: Wire, app: apps.App) -> None:
    gone, stays = app.tokens(), app.tokens()
    renewed = app.refresh(gone["refresh_token"]).json["access_token"]
    token = app.tokens()["access_token"]
    assert apps.is_token_valid(wire, token)

    assert apps.ask(wire, "/revoke", {"token": token}).status == 200
    assert apps.ask(wire, "/revoke", {"token": gone["refresh_token"]}).status == 200

    assert [apps.is_token_valid(wire, each) for each in (token, gone["access_token"], renewed)] == [False] * 3
    assert apps.oauth_error(wire.send("GET", f"/tokeninfo?access_token={token}", token=None)) == (400, "invalid_token")
    assert apps.oauth_error(apps.ask(wire, "/revoke", {"token": token})) == (400, "invalid_token")
    assert apps.oauth_error(app.refresh(gone["refresh_token"])) == (400, "invalid_grant")
    assert apps.is_token_valid(wire, stays["access_token"])


@pytest.mark.spec("T-01", "T-01b")
def test_oauth_libraries_find_the_endpoints(wire: Wire) -> None:
    metadata = wire.send("GET", "/.well-known/oauth-authorization-server", token=None).json

    base = metadata["issuer"]
    assert metadata["authorization_endpoint"] == f"{base}/authorize"
    assert metadata["token_endpoint"] == f"{base}/token"
    assert metadata["response_types_supported"] == ["code"]
    assert "S256" in metadata["code_challenge_methods_supported"]
    assert set(metadata["grant_types_supported"]) == {"authorization_code", "refresh_token", apps.JWT_BEARER}
