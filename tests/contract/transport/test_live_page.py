"""The live page at / in raw HTTP: access, data, and no effect on the journal, on faults and on limits."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.conftest import Answer, OverSocket
from tests.contract.control.test_control_access import FOREIGN, FOREIGN_HOSTS, assert_host_is_refused

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
ACTIVITY = "/_live/activity"


pytestmark = pytest.mark.policy(browser_sign_in="choose")


@pytest.fixture
def service(policy: Policy) -> Iterator[Service]:
    with open_service(seed=0, policy=policy) as service:
        yield service


@pytest.fixture
def server(service: Service) -> Iterator[SocketServer]:
    with SocketServer(service, threads=2) as server:
        yield server


@pytest.fixture
def wire(server: SocketServer, service: Service) -> OverSocket:
    return OverSocket(service, server.base_url)


def activity(wire: OverSocket, headers: dict[str, str] | None = None, **query: object) -> Answer:
    return wire.send("GET", f"{ACTIVITY}?{urlencode(query)}", headers=headers, token=None)


def rows(wire: OverSocket) -> dict[str, Any]:
    answer = activity(wire)
    assert answer.status == 200, answer.body
    return answer.json


def test_a_browser_gets_a_page_that_loads_nothing_from_elsewhere(wire: OverSocket) -> None:
    answer = wire.send("GET", "/", headers=HTML, token=None)

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = answer.body.decode()
    assert re.findall(r"https?://", page) == []
    assert re.findall(r"\bsrc=|@import|url\(", page) == []
    assert re.findall(r' href="([^"]*)"', page) == ["data:,", "signin?continue=/"]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", page)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    for name in ("script", "style"):
        (text,) = re.findall(f"<{name}>(.*?)</{name}>", page, re.DOTALL)
        assert policy[f"{name}-src"] == f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
    assert (policy["default-src"], policy["connect-src"], policy["frame-ancestors"]) == ("'none'", "'self'", "'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.policy(browser_sign_in="choose", live_page=False)
def test_the_page_and_its_data_are_not_found(wire: OverSocket, server: SocketServer) -> None:
    assert wire.send("GET", "/", headers=HTML).status == 404
    assert activity(wire).status == 404
    assert server.page_url is None


@pytest.mark.policy
class TestWhereUsersNeedAToken:
    def test_the_key_of_the_link_is_needed(self, wire: OverSocket, server: SocketServer) -> None:
        assert server.page_url
        base_url, _, key = server.page_url.partition("#key=")

        for token in (None, "other", wire.token, ""):
            answer = activity(wire, {} if token is None else {"Authorization": f"Bearer {token}"})
            assert (answer.status, answer.error["reason"]) == (401, "authError"), token
            assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert base_url == f"{server.base_url}/"
        assert activity(wire, {"Authorization": f"Bearer {key}"}).status == 200
        assert wire.service.journal()[-1]["decided_by"] == "live_page"
        assert wire.send("GET", "/storage/v3/files", token=key).status == 401
        assert wire.send("GET", "/_control/journal", token=key).status == 404

    def test_the_control_token_is_the_key_and_not_in_the_link(self, service: Service) -> None:
        with SocketServer(service, control=True, control_token="of-control") as server:
            wire = OverSocket(service, server.base_url)
            for token, status in (("of-control", 200), (wire.token, 401)):
                assert activity(wire, {"Authorization": f"Bearer {token}"}).status == status

        assert server.page_url == f"{server.base_url}/"


def test_requests_of_other_origins_are_refused(wire: OverSocket) -> None:
    for headers in FOREIGN:
        answer = activity(wire, headers)
        assert (answer.status, answer.error["reason"]) == (403, "originNotAllowed")
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@pytest.mark.parametrize("path", ["/", ACTIVITY])
def test_a_foreign_host_is_refused(wire: OverSocket, path: str) -> None:
    """With DNS rebinding the page and this service are one origin for the browser, and only the Host differs."""
    for host in FOREIGN_HOSTS:
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", "Accept: text/html", f"Origin: http://{host}"]
        assert_host_is_refused(wire, [*lines, "Sec-Fetch-Site: same-origin"])


def test_it_shows_requests_messages_and_files_but_no_token_and_no_content(wire: OverSocket) -> None:
    token = wire.service.sign_in(token="a-very-secret-token")
    file = wire.create(b"<b>of ada</b>", "text/html")
    wire.json_request("PATCH", f"/storage/v3/files/{file['id']}", {"name": "<script>alert(1)</script>.html"})
    day = {"start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
    invited = {"summary": "Tea", "attendees": [{"email": "bob@svc.example"}], **day}
    wire.post_json("/calendar/v3/calendars/primary/events?sendUpdates=all", invited)
    wire.send("GET", f"/storage/v3/files?access_token={token}", token=None)
    wire.send("GET", "/storage/v3/files", token=token)

    answer = activity(wire)

    shown = answer.json
    methods = list(enumerate(["POST", "PATCH", "POST", "GET", "GET"], 1))
    assert [(row["n"], row["method"], row["status"]) for row in shown["requests"]] == [(*row, 200) for row in methods]
    (listed,) = shown["files"]["rows"]
    assert (listed["name"], listed["mimeType"], listed["size"], listed["owner"], listed["folder"]) == (
        "<script>alert(1)</script>.html", "text/html", 13, "ada@svc.example", "My files",
    )  # fmt: skip
    (mail,) = shown["messages"]["rows"]
    assert (mail["kind"], mail["to"], mail["subject"]) == ("e-mail", "bob@svc.example", "Invitation: Tea")
    assert b"a-very-secret-token" not in answer.body
    assert b"of ada" not in answer.body


def test_only_what_is_new_is_sent_again(wire: OverSocket) -> None:
    wire.create(b"first")
    before = rows(wire)
    known = {
        "journal": before["journal"], "since": 1, "messages": before["messages"]["version"],
        "files": before["files"]["version"],
    }  # fmt: skip
    unchanged = activity(wire, **known).json
    wire.create(b"second")
    changed = activity(wire, **known).json

    assert (unchanged["requests"], unchanged["files"]["rows"], unchanged["messages"]["rows"]) == ([], None, None)
    assert [row["n"] for row in changed["requests"]] == [2]
    assert len(changed["files"]["rows"]) == 2
    assert changed["messages"]["rows"] is None
