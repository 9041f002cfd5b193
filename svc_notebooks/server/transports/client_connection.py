"""Reads and serves the requests of one client connection, after its TLS handshake."""

from __future__ import annotations

import logging
import re
import select
import socket
import ssl
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ...core.errors.catalogue import refuse
from ...core.http.messages import Disconnected, Request, Response, close_body
from ...core.thread_permit import release_permit
from ..dispatch.requests_and_responses import error_response
from .http1 import MAX_HEAD_SIZE, ChunkedBody, LengthBody, RequestHead, UnreadableError, head_bytes, read_head

if TYPE_CHECKING:
    from .socket_server import SocketServer

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
    with suppress(BlockingIOError, ssl.SSLWantReadError):
        block = sock.recv(size)
        budget.spend(0, len(block))
        return block
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
        sent, seconds = 0, 0.0
        with suppress(BlockingIOError, ssl.SSLWantWriteError):
            sent = sock.send(view)
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


BUFFER = 64 * 1024
# The bytes of a new request that are received at first. The rest of a body is received in large blocks, uncopied.
_HEAD_BUFFER = 4096

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
        self.is_over = False  # true if the client has closed its side, or if the connection is broken

    def collect(self) -> bool:
        """Read the bytes that have arrived, without blocking. Return True if a thread can now read the request."""
        may_have_more = True
        while not (self.is_over or (self.collected and is_head(self.collected))):
            if not may_have_more:
                return False
            size = BUFFER if self.collected else self._first_size
            try:
                block = self.socket.recv(size)
            except (BlockingIOError, ssl.SSLWantReadError):
                return False
            except OSError:
                block = b""
            self.collected += block
            self.is_over = not block
            may_have_more = len(block) == size or self._is_decrypted
        return True

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


HANDSHAKE_SECONDS = 10.0
_HANDSHAKE_BYTE = b"\x16"  # the first byte of every ClientHello

_log = logging.getLogger(__name__)


class TlsSocket(ssl.SSLSocket):
    """A TLS socket that never falls back to plain text.

    The `shutdown` of the standard library removes TLS, after which another thread could write unencrypted bytes.
    """

    def shutdown(self, how: int) -> None:
        """Shut down one direction of the connection, or both."""
        socket.socket.shutdown(self, how)

    def close_notify(self) -> None:
        """Send the TLS close_notify alert. Bytes that arrive afterwards are read without TLS and discarded."""
        with suppress(OSError, ValueError):
            self.settimeout(0)
            self.unwrap()
        self._sslobj = None


IDLE_SECONDS = 65
_NEXT_REQUEST_MILLISECONDS = 5
_MAX_DRAIN, _DRAIN_SECONDS = 1024 * 1024, 1.0
_MAX_LINGER, _LINGER_SECONDS, _MAX_LINGER_SECONDS = 64 * 1024 * 1024, 2.0, 30.0


class ServerConnection:
    """A connection to a client, with or without TLS."""

    def __init__(self, server: SocketServer, sock: socket.socket, address: str) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(0)  # receive() and send_all() wait with other timeouts, within a budget
        self.server = server
        self.socket = sock
        self.flow = ""  # the flow of the request that has arrived (see connection_queue.py)
        self._address = address
        self._reader = RequestReader(sock)
        self._poll: Any = None
        # True until the TLS handshake is complete, which advances as bytes arrive and never blocks.
        self._shakes_hands = server.tls is not None
        self.deadline = time.monotonic() + (HANDSHAKE_SECONDS if server.tls else IDLE_SECONDS)

    # -- without a thread -----------------------------------------------------------------------------------------

    def collect(self) -> bool:
        """Read the bytes that have arrived, without blocking. Return True if the connection now needs a thread."""
        if self._shakes_hands:
            try:
                self._advance_handshake()
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return False
            except (OSError, ValueError) as error:
                _log.debug("the TLS handshake failed: %s", error)
                return True
        had = bool(self._reader.collected)
        is_ready = self._reader.collect()
        if self._reader.collected and not had:
            self.deadline = time.monotonic() + self.server.policy.head_timeout
        self.flow = self._flow()
        return is_ready

    def _flow(self) -> str:
        return self.server.flow_table.flow(access_token(self._reader.collected), self._address)

    def _advance_handshake(self) -> None:
        """Read the bytes of the handshake that have arrived. Raises OSError or ValueError if it is not complete."""
        if not isinstance(self.socket, TlsSocket):
            if self.socket.recv(1, socket.MSG_PEEK) != _HANDSHAKE_BYTE:
                raise ValueError("the client does not use TLS, or has closed the connection")
            assert self.server.tls
            self.server.tls.sslsocket_class = TlsSocket
            self.socket = self.server.tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.socket.settimeout(0)
        self.socket.do_handshake()
        self._shakes_hands = False
        self._reader.socket = self.socket
        self._wait_for_request()

    def _wait_for_request(self) -> None:
        self.deadline = time.monotonic() + IDLE_SECONDS

    @property
    def has_begun(self) -> bool:
        """True if a part of the head of a request has arrived."""
        return bool(self._reader.collected)

    def expire(self) -> None:
        """Close the connection at its deadline, after a response with status 408 if a request has begun."""
        if self._reader.collected and not self._shakes_hands:
            with suppress(OSError):
                self.socket.send(UnreadableError(408).response())
        self.close()

    def close(self) -> None:
        """Close the socket of the connection."""
        with suppress(OSError, ValueError):
            self._shut_down_tls()
            self.socket.close()

    # -- with a thread --------------------------------------------------------------------------------------------

    def serve(self) -> bool:
        """Answer the requests that have arrived. Return True if the connection stays open.

        The thread stays with the connection as long as the next request of the same flow arrives within milliseconds.
        """
        flow = self.flow
        if self._shakes_hands:
            self._refuse_plain_http()
            return False
        self.server.flow_table.look_up(access_token(self._reader.collected))
        if self._flow() != flow:
            return True
        # After the server has stopped, waiting connections get no thread: each could hold it for `IDLE_SECONDS`.
        while not self.server.stopping:
            if not self._answer():
                return False
            self._wait_for_request()
            if self.server.has_other_requests():
                return True
            if not ((self._reader.has_more or self._has_more_soon()) and self.collect()) or self.flow != flow:
                return True
        return False

    def _has_more_soon(self) -> bool:
        """Wait a few milliseconds for the next request. Return True if bytes have arrived."""
        if not hasattr(select, "poll"):
            return False
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.socket, select.POLLIN)
        with release_permit():
            return bool(self._poll.poll(_NEXT_REQUEST_MILLISECONDS))

    def _answer(self) -> bool:
        data = self._reader.take_head()
        if not data:
            return False
        try:
            head = read_head(data)
            url, headers = head.url(self.server.origin)
        except UnreadableError as error:
            with suppress(OSError):
                send_all(self.socket, error.response(), self._new_budget(_LINGER_SECONDS))
            if error.status in (414, 431):  # more of the head may arrive
                self._linger()
            return False
        self._budget = self._new_budget()
        body = self._body(head)
        self.server.bodies.add(body)
        try:
            response = self.server.handle(Request(head.method, url, headers, body, self._address))
            if body.aborted and self.server.stopping:
                response = error_response(refuse("unavailable"))
            return self._send(response, head, body)
        except (Disconnected, OSError) as error:
            _log.debug("connection cut: %s", error)
            return False
        finally:
            self.server.bodies.discard(body)
            self.server.responses += 1  # shows progress, so an increment lost between two threads does not matter

    def _body(self, head: RequestHead) -> LengthBody:
        sock = self.socket

        def begin() -> None:
            self._reader.budget = self._budget
            if head.block.expects_continue:
                send_all(sock, b"HTTP/1.1 100 Continue\r\n\r\n", self._budget)

        def cut() -> None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RD)

        kind = ChunkedBody if head.block.is_chunked else LengthBody
        return kind(self._reader, head.block.length, begin, cut, partial(peer_has_closed, sock))

    def _new_budget(self, seconds: float | None = None) -> TransferBudget:
        policy = self.server.policy
        return TransferBudget(policy.body_timeout if seconds is None else seconds, policy.least_rate)

    def _send(self, response: Response, head: RequestHead, body: LengthBody) -> bool:
        is_promised = head.block.expects_continue and body.is_unread
        stays = (
            head.block.stays
            and not self.server.draining
            and (body.is_over or not (body.aborted or is_promised or not self._drain(body)))
        )
        content = response.body
        if not isinstance(content, bytes) and "Content-Length" not in response.headers:
            if head.is_old:
                stays = False  # the end of the connection marks the end of the body
            else:
                response = Response(response.status, response.headers.plus(("Transfer-Encoding", "chunked")), content)
                content = _chunks(content)
        connection = "close" if not stays else "keep-alive" if head.is_old else None
        start, budget = head_bytes(response, connection=connection), self._new_budget()
        if isinstance(content, bytes):
            send_all(self.socket, start + content, budget)
        else:
            try:
                send_all(self.socket, start, budget)
                for block in content:
                    send_all(self.socket, block, budget)
            finally:
                close_body(response.body)
        if not stays and not body.is_over:
            self._linger()
        return stays

    def _drain(self, body: LengthBody) -> bool:
        """Read the rest of a request body within limits. Return True if the body was read to its end."""
        self._budget = self._reader.budget = self._new_budget(_DRAIN_SECONDS)
        return body.drain(_MAX_DRAIN, _DRAIN_SECONDS)

    def _refuse_plain_http(self) -> None:
        """Send an HTTP error to a client that does not use TLS. If a TLS handshake failed, send nothing."""
        if not isinstance(self.socket, TlsSocket):
            refusal = error_response(refuse("badRequest", message=f"This is an https address: {self.server.origin}"))
            with suppress(OSError):
                content = head_bytes(refusal, connection="close") + refusal.content()
                send_all(self.socket, content, self._new_budget(_LINGER_SECONDS))
            self._linger()

    def _linger(self) -> None:
        """Read and discard the bytes that the client still sends before the connection is closed.

        Closing with unread bytes would reset the connection, which can lose the response (RFC 9112, 9.6).
        """
        left, end = _MAX_LINGER, time.monotonic() + _MAX_LINGER_SECONDS
        with suppress(OSError, ValueError):
            self._shut_down_tls()
            self.socket.shutdown(socket.SHUT_WR)
            self._reader.budget = self._new_budget(_LINGER_SECONDS)
            while left > 0 and time.monotonic() < end and (block := self._reader.read1(BUFFER)):
                left -= len(block)

    def _shut_down_tls(self) -> None:
        if isinstance(self.socket, TlsSocket):
            self.socket.close_notify()


def _chunks(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a response body of unknown length in the chunked transfer coding (RFC 9112, 7.1)."""
    for block in blocks:
        if block:
            yield b"%x\r\n" % len(block)
            yield block
            yield b"\r\n"
    yield b"0\r\n\r\n"
