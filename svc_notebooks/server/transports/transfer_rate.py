"""Limits the time for which a slow client may occupy a thread."""

from __future__ import annotations

import select
import socket
import struct
import time

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
    """The seconds for which a transfer may still wait. Each transferred byte adds some, up to the initial number.

    So a client may be silent for `seconds`, and over a longer time must transfer `rate` bytes a second on average.

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
        """Subtract a time in seconds, and add time for the bytes that moved meanwhile."""
        self.left = min(self._most, self.left - seconds + moved / self._rate)


def receive_into(sock: socket.socket, buffer: memoryview, budget: TransferBudget) -> int:
    """Receive within the time of a budget. Raises TimeoutError when it is used up, and other OSError."""
    begin = time.monotonic()
    sock.settimeout(max(budget.left, 0.001))
    size = sock.recv_into(buffer)
    budget.spend(time.monotonic() - begin, size)
    if budget.left <= 0:
        raise TimeoutError("the peer sends too slowly")
    return size


def send_all(sock: socket.socket, content: bytes | memoryview, budget: TransferBudget) -> None:
    """Send everything within the time of a budget. Raises TimeoutError when it is used up, and other OSError.

    A slow reader empties the system's buffer long before there is room for more, so the length of the buffer counts.
    """
    view, queued = memoryview(content), _UNKNOWN
    while view:
        begin = time.monotonic()
        sock.settimeout(max(min(budget.left, _LOOK_SECONDS), 0.001))
        try:
            sent = sock.send(view)
        except TimeoutError:
            sent = 0
        moved, view = sent, view[sent:]
        seconds = time.monotonic() - begin
        if not sent:
            before, queued = queued, _send_queue_size(sock)
            moved = max(0, before - queued)
        budget.spend(seconds, moved)
        if budget.left <= 0:
            raise TimeoutError("the peer reads too slowly")


def _send_queue_size(sock: socket.socket) -> int:
    """Return the number of bytes that the peer has not yet received, 0 where the system does not tell."""
    if not _has_queue:
        return _UNKNOWN
    return int(struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))[0])


def peer_has_closed(sock: socket.socket) -> bool:
    """Return whether the peer has closed its side of the connection, even before unread bytes."""
    try:
        if _PEER_CLOSED:
            poll = select.poll()
            poll.register(sock, _PEER_CLOSED)
            return bool(poll.poll(0))
        readable, _, _ = select.select([sock], [], [], 0)
        return bool(readable) and socket.socket.recv(sock, 1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):
        return True
