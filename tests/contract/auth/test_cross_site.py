"""Requests that another site makes a browser send to the pages for people change nothing."""

from urllib.parse import quote, urlencode, urlsplit

import pytest

from tests.contract.apps import FORM, App, register_app
from tests.contract.conftest import Wire
from tests.contract.web_user import WebUser

FILES = "/storage/v3/files"
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
ELSEWHERE = [
    *({"Origin": origin} for origin in ("https://evil.example", "null", "http://[x", "http://127.0.0.1:1")),
    *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site")),
    LINK,
]
FRAME = LINK | {"Sec-Fetch-Dest": "iframe"}
IMAGE = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
SCRIPT = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}


pytestmark = pytest.mark.policy(browser_sign_in="choose")


def send(person: WebUser, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> int:
    return person.send(method, target, body, **headers).status


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("elsewhere", ELSEWHERE, ids=str)
def test_no_other_site_signs_a_browser_in_or_out(wire: Wire, elsewhere: dict[str, str]) -> None:
    person = WebUser(wire, wire.service.sign_in())
    stranger = WebUser(wire)

    assert send(stranger, "POST", "/signin", b"user=eve@svc.example", {**FORM, **elsewhere}) == 403
    assert send(person, "POST", "/signout", b"", {**FORM, **elsewhere}) == 403

    assert stranger.cookies == {}
    assert b"is signed in as" in person.open("/signin").body
    assert "eve@svc.example" not in wire.service._context.store.users.emails()
    assert wire.service.journal()[-2]["decided_by"] == "Requests from pages of other origins"


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("elsewhere", ELSEWHERE, ids=str)
def test_no_other_site_consents(wire: Wire, elsewhere: dict[str, str]) -> None:
    """Not even with the signature of the page, which no other site can read."""
    person, app = WebUser(wire, wire.service.sign_in()), register_app(wire)
    fields = {"decision": "allow", "scope.storage": "on", "signature": signature_of(person, app)}
    form, own = urlencode(fields).encode(), {"Origin": wire.base_url, "Sec-Fetch-Site": "same-origin"}

    assert send(person, "POST", app.address(), form, {**FORM, **elsewhere}) == 403
    assert send(person, "POST", app.address(), form, {**FORM, **own}) == 302


@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("how, status", [(LINK, 302), (FRAME, 403), (IMAGE, 403), (SCRIPT, 403), ({}, 302)])
def test_a_code_without_a_question_needs_a_link_that_is_followed(wire: Wire, how: dict[str, str], status: int) -> None:
    person, app = WebUser(wire, wire.service.sign_in()), register_app(wire)

    assert send(person, "GET", app.address(prompt="none"), None, how) == status


def test_pages_that_change_nothing_may_be_linked_to(wire: Wire) -> None:
    person, file = WebUser(wire, wire.service.sign_in()), wire.create(b"x")["id"]

    for how in (LINK, FRAME, IMAGE):
        assert send(person, "GET", f"/file/d/{file}/view", None, how) == 200
        assert send(person, "GET", f"/uc?id={file}", None, how) == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80"])
def test_a_name_that_was_made_to_lead_here_opens_no_page(wire: Wire, host: str) -> None:
    """DNS rebinding would open all files where a person chooses a user without a password."""
    file, app = wire.create(b"x"), register_app(wire)
    targets = ["/signin", f"/file/d/{file['id']}/view", f"/uc?id={file['id']}", app.address(), "/calendar/event?eid=x"]

    for target in targets:
        answer = wire.send("GET", target, headers={"Host": host}, token=None)
        assert (answer.status, answer.error["reason"]) == (403, "hostNotAllowed")
        assert wire.service.journal()[-1]["decided_by"] == "host_names"
    for target in ("/signin", "/signout", app.address()):
        answer = wire.send("POST", target, b"user=ada@svc.example", {**FORM, "Host": host}, token=None)
        assert answer.status == 403


@pytest.mark.spec("T-01", "T-01b")
def test_the_cookie_is_worth_nothing_as_an_access_token(wire: Wire) -> None:
    person = WebUser(wire, wire.service.sign_in())
    (secret,) = person.cookies.values()

    for shown in (secret, f"session {secret}", signature_of(person, register_app(wire))):
        assert wire.send("GET", FILES, token=shown).status == 401
        assert wire.send("GET", f"{FILES}?access_token={quote(shown)}", token=None).status == 401
        assert wire.send("GET", f"/tokeninfo?access_token={quote(shown)}", token=None).status == 400
        assert wire.send("POST", f"/revoke?token={quote(shown)}", b"", token=None).status == 400
        assert send(WebUser(wire), "POST", "/signin", urlencode({"token": shown}).encode(), FORM) == 401

    assert b"is signed in as" in person.open("/signin").body


def signature_of(person: WebUser, app: App) -> str:
    return person.open(app.address()).body.decode().partition('name="signature" value="')[2].partition('"')[0]


@pytest.mark.policy(trust_forwarded=True, browser_sign_in="choose")
@pytest.mark.spec("T-01", "T-01b")
@pytest.mark.parametrize("scheme, secure", [("http", False), ("https", True)])
def test_the_cookie_goes_only_where_it_must(wire: Wire, scheme: str, secure: bool) -> None:
    person = WebUser(wire)
    host = urlsplit(wire.base_url).netloc
    headers = {**FORM, "X-Forwarded-Proto": scheme, "Origin": f"{scheme}://{host}"}
    answer = person.send("POST", "/signin", b"user=ada@svc.example", **headers)

    attributes = {part.strip().lower() for part in answer.headers["Set-Cookie"].split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= attributes
    assert ("secure" in attributes) is secure
    assert not any(attribute.startswith("domain") for attribute in attributes)
