"""Signing in to the pages with JupyterHub's OAuth, in raw HTTP, with a hub that answers as JupyterHub documents."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.auth.hub import JupyterHub
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.contract.hub import PREFIX, FakeHub, running_hub
from tests.contract.web_user import WebUser

CALLBACK = f"{PREFIX}/oauth_callback"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with running_hub() as hub:
        hub.add_token("t-bob", "bob")
        yield hub


@pytest.fixture
def seconds() -> list[float]:
    """The time of the hub's memory."""
    return [0.0]


@pytest.fixture
def service(hub: FakeHub, seconds: list[float]) -> Iterator[Service]:
    with open_service(seed=0, policy=Policy(path_prefix=PREFIX, host_names=("*",))) as service:
        service.accept_users_of(JupyterHub(hub.settings(), "svc.example", now=lambda: seconds[0]))
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with SocketServer(service, threads=2) as server:
        yield OverSocket(service, server.origin)


@pytest.fixture
def link(wire: OverSocket) -> str:
    """The path of the page of a file of bob."""
    upload = f"{PREFIX}/upload/storage/v3/files?uploadType=media&fields=webViewLink"
    made = wire.send("POST", upload, b"hello", {"Content-Type": "text/plain"}, token="t-bob").json
    return made["webViewLink"].removeprefix(wire.base_url)


def go_to_hub(user: WebUser, link: str) -> str:
    """Press the button on the page that asks to sign in; the address at the hub."""
    page = user.open(link)
    assert page.status == 401
    target = page.body.decode().partition('href="')[2].partition('"')[0]
    answer = user.open(target)
    assert answer.status == 303, answer.body
    return answer.headers["Location"]


def sign_in(user: WebUser, hub: FakeHub, link: str, token: str = "t-bob") -> Answer:
    """Sign in at the hub; the response to the browser that comes back."""
    return user.open(hub.authorize(go_to_hub(user, link), token))


def test_a_hub_user_signs_in_and_comes_back_to_the_page(hub: FakeHub, wire: OverSocket, link: str) -> None:
    user = WebUser(wire)
    answer = sign_in(user, hub, link)
    page = user.open(answer.headers["Location"])

    assert answer.headers["Location"] == link
    assert page.status == 200
    assert b"bob@svc.example" in page.body


def test_the_cookies_are_for_this_service_only(hub: FakeHub, wire: OverSocket, link: str) -> None:
    user = WebUser(wire)
    start = user.open(f"{PREFIX}/signin?continue=/")
    answer = sign_in(user, hub, link)

    cookies = [set(text.split("; ")) for text in start.headers.all("Set-Cookie") + answer.headers.all("Set-Cookie")]
    assert all({"HttpOnly", "SameSite=Lax"} <= cookie for cookie in cookies)
    assert [{part for part in cookie if part.startswith("Path=")} for cookie in cookies] == [
        {f"Path={CALLBACK}"},
        {f"Path={PREFIX}/"},
        {f"Path={CALLBACK}"},
    ]
    assert "t-bob" not in str(cookies)


def test_a_code_in_another_browser_signs_nobody_in(hub: FakeHub, wire: OverSocket, link: str) -> None:
    back = hub.authorize(go_to_hub(WebUser(wire), link), "t-bob")
    victim = WebUser(wire)
    go_to_hub(victim, link)
    answer = victim.open(back)

    assert answer.status == 401
    assert "svc_session" not in victim.cookies
    assert victim.open(link).status == 401


@pytest.mark.parametrize("change", ["", "x", ".L2ZpbGU", "0.!", "%C3%A9.L2ZpbGU"])
def test_a_changed_state_signs_nobody_in(hub: FakeHub, wire: OverSocket, link: str, change: str) -> None:
    user = WebUser(wire)
    code = hub.authorize(go_to_hub(user, link), "t-bob").partition("code=")[2].partition("&")[0]
    answer = user.open(f"{CALLBACK}?code={code}&state={change}")

    assert answer.status == 401
    assert "svc_session" not in user.cookies


def test_a_state_is_valid_for_its_page_only(hub: FakeHub, wire: OverSocket, link: str) -> None:
    user = WebUser(wire)
    back = hub.authorize(go_to_hub(user, link), "t-bob")
    answer = user.open(back.rpartition(".")[0] + ".Ly9ldmlsLmV4YW1wbGU")  # //evil.example

    assert answer.status == 401


@pytest.mark.parametrize("query", ["error=access_denied", "code=unknown", ""])
def test_a_refused_sign_in_shows_the_sign_in_page(hub: FakeHub, wire: OverSocket, link: str, query: str) -> None:
    user = WebUser(wire)
    state = dict(parse_qsl(urlsplit(go_to_hub(user, link)).query))["state"]
    hub.codes["unknown"] = "t-bob", "another challenge"
    answer = user.open(f"{CALLBACK}?{query}&state={state}")

    assert answer.status == 401
    assert b"Sign in with JupyterHub" in answer.body
    assert "svc_session" not in user.cookies


def test_a_user_without_access_is_403(hub: FakeHub, wire: OverSocket, link: str) -> None:
    user = WebUser(wire)
    answer = sign_in(user, hub, link, hub.add_token("t-eve", "eve", ()))

    assert answer.status == 403
    assert "svc_session" not in user.cookies


def test_signing_out_ends_the_session(hub: FakeHub, wire: OverSocket, link: str) -> None:
    user = WebUser(wire)
    sign_in(user, hub, link)
    session = user.cookies["svc_session"]
    answer = user.press(user.open(link), "sign out")
    user.cookies["svc_session"] = session

    assert answer.status == 200
    assert b"Sign in with JupyterHub" in answer.body
    assert user.open(link).status == 401


def test_a_session_ends_with_the_hubs_token(hub: FakeHub, wire: OverSocket, link: str, seconds: list[float]) -> None:
    user = WebUser(wire)
    sign_in(user, hub, link)
    before = user.open(link).status
    del hub.tokens["t-bob"]
    seconds[0] += 60

    assert (before, user.open(link).status) == (200, 401)


def test_a_hub_that_does_not_respond_ends_no_session(
    hub: FakeHub, wire: OverSocket, link: str, seconds: list[float]
) -> None:
    user = WebUser(wire)
    sign_in(user, hub, link)
    seconds[0] += 60
    hub.status = 500
    unavailable = user.open(link).status
    hub.status = 200

    assert (unavailable, user.open(link).status) == (503, 200)


def test_no_token_form_signs_in_beside_the_hub(wire: OverSocket) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = wire.send("POST", f"{PREFIX}/signin", f"token={wire.token}".encode(), form, token=None)

    assert answer.headers["Location"].startswith("/hub/api/oauth2/authorize?")
    assert "svc_session" not in str(answer.headers.all("Set-Cookie"))
