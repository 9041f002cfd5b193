"""The service knows its own address: no header decides the audience of an assertion, the issuer or an own origin."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
import pytest

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.control_api import with_control
from tests.contract.conftest import OverSocket

JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
OTHER = "other.example"

SPOOFS: dict[str, dict[str, str]] = {
    "Host": {"Host": OTHER},
    "Host with the port": {"Host": f"{OTHER}:PORT"},
    "a loopback name with another port": {"Host": "localhost:9"},
    "X-Forwarded-Host": {"X-Forwarded-Host": OTHER},
    "X-Forwarded-Host and Proto": {"X-Forwarded-Host": OTHER, "X-Forwarded-Proto": "https"},
    "Forwarded": {"Forwarded": f"host={OTHER};proto=https"},
    "Forwarded in quotes": {"Forwarded": f'for=127.0.0.1;host="{OTHER}"'},
    "all": {"Host": OTHER, "X-Forwarded-Host": OTHER, "Forwarded": f"host={OTHER}"},
    "a list": {"X-Forwarded-Host": f"{OTHER}, 127.0.0.1"},
    "X-Forwarded-For": {"X-Forwarded-For": "172.28.0.10", "X-Forwarded-Host": OTHER},
    "X-Forwarded-Server": {"X-Forwarded-Server": OTHER, "X-Original-Host": OTHER},
}
POLICIES = {
    "by default": Policy(),
    "with every host name": Policy(host_names=("*",)),
    "with forwarded headers": Policy(trust_forwarded=True),
    "behind a proxy": Policy(proxies=("127.0.0.0/8", "::1")),
    "behind another proxy": Policy(proxies=("172.28.0.10",)),
}


def send(handle: Any, method: str, url: str, headers: dict[str, str], body: bytes = b"", client: str = "") -> Any:
    pairs = {"Host": urlsplit(url).netloc, "Content-Length": str(len(body)), **headers}
    return handle(Request(method, url, Headers(list(pairs.items())), body, client))


@pytest.fixture(params=POLICIES)
def spoofed(request: pytest.FixtureRequest) -> Iterator[Service]:
    with open_service(seed=0, policy=POLICIES[request.param]) as service:
        yield service


def exchanged(service: Service, audience: str, base: str, headers: dict[str, str], **how: str) -> int:
    key = service.service_account("robot")
    now = int(service.clock.now().timestamp())
    claims = {"iss": key["client_email"], "aud": audience, "iat": now, "exp": now + 600,
              "scope": f"{service.policy.auth_scope_base}/storage"}  # fmt: skip
    assertion = jwt.encode(claims, key["private_key"], algorithm="RS256")
    form = urlencode({"grant_type": JWT, "assertion": assertion}).encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    return int(send(service.handle, "POST", f"{base}/token", kind | headers, form, **how).status)


@pytest.mark.choice("proxies")
@pytest.mark.parametrize("spoof", SPOOFS)
def test_assertions_for_another_service_and_pages_of_other_origins_are_refused(spoofed: Service, spoof: str) -> None:
    base = "http://127.0.0.1:8080"
    headers = {name: value.replace("PORT", "8080") for name, value in SPOOFS[spoof].items()}

    for origin in (f"http://{OTHER}", f"https://{OTHER}", f"http://{OTHER}:8080", "http://localhost:9"):
        assert exchanged(spoofed, f"{origin}/token", base, headers, client="127.0.0.1") == 400
        page = {"Origin": origin, "Sec-Fetch-Site": "same-origin", **headers}
        answer = send(with_control(spoofed), "POST", f"{base}/_control/reset", page, client="127.0.0.1")
        assert answer.status == 403
    assert exchanged(spoofed, f"{base}/token", base, headers, client="127.0.0.1") == 200
    issuer = send(spoofed.handle, "GET", f"{base}/.well-known/oauth-authorization-server", headers, client="127.0.0.1")
    assert json.loads(issuer.content())["issuer"] == base


@pytest.mark.parametrize(
    "policy, base_url, audiences",
    [
        (Policy(), None, ["http://127.0.0.1:8080", "http://localhost:8080"]),
        (Policy(host_names=("files.example",)), None, ["http://files.example"]),
        (Policy(), "https://files.example/svc", ["https://files.example/svc"]),
        (Policy(proxies=("127.0.0.1",), host_names=("files.example",)), None, ["https://files.example"]),
    ],
)
def test_an_assertion_for_this_service_is_accepted(policy: Policy, base_url: str | None, audiences: list[str]) -> None:
    with open_service(seed=0, policy=policy, base_url=base_url) as service:
        for audience in audiences:
            parts = urlsplit(audience)
            headers = {"Host": parts.netloc, "X-Forwarded-Proto": parts.scheme}
            assert exchanged(service, f"{audience}/token", "http://127.0.0.1:8080", headers, client="127.0.0.1") == 200


@pytest.mark.parametrize("client, host", [("172.28.0.10", OTHER), ("::ffff:172.28.0.10", OTHER), ("172.28.0.11", "")])
def test_forwarded_headers_count_only_from_a_named_proxy(client: str, host: str) -> None:
    policy = Policy(proxies=("172.28.0.10",))
    with open_service(seed=0, policy=policy) as service:
        headers = {"Authorization": f"Bearer {service.sign_in()}", "X-Forwarded-Host": OTHER}
        path = "http://127.0.0.1:8080/upload/storage/v3/files?uploadType=resumable"

        location = send(service.handle, "POST", path, headers, client=client).headers.get("Location")

        assert urlsplit(location or "").netloc == (host or "127.0.0.1:8080")


@pytest.mark.parametrize("way", ["socket"])
def test_the_transport_says_whose_connection_it_is(wire: OverSocket) -> None:
    headers = {"Host": OTHER, "X-Forwarded-Host": OTHER}

    answer = wire.send("GET", "/.well-known/oauth-authorization-server", headers=headers, token=None)

    assert answer.json["issuer"] == wire.base_url
