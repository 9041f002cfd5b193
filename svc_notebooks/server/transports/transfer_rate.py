"""Limits the time for which a slow client can occupy a thread."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import time
from contextlib import suppress

from ...core.thread_permit import release_permit

try:
    import fcntl
    import termios
except ImportError:  # Windows
    _has_queue = False
else:
    _has_queue = True

_LOOK_SECONDS = 1.0
_UNKNOWN = 0
_PEER_CLOSED: int = getattr(select, "POLLRDHUP", 0)  # only on Linux: reported even before unread bytes


class TransferBudget:
    """The seconds for which a transfer may still wait.

    Waiting uses up seconds, and each transferred byte adds time, up to the initial number of seconds. So a client may
    be silent for `seconds`, but on average must transfer at least `rate` bytes a second.

    >>> budget = TransferBudget(60, rate=500)
    >>> budget.spend(10, moved=2000)
    >>> budget.left
    54.0
    """

    __slots__ = ("_most", "_rate", "left")

    def __init__(self, seconds: float, rate: float) -> None:
        self._most = self.left = seconds
        self._rate = rate

    def spend(self, seconds: float, moved: int) -> None:
        """Subtract the seconds of a wait, and add time for the bytes that were transferred meanwhile."""
        self.left = min(self._most, self.left - seconds + moved / self._rate)


def receive(sock: socket.socket, size: int, budget: TransferBudget) -> bytes:
    """Wait until bytes arrive and return at most `size` of them, or b"" at the end of the connection.

    The timeout of the socket must be 0. Raises TimeoutError when the budget is used up.
    """
    try:
        block = sock.recv(size)
    except (BlockingIOError, ssl.SSLWantReadError):
        return _wait_and_receive(sock, size, budget)
    budget.spend(0, len(block))
    return block


def _wait_and_receive(sock: socket.socket, size: int, budget: TransferBudget) -> bytes:
    with release_permit():
        begin = time.monotonic()
        sock.settimeout(max(budget.left, 0.001))
        try:
            block = sock.recv(size)
        finally:
            sock.settimeout(0)
        budget.spend(time.monotonic() - begin, len(block))
    if budget.left <= 0:
        raise TimeoutError("the peer sends too slowly")
    return block


def send_all(sock: socket.socket, content: bytes | memoryview, budget: TransferBudget) -> None:
    """Send all bytes on a socket with the timeout 0.

    Raises TimeoutError when the budget is used up, and OSError if the connection fails. Bytes that leave the send
    buffer also count, because a full buffer accepts none although a slow reader empties it.
    """
    view, queued = memoryview(content), _UNKNOWN
    while view:
        sent, seconds = _send_now(sock, view), 0.0
        if not sent:
            with release_permit():
                begin = time.monotonic()
                sock.settimeout(max(min(budget.left, _LOOK_SECONDS), 0.001))
                try:
                    with suppress(TimeoutError):
                        sent = sock.send(view)
                finally:
                    sock.settimeout(0)
                seconds = time.monotonic() - begin
        moved, view = sent, view[sent:]
        if not sent:
            before, queued = queued, _send_queue_size(sock)
            moved = max(0, before - queued)
        budget.spend(seconds, moved)
        if budget.left <= 0:
            raise TimeoutError("the peer reads too slowly")


def _send_now(sock: socket.socket, view: memoryview) -> int:
    """Send bytes without blocking and return their number."""
    try:
        return sock.send(view)
    except (BlockingIOError, ssl.SSLWantWriteError):
        return 0


def _send_queue_size(sock: socket.socket) -> int:
    """Return the number of sent bytes that the peer has not received, or 0 if the system does not report it."""
    if not _has_queue:
        return _UNKNOWN
    return int(struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))[0])


def peer_has_closed(sock: socket.socket) -> bool:
    """Return True if the peer has closed its side. On Linux, this works even with bytes still unread."""
    try:
        if _PEER_CLOSED:
            poll = select.poll()
            poll.register(sock, _PEER_CLOSED)
            return bool(poll.poll(0))
        readable, _, _ = select.select([sock], [], [], 0)
        return bool(readable) and socket.socket.recv(sock, 1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):
        return True
