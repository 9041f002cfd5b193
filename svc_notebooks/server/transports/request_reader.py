"""Reads requests from a connection, first the head without blocking, then the body in the thread of the request."""

from __future__ import annotations

import io
import re
import socket
import ssl
from typing import Any

from .http1 import MAX_HEAD_SIZE
from .transfer_rate import TransferBudget, receive_into

BUFFER = 64 * 1024
_END = b"\r\n\r\n"
_FIRST_LINE = re.compile(rb"(?:\r\n)?[A-Z]+ [^ \r\n]+ HTTP/1\.[01]\r\n")
_BARE_LF = re.compile(rb"(?<!\r)\n")
_ACCESS_TOKEN = re.compile(
    rb"\r\nauthorization:[ \t]*bearer +([^\s]+)|[?&](?:access|oauth)_token=([^& ]+)", re.IGNORECASE
)


def is_head(data: bytes | bytearray) -> bool:
    """Return True if the bytes contain a complete request head, or can never become a valid head.

    >>> is_head(b"GET / HTTP/1.1\\r\\nHost: "), is_head(b"GET / HTTP/1.1\\r\\n\\r\\n"), is_head(b"hello\\r\\n")
    (False, True, True)
    """
    if _END in data or len(data) > MAX_HEAD_SIZE:
        return True
    has_line = b"\n" in data[2:]
    return has_line and (_FIRST_LINE.match(data) is None or _BARE_LF.search(data) is not None)


def access_token(head: bytes | bytearray) -> str | None:
    """Return the access token in the head of a request, without a check of the token. Return None if there is no token.

    >>> access_token(b"GET /a?access_token=abc HTTP/1.1\\r\\n\\r\\n")
    'abc'
    """
    match = _ACCESS_TOKEN.search(head, 0, max(0, head.find(_END)) or len(head))
    return (match[1] or match[2]).decode("latin-1") if match else None


class _SocketStream(io.RawIOBase):
    """A stream that returns the collected bytes first and then reads from the socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.collected = bytearray()
        self.only_collected = False
        self.budget: TransferBudget | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self.collected:
            size = min(len(buffer), len(self.collected))
            buffer[:size] = self.collected[:size]
            del self.collected[:size]
            return size
        if self.only_collected:
            return None
        return receive_into(self.sock, buffer, self.budget) if self.budget else self.sock.recv_into(buffer)


class RequestReader(io.BufferedReader):
    """A buffered reader of requests. The server collects a head without blocking, and a thread reads the body."""

    raw: _SocketStream

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(_SocketStream(sock), BUFFER)
        self.is_over = False
        """True if the client has closed its side, or if the connection is broken."""

    def set_socket(self, sock: socket.socket) -> None:
        """Replace the socket by the TLS socket of the same connection."""
        self.raw.sock = sock

    def set_budget(self, budget: TransferBudget | None) -> None:
        """Set the time budget for reads. With None, the timeout of the socket applies."""
        self.raw.budget = budget

    @property
    def collected(self) -> bytearray:
        """The bytes of the next request that have arrived so far."""
        return self.raw.collected

    def collect(self) -> bool:
        """Read the bytes that have arrived, without blocking. Return True if a thread can now read the request."""
        self.raw.only_collected = True
        ahead = self.read1(BUFFER)  # bytes that the buffer contains after the last body
        self.raw.only_collected = False
        self.raw.collected[:0] = ahead
        if not (self.is_over or is_head(self.collected)):
            self._receive()
        return self.is_over or is_head(self.collected)

    def take_head(self) -> bytes:
        """Remove and return the head of the next request, or all bytes if the end of the head is missing."""
        collected = self.raw.collected
        end = collected.find(_END, 0, MAX_HEAD_SIZE + len(_END))
        size = end + len(_END) if end >= 0 else len(collected)
        head = bytes(collected[:size])
        del collected[:size]
        if collected:
            self.peek()  # into the buffer, because a large read1() would allocate its whole size for these few bytes
        return head

    def _receive(self) -> None:
        sock = self.raw.sock
        sock.settimeout(0)
        try:
            while block := sock.recv(BUFFER):
                self.raw.collected += block
                if not isinstance(sock, ssl.SSLSocket) or not sock.pending():
                    return
            self.is_over = True
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            self.is_over = True
