"""The consent page at /authorize, whose result only the client gets (T-01, RFC 6749, 4.1)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.contract.apps import BACK, FORM, SCOPE, App, ask, register_app
from tests.contract.calendar_client import ADA
from tests.contract.conftest import Wire
from tests.contract.web_user import WebUser, redirect_params

# The interface says that tokens are needed, and nothing of where they come from.
pytestmark = pytest.mark.choice("Tokens, consent and the OpenAPI document")


@pytest.fixture
def app(wire: Wire) -> App:
    return register_app(wire)


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("state", ["plain", "a b&c=d", "\u20ac/?#", "x" * 500])
def test_the_state_is_returned_unchanged(wire: Wire, app: App, state: str) -> None:
    person = WebUser(wire, wire.service.sign_in())

    assert person.consent(app.address(state=state))["state"] == state
    assert person.consent(app.address(state=state), button="deny") | {"error_description": ""} == {
        "from": "svc",
        "state": state,
        "error": "access_denied",
        "error_description": "",
    }


SENT_BACK: dict[str, tuple[dict[str, str | None], str]] = {
    "a token at once": ({"response_type": "token"}, "unsupported_response_type"),
    "no response_type": ({"response_type": None}, "unsupported_response_type"),
    "an unknown scope": ({"scope": SCOPE + "nothing"}, "invalid_scope"),
    "no scope": ({"scope": None}, "invalid_scope"),
    "an unknown method": ({"code_challenge_method": "S512"}, "invalid_request"),
    "a challenge that is too short": ({"code_challenge": "x"}, "invalid_request"),
}


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("case", SENT_BACK)
def test_the_client_gets_the_error_of_its_request(wire: Wire, app: App, case: str) -> None:
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
    "more behind it": {"redirect_uri": BACK + "&to=evil"},
    "another port": {"redirect_uri": BACK.replace("app.example", "app.example:8443")},
    "a user in it": {"redirect_uri": BACK.replace("app.example", "app.example@evil.example")},
    "a fragment": {"redirect_uri": BACK + "#x"},
    "a line break": {"redirect_uri": BACK + "\r\nSet-Cookie: a=b"},
    "a script": {"redirect_uri": "javascript:alert(1)"},
}


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("case", NOT_SENT)
def test_no_browser_is_redirected_to_an_unregistered_address(wire: Wire, app: App, case: str) -> None:
    answer = WebUser(wire, wire.service.sign_in()).open(app.address(**NOT_SENT[case]))

    assert answer.status == 400
    assert "Location" not in answer.headers


@pytest.mark.spec("T-01", "T-01b")
def test_a_loopback_client_may_listen_on_any_port(wire: Wire) -> None:
    made = wire.service.oauth_client("Desktop", redirect_uris=["http://127.0.0.1/cb"])
    app, person = App(wire, made["client_id"], made["client_secret"]), WebUser(wire, wire.service.sign_in())

    for port in ("", ":1", ":49152"):
        answer = person.press(person.open(app.address(redirect_uri=f"http://127.0.0.1{port}/cb")), "allow")
        assert answer.headers["Location"].startswith(f"http://127.0.0.1{port}/cb?")
    for wrong in ("http://127.0.0.1:\uff18\uff10/cb", "http://127.0.0.1:80:80/cb", "http://127.0.0.1.evil.example/cb"):
        assert person.open(app.address(redirect_uri=wrong)).status == 400


@pytest.mark.spec("T-01", "T-01b", "T-04", "T-04b")
def test_consent_needs_the_user_and_the_form_of_the_page(wire: Wire, app: App) -> None:
    """Another site cannot consent in a user's name, because it cannot read the signature of the page."""
    stranger, person = WebUser(wire), WebUser(wire, wire.service.sign_in())
    form = urlencode({"decision": "allow", "scope.storage": "on"}).encode()

    page = stranger.open(app.address())
    forged = person.send("POST", app.address(), form, **{"Content_Type": FORM["Content-Type"]})
    posted = stranger.send("POST", app.address(), form, **{"Content_Type": FORM["Content-Type"]})

    for answer in (page, forged, posted):
        assert "code=" not in answer.headers.get("Location", "")


@pytest.mark.spec("T-03", "T-03b")
def test_a_user_grants_only_scopes_that_they_have(wire: Wire, app: App) -> None:
    person = WebUser(wire, wire.service.sign_in(ADA, scopes=["storage.readonly"]))

    answer = person.consent(app.address("storage storage.readonly"))
    tokens = ask(wire, "/token", app.form(answer["code"])).json

    assert tokens["scope"] == SCOPE + "storage.readonly"


@pytest.mark.spec("T-01", "T-01b")
def test_the_consent_page_shows_the_name_of_the_client_and_runs_no_script(wire: Wire) -> None:
    app = register_app(wire, "<script>alert(1)</script>")

    answer = WebUser(wire, wire.service.sign_in()).open(app.address())

    assert b"<script>" not in answer.body
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    policy = answer.headers["Content-Security-Policy"] + answer.headers.get("X-Frame-Options", "")
    assert "frame-ancestors 'none'" in policy or "DENY" in policy
