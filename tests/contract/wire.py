"""Somebody who speaks raw HTTP to the service, in-process or over a socket.

Never through our own client, so that a mistake in the client cannot hide one in the service.
"""

import http.client
import json
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from svc_notebooks.core.http.messages import Headers, Request
from svc_notebooks.server.service import Service
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.patience import PATIENCE
from tests.receivers import AUTHORITY

Body = bytes | Iterator[bytes] | None
Fields = dict[str, str] | list[tuple[str, str]] | None

Q = 262_144
RELATED = {"Content-Type": "multipart/related; boundary=b"}


def multipart_body(metadata: object, content: bytes, headers: str = "") -> bytes:
    """Metadata and content, with these headers of the content, in the form that RELATED names."""
    return b"--b\r\nContent-Type: application/json\r\n\r\n%s\r\n--b\r\n%s\r\n%s\r\n--b--\r\n" % (
        json.dumps(metadata).encode(),
        f"{headers}\r\n".encode() if headers else b"",
        content,
    )


def read_to_end(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


@dataclass(frozen=True)
class Answer:
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
        error = self.json["error"]
        assert error["code"] == self.status
        assert error["message"]
        assert {"domain", "reason", "message"} <= error["errors"][0].keys()
        assert self.headers["content-type"].startswith("application/json")
        return error["errors"][0]


class Wire:
    """Somebody who speaks HTTP to the service, signed in unless told otherwise."""

    prefix = ""
    """Before names that a deployment remembers for ever, so that each run has its own."""

    def __init__(self, service: Service, base_url: str) -> None:
        self.service = service
        self.base_url = base_url
        self.token = service.sign_in()

    def once(self, text: str) -> str:
        """An id like this one, which stays used for ever: in a deployment another one of the same form."""
        return text

    def new(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of a list's rows that were not there before the test."""
        return list(rows)

    def register_receiver(self, receiver: Any) -> Any:
        """A receiver of this machine, registered and trusted, so that messages come to it."""
        self.service.register_domain("localhost")
        self.service.trust(receiver.ca_pem)
        return receiver

    def mails(self, outbox: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those rows of the outbox that are about events of the test."""
        return outbox

    def calendar(self, token: str, name: str) -> None:
        """A calendar that the test is going to look at."""

    def send(
        self, method: str, target: str, body: Body = None, headers: Fields = None, *, token: str | None = "own"
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
        target = f"/upload/storage/v3/files?uploadType=media&fields={fields}"
        answer = self.send("POST", target, content, {"Content-Type": kind})
        assert answer.status == 200, answer.body
        return answer.json

    def download(self, file_id: str, **headers: str) -> Answer:
        return self.send("GET", f"/storage/v3/files/{file_id}?alt=media", headers=headers)

    def files(self, **options: Any) -> list[dict[str, Any]]:
        """The files that were not there before the test."""
        pages = self.pages("/storage/v3/files", **options)
        return self.new([file for page in pages for file in page["files"]])

    def pages(self, target: str, **options: Any) -> Iterator[dict[str, Any]]:
        """The pages of a list."""
        more, separator = "", "&" if "?" in target else "?"
        while True:
            page = self.send("GET", target + more, **options).json
            yield page
            if "nextPageToken" not in page:
                return
            more = f"{separator}pageToken={page['nextPageToken']}"

    def names(self) -> list[str]:
        return [file["name"] for file in self.files()]

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

    def put(self, uri: str, body: Body = b"", content_range: str | None = None) -> Answer:
        headers = {} if content_range is None else {"Content-Range": content_range}
        return self.send("PUT", uri, body, headers)

    def stored(self, uri: str) -> int:
        """The number of stored bytes of a session, from a status query."""
        answer = self.put(uri, b"", "bytes */*")
        assert (answer.status, answer.headers["content-length"]) == (308, "0")
        return int(answer.headers["range"].removeprefix("bytes=0-")) + 1 if "range" in answer.headers else 0

    def finish(self, uri: str, content: bytes) -> bytes:
        """Send the bytes of the content that are missing; the content of the file."""
        at = self.stored(uri)
        answer = self.put(uri, content[at:], f"bytes {at}-{len(content) - 1}/{len(content)}")
        assert answer.status == 200, answer.body
        return self.download(answer.json["id"]).body

    def generated_id(self) -> str:
        return str(self.send("GET", "/storage/v3/files/generateIds?count=1").json["ids"][0])

    def multipart(
        self, target: str, metadata: object, content: bytes, kind: str | None, method: str = "POST", **options: Any
    ) -> Answer:
        """Send metadata and content in one body; without a kind, the content has no type of its own."""
        body = multipart_body(metadata, content, f"Content-Type: {kind}" if kind else "")
        return self.send(method, target, body, RELATED, **options)

    def share(self, file_id: str, email: str, role: str = "reader", **options: Any) -> None:
        grant = {"type": "user", "role": role, "emailAddress": email}
        answer = self.post_json(f"/storage/v3/files/{file_id}/permissions", grant, **options)
        assert answer.status == 200, answer.body

    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        raise NotImplementedError


@dataclass(frozen=True)
class Exchange:
    """One request, as it was sent, and its answer."""

    method: str
    target: str
    pairs: list[tuple[str, str]]
    body: bytes | list[bytes] | None
    """The blocks of a body that goes as chunked encoding."""
    answer: Answer


class InProcess(Wire):
    """Calls the service as the function that it is, and keeps the exchanges."""

    def __init__(self, service: Service, base_url: str) -> None:
        super().__init__(service, base_url)
        self.exchanges: list[Exchange] = []

    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        sent = body if body is None or isinstance(body, bytes) else list(body)
        framing = () if sent is None else (_framing(sent),)
        content = sent if isinstance(sent, bytes) else BytesIO(b"".join(sent or ()))
        response = self.service.handle(Request(method, self.base_url + target, Headers([*pairs, *framing]), content))
        received = response.content()
        answer = Answer(response.status, "", response.headers, b"" if method == "HEAD" else received)
        self.exchanges.append(Exchange(method, target, pairs, sent, answer))
        return answer


def _framing(body: bytes | list[bytes]) -> tuple[str, str]:
    return ("Content-Length", str(len(body))) if isinstance(body, bytes) else ("Transfer-Encoding", "chunked")


class OverSocket(Wire):
    def _exchange(self, method: str, target: str, body: Any, pairs: list[tuple[str, str]]) -> Answer:
        connection = self._connection()
        try:
            named = any(name.lower() == "host" for name, _ in pairs)
            connection.putrequest(method, target, skip_host=named, skip_accept_encoding=True)
            chunked = body is not None and not isinstance(body, bytes)
            for name, value in pairs:
                connection.putheader(name, value)
            if chunked:
                connection.putheader("Transfer-Encoding", "chunked")
            elif body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body if chunked else body or None, encode_chunked=chunked)
            response = connection.getresponse()
            return Answer(response.status, response.reason, Headers(response.getheaders()), response.read())
        finally:
            connection.close()

    def dial(self) -> socket.socket:
        """A connection, for what no library would send."""
        parts = urlsplit(self.base_url)
        return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)

    def raw(self, text: str) -> bytes:
        """Send a text, and return everything until the service closes the connection."""
        with self.dial() as connection:
            connection.sendall(text.encode())
            return read_to_end(connection)

    def address(self, target: str) -> str:
        """What stands in the first line of a request for this path or URL."""
        parts = urlsplit(target)
        return f"{parts.path}?{parts.query}" if parts.query else parts.path

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.base_url).netloc, timeout=PATIENCE)


class OverTls(OverSocket):
    """Over a socket with a certificate of the tests' authority."""

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPSConnection(urlsplit(self.base_url).netloc, timeout=PATIENCE, context=client_context())


def client_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


@contextmanager
def served(service: Service, **options: Any) -> Iterator[OverSocket]:
    """Serve a service on a socket of its own, with the options of the server."""
    with SocketServer(service, **options) as server:
        yield OverSocket(service, server.base_url)
