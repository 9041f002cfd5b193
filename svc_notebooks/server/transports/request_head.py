"""Collects the head of a request without a thread that waits for it."""

from __future__ import annotations

import io
import re
import socket
import ssl
from typing import Any

from .http1 import MOST_HEADER_BYTES
from .transfer_rate import TransferBudget, receive_into

BUFFER = 64 * 1024
_END = b"\r\n\r\n"
_FIRST_LINE = re.compile(rb"(?:\r\n)?[A-Z]+ [^ \r\n]+ HTTP/1\.[01]\r\n")
_BARE = re.compile(rb"(?<!\r)\n")
_CREDENTIAL = re.compile(
    rb"\r\nauthorization:[ \t]*bearer +([^\s]+)|[?&](?:access|oauth)_token=([^& ]+)", re.IGNORECASE
)


def is_head(data: bytes | bytearray) -> bool:
    """Whether a request can be read: its head is here, or can never become one.

    >>> is_head(b"GET / HTTP/1.1\\r\\nHost: "), is_head(b"GET / HTTP/1.1\\r\\n\\r\\n"), is_head(b"hello\\r\\n")
    (False, True, True)
    """
    if _END in data or len(data) > MOST_HEADER_BYTES:
        return True
    has_line = b"\n" in data[2:]
    return has_line and (_FIRST_LINE.match(data) is None or _BARE.search(data) is not None)


def credential(head: bytes | bytearray) -> str | None:
    """The access token in the head of a request, whatever it is worth.

    >>> credential(b"GET /a?access_token=abc HTTP/1.1\\r\\n\\r\\n")
    'abc'
    """
    match = _CREDENTIAL.search(head, 0, max(0, head.find(_END)) or len(head))
    return (match[1] or match[2]).decode("latin-1") if match else None


class _Raw(io.RawIOBase):
    """The bytes of a socket: first those that were collected, then as they come."""

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
    """A connection's bytes, to be read as a file by the thread that serves a request."""

    raw: _Raw
    bytes_read = 0  # cheroot's, for statistics

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(_Raw(sock), BUFFER)
        self.over = False
        """The peer has sent all that it sends, or the connection is broken."""

    def use(self, sock: socket.socket) -> None:
        """Read from this socket from now on: the same connection, over TLS."""
        self.raw.sock = sock

    def set_budget(self, budget: TransferBudget | None) -> None:
        """Wait for what is read as long as there is patience; None: as long as the socket does."""
        self.raw.budget = budget

    @property
    def head(self) -> bytearray:
        """What has come of the next request."""
        return self.raw.collected

    def collect(self) -> bool:
        """Take what has come, and wait for nothing: whether there is a request to be read, or nothing more to come."""
        self._unread()
        if not (self.over or is_head(self.head)):
            self._receive()
        return self.over or is_head(self.head)

    def _unread(self) -> None:
        """What was read ahead belongs to the next request."""
        self.raw.only_collected = True
        ahead = self.read1(BUFFER)
        self.raw.only_collected = False
        self.raw.collected[:0] = ahead

    def _receive(self) -> None:
        sock = self.raw.sock
        sock.settimeout(0)
        try:
            while block := sock.recv(BUFFER):
                self.raw.collected += block
                if not isinstance(sock, ssl.SSLSocket) or not sock.pending():
                    return
            self.over = True
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            self.over = True
