"""A service below a path, behind a proxy that removes the path prefix or keeps it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.contract.web_user import WebUser

PREFIX = "/services/svc"
FILES = "/storage/v3/files"
HTML = {"Accept": "text/html"}


class PrefixedWire(OverSocket):
    """Raw HTTP through a proxy at the host hub.example, which keeps the path prefix."""

    base_url = f"http://hub.example{PREFIX}"
    path_prefix = PREFIX

    def __init__(self, service: Service, server: SocketServer) -> None:
        super().__init__(service, self.base_url)
        self.server = server

    def _connection(self) -> Any:
        return OverSocket(self.service, self.server.origin)._connection()

    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        path = target if target.startswith(f"{PREFIX}/") else PREFIX + target
        path = self.path_prefix + path.removeprefix(PREFIX)
        return super()._exchange(method, path, body, [*pairs, ("Host", "hub.example")])


class StrippedWire(PrefixedWire):
    """Raw HTTP through a proxy that removes the path prefix."""

    path_prefix = ""


@pytest.fixture
def service() -> Iterator[Service]:
    policy = Policy(path_prefix=PREFIX, host_names=("hub.example",))
    with open_service(seed=0, policy=policy) as service:
        yield service


@pytest.fixture
def server(service: Service) -> Iterator[SocketServer]:
    with SocketServer(service, threads=2, control=True, control_token="teacher") as server:
        yield server


@pytest.fixture(params=[PrefixedWire, StrippedWire], ids=["kept", "removed"])
def wire(request: pytest.FixtureRequest, service: Service, server: SocketServer) -> PrefixedWire:
    return request.param(service, server)


def test_every_address_that_the_service_tells_has_the_prefix(wire: PrefixedWire) -> None:
    wire.service.register_domain("receiver.example")
    file = wire.create(kind="application/pdf")
    uri = wire.begin({"name": "a.txt"})
    channel = {"id": "c-1", "type": "web_hook", "address": "https://receiver.example/x"}
    watched = wire.post_json(f"{FILES}/{file['id']}/watch", channel).json["resourceUri"]
    document = wire.send("GET", "/openapi.json", token=None).json
    metadata = wire.send("GET", "/.well-known/oauth-authorization-server", token=None).json

    links = re.findall(r"https?://[^\"]+", json.dumps(file))
    assert links
    assert all(link.startswith(f"{wire.base_url}/") for link in links), links
    assert uri.startswith(f"{wire.base_url}/upload{FILES}?")
    assert wire.put(uri, b"hello", "bytes 0-4/5").status == 200
    assert watched.startswith(f"{wire.base_url}{FILES}/{file['id']}")
    assert [server["url"] for server in document["servers"]] == [wire.base_url]
    assert (metadata["issuer"], metadata["token_endpoint"]) == (wire.base_url, f"{wire.base_url}/token")


def test_a_sign_in_leads_back_to_the_page_whose_links_and_forms_have_the_prefix(wire: PrefixedWire) -> None:
    link = wire.create()["webViewLink"]
    user = WebUser(wire)
    refused = user.open(link)
    answer = user.press(refused, "sign in", token=wire.token)
    page = user.open(answer.headers["Location"])

    assert (refused.status, page.status) == (401, 200)
    assert answer.headers["Location"] == link.removeprefix("http://hub.example")
    links = re.findall(r'(?:href|action)="([^"]+)"', page.body.decode())
    assert {link.partition("?")[0] for link in links} == {f"{PREFIX}/uc", f"{PREFIX}/signout"}


def test_the_consent_page_and_the_control_interface_are_below_the_prefix(wire: PrefixedWire) -> None:
    back = "https://app.example/back"
    client = wire.service.oauth_client("App", [back])["client_id"]
    query = f"response_type=code&client_id={client}&redirect_uri={back}&state=s"
    scope = "https://svc.example/auth/storage.readonly"
    answer = wire.send("GET", "/_control/clock", token="teacher")
    account = wire.post_json("/_control/service_accounts", {"name": "robot"}, token="teacher").json

    assert WebUser(wire, wire.token).consent(f"/authorize?{query}&scope={scope}").keys() == {"code", "state"}
    assert answer.status == 200
    assert account["token_uri"] == f"{wire.server.base_url}/token"


def test_the_prefix_without_a_slash_leads_to_the_live_page(service: Service, server: SocketServer) -> None:
    """The page asks for its data at a relative address, which would be wrong without the slash."""
    wire = OverSocket(service, server.origin)
    answer = wire.send("GET", PREFIX, headers=HTML, token=None)

    assert (answer.status, answer.headers["Location"]) == (308, f"{PREFIX}/")
    for other in ("/services/svcx/storage/v3/about", "/services/", "/services/other/openapi.json"):
        assert wire.send("GET", other).status == 404
