"""The proxy of deploy/ in front of two workers: bodies are not buffered, and workers are replaced during uploads."""

import hashlib
import http.client
import json
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.patience import PATIENCE, until
from tests.scale.conftest import Place
from tests.scale.nginx import PROGRAM, nginx
from tests.scale.workers import Worker, call, sent
from tests.scale.wsgi_servers import DEPLOYED, PROGRAMS, WsgiServer, variables_of

pytestmark = [
    pytest.mark.scale,
    pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed: apt-get install nginx-light"),
]

FILES = "/storage/v3/files"
UPLOAD = "/upload/storage/v3/files?uploadType=resumable"
QUANTUM = 262_144


Workers = list[Worker] | list[WsgiServer]


@pytest.fixture(params=["serve", *DEPLOYED])
def running(request: pytest.FixtureRequest, place: Place, tmp_path: Path) -> Iterator[Workers]:
    """Two workers, which are replaced in a test: those of `serve`, and those of the recommended WSGI servers."""
    if request.param != "serve" and not PROGRAMS.exists():
        pytest.skip("needs the WSGI servers of `make scale`")
    with ExitStack() as stack:
        started: list[Any] = []
        for number in range(2):
            if request.param == "serve":
                worker: Any = Worker(place, "t", "--metrics", "--log-format", "json")
            else:
                variables = variables_of(place, SVC_METRICS="1", SVC_LOG_FORMAT="json")
                worker = WsgiServer(DEPLOYED[request.param], variables, tmp_path / f"log-{number}")
            stack.callback(worker.close)
            started.append(worker)
        yield started


@pytest.fixture
def proxy(running: Workers, tmp_path: Path) -> Iterator[str]:
    with nginx(running, tmp_path) as address:
        yield address


def journal(running: Workers, operation: str, field: str) -> list[int]:
    rows = [row for worker in running for row in sent(worker.base_url, "GET", "/_control/journal")["journal"]]
    return [row[field] for row in rows if row["operation"] == operation]


def begin(proxy: str, metadata: object = None) -> str:
    status, headers, _ = call(proxy, "POST", UPLOAD, metadata or {})
    assert status == 200
    assert headers["Location"].startswith(f"{proxy}/upload/")
    return headers["Location"].removeprefix(proxy)


def test_a_worker_gets_and_stores_the_bytes_of_a_chunk_that_stops_in_its_middle(proxy: str, running: Workers) -> None:
    session, size = begin(proxy), 4 * QUANTUM
    address = urlsplit(proxy)
    with socket.create_connection((str(address.hostname), address.port), timeout=PATIENCE) as client:
        head = f"PUT {session} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer t\r\n"
        head += f"Content-Length: {size}\r\nContent-Range: bytes 0-{size - 1}/{size}\r\n\r\n"
        client.sendall(head.encode() + bytes(2 * QUANTUM))
        until(lambda: journal(running, "upload.session", "received") == [2 * QUANTUM])
        assert journal(running, "upload.session", "status") == [None]  # the client sends nothing, and the chunk goes on
    until(lambda: journal(running, "upload.session", "status") != [None])  # the connection was cut
    status, headers, _ = call(proxy, "PUT", session, b"", Content_Range=f"bytes */{size}")

    assert (status, headers["Range"]) == (308, f"bytes=0-{2 * QUANTUM - 1}")
    rest = f"bytes {2 * QUANTUM}-{size - 1}/{size}"
    assert call(proxy, "PUT", session, bytes(2 * QUANTUM), Content_Range=rest)[0] == 200


def test_a_download_begins_before_the_worker_has_sent_all_of_it(proxy: str, running: Workers) -> None:
    size = 64 << 20
    made = sent(proxy, "POST", "/upload/storage/v3/files?uploadType=media", bytes(size))["id"]
    address = urlsplit(proxy)
    client = http.client.HTTPConnection(str(address.hostname), address.port, timeout=PATIENCE)
    client.request("GET", f"{FILES}/{made}?alt=media", headers={"Authorization": "Bearer t"})
    response = client.getresponse()
    first = response.read(QUANTUM)
    already = max(journal(running, "files.get", "sent"))
    rest = response.read()
    client.close()

    assert QUANTUM <= already < size
    assert len(first) + len(rest) == size


def test_the_endpoints_of_the_operator_are_not_served_by_the_proxy(proxy: str, running: Workers) -> None:
    assert [call(proxy, "GET", path)[0] for path in ("/healthz", "/readyz", "/metrics")] == [200, 404, 404]
    worker = running[0].base_url
    assert [call(worker, "GET", path)[0] for path in ("/healthz", "/readyz", "/metrics")] == [200, 200, 200]


class Uploads:
    """A client that uploads one file after another until it is told to stop. It repeats what the protocol repeats."""

    def __init__(self, proxy: str, number: int) -> None:
        self._proxy, self._random = proxy, Random(number)
        self.statuses = Counter[int]()
        self.files = 0

    def run(self, stop: Event) -> None:
        while not stop.is_set():
            content = self._random.randbytes(3 * QUANTUM + self._random.randrange(QUANTUM))
            made = self._upload(content)
            status, _, body = call(self._proxy, "GET", f"{FILES}/{made}?alt=media")
            assert status == 200, body
            assert hashlib.sha256(body).digest() == hashlib.sha256(content).digest()
            self.files += 1

    def _upload(self, content: bytes) -> str:
        session = self._repeat("POST", UPLOAD, {})[1]["Location"].removeprefix(self._proxy)
        stored = 0
        while True:
            end = min(stored + QUANTUM, len(content))
            chunk, place = content[stored:end], f"bytes {stored}-{end - 1}/{len(content)}"
            status, headers, body = self._send("PUT", session, chunk, Content_Range=place)
            if status >= 500:
                status, headers, body = self._repeat("PUT", session, b"", Content_Range=f"bytes */{len(content)}")
            if status == 200:
                return str(json.loads(body)["id"])
            assert status == 308, (status, body)
            stored = int(headers["Range"].partition("-")[2]) + 1 if headers["Range"] else 0

    def _repeat(self, *request: Any, **headers: str) -> Any:
        """Send a request until its response is no error of a server."""
        while (answer := self._send(*request, **headers))[0] >= 500:
            pass
        return answer

    def _send(self, *request: Any, **headers: str) -> Any:
        answer = call(self._proxy, *request, **headers)
        self.statuses[answer[0]] += 1
        return answer


def test_workers_are_replaced_in_turn_while_clients_upload(proxy: str, running: Workers, place: Place) -> None:
    with ThreadPoolExecutor(3) as pool:
        clients, stop = [Uploads(proxy, number) for number in range(3)], Event()
        uploading = [pool.submit(client.run, stop) for client in clients]
        try:
            for number in (0, 1, 0, 1):
                before = sum(client.files for client in clients)
                until(lambda before=before: sum(client.files for client in clients) > before or _failed(uploading))
                assert running[number].close() == 0
                running[number].start()
        finally:
            stop.set()
            for future in uploading:
                future.result()
    statuses = sum((client.statuses for client in clients), Counter[int]())

    assert sum(client.files for client in clients) >= 8
    assert statuses.keys() <= {200, 308, 502, 503, 504}
    assert place.execute("SELECT count(*) FROM svc_leases") == [(0,)]


def _failed(futures: list[Any]) -> bool:
    return any(future.done() for future in futures)
