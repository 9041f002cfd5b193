"""The service behind real WSGI servers, with two workers that share a store on PostgreSQL."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.receivers import receiver as receiving
from tests.scale.conftest import Place
from tests.scale.workers import call, sent
from tests.scale.wsgi_servers import PROGRAMS, SERVERS, WsgiServer, variables_of

pytestmark = [
    pytest.mark.scale,
    pytest.mark.interop,
    pytest.mark.skipif(not PROGRAMS.exists(), reason="needs the WSGI servers of `make scale`"),
]

FILES, UPLOAD = "/storage/v3/files", "/upload/storage/v3/files"
CHUNK = 262_144
CONTENT = Random(0).randbytes(3 * CHUNK + 1000)


class Served(NamedTuple):
    """A running server, its store and its log."""

    address: str
    place: Place
    log: Path


@pytest.fixture(params=SERVERS)
def served(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> Iterator[Served]:
    log = tmp_path / "log"
    server = WsgiServer(SERVERS[request.param], variables_of(place, SVC_CONTROL_TOKEN="c", SVC_JOURNAL="1000"), log)
    try:
        yield Served(server.base_url, place, log)
    finally:
        server.close()
    assert "Traceback" not in log.read_text()
    assert place.execute("SELECT count(*) FROM svc_leases") == [(0,)]


def test_uploads_downloads_exports_and_messages(served: Served) -> None:
    simple = sent(served.address, "POST", f"{UPLOAD}?uploadType=media&fields=*", CONTENT, Content_Type="video/mp4")
    assert simple["size"] == str(len(CONTENT))
    _multipart(served.address)
    _chunked(served.address)
    _resumable(served.address)
    _ranges(served.address, simple["id"])
    _export(served.address)
    _message(served.address, simple["id"])
    assert [call(served.address, "GET", path)[0] for path in ("/healthz", "/readyz")] == [200, 200]
    rows = sent(served.address, "GET", "/_control/journal", token="c")["journal"]

    assert {row["status"] for row in rows if row["operation"] == "files.create"} == {200}


def _multipart(address: str) -> None:
    parts = [
        b"--b\r\nContent-Type: application/json\r\n\r\n" + json.dumps({"name": "two parts"}).encode() + b"\r\n",
        b"--b\r\nContent-Type: video/mp4\r\n\r\n" + CONTENT + b"\r\n--b--",
    ]
    content_type = "multipart/related; boundary=b"
    row = sent(address, "POST", f"{UPLOAD}?uploadType=multipart&fields=*", b"".join(parts), Content_Type=content_type)
    assert (row["name"], row["size"]) == ("two parts", str(len(CONTENT)))


def _chunked(address: str) -> None:
    """Send a body without a length, on a connection that is used for another request before and after."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    headers = {"Authorization": "Bearer t", "Content-Type": "video/mp4"}
    for _ in range(2):
        blocks = (CONTENT[at : at + 100_000] for at in range(0, len(CONTENT), 100_000))
        connection.request("POST", f"{UPLOAD}?uploadType=media&fields=*", blocks, headers, encode_chunked=True)
        assert json.load(connection.getresponse())["size"] == str(len(CONTENT))
        connection.request("HEAD", f"{FILES}?fields=kind", headers=headers)
        assert connection.getresponse().read() == b""
    connection.close()


def _resumable(address: str) -> None:
    """Upload in chunks. A chunk with a gap is refused, and a status query tells where to go on."""
    status, headers, _ = call(address, "POST", f"{UPLOAD}?uploadType=resumable", {"name": "resumed"})
    assert status == 200
    assert headers["Location"].startswith(address)
    target, size = headers["Location"].removeprefix(address), len(CONTENT)
    status, headers, _ = _put(address, target, CONTENT[:CHUNK], f"bytes 0-{CHUNK - 1}/{size}")
    assert (status, headers["Range"]) == (308, f"bytes=0-{CHUNK - 1}")
    status, _, _ = _put(address, target, CONTENT[2 * CHUNK :], f"bytes {2 * CHUNK}-{size - 1}/{size}")
    assert status in (308, 400, 503)
    status, headers, _ = _put(address, target, b"", f"bytes */{size}")
    assert (status, headers["Range"]) == (308, f"bytes=0-{CHUNK - 1}")
    status, _, body = _put(address, target, CONTENT[CHUNK:], f"bytes {CHUNK}-{size - 1}/{size}")
    assert status == 200, body
    assert call(address, "GET", f"{FILES}/{json.loads(body)['id']}?alt=media")[2] == CONTENT


def _put(address: str, target: str, body: bytes, content_range: str) -> Any:
    return call(address, "PUT", target, body, Content_Range=content_range)


def _ranges(address: str, file: str) -> None:
    status, headers, body = call(address, "GET", f"{FILES}/{file}?alt=media", Range="bytes=1000-600000")
    assert (status, body) == (206, CONTENT[1000:600_001])
    assert headers["Content-Range"] == f"bytes 1000-600000/{len(CONTENT)}"


def _export(address: str) -> None:
    document = "application/vnd.google-apps.document"
    about = sent(address, "GET", "/storage/v3/about?fields=exportFormats")["exportFormats"]
    document = next(kind for kind in about if kind.endswith("document"))
    body = b"--b\r\nContent-Type: application/json\r\n\r\n" + json.dumps({"mimeType": document}).encode()
    body += b"\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello\r\n--b--"
    content_type = "multipart/related; boundary=b"
    row = sent(address, "POST", f"{UPLOAD}?uploadType=multipart&fields=*", body, Content_Type=content_type)
    assert call(address, "GET", f"{FILES}/{row['id']}/export?mimeType=text/plain")[2].strip().endswith(b"Hello")


def _message(address: str, file: str) -> None:
    with receiving() as receiver:
        sent(address, "POST", "/_control/domains", {"domain": "localhost"}, token="c")
        sent(address, "POST", "/_control/trust", {"ca_pem": receiver.ca_pem}, token="c")
        sent(address, "POST", f"{FILES}/{file}/watch", {"id": "c", "type": "web_hook", "address": receiver.address})
        sent(address, "PATCH", f"{FILES}/{file}", {"description": "x"})

        assert [request.resource_state for request in receiver.wait_for(2)] == ["sync", "update"]
