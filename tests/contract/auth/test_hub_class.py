"""The users of JupyterHub as a class: receivers for themselves only, and the live page with the hub's sign-in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.auth.hub import JupyterHub
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.contract.hub import PREFIX, FakeHub, running_hub
from tests.contract.web_user import WebUser

RECEIVERS = f"{PREFIX}/_class/receivers"
ACTIVITY = f"{PREFIX}/_live/activity"
ADDRESS = "https://localhost:8443/in"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with running_hub() as hub:
        hub.add_token("t-ada", "ada", admin=True)
        hub.add_token("t-bob", "bob")
        hub.add_token("t-eve", "eve")
        yield hub


@pytest.fixture
def service(hub: FakeHub, tmp_path: Path) -> Iterator[Service]:
    with open_service(tmp_path / "store", policy=Policy(path_prefix=PREFIX, host_names=("*",))) as service:
        service.accept_users_of(JupyterHub(hub.settings(), "svc.example"))
        yield service


@pytest.fixture
def wire(service: Service) -> Iterator[OverSocket]:
    with SocketServer(service, threads=2, control=True) as server:
        yield OverSocket(service, server.origin)


def register(wire: OverSocket, token: str | None, address: str = ADDRESS) -> Answer:
    return wire.send("POST", RECEIVERS, json.dumps({"address": address}).encode(), JSON, token=token)


def watch(wire: OverSocket, token: str, address: str = ADDRESS) -> int:
    page = wire.send("GET", f"{PREFIX}/storage/v3/changes/startPageToken", token=token).json["startPageToken"]
    channel = json.dumps({"id": f"{token} {address}", "type": "web_hook", "address": address}).encode()
    return wire.send("POST", f"{PREFIX}/storage/v3/changes/watch?pageToken={page}", channel, JSON, token=token).status


class TestReceivers:
    """A hub user registers receivers for the own channels only."""

    def test_a_receiver_is_for_its_user(self, wire: OverSocket) -> None:
        before = watch(wire, "t-bob")

        assert register(wire, "t-bob").json == {"receiver": "localhost:8443"}
        assert (before, watch(wire, "t-bob"), watch(wire, "t-eve")) == (401, 200, 401)

    @pytest.mark.parametrize("token", [None, "t-unknown"])
    def test_without_a_token_of_the_hub_it_is_401(self, wire: OverSocket, token: str | None) -> None:
        assert register(wire, token).status == 401

    def test_a_token_without_the_scope_is_403(self, hub: FakeHub, wire: OverSocket) -> None:
        hub.add_token("t-other", "bob", ())

        assert register(wire, "t-other").error["reason"] == "insufficientPermissions"


def signed_in(hub: FakeHub, wire: OverSocket, token: str) -> WebUser:
    """A browser that was sent to the hub by the live page, and came back to it."""
    user = WebUser(wire)
    location = user.open(f"{PREFIX}/signin?continue=/").headers["Location"]
    back = user.open(hub.authorize(location, token))
    assert back.headers["Location"] == f"{PREFIX}/"
    return user


class TestLivePage:
    """The hub's sign-in opens the live page. The control calls of the page need it, too."""

    def test_an_administrator_needs_no_token(self, hub: FakeHub, wire: OverSocket) -> None:
        user = signed_in(hub, wire, "t-ada")

        answer = user.send("GET", ACTIVITY)

        assert answer.status == 200
        assert [row["email"] for row in answer.json["students"]["rows"]] == ["ada@svc.example"]

    def test_another_user_is_403(self, hub: FakeHub, wire: OverSocket) -> None:
        user = signed_in(hub, wire, "t-bob")

        assert user.send("GET", ACTIVITY).status == 403
        body = json.dumps({"user": "eve@svc.example"}).encode()
        assert user.send("POST", f"{PREFIX}/_control/class/reset", body, **JSON).status == 403

    def test_an_administrator_resets_a_user(self, hub: FakeHub, wire: OverSocket) -> None:
        wire.send("POST", f"{PREFIX}/storage/v3/files", b'{"name": "a"}', JSON, token="t-bob")
        user = signed_in(hub, wire, "t-ada")

        body = json.dumps({"user": "bob@svc.example"}).encode()
        answer = user.send("POST", f"{PREFIX}/_control/class/reset", body, **JSON)

        assert (answer.status, answer.json["files"]) == (200, 1)

    def test_a_page_of_another_origin_cannot_use_the_session(self, hub: FakeHub, wire: OverSocket) -> None:
        user = signed_in(hub, wire, "t-ada")
        body = json.dumps({"user": "bob@svc.example"}).encode()

        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
            answer = user.send("POST", f"{PREFIX}/_control/class/reset", body, **JSON, **headers)
            assert answer.error["reason"] == "originNotAllowed"
