"""Processes that serve one store on PostgreSQL, and a proxy that sends each request to the next of them."""

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from tests.patience import PATIENCE
from tests.scale.conftest import Place

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class Worker:
    """A process of `svc-notebooks serve --shared`."""

    def __init__(self, place: Place, token: str, *arguments: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "svc_notebooks.cli", "serve", "--port", str(port), "--control", "--shared"]
        command += ["--store", place.address, "--content", str(place.content), "--token", token, *arguments]
        self._command = command
        self.start()

    def start(self) -> None:
        """Start the process, or start it again at the same port."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        self.ready = json.loads(self._process.stdout.readline())
        self.base_url: str = self.ready["base_url"]
        self._command[self._command.index("--port") + 1] = str(urlsplit(self.base_url).port)

    @property
    def process_id(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """End the process without a chance to finish anything."""
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate(timeout=PATIENCE)

    def close(self) -> int:
        """End the process, if it still runs, and return its exit status."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.communicate(timeout=PATIENCE)
        return self._process.returncode


@contextmanager
def workers(place: Place, number: int, token: str, *arguments: str) -> Iterator[list[Worker]]:
    """Run workers during a `with` block."""
    with ExitStack() as stack:
        running = []
        for _ in range(number):
            running.append(Worker(place, token, *arguments))
            stack.callback(running[-1].close)
        yield running


def call(worker: Worker | str, method: str, target: str, value: object = None, token: str = "t", **headers: str) -> Any:
    """Send a request, and return the status, the headers and the body of the response."""
    parts = urlsplit(worker if isinstance(worker, str) else worker.base_url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=PATIENCE)
    body = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
    sent = {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): text for name, text in headers.items()}}
    if body is not None and not isinstance(value, bytes):
        sent["Content-Type"] = "application/json"
    try:
        connection.request(method, target, body, sent)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def sent(worker: Worker | str, method: str, target: str, value: object = None, token: str = "t", **headers: str) -> Any:
    """Send a request that must succeed, and return the JSON of the response."""
    status, _, body = call(worker, method, target, value, token, **headers)
    assert status in (200, 204), (status, body)
    return json.loads(body) if body else None


@contextmanager
def round_robin(running: list[Worker]) -> Iterator[str]:
    """Serve an address during a `with` block, whose consecutive requests reach different workers."""
    targets, lock = cycle([urlsplit(worker.base_url) for worker in running]), Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _forward(self) -> None:
            with lock:
                target = next(targets)
            length = self.headers.get("Content-Length")
            body = self._chunks() if self.headers.get("Transfer-Encoding") else self.rfile.read(int(length or 0))
            connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=PATIENCE)
            self.close_connection = True  # unless a response arrives
            try:
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                        connection.putheader(name, value)
                if length is not None or body:
                    connection.putheader("Content-Length", str(len(body)))
                connection.endheaders(body or None)
                response = connection.getresponse()
                content = response.read()
                self.send_response_only(response.status, response.reason)
                for name, value in response.headers.items():
                    if name.lower() not in _HOP_BY_HOP:
                        self.send_header(name, value)
                if self.command == "HEAD" or response.status in (204, 304):
                    if response.headers.get("Content-Length"):
                        self.send_header("Content-Length", response.headers["Content-Length"])
                else:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content if self.command != "HEAD" else b"")
                self.close_connection = False
            except (OSError, http.client.HTTPException):
                pass  # a worker that was killed, or that ends the connection without a response
            finally:
                connection.close()

        def _chunks(self) -> bytes:
            content = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return content

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _forward

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
