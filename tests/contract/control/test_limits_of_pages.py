"""The limits of a user and of a class count each request that costs, whatever page or endpoint it is for."""

from collections.abc import Callable

import pytest

from tests.contract.apps import ask
from tests.contract.conftest import Answer, Wire
from tests.contract.school import EVE, QUOTA, School
from tests.contract.web_user import WebUser

FILES = "/storage/v3/files"

PAGES = ["/uc?id={file}", "/file/d/{file}/view", "/document/d/{file}/edit", "/spreadsheets/d/{file}/edit",
         "/calendar/event?eid=abc", "/tokeninfo", "/openapi.json"]  # fmt: skip
WAYS: dict[str, Callable[[Wire, str, str], Answer]] = {
    "HEAD": lambda wire, path, token: wire.send("HEAD", path, token=token),
    "a query": lambda wire, path, token: wire.send("GET", f"{path}access_token={token}", token=None),
    "a form": lambda wire, path, token: ask(wire, path, {"access_token": token}),
    "a cookie": lambda wire, path, token: WebUser(wire, token).open(path),
    "a header": lambda wire, path, token: wire.send("GET", path, token=token),
}


@pytest.mark.spec("X-04", "X-04a")
@pytest.mark.parametrize(
    "way, path",
    [
        *(("a header", path) for path in PAGES),
        *(("a cookie", path) for path in PAGES[:2]),
        *(("HEAD", PAGES[0]), ("a query", f"{PAGES[0]}&"), ("a query", "/tokeninfo?"), ("a form", "/tokeninfo")),
    ],
)
def test_a_page_is_refused_like_the_interface(wire: Wire, way: str, path: str) -> None:
    file, token = wire.create(b"hello")["id"], wire.service.sign_in()
    wire.service.limit("ada@svc.example", 3)

    statuses = [WAYS[way](wire, path.format(file=file), token).status for _ in range(5)]

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
