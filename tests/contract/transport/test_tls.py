import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from svc_notebooks.server.service import Service
from svc_notebooks.server.transports import client_connection as server_tls
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.contract.wire import OverTls, client_context, read_to_end
from tests.patience import PATIENCE
from tests.receivers import AUTHORITY, server_context

FILES = "/storage/v3/files"
UPLOAD = "/upload/storage/v3/files?uploadType="


@pytest.fixture
def server(service: Service) -> Iterator[SocketServer]:
    with SocketServer(service, tls=server_context(AUTHORITY.issue_cert("127.0.0.1"))) as server:
        yield server


@pytest.fixture
def wire(service: Service, server: SocketServer) -> OverTls:
    return OverTls(service, server.base_url)


@contextmanager
def in_the_clear(wire: OverTls) -> Iterator[socket.socket]:
    parts = urlsplit(wire.base_url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        yield connection


@contextmanager
def connected(wire: OverTls, text: str = "") -> Iterator[ssl.SSLSocket]:
    """Open a TLS connection and send a text as one record, in which {token} is replaced by a valid token."""
    context = client_context()
    with (
        in_the_clear(wire) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as connection,
    ):
        connection.sendall(text.replace("{token}", f"Authorization: Bearer {wire.token}\r\n").encode())
        yield connection


def answers(connection: socket.socket, count: int) -> list[int]:
    """Read a number of responses and return their statuses."""
    file, statuses = connection.makefile("rb"), []
    for _ in range(count):
        statuses.append(int(file.readline().split()[1]))
        headers = dict(line.decode().lower().strip().split(": ", 1) for line in iter(file.readline, b"\r\n"))
        file.read(int(headers.get("content-length", 0)))
    return statuses


@pytest.mark.spec("A1-01", "A3-01", "A3-01a", "A6-01")
@pytest.mark.one_process("the processes serve no TLS; the socket with TLS is in the process of the test")
def test_an_upload_and_a_download(wire: OverTls) -> None:
    content = bytes(range(256)) * 40_000
    file = wire.create(content)
    uri = wire.begin({"name": "in chunks"})
    half = len(content) // 2 // 262_144 * 262_144

    assert wire.download(file["id"]).body == content
    assert wire.base_url.startswith("https://")
    assert uri.startswith(f"{wire.base_url}/upload/")
    assert wire.put(uri, content[:half], f"bytes 0-{half - 1}/{len(content)}").status == 308
    done = wire.put(uri, content[half:], f"bytes {half}-{len(content) - 1}/{len(content)}")
    assert wire.download(done.json["id"]).body == content


def test_requests_in_one_record(wire: OverTls) -> None:
    """Both are decrypted together, and a selector does not see the second one."""
    post = f"POST {UPLOAD}media HTTP/1.1\r\nHost: x\r\n{{token}}Content-Length: 7\r\n\r\ncontent"
    get = f"GET {FILES} HTTP/1.1\r\nHost: x\r\n{{token}}\r\n"

    with connected(wire, (post + get) * 8) as connection:
        assert answers(connection, 16) == [200] * 16


@pytest.mark.one_process("the processes serve no TLS; the socket with TLS is in the process of the test")
def test_a_refusal_is_read_by_a_client_that_goes_on_sending(wire: OverTls) -> None:
    start = f"POST {UPLOAD}media HTTP/1.1\r\nHost: x\r\n{{token}}Transfer-Encoding: chunked\r\n\r\nno size\r\n"
    with connected(wire, start) as connection:
        for _ in range(50):
            connection.sendall(b"more" * 10_000)

        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_plain_http_gets_an_error_in_http(wire: OverTls) -> None:
    with in_the_clear(wire) as connection:
        connection.sendall(f"GET {FILES} HTTP/1.1\r\nHost: x\r\n\r\n".encode() + b"x" * 100_000)
        answer = read_to_end(connection)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert wire.base_url in json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]


@pytest.mark.parametrize("handshake", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00", b"\x16" + b"\xff" * 2000])
def test_a_client_without_a_handshake_blocks_nobody(wire: OverTls, handshake: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(100):  # more than there are threads
            stack.enter_context(in_the_clear(wire)).sendall(handshake)

        assert wire.send("GET", FILES).status == 200


def test_a_silent_client_is_disconnected(wire: OverTls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_tls, "HANDSHAKE_SECONDS", 0.2)
    with in_the_clear(wire) as silent, in_the_clear(wire) as begins:
        begins.sendall(b"\x16\x03")

        assert read_to_end(silent) == b""
        assert read_to_end(begins) == b""
