"""Sends prepared requests to workers over many connections at once, with little CPU time of its own."""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from tests.patience import PATIENCE

_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)
_OK = b"HTTP/1.1 200 "


def http_request(base_url: str, token: str, method: str, target: str, body: bytes = b"", media_type: str = "") -> bytes:
    """Return the bytes of a request."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {urlsplit(base_url).netloc}", f"Authorization: Bearer {token}"]
    if media_type:
        lines += [f"Content-Type: {media_type}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Client:
    """A connection to a worker, and the requests that it sends one after another."""

    def __init__(self, base_url: str, requests: Iterator[bytes]) -> None:
        parts = urlsplit(base_url)
        self._requests = requests
        self.socket = socket.create_connection((str(parts.hostname), parts.port or 80), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def send(self) -> None:
        """Send the next request."""
        self._received = b""
        self.socket.sendall(next(self._requests))

    def receive(self) -> bytes | None:
        """Receive bytes, and return the body of the response when it is complete. Fails unless the status is 200."""
        block = self.socket.recv(1 << 20)
        assert block, "the worker has closed the connection"
        self._received = self._received + block if self._received else block
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return None
        assert head.startswith(_OK), self._received
        length = _LENGTH.search(head + b"\r\n")
        assert length, head
        return body if len(body) == int(length[1]) else None


def requests_per_second(clients: Sequence[Client], seconds: float) -> float:
    """Send requests over all connections for some seconds, and return the number of responses in a second."""
    number = 0
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.send()
        start = time.monotonic()
        while (now := time.monotonic()) - start < seconds:
            for key, _ in selector.select(PATIENCE):
                if key.data.receive() is not None:
                    number += 1
                    key.data.send()
        waiting = set(clients)
        while waiting:
            for key, _ in selector.select(PATIENCE):
                if key.data in waiting and key.data.receive() is not None:
                    waiting.discard(key.data)
    return number / (now - start)
