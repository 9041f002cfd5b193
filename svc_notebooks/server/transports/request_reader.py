"""Reads requests from a connection, first the head without blocking, then the body in the thread of the request."""

from __future__ import annotations

import re
import socket
import ssl

from .http1 import MAX_HEAD_SIZE
from .transfer_rate import TransferBudget, receive

BUFFER = 64 * 1024
_HEAD_BUFFER = 4096
"""The bytes of a new request that are received at first. The rest of a body is received in large blocks, uncopied."""

_END = b"\r\n\r\n"
_FIRST_LINE = re.compile(rb"(?:\r\n)?[A-Z]+ [^ \r\n]+ HTTP/1\.[01]\r\n")
_BARE_LF = re.compile(rb"(?<!\r)\n")
_AUTHORIZATION = b"\r\nauthorization:"
_BEARER = re.compile(rb"[ \t]*bearer +([^\s]+)", re.IGNORECASE)
_TOKEN_PARAMETER = re.compile(rb"[?&](?:access|oauth)_token=([^& \r\n]+)")


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
    text = bytes(head[: max(0, head.find(_END)) or len(head)])
    at = text.lower().find(_AUTHORIZATION)
    match = _BEARER.match(text, at + len(_AUTHORIZATION)) if at >= 0 else None
    if match is None and b"_token=" in text:
        match = _TOKEN_PARAMETER.search(text)
    return match[1].decode("latin-1") if match else None


class RequestReader:
    """Reads requests from a socket whose timeout is 0.

    The server collects the head of a request without blocking, and a thread reads the body.

    `collected` has the bytes that have arrived and belong to no request so far. `budget` is the time budget for bodies.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.collected = bytearray()
        self.budget = TransferBudget(0.0, 1.0)
        self._first_size = _HEAD_BUFFER
        self._last_head_size = 0
        self.is_over = False
        """True if the client has closed its side, or if the connection is broken."""

    def collect(self) -> bool:
        """Read the bytes that have arrived, without blocking. Return True if a thread can now read the request."""
        may_have_more = True
        while not (self.is_over or (self.collected and is_head(self.collected))):
            if not may_have_more:
                return False
            may_have_more = self._collect_more()
        return True

    def _collect_more(self) -> bool:
        """Receive the bytes of a new request, or more of its bytes. Return True if more may have arrived."""
        size = BUFFER if self.collected else self._first_size
        try:
            block = self.socket.recv(size)
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        except OSError:
            block = b""
        self.collected += block
        self.is_over = not block
        return len(block) == size or self._is_decrypted

    @property
    def _is_decrypted(self) -> bool:
        """True if TLS has decrypted bytes, which the operating system does not report as readable."""
        return isinstance(self.socket, ssl.SSLSocket) and self.socket.pending() > 0

    @property
    def has_more(self) -> bool:
        """True if bytes of another request have arrived, which the operating system does not report as readable."""
        return bool(self.collected) or self._is_decrypted

    def take_head(self) -> bytes:
        """Remove and return the head of the next request, or all bytes if the end of the head is missing."""
        end = self.collected.find(_END, 0, MAX_HEAD_SIZE + len(_END))
        self._last_head_size = end + len(_END) if end >= 0 else len(self.collected)
        return self._take(self._last_head_size)

    def read1(self, size: int) -> bytes:
        """Wait until bytes arrive and return at most `size` of them, or b"" at the end of the connection."""
        if self.collected:
            return self._take(size)
        # The next request of an upload has a head of about this length. The whole body is then received as one block.
        self._first_size = self._last_head_size if size > BUFFER else _HEAD_BUFFER
        return receive(self.socket, size, self.budget)

    def readline(self, size: int) -> bytes:
        """Return a line, or the bytes before `size` or before the end of the connection if its end is missing."""
        while (end := self.collected.find(b"\n", 0, size)) < 0 and len(self.collected) < size:
            block = receive(self.socket, BUFFER, self.budget)
            if not block:
                break
            self.collected += block
        return self._take(end + 1 if end >= 0 else size)

    def _take(self, size: int) -> bytes:
        taken = bytes(self.collected[:size])
        del self.collected[:size]
        return taken
