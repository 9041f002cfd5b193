"""The contract is spoken in raw HTTP: the same tests call the service in-process and over a socket.

Never through our own client, so that a mistake in the client cannot hide one in the service.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.core.wire import BytesBody, Headers, Request, Response
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.socket import SocketServer

Q = 262_144


@dataclass(frozen=True)
class Answer:
    """What came back, whole."""

    status: int
    reason: str
    headers: Headers
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The first entry of the error envelope, whose shape is checked on the way."""
        found = self.json["error"]
        assert found["code"] == self.status
        assert found["message"]
        assert {"domain", "reason", "message"} <= found["errors"][0].keys()
        assert self.headers["content-type"].startswith("application/json")
        return found["errors"][0]


class Wire:
    """Somebody who speaks HTTP to the service, signed in unless told otherwise."""

    def __init__(self, service: Service, base_url: str) -> None:
        self.service = service
        self.base_url = base_url
        self.token = service.sign_in()

    def send(
        self,
        method: str,
        target: str,
        body: bytes | Iterator[bytes] | None = None,
        headers: dict[str, str] | list[tuple[str, str]] | None = None,
        *,
        token: str | None = "own",
    ) -> Answer:
        """One exchange; `target` is a path or a whole URL, an iterator goes as chunked encoding."""
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
        if token:
            pairs.append(("Authorization", f"Bearer {self.token if token == 'own' else token}"))
        return self._exchange(method, target.removeprefix(self.base_url), body, pairs)

    def post_json(self, target: str, value: object, **options: Any) -> Answer:
        return self.json_request("POST", target, value, **options)

    def json_request(self, method: str, target: str, value: object, **options: Any) -> Answer:
        headers = {"Content-Type": "application/json; charset=UTF-8"}
        return self.send(method, target, json.dumps(value).encode(), headers, **options)

    def create(self, content: bytes = b"hello", kind: str = "text/plain", fields: str = "*") -> dict[str, Any]:
        """A file by simple upload."""
        answer = self.send(
            "POST", f"/upload/storage/v3/files?uploadType=media&fields={fields}", content, {"Content-Type": kind}
        )
        assert answer.status == 200, answer.body
        return answer.json

    def download(self, file_id: str, **headers: str) -> Answer:
        return self.send("GET", f"/storage/v3/files/{file_id}?alt=media", headers=headers)

    def names(self) -> list[str]:
        return [f["name"] for f in self.send("GET", "/storage/v3/files").json["files"]]

    def begin(self, metadata: dict[str, Any] | None = None, query: str = "", **headers: str) -> str:
        """Open a resumable session; its URI."""
        answer = self.initiate(metadata, query, **headers)
        assert answer.status == 200, answer.body
        return answer.headers["location"]

    def initiate(self, metadata: dict[str, Any] | None = None, query: str = "", **headers: str) -> Answer:
        body = b"" if metadata is None else json.dumps(metadata).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if metadata is not None:
            sent.setdefault("Content-Type", "application/json; charset=UTF-8")
        return self.send("POST", f"/upload/storage/v3/files?uploadType=resumable{query}", body, sent)

    def put(self, uri: str, body: bytes | Iterator[bytes] = b"", content_range: str | None = None) -> Answer:
        headers = {} if content_range is None else {"Content-Range": content_range}
        return self.send("PUT", uri, body, headers)

    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        raise NotImplementedError


class InProcess(Wire):
    """Calls the service as the function that it is."""

    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        if body is not None and not isinstance(body, bytes):
            body, pairs = BytesBody(b"".join(body)), [*pairs, ("Transfer-Encoding", "chunked")]
        elif body is not None:
            pairs = [*pairs, ("Content-Length", str(len(body)))]
        response = self.service.handle(Request(method, self.base_url + target, Headers(pairs), body or b""))
        content = response.content()
        return Answer(response.status, "", response.headers, b"" if method == "HEAD" else content)


class OverSocket(Wire):
    """Speaks HTTP/1.1 over a loopback connection of its own."""

    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        connection = self._connection()
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            chunked = body is not None and not isinstance(body, bytes)
            for name, value in pairs:
                connection.putheader(name, value)
            if chunked:
                connection.putheader("Transfer-Encoding", "chunked")
            elif body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None, encode_chunked=chunked)
            response = connection.getresponse()
            return Answer(response.status, response.reason, Headers(response.getheaders()), response.read())
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.base_url).netloc, timeout=30)


@pytest.fixture
def policy() -> Policy:
    """The policy of the service under test; a test file may override it."""
    return Policy()


@pytest.fixture
def service(policy: Policy) -> Iterator[Service]:
    """A seeded service in memory, on a virtual clock."""
    service = open_service(seed=0, policy=policy)
    yield service
    service.close()


class Stage:
    """Whatever service a test has, behind one socket that all of them share."""

    policy = Policy()

    def __init__(self) -> None:
        self.service: Service | None = None

    def handle(self, request: Request) -> Response:
        assert self.service
        return self.service.handle(request)


@pytest.fixture(scope="session")
def stage() -> Iterator[tuple[Stage, str]]:
    """One socket for all tests, and its address."""
    stage = Stage()
    with SocketServer(cast(Service, stage)) as server:
        yield stage, server.base_url


@pytest.fixture
def base_url(stage: tuple[Stage, str], service: Service) -> str:
    """Where the service under test is on the shared socket."""
    stage[0].service = service
    return stage[1]


@pytest.fixture(params=["in-process", "socket"])
def wire(request: pytest.FixtureRequest, service: Service) -> Wire:
    """Raw HTTP, both ways."""
    if request.param == "socket":
        return OverSocket(service, request.getfixturevalue("base_url"))
    return InProcess(service, "http://svc.test")
