"""One connection to a receiver, and HTTP/1.1 on it: the one file that knows h11.

A message is asked, its status is told as soon as it is known, and what follows the status is read in peace: until
that is over the line takes no other message. What a receiver sends is bounded in bytes here; whoever asks bounds
it in time.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import h11

MAX_RESPONSE_BYTES = 64 * 1024
_IN_PROGRESS = 102
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

# h11 is told in short what goes out in full, and asked about what is not plain alone: it takes longer than all else.
_REQUEST = h11.Request(method="POST", target="/", headers=[("Host", "receiver"), ("Content-Length", "0")])
_END_OF_MESSAGE = h11.EndOfMessage()


class NoResponse(Exception):
    """There will be no status; the text says why, of whoever was asked."""


class ConnectionState(Enum):
    """Where a line stands."""

    IDLE = "it takes a message"
    AWAITING_RESPONSE = "it is taken for a message whose status is not known"
    READING_REST = "the status is known, the rest of the answer is still coming"
    CLOSED = "it is closed"


def message(path: str, host: str, headers: Sequence[tuple[str, str]], body: bytes) -> bytes:
    """A POST request as it goes over the wire. Raises ValueError for what no header can carry.

    >>> message("/in", "hooks.example", [("X-Svc-Message-Number", "1")], b"")
    b'POST /in HTTP/1.1\\r\\nHost: hooks.example\\r\\nX-Svc-Message-Number: 1\\r\\nContent-Length: 0\\r\\n\\r\\n'
    """
    pairs = (("Host", host), *headers, ("Content-Length", str(len(body))))
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in pairs)]
    for line in lines:
        if _CONTROL.search(line):
            raise ValueError(f"the header {line.partition(':')[0]!r} has a control character in it")
    return "\r\n".join([*lines, "", ""]).encode() + body


_PLAIN_RESPONSE = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [ -~]*)?\r\n((?:[A-Za-z-]+: [ -~]*\r\n)*)\r\n")
_LENGTH = re.compile(rb"^content-length: ([0-9]{1,5})\r$", re.MULTILINE)
_NO_CONTENT, _NOT_MODIFIED = 204, 304  # whatever their headers say, no body follows


def plain_status(answer: bytes) -> int | None:
    """The status of an answer that is whole and after which the connection stays; None: ask h11 what it is.

    >>> plain_status(b"HTTP/1.1 202 Accepted\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    202
    """
    match = _PLAIN_RESPONSE.match(answer)
    if not match:
        return None
    status, fields = int(match[1]), match[2].lower()
    if status == _NOT_MODIFIED or b"transfer-encoding" in fields or b"connection" in fields:
        return None
    lengths = _LENGTH.findall(fields)
    if status == _NO_CONTENT and b"content-length" not in fields:
        lengths = [b"0"]
    return status if [int(length) for length in lengths] == [len(answer) - match.end()] else None


class Connection(asyncio.Protocol):
    """A connection. `changed` is called with it whenever it stands differently; times are seconds."""

    def __init__(self, changed: Callable[[Connection], None], *, rest: float, idle: float) -> None:
        self.state = ConnectionState.AWAITING_RESPONSE  # by whoever had it made
        self.received = 0  # bytes of the present answer
        self.certificate: bytes | None = None
        self._on_change = changed
        self._timeouts = {ConnectionState.READING_REST: rest, ConnectionState.IDLE: idle}
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self.lost = self._loop.create_future()
        """Done when its socket is closed."""
        self._status: asyncio.Future[int] | None = None
        self._h11: h11.Connection | None = None

    async def send(self, message: bytes) -> int:
        """Send a message; the status that decides: the final one, or a 102. Raises NoResponse, OSError."""
        if self.state is ConnectionState.CLOSED:
            raise NoResponse("closed the connection without an answer")
        self._h11 = None
        self._status, self.received = self._loop.create_future(), 0
        self._set_state(ConnectionState.AWAITING_RESPONSE)
        self._transport.write(message)
        return await self._status

    def abort(self) -> None:
        """Cut it, now."""
        self._set_state(ConnectionState.CLOSED)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self.certificate = transport.get_extra_info("ssl_object").getpeercert(True)
        self._on_change(self)

    def data_received(self, data: bytes) -> None:
        if self.state in (ConnectionState.IDLE, ConnectionState.CLOSED) or self._status is None:
            self.abort()  # nobody asked: it closes, or it lies
            return
        self._receive(data[: MAX_RESPONSE_BYTES - self.received])
        self.received += len(data)
        if self.received > MAX_RESPONSE_BYTES:
            self._fail(NoResponse(f"sent {MAX_RESPONSE_BYTES} bytes and no status"))

    def _receive(self, data: bytes) -> None:
        status = None if self._h11 else plain_status(data)
        if status:
            self._set_status(status)
            self._set_state(ConnectionState.IDLE)
        elif data:
            self._receive_with_h11(data)

    def _receive_with_h11(self, data: bytes) -> None:
        if self._h11 is None:
            self._h11 = _new_h11()
        try:
            self._h11.receive_data(data)
            self._set_state(self._read(self._h11))
        except h11.ProtocolError as error:
            self._fail(NoResponse(f"did not answer in HTTP: {error}"))

    def _read(self, machine: h11.Connection) -> ConnectionState:
        """Read what has come; where that leaves us."""
        while (event := machine.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, (h11.InformationalResponse, h11.Response)):
                self._set_status(event.status_code)
            elif isinstance(event, h11.EndOfMessage):
                return ConnectionState.IDLE if _can_be_reused(machine) else ConnectionState.CLOSED
        return (
            ConnectionState.READING_REST if self._status and self._status.done() else ConnectionState.AWAITING_RESPONSE
        )

    def _set_status(self, status: int) -> None:
        """A 102 is a status, whatever follows it; other interim answers are none (N-08)."""
        if (status >= 200 or status == _IN_PROGRESS) and self._status and not self._status.done():
            self._status.set_result(status)

    def connection_lost(self, error: Exception | None) -> None:
        began = "in the middle of its answer" if self.received else "without an answer"
        if error is None or isinstance(error, ConnectionError):
            error = NoResponse(f"closed the connection {began}")
        self._fail(error)
        if not self.lost.done():
            self.lost.set_result(None)

    def _fail(self, error: Exception) -> None:
        if self._status and not self._status.done():
            self._status.set_exception(error)
        self._set_state(ConnectionState.CLOSED)

    def _set_state(self, state: ConnectionState) -> None:
        """Move on; a line that is gone, or stands so already, does not."""
        if self.state in (state, ConnectionState.CLOSED):
            return
        self.state = state
        if self._timer:
            self._timer.cancel()
        seconds = self._timeouts.get(state)
        self._timer = None if seconds is None else self._loop.call_later(seconds, self.abort)
        if state is ConnectionState.CLOSED:
            self._transport.abort()
        self._on_change(self)


def _new_h11() -> h11.Connection:
    """One that waits for an answer."""
    machine = h11.Connection(h11.CLIENT)
    machine.send(_REQUEST)
    machine.send(_END_OF_MESSAGE)
    return machine


def _can_be_reused(machine: h11.Connection) -> bool:
    states = (machine.our_state, machine.their_state)
    return states == (h11.DONE, h11.DONE) and machine.trailing_data == (b"", False)
