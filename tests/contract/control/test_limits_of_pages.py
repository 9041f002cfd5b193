"""The limits of a user and of a class count each request that costs, whatever page or endpoint it is for."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from tests.contract.conftest import Answer, Wire
from tests.contract.school import EVE, QUOTA, School
from tests.contract.web_user import WebUser

FILES = "/storage/v3/files"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

WAYS: dict[str, Callable[[Wire, str, str], Answer]] = {
    "content link": lambda wire, file, token: wire.send("GET", f"/uc?id={file}", token=token),
    "content link with a query": lambda wire, file, token: wire.send(
        "GET", f"/uc?id={file}&access_token={token}", token=None
    ),
    "head": lambda wire, file, token: wire.send("HEAD", f"/uc?id={file}", token=token),
    "page": lambda wire, file, token: wire.send("GET", f"/file/d/{file}/view", token=token),
    "page of a document": lambda wire, file, token: wire.send("GET", f"/document/d/{file}/edit", token=token),
    "page of a spreadsheet": lambda wire, file, token: wire.send("GET", f"/spreadsheets/d/{file}/edit", token=token),
    "page of an event": lambda wire, file, token: wire.send("GET", "/calendar/event?eid=abc", token=token),
    "tokeninfo": lambda wire, file, token: wire.send("GET", "/tokeninfo", token=token),
    "tokeninfo with a query": lambda wire, file, token: wire.send(
        "GET", f"/tokeninfo?access_token={token}", token=None
    ),
    "tokeninfo with a form": lambda wire, file, token: wire.send(
        "POST", "/tokeninfo", urlencode({"access_token": token}).encode(), FORM, token=None
    ),
    "openapi": lambda wire, file, token: wire.send("GET", "/openapi.json", token=token),
    "page with a cookie": lambda wire, file, token: WebUser(wire, token).open(f"/file/d/{file}/view"),
    "content with a cookie": lambda wire, file, token: WebUser(wire, token).open(f"/uc?id={file}"),
}


@pytest.mark.spec("X-04", "X-04a")
@pytest.mark.parametrize("way", WAYS)
def test_a_page_is_refused_like_the_interface(wire: Wire, way: str) -> None:
    file, token = wire.create(b"hello")["id"], wire.service.sign_in()
    wire.service.limit("ada@svc.example", 3)

    statuses = [WAYS[way](wire, file, token).status for _ in range(5)]

    assert 403 in statuses
    assert wire.send("GET", FILES, token=token).status == 403


@pytest.mark.parametrize(
    "path",
    [
        *("/uc?id=x", "/file/d/x/view", "/tokeninfo?access_token=x", "/openapi.json", "/oauth2/v3/certs"),
        *("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"),
    ],
)
def test_all_without_a_sign_in_share_the_quota_of_a_student(school: School, path: str) -> None:
    for _ in range(QUOTA.requests_per_minute):
        school.send(None, "GET", path)

    assert school.send(None, "GET", path)[0] == 403
    assert school.send(EVE, "GET", "/storage/v3/about?fields=user")[0] == 200
    assert school.send(None, "GET", "/signin")[0] == 200


def test_the_registration_of_receivers_counts(school: School) -> None:
    body = {"address": "https://receiver.example:8443/"}
    statuses = [school.send(EVE, "POST", "/_class/receivers", body)[0] for _ in range(QUOTA.requests_per_minute + 1)]

    assert (statuses[0], statuses[-1]) == (200, 403)
