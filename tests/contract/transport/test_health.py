"""The endpoints of the operator, the log of requests, and a server that ends without cutting requests."""

import http.client
import json
import logging
import re
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from svc_notebooks.core.policy import Policy
from svc_notebooks.server.service import Service, open_service
from svc_notebooks.server.transports.health import JsonFormatter, keep_request_log
from svc_notebooks.server.transports.metrics import Metrics
from svc_notebooks.server.transports.socket_server import SocketServer
from tests.patience import PATIENCE

FILES = "/storage/v3/files"


def ask(server: SocketServer, method: str, path: str, body: bytes | None = None, token: str | None = None) -> Any:
    address = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {"Authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture(params=["", "/services/svc"], ids=["no prefix", "a prefix"])
def service(request: pytest.FixtureRequest, folder: Path) -> Iterator[Service]:
    with open_service(folder, policy=Policy(path_prefix=request.param)) as opened:
        yield opened


@pytest.fixture
def server(service: Service) -> Iterator[SocketServer]:
    with SocketServer(service, metrics=Metrics(service.monitor)) as started:
        yield started


def test_a_service_is_alive_and_ready_without_a_token(server: SocketServer) -> None:
    prefix = server.policy.path_prefix

    for path in (f"{prefix}/healthz", f"{prefix}/readyz", "/healthz"):
        status, headers, body = ask(server, "GET", path)
        assert (status, "no-store" in headers["Cache-Control"]) == (200, True)
        assert json.loads(body)["status"] in ("alive", "ready")
    assert ask(server, "HEAD", f"{prefix}/readyz")[::2] == (200, b"")
    assert ask(server, "POST", f"{prefix}/healthz", b"")[0] == 404
    assert server.policy.path_prefix == prefix


def test_a_service_without_its_contents_is_alive_and_not_ready(server: SocketServer, folder: Path) -> None:
    shutil.rmtree(folder)

    status, _, body = ask(server, "GET", "/readyz")
    assert (status, json.loads(body)) == (503, {"status": "not ready", "problems": ["contents"]})
    assert ask(server, "GET", "/healthz")[0] == 200


def test_a_database_that_does_not_answer_is_a_problem_and_later_a_stuck_process(service: Service) -> None:
    monitor = service.monitor
    with monitor.store.exclusive():
        assert monitor.problems(seconds=0.05) == {"database": "no answer within 0.05 s"}
        assert (monitor.is_stuck(0), monitor.is_stuck()) == (True, False)
    assert monitor.problems(PATIENCE) == {}
    assert not monitor.is_stuck(0)


def test_metrics_count_requests_bytes_and_sessions(server: SocketServer, service: Service) -> None:
    token, prefix = service.sign_in(), server.policy.path_prefix
    made = json.loads(ask(server, "POST", f"{prefix}/upload{FILES}?uploadType=media", b"12345", token)[2])["id"]
    ask(server, "GET", f"{prefix}{FILES}/{made}?alt=media", token=token)
    ask(server, "GET", f"{prefix}{FILES}/nothing", token=token)
    ask(server, "GET", f"{prefix}/any/path/{made}", token=token)
    ask(server, "POST", f"{prefix}/upload{FILES}?uploadType=resumable", b"", token)
    status, headers, body = ask(server, "GET", f"{prefix}/metrics")
    lines = dict(line.rsplit(" ", 1) for line in body.decode().splitlines() if not line.startswith("#"))

    assert status == 200
    assert headers["Content-Type"].startswith("text/plain; version=")
    assert headers["Content-Length"] == str(len(body))  # or the client waits until the connection is closed
    for operation, answered in (("files.get", 200), ("files.get", 404), ("unknown", 404)):
        assert lines[f'svc_requests_total{{operation="{operation}",status="{answered}"}}'] == "1.0"
    assert lines['svc_request_seconds_count{operation="files.get"}'] == "2.0"
    assert float(lines["svc_sent_bytes_total"]) > 5
    gauges = {"received_bytes_total": 5, "open_upload_sessions": 1, "queued_messages": 0, "ready": 1}
    assert {name: float(lines[f"svc_{name}"]) for name in gauges} == gauges
    assert float(lines["svc_database_wait_seconds_count"]) > 0
    assert made not in body.decode()


def test_metrics_are_served_only_if_asked_for(service: Service) -> None:
    with SocketServer(service) as server:
        assert ask(server, "GET", f"{server.policy.path_prefix}/metrics")[0] == 404


def test_the_log_has_one_line_for_each_request_without_secrets(service, caplog):
    keep_request_log(service.monitor)
    token, prefix = service.sign_in("ada@svc.example"), service.policy.path_prefix
    with caplog.at_level(logging.INFO, "svc_notebooks.requests"), SocketServer(service) as server:
        made = json.loads(ask(server, "POST", f"{prefix}/upload{FILES}?uploadType=media", b"123", token)[2])["id"]
        ask(server, "GET", f"{prefix}{FILES}/{made}?alt=media&access_token={token}", token=token)
        ask(server, "GET", f"{prefix}{FILES}")
    text = [JsonFormatter().format(record) for record in caplog.records if record.name == "svc_notebooks.requests"]
    lines = sorted(map(json.loads, text), key=lambda line: line["operation"])  # a stream ends after its last byte

    requests = [(line["operation"], line["method"], line["status"]) for line in lines]
    assert requests == [("files.create", "POST", 200), ("files.get", "GET", 200), ("files.list", "GET", 401)]
    assert [(line["received"], line["sent"]) for line in lines[:2]] == [(3, lines[0]["sent"]), (0, 3)]
    assert lines[0]["user"] == lines[1]["user"]
    assert re.fullmatch("[0-9a-f]{16}", lines[0]["user"])
    assert lines[2]["user"] is None
    assert all(line["ms"] >= 0 for line in lines)
    assert not any(secret in line for line in text for secret in (token, made, "ada@", "access_token"))


def test_a_server_that_ends_answers_the_request_in_progress(folder: Path) -> None:
    with open_service(folder) as service, SocketServer(service) as server:
        token, address = service.sign_in(), urlsplit(server.base_url)
        with (
            socket.create_connection((str(address.hostname), address.port), timeout=PATIENCE) as slow,
            socket.create_connection((str(address.hostname), address.port), timeout=PATIENCE) as idle,
        ):
            head = f"POST /upload{FILES}?uploadType=media HTTP/1.1\r\nHost: {address.netloc}\r\n"
            slow.sendall(f"{head}Authorization: Bearer {token}\r\nContent-Length: 6\r\n\r\n123".encode())
            idle.sendall(f"GET /readyz HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            assert idle.recv(4096).startswith(b"HTTP/1.1 200 ")
            while not any(row["received"] for row in service.journal()):
                pass
            ending = Thread(target=server.finish, args=(PATIENCE,))
            ending.start()
            with suppress(ConnectionRefusedError, ConnectionResetError):
                while True:
                    socket.create_connection((str(address.hostname), address.port), timeout=PATIENCE).close()
            idle.sendall(f"GET /readyz HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            not_ready = idle.recv(4096)
            assert ending.is_alive()
            slow.sendall(b"456")
            answer = slow.recv(65_536)
            ending.join()

    assert not_ready.startswith(b"HTTP/1.1 503 ")
    assert b"Connection: close" in not_ready
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"name": "Untitled"' in answer
