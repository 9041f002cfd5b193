"""A proxy that breaks connections: before the service gets a request, before the response, and in the response."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, cycle
from urllib.parse import urlsplit

_CLOSED_BY_RESET = struct.pack("ii", 1, 0)
_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})


def _to_forward(headers: Message) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OF_THE_CONNECTION}


class BreakingProxy(ThreadingHTTPServer):
    """Forwards requests, and breaks the connection of every request whose number is a multiple of `every`.

    0 breaks none. `broken` has the method and the path of the broken requests, and where they were broken: "request",
    "response" or "middle".
    """

    daemon_threads = True

    def __init__(self, target: str, every: int) -> None:
        self.target, self.every = urlsplit(target), every
        self.broken: list[tuple[str, str, str]] = []
        self._numbers, self._places, self._lock = count(1), cycle(("request", "response", "middle")), threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def place(self, method: str, path: str) -> str | None:
        """Return where the next request is broken, or None."""
        with self._lock:
            if not self.every or next(self._numbers) % self.every:
                return None
            place = next(self._places)
            self.broken.append((method, path, place))
            return place


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BreakingProxy

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65_537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        place = self.server.place(self.command, self.path)
        body = self._body()
        if place == "request":
            return self._break()
        upstream = HTTPConnection(str(self.server.target.hostname), self.server.target.port, timeout=60)
        upstream.request(self.command, self.path, body, {**_to_forward(self.headers), "Content-Length": str(len(body))})
        response = upstream.getresponse()
        content = response.read()
        upstream.close()
        if place == "response":
            return self._break()
        head = "".join(f"{name}: {value}\r\n" for name, value in _to_forward(response.headers).items())
        if response.status != 204:
            head += f"Content-Length: {len(content)}\r\n"
        answer = f"HTTP/1.1 {response.status} {response.reason}\r\n{head}\r\n".encode("latin-1") + content
        self.wfile.write(answer[: len(answer) // 2] if place else answer)
        return self._break() if place else None

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _break(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSED_BY_RESET)


@contextmanager
def breaking_proxy(target: str, every: int) -> Iterator[BreakingProxy]:
    """Run a proxy before the service at `target` in threads of this process."""
    with BreakingProxy(target, every) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
