"""Pages of other origins use the interface with an access token (CORS), and nothing else of a service."""

from collections.abc import Iterator

import pytest

from svc_notebooks.core.api.operations import OPERATIONS, Operation
from svc_notebooks.core.api.public_endpoints import PAGES, PUBLIC_ENDPOINTS
from svc_notebooks.core.brand_names import Names
from tests.contract.apps import FORM
from tests.contract.conftest import Answer, Q, Wire

APP = "https://app.example"
FILES = "/storage/v3/files"
UPLOAD = f"/upload{FILES}"
ASKED = "authorization,content-range,content-type,if-match,range,x-svc-fault,x-upload-content-length"


pytestmark = pytest.mark.policy(allowed_origins=("*",))


def preflight(wire: Wire, method: str, target: str, origin: str = APP, **headers: str) -> Answer:
    headers |= {"Origin": origin, "Access-Control-Request-Method": method}
    return wire.send("OPTIONS", target, headers=headers, token=None)


def cors_of(answer: Answer) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items() if name.lower().startswith("access-control-")}


def paths(operation: Operation) -> Iterator[str]:
    path = "/".join("x" if word.startswith("{") else word for word in operation.path)
    yield f"/{'calendar' if operation.calendar else 'storage'}/v3/{path}"
    if operation.accepts_content:
        yield f"/upload/storage/v3/{path}?uploadType=multipart"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_preflight_is_answered_for_every_operation(wire: Wire, operation: Operation) -> None:
    for path in paths(operation):
        for method in operation.methods:
            answer = preflight(wire, method, path, **{"Access-Control-Request-Headers": ASKED})
            cors_headers = cors_of(answer)
            assert (answer.status, answer.body) == (204, b"")
            assert method in cors_headers["access-control-allow-methods"].split(", ")
            assert cors_headers["access-control-allow-origin"] == "*"
            assert cors_headers["access-control-allow-headers"] == ASKED
            assert int(cors_headers["access-control-max-age"]) > 0
            assert "access-control-allow-credentials" not in cors_headers


def test_a_preflight_changes_nothing_and_is_in_the_journal(wire: Wire) -> None:
    file = wire.create()
    with wire.service.faults({"match": {"method": "DELETE"}, "action": {"status": 503}}):
        assert preflight(wire, "DELETE", f"{FILES}/{file['id']}").status == 204
        assert wire.send("DELETE", f"{FILES}/{file['id']}").status == 503

    row = wire.service.journal()[-2]
    assert (row["method"], row["status"], row["decided_by"], row["user"]) == ("OPTIONS", 204, "allowed_origins", None)
    assert wire.names() == ["Untitled"]


@pytest.mark.parametrize("target", [FILES, f"{FILES}/x", UPLOAD, "/openapi.json", "/signin", "/_control/reset", "/x"])
def test_options_without_a_preflight_is_not_a_preflight(wire: Wire, target: str) -> None:
    for headers in ({}, {"Origin": APP}, {"Access-Control-Request-Method": "GET"}):
        answer = wire.send("OPTIONS", target, headers=headers, token=None)
        assert answer.status in (404, 405)
        assert answer.status == 404 or "OPTIONS" not in answer.headers["Allow"]


def test_a_page_may_read_every_response(wire: Wire) -> None:
    """Compare successes, a 308, a range, errors and a fault."""
    file, uri = wire.create(), wire.begin()
    page = {"Origin": APP}
    answers = [
        wire.send("GET", FILES, headers=page),
        wire.send("PUT", uri, b"x" * Q, {**page, "Content-Range": f"bytes 0-{Q - 1}/{2 * Q}"}),
        wire.send("GET", f"{FILES}/{file['id']}?alt=media", headers={**page, "Range": "bytes=1-2"}),
        wire.send("GET", FILES, headers=page, token=None),
        wire.send("GET", f"{FILES}/nothing", headers=page),
        wire.send("GET", "/storage/v3/nothing", headers=page),
        wire.send("BREW", FILES, headers=page),
        wire.send("GET", FILES, headers={**page, "X-Svc-Fault": "status=503"}),
        wire.send("HEAD", f"{FILES}/{file['id']}", headers=page),
        wire.send("DELETE", f"{FILES}/{file['id']}", headers=page),
    ]

    assert [answer.status for answer in answers] == [200, 308, 206, 401, 404, 404, 405, 503, 200, 204]
    for answer in answers:
        cors_headers = cors_of(answer)
        exposed = {name.lower() for name in cors_headers["access-control-expose-headers"].split(", ")}
        assert cors_headers["access-control-allow-origin"] == "*"
        assert exposed >= {"location", "range", "content-range", "content-length", "etag", "retry-after"}
        assert {name.lower() for name in answer.headers if name.lower() in ("location", "range")} <= exposed
        assert set(cors_headers) == {"access-control-allow-origin", "access-control-expose-headers"}


def test_a_page_gets_its_tokens_as_a_public_client(wire: Wire) -> None:
    endpoints = [endpoint for endpoint in PUBLIC_ENDPOINTS if endpoint.name not in PAGES]
    requests = [(method, "/".join(("", *each.path_under(Names())))) for each in endpoints for method in each.methods]

    for method, path in requests:
        assert preflight(wire, method, path).status == 204
        answer = wire.send(method, path, b"" if method == "POST" else None, {**FORM, "Origin": APP}, token=None)
        assert cors_of(answer)["access-control-allow-origin"] == "*"


PAGE_PATHS = ["/authorize", "/signin", "/signout", "/file/d/x/view", "/document/d/x/edit", "/uc?id=x",
              "/calendar/event?eid=x", "/_control/clock", "/_control/reset", "/", "/nothing"]  # fmt: skip


@pytest.mark.parametrize("target", PAGE_PATHS)
def test_foreign_pages_cannot_read_pages_for_people_or_the_control_api(wire: Wire, target: str) -> None:
    for method in ("GET", "POST"):
        refused = preflight(wire, method, target)
        assert refused.status in (403, 404, 405)
        assert cors_of(refused) == cors_of(wire.send(method, target, None, {"Origin": APP})) == {}


@pytest.mark.policy(allowed_origins=(APP, "http://localhost:3000"))
@pytest.mark.parametrize(
    "origin, allowed",
    [
        *((origin, True) for origin in (APP, "http://localhost:3000")),
        *((origin, False) for origin in ("https://evil.example", "null", f"{APP}.evil.example", "", "*")),
    ],
)
def test_only_pages_of_named_origins_may(wire: Wire, origin: str, allowed: bool) -> None:
    first, answer = preflight(wire, "GET", FILES, origin), wire.send("GET", FILES, headers={"Origin": origin})

    for shown in (first, answer):
        assert shown.headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
        assert shown.headers["Vary"] == "Origin"
    if not allowed:
        assert (first.status, first.error["reason"]) == (403, "originNotAllowed")
        assert wire.service.journal()[-2]["decided_by"] == "allowed_origins"
        assert cors_of(first) == cors_of(answer) == {}


@pytest.mark.one_process("the processes let pages of all origins send requests")
@pytest.mark.policy
@pytest.mark.parametrize(
    "origin, allowed",
    [
        *((f"http://{host}", True) for host in ("localhost:5173", "127.0.0.1:8000", "[::1]:3000", "127.9.9.9")),
        *((f"http://{host}", False) for host in ("localhost.evil.example", "10.0.0.7", "[::2]", "[")),
        *((text, False) for text in (APP, "null", "localhost", "")),
    ],
)
def test_only_pages_of_this_machine_may(wire: Wire, origin: str, allowed: bool) -> None:
    first, answer = preflight(wire, "POST", UPLOAD, origin), wire.send("GET", FILES, headers={"Origin": origin})

    assert first.status == (204 if allowed else 403)
    assert answer.headers.get("Access-Control-Allow-Origin") == (origin if allowed else None)
    assert answer.headers["Vary"] == "Origin"
