"""Bounds the time that a slow peer may occupy a thread, and sends at the pace of the peer."""

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
_PEER_CLOSED: int = getattr(select, "POLLRDHUP", 0)  # of Linux: seen whatever is unread


class TransferBudget:
    """Seconds that a peer may still be waited for. Each byte that moves earns some back, up to what there was at first.

    So a peer may be silent for `seconds`, and over a longer time must move `rate` bytes a second on average.

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
        """So many seconds went by, and so many bytes moved."""
        self.left = min(self._most, self.left - seconds + moved / self._rate)


def receive_into(sock: socket.socket, buffer: memoryview, budget: TransferBudget) -> int:
    """As `recv_into`, as long as there is patience. Raises TimeoutError at its end, and other OSError."""
    begin = time.monotonic()
    sock.settimeout(max(budget.left, 0.001))
    size = sock.recv_into(buffer)
    budget.spend(time.monotonic() - begin, size)
    if budget.left <= 0:
        raise TimeoutError("the peer sends too slowly")
    return size


def send_all(sock: socket.socket, content: bytes | memoryview, budget: TransferBudget) -> None:
    """As `sendall`, as long as there is patience. Raises TimeoutError at its end, and other OSError.

    What a slow reader takes leaves the system's buffer long before there is room for more: so the buffer is looked at.
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
            before, queued = queued, _queued(sock)
            moved = max(0, before - queued)
        budget.spend(seconds, moved)
        if budget.left <= 0:
            raise TimeoutError("the peer reads too slowly")


def _queued(sock: socket.socket) -> int:
    """How many bytes the peer has not yet taken, where the system says it."""
    if not _has_queue:
        return _UNKNOWN
    return int(struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))[0])


def peer_has_closed(sock: socket.socket) -> bool:
    """Whether the peer has closed its side of the connection, whatever of it is unread."""
    try:
        if _PEER_CLOSED:
            poll = select.poll()
            poll.register(sock, _PEER_CLOSED)
            return bool(poll.poll(0))
        readable, _, _ = select.select([sock], [], [], 0)
        return bool(readable) and socket.socket.recv(sock, 1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):
        return True
