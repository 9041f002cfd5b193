"""Tokens of JupyterHub as bearer tokens, in raw HTTP, with a hub that answers as JupyterHub documents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.auth.hub import JupyterHub, hub_email, read_hub_settings
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.contract.hub import PREFIX, SERVICE_TOKEN, FakeHub, running_hub

ABOUT = f"{PREFIX}/storage/v3/about?fields=user"


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with running_hub() as hub:
        yield hub


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(hub: FakeHub, clock: Clock) -> Iterator[Service]:
    policy = Policy(path_prefix=PREFIX, host_names=("*",))
    with open_service(seed=0, policy=policy) as service:
        service.accept_users_of(JupyterHub(hub.settings(), "svc.example", now=clock))
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with SocketServer(service, threads=2, control=True) as server:
        yield OverSocket(service, server.origin)


def about(wire: OverSocket, token: str) -> Answer:
    return wire.send("GET", ABOUT, token=token)


def test_a_hub_user_has_an_account_from_the_first_request_on(hub: FakeHub, wire: OverSocket) -> None:
    token = hub.add_token("t-bob", "bob")
    answer = about(wire, token)

    assert answer.status == 200
    assert answer.json["user"]["emailAddress"] == "bob@svc.example"
    assert wire.service.journal()[-1]["user"] == "bob@svc.example"


def test_the_hub_is_asked_once_a_minute(hub: FakeHub, wire: OverSocket, clock: Clock) -> None:
    token = hub.add_token("t-bob", "bob")
    for seconds in (0, 30, 29, 1, 59):
        clock.seconds += seconds
        assert about(wire, token).status == 200

    assert hub.calls == ["/hub/api/user"] * 2


def test_a_revoked_token_ends_within_a_minute(hub: FakeHub, wire: OverSocket, clock: Clock) -> None:
    token = hub.add_token("t-bob", "bob")
    before = about(wire, token).status
    hub.tokens.clear()
    clock.seconds += 60
    answer = about(wire, token)

    assert before == 200
    assert answer.status == 401
    assert answer.error["reason"] == "authError"


def test_an_unknown_token_is_remembered_for_a_shorter_time(hub: FakeHub, wire: OverSocket, clock: Clock) -> None:
    refused = [about(wire, "t-new").status, about(wire, "t-new").status]
    calls = len(hub.calls)
    hub.add_token("t-new", "bob")
    clock.seconds += 5

    assert (refused, calls) == ([401, 401], 1)
    assert about(wire, "t-new").status == 200


@pytest.mark.parametrize(
    "scopes", [(), ("access:services!service=other",), ("self", "access:servers!user=bob")], ids=str
)
def test_a_token_without_the_access_scope_is_403(hub: FakeHub, wire: OverSocket, scopes: tuple[str, ...]) -> None:
    answer = about(wire, hub.add_token("t-bob", "bob", scopes))

    assert answer.status == 403
    assert answer.error["reason"] == "insufficientPermissions"
    assert "access:services!service=svc" in answer.error["message"]


def test_the_scope_for_all_services_is_enough(hub: FakeHub, wire: OverSocket) -> None:
    answer = about(wire, hub.add_token("t-bob", "bob", ("access:services",)))

    assert answer.status == 200


def test_a_token_of_another_service_is_403(hub: FakeHub, wire: OverSocket) -> None:
    answer = about(wire, hub.add_token("t-grader", "grader", kind="service"))

    assert (answer.status, answer.error["reason"]) == (403, "forbidden")


@pytest.mark.parametrize("status", [404, 500, 502, 503])
def test_a_hub_that_fails_is_503(hub: FakeHub, wire: OverSocket, status: int) -> None:
    hub.status = status
    answer = about(wire, hub.add_token("t-bob", "bob"))

    assert (answer.status, answer.error["reason"]) == (503, "backendError")


def test_a_hub_that_cannot_be_reached_is_503_and_is_asked_again(hub: FakeHub, wire: OverSocket) -> None:
    token = hub.add_token("t-bob", "bob")
    port, hub.server_port = hub.server_port, 1
    settings = hub.settings()
    hub.server_port = port
    wire.service.accept_users_of(JupyterHub(settings, "svc.example"))
    refused = about(wire, token)
    wire.service.accept_users_of(JupyterHub(hub.settings(), "svc.example"))

    assert refused.status == 503
    assert about(wire, token).status == 200


def test_a_hub_that_fails_is_not_asked_about_a_remembered_token(hub: FakeHub, wire: OverSocket) -> None:
    token = hub.add_token("t-bob", "bob")
    about(wire, token)
    hub.status = 500

    assert about(wire, token).status == 200


def test_a_token_of_the_service_itself_is_valid_without_the_hub(hub: FakeHub, wire: OverSocket) -> None:
    answer = wire.send("GET", ABOUT)

    assert answer.status == 200
    assert hub.calls == []


def test_an_administrator_may_use_the_control_interface(hub: FakeHub, wire: OverSocket) -> None:
    admin, user = hub.add_token("t-ada", "ada", admin=True), hub.add_token("t-bob", "bob")
    statuses = {
        name: wire.send("GET", f"{PREFIX}/_control/clock", token=token).status
        for name, token in (("admin", admin), ("user", user), ("unknown", "t-eve"), ("missing", None))
    }

    assert statuses == {"admin": 200, "user": 403, "unknown": 401, "missing": 401}


def test_the_live_page_is_for_administrators(hub: FakeHub, wire: OverSocket) -> None:
    admin, user = hub.add_token("t-ada", "ada", admin=True), hub.add_token("t-bob", "bob")
    statuses = [
        wire.send("GET", f"{PREFIX}/_live/activity", token=token).status for token in (admin, user, "t-eve", None)
    ]

    assert statuses == [200, 403, 401, 401]


def test_two_users_share_a_file(hub: FakeHub, wire: OverSocket) -> None:
    ada, bob = hub.add_token("t-ada", "ada"), hub.add_token("t-bob", "bob")
    upload = f"{PREFIX}/upload/storage/v3/files?uploadType=media"
    file_id = wire.send("POST", upload, b"hello", {"Content-Type": "text/plain"}, token=ada).json["id"]
    path = f"{PREFIX}/storage/v3/files/{file_id}"
    hidden = wire.send("GET", path, token=bob).status
    permission = {"type": "user", "role": "reader", "emailAddress": "bob@svc.example"}
    wire.post_json(f"{path}/permissions", permission, token=ada)

    assert hidden == 404
    assert wire.send("GET", f"{path}?alt=media", token=bob).body == b"hello"


def test_no_token_is_in_the_journal_or_in_a_repr(hub: FakeHub, wire: OverSocket) -> None:
    token = hub.add_token("t-secret-of-bob", "bob")
    wire.send("GET", f"{ABOUT}&access_token={token}", token=None)

    assert token not in str(wire.service.journal())
    assert SERVICE_TOKEN not in repr(hub.settings())


@pytest.mark.parametrize(
    "name, email",
    [
        ("ada", "ada@svc.example"),
        ("Ada", "%41da@svc.example"),
        ("ada.l-1_x", "ada.l-1_x@svc.example"),
        ("bob@uni.example", "bob@uni.example"),
        ("Bob@uni.example", "%42ob%40uni.example@svc.example"),
        ("ada@svc.example", "ada%40svc.example@svc.example"),
        ("%41da", "%2541da@svc.example"),
        ("a b/c", "a%20b%2fc@svc.example"),
        ("é", "%c3%a9@svc.example"),
        (".a", "%2ea@svc.example"),
        ("a..b", "a%2e%2eb@svc.example"),
    ],
)
def test_each_name_has_an_address_of_its_own(name: str, email: str) -> None:
    assert hub_email(name, "svc.example") == email


@pytest.mark.parametrize(
    "variable",
    ["JUPYTERHUB_SERVICE_NAME", "JUPYTERHUB_SERVICE_URL", "JUPYTERHUB_API_URL", "JUPYTERHUB_API_TOKEN"],
)
def test_a_missing_variable_is_named(hub: FakeHub, variable: str) -> None:
    environ = {name: value for name, value in hub.environ().items() if name != variable}

    with pytest.raises(ValueError, match=f"{variable} is not set"):
        read_hub_settings(environ)


def test_the_access_scopes_are_those_that_the_hub_names(hub: FakeHub) -> None:
    settings = read_hub_settings({**hub.environ(), "JUPYTERHUB_OAUTH_ACCESS_SCOPES": '["access:services"]'})

    assert settings.access_scopes == {"access:services"}
