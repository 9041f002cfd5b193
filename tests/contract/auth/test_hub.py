import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.auth.hub import JupyterHub, hub_email, read_hub_settings
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.contract.hub import PREFIX, SERVICE_TOKEN, FakeHub, running_hub
from tests.contract.web_user import WebUser

ABOUT = f"{PREFIX}/storage/v3/about?fields=user"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with running_hub() as hub:
        hub.add_token("t-ada", "ada", admin=True)
        hub.add_token("t-bob", "bob")
        hub.add_token("t-eve", "eve")
        yield hub


@pytest.fixture
def seconds() -> list[float]:
    """The time of the service's memory of tokens."""
    return [1000.0]


@pytest.fixture
def service(hub: FakeHub, seconds: list[float], tmp_path: Path) -> Iterator[Service]:
    with open_service(tmp_path / "store", policy=Policy(path_prefix=PREFIX, host_names=("*",))) as service:
        service.accept_users_of(JupyterHub(hub.settings(), "svc.example", now=lambda: seconds[0]))
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with SocketServer(service, threads=2, control=True) as server:
        yield OverSocket(service, server.origin)


def about(wire: OverSocket, token: str) -> Answer:
    return wire.send("GET", ABOUT, token=token)


def test_the_hub_is_asked_once_a_minute(hub: FakeHub, wire: OverSocket, seconds: list[float]) -> None:
    for waited in (0, 30, 29, 1, 59):
        seconds[0] += waited
        assert about(wire, "t-bob").status == 200
    assert hub.calls == ["/hub/api/user"] * 2

    hub.tokens.clear()
    seconds[0] += 1

    answer = about(wire, "t-bob")
    assert (answer.status, answer.error["reason"]) == (401, "authError")


def test_an_unknown_token_is_remembered_for_a_short_time(hub: FakeHub, wire: OverSocket, seconds: list[float]) -> None:
    refused = [about(wire, "t-new").status, about(wire, "t-new").status]
    calls = len(hub.calls)
    hub.add_token("t-new", "bob")
    seconds[0] += 5

    assert (refused, calls) == ([401, 401], 1)
    assert about(wire, "t-new").status == 200


def test_a_token_without_access_is_403(hub: FakeHub, wire: OverSocket) -> None:
    for number, scopes in enumerate([(), ("access:services!service=other",), ("self", "access:servers!user=bob")]):
        answer = about(wire, hub.add_token(f"t-{number}", "bob", scopes))
        assert (answer.status, answer.error["reason"]) == (403, "insufficientPermissions")
        assert "access:services!service=svc" in answer.error["message"]
    of_a_service = about(wire, hub.add_token("t-grader", "grader", kind="service"))
    assert (of_a_service.status, of_a_service.error["reason"]) == (403, "forbidden")


def test_a_hub_that_fails_or_cannot_be_reached_is_503_and_is_asked_again(hub: FakeHub, wire: OverSocket) -> None:
    for hub.status in (404, 500, 502, 503):
        answer = about(wire, "t-bob")
        assert (answer.status, answer.error["reason"]) == (503, "backendError")
    hub.status = 200
    port, hub.server_port = hub.server_port, 1
    wire.service.accept_users_of(JupyterHub(hub.settings(), "svc.example"))
    assert about(wire, "t-bob").status == 503

    hub.server_port = port
    wire.service.accept_users_of(JupyterHub(hub.settings(), "svc.example"))

    assert about(wire, "t-bob").status == 200


def test_an_administrator_may_use_the_control_interface_and_no_token_is_shown(hub: FakeHub, wire: OverSocket) -> None:
    for token, status in (("t-ada", 200), ("t-bob", 403), ("t-new", 401), (None, 401)):
        assert wire.send("GET", f"{PREFIX}/_control/clock", token=token).status == status
    wire.send("GET", f"{ABOUT}&access_token=t-bob", token=None)

    assert "t-bob" not in str(wire.service.journal())
    assert SERVICE_TOKEN not in repr(hub.settings())


ESCAPED = {
    "ada": "ada", "Ada": "%41da", "ada.l-1_x": "ada.l-1_x", "Bob@uni.example": "%42ob%40uni.example",
    "ada@svc.example": "ada%40svc.example", "%41da": "%2541da", "a b/c": "a%20b%2fc", "é": "%c3%a9", ".a": "%2ea",
    "a..b": "a%2e%2eb",
}  # fmt: skip


def test_each_name_has_an_address_of_its_own() -> None:
    for name, escaped in ESCAPED.items():
        assert hub_email(name, "svc.example") == f"{escaped}@svc.example"
    assert hub_email("bob@uni.example", "svc.example") == "bob@uni.example"


def test_settings_are_those_that_the_hub_names(hub: FakeHub) -> None:
    environ = {**hub.environ(), "JUPYTERHUB_OAUTH_ACCESS_SCOPES": '["access:services"]'}

    assert read_hub_settings(environ).access_scopes == {"access:services"}
    for variable in ("SERVICE_NAME", "SERVICE_URL", "API_URL", "API_TOKEN"):
        missing = f"JUPYTERHUB_{variable}"
        with pytest.raises(ValueError, match=f"{missing} is not set"):
            read_hub_settings({name: value for name, value in environ.items() if name != missing})


CALLBACK = f"{PREFIX}/oauth_callback"


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
    answer = user.open(page.body.decode().partition('href="')[2].partition('"')[0])
    assert answer.status == 303, answer.body
    return answer.headers["Location"]


def sign_in(user: WebUser, hub: FakeHub, link: str, token: str = "t-bob") -> Answer:
    """Sign in at the hub; the response to the browser that comes back."""
    return user.open(hub.authorize(go_to_hub(user, link), token))


def test_a_hub_user_signs_in_comes_back_to_the_page_and_signs_out(hub: FakeHub, wire: OverSocket, link: str) -> None:
    user = WebUser(wire)
    answer = sign_in(user, hub, link)
    page = user.open(answer.headers["Location"])
    session = user.cookies["svc_session"]
    signed_out = user.press(page, "sign out")
    user.cookies["svc_session"] = session

    assert answer.headers["Location"] == link
    assert (page.status, b"bob@svc.example" in page.body) == (200, True)
    assert (signed_out.status, b"Sign in with JupyterHub" in signed_out.body) == (200, True)
    assert user.open(link).status == 401


def test_the_cookies_are_for_this_service_only(hub: FakeHub, wire: OverSocket, link: str) -> None:
    user = WebUser(wire)
    start = user.open(f"{PREFIX}/signin?continue=/")
    answer = sign_in(user, hub, link)

    cookies = [set(text.split("; ")) for text in start.headers.all("Set-Cookie") + answer.headers.all("Set-Cookie")]
    assert all({"HttpOnly", "SameSite=Lax"} <= cookie for cookie in cookies)
    paths = [{part for part in cookie if part.startswith("Path=")} for cookie in cookies]
    assert paths == [{f"Path={CALLBACK}"}, {f"Path={PREFIX}/"}, {f"Path={CALLBACK}"}]
    assert "t-bob" not in str(cookies)


def test_a_code_in_another_browser_and_a_user_without_access_sign_nobody_in(hub, wire, link):
    back = hub.authorize(go_to_hub(WebUser(wire), link), "t-bob")
    victim, user = WebUser(wire), WebUser(wire)
    go_to_hub(victim, link)

    assert victim.open(back).status == 401
    assert sign_in(user, hub, link, hub.add_token("t-eve", "eve", ())).status == 403
    assert "svc_session" not in victim.cookies | user.cookies
    assert victim.open(link).status == 401


CHANGED_STATES = ["", "x", ".L2ZpbGU", "0.!", "%C3%A9.L2ZpbGU", "{key}.Ly9ldmlsLmV4YW1wbGU"]  # //evil.example
NO_SIGN_INS = ["error=access_denied&state={state}", "code=unknown&state={state}", "&state={state}"]


@pytest.mark.parametrize("query", [*NO_SIGN_INS, *(f"code={{code}}&state={state}" for state in CHANGED_STATES)])
def test_a_refused_sign_in_shows_the_sign_in_page(hub: FakeHub, wire: OverSocket, link: str, query: str) -> None:
    user = WebUser(wire)
    back = dict(parse_qsl(urlsplit(hub.authorize(go_to_hub(user, link), "t-bob")).query))
    hub.codes["unknown"] = "t-bob", "another challenge"
    answer = user.open(f"{CALLBACK}?{query.format(**back, key=back['state'].rpartition('.')[0])}")

    assert answer.status == 401
    assert b"Sign in with JupyterHub" in answer.body
    assert "svc_session" not in user.cookies


def test_a_session_ends_with_the_hubs_token_and_not_with_a_failure(hub, wire, link, seconds):
    user = WebUser(wire)
    sign_in(user, hub, link)
    for hub.status, status in ((200, 200), (500, 503), (200, 200)):
        assert user.open(link).status == status
        seconds[0] += 60
    del hub.tokens["t-bob"]

    assert user.open(link).status == 401


def test_no_token_form_signs_in_beside_the_hub(wire: OverSocket) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = wire.send("POST", f"{PREFIX}/signin", f"token={wire.token}".encode(), form, token=None)

    assert answer.headers["Location"].startswith("/hub/api/oauth2/authorize?")
    assert "svc_session" not in str(answer.headers.all("Set-Cookie"))


def test_without_a_hub_there_is_no_callback() -> None:
    with open_service(seed=0) as service, SocketServer(service, threads=2) as server:
        answer = OverSocket(service, server.origin).send("GET", "/oauth_callback?code=x&state=y", token=None)

    assert answer.status == 404


ACTIVITY = f"{PREFIX}/_live/activity"
ADDRESS = "https://localhost:8443/in"
JSON = {"Content-Type": "application/json"}


def register(wire: OverSocket, token: str | None) -> Answer:
    return wire.post_json(f"{PREFIX}/_class/receivers", {"address": ADDRESS}, token=token)


def watch(wire: OverSocket, token: str) -> int:
    page = wire.send("GET", f"{PREFIX}/storage/v3/changes/startPageToken", token=token).json["startPageToken"]
    channel = {"id": token, "type": "web_hook", "address": ADDRESS}
    return wire.post_json(f"{PREFIX}/storage/v3/changes/watch?pageToken={page}", channel, token=token).status


def test_a_receiver_is_for_its_user(hub: FakeHub, wire: OverSocket) -> None:
    before = watch(wire, "t-bob")
    hub.add_token("t-other", "bob", ())

    assert [register(wire, token).status for token in (None, "t-unknown")] == [401, 401]
    assert register(wire, "t-other").error["reason"] == "insufficientPermissions"
    assert register(wire, "t-bob").json == {"receiver": "localhost:8443"}
    assert (before, watch(wire, "t-bob"), watch(wire, "t-eve")) == (401, 200, 401)


def signed_in(hub: FakeHub, wire: OverSocket, token: str) -> WebUser:
    """A browser that was sent to the hub by the live page, and came back to it."""
    user = WebUser(wire)
    location = user.open(f"{PREFIX}/signin?continue=/").headers["Location"]
    back = user.open(hub.authorize(location, token))
    assert back.headers["Location"] == f"{PREFIX}/"
    return user


def reset(user: WebUser, email: str, **headers: str) -> Answer:
    body = json.dumps({"user": email}).encode()
    return user.send("POST", f"{PREFIX}/_control/class/reset", body, **JSON, **headers)


def test_the_live_page_and_its_control_calls_are_for_administrators(hub: FakeHub, wire: OverSocket) -> None:
    """The hub's sign-in opens the live page. The control calls of the page need it, too."""
    ada, bob = signed_in(hub, wire, "t-ada"), signed_in(hub, wire, "t-bob")

    shown = ada.open(ACTIVITY)

    assert shown.status == 200
    assert [row["email"] for row in shown.json["students"]["rows"]] == ["ada@svc.example", "bob@svc.example"]
    assert (bob.open(ACTIVITY).status, reset(bob, "eve@svc.example").status) == (403, 403)
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert reset(ada, "bob@svc.example", **headers).error["reason"] == "originNotAllowed"
    wire.post_json(f"{PREFIX}/storage/v3/files", {"name": "a"}, token="t-bob")
    answer = reset(ada, "bob@svc.example")
    assert (answer.status, answer.json["files"]) == (200, 1)
