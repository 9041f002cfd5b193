"""An HTTP/1.1 connection to a receiver of notifications. No other module uses h11.

The status of a response is reported as soon as it arrives. The rest of the response is discarded before the next
message. This module limits the bytes that a receiver may send, and the caller limits the time.
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

# h11 is slow, so it parses only responses that `plain_status` cannot parse. It needs a request before a response, so
# this request stands for every sent message.
_REQUEST = h11.Request(method="POST", target="/", headers=[("Host", "receiver"), ("Content-Length", "0")])
_END_OF_MESSAGE = h11.EndOfMessage()


class NoResponse(Exception):
    """Raised when a receiver sends no status. The text continues a sentence that begins with the receiver's address."""


class ConnectionState(Enum):
    """The state of a connection to a receiver."""

    IDLE = "ready for a message"
    AWAITING_RESPONSE = "taken for a message whose status is not known"
    READING_REST = "the status is known and the rest of the response is still coming"
    CLOSED = "closed"


def message(path: str, host: str, headers: Sequence[tuple[str, str]], body: bytes) -> bytes:
    """Return the bytes of a POST request. Raises ValueError for a header with control characters.

    >>> message("/in", "hooks.example", [("X-Svc-Message-Number", "1")], b"")
    b'POST /in HTTP/1.1\\r\\nHost: hooks.example\\r\\nX-Svc-Message-Number: 1\\r\\nContent-Length: 0\\r\\n\\r\\n'
    """
    pairs = (("Host", host), *headers, ("Content-Length", str(len(body))))
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in pairs)]
    for line in lines:
        if _CONTROL.search(line):
            raise ValueError(f"the header {line.partition(':')[0]!r} contains a control character")
    return "\r\n".join([*lines, "", ""]).encode() + body


_PLAIN_RESPONSE = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [ -~]*)?\r\n((?:[A-Za-z-]+: [ -~]*\r\n)*)\r\n")
_LENGTH = re.compile(rb"^content-length: ([0-9]{1,5})\r$", re.MULTILINE)
_NO_CONTENT, _NOT_MODIFIED = 204, 304  # no body follows, whatever their headers say


def plain_status(response: bytes) -> int | None:
    """Return the status of a simple, complete response that keeps the connection open.

    Return None for any other response, which h11 must parse.

    >>> plain_status(b"HTTP/1.1 202 Accepted\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    202
    """
    match = _PLAIN_RESPONSE.match(response)
    if not match:
        return None
    status, fields = int(match[1]), match[2].lower()
    if status == _NOT_MODIFIED or b"transfer-encoding" in fields or b"connection" in fields:
        return None
    lengths = _LENGTH.findall(fields)
    if status == _NO_CONTENT and b"content-length" not in fields:
        lengths = [b"0"]
    return status if [int(length) for length in lengths] == [len(response) - match.end()] else None


class Connection(asyncio.Protocol):
    """A connection to a receiver, which calls `on_change` with the connection after each change of its state.

    The connection closes after `rest` seconds of reading the rest of a response, and after `idle` unused seconds.
    """

    def __init__(self, on_change: Callable[[Connection], None], *, rest: float, idle: float) -> None:
        self.state = ConnectionState.AWAITING_RESPONSE  # reserved for the caller who opens the connection
        self.received = 0  # bytes of the current response
        self.certificate: bytes | None = None
        self._on_change = on_change
        self._timeouts = {ConnectionState.READING_REST: rest, ConnectionState.IDLE: idle}
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self.lost = self._loop.create_future()
        """A future that is done when the socket is closed."""
        self._status: asyncio.Future[int] | None = None
        self._h11: h11.Connection | None = None

    async def send(self, message: bytes) -> int:
        """Send a message and return the status that decides its delivery, which is the final status or 102.

        Raises NoResponse if the receiver sends no status, and OSError if the connection fails.
        """
        if self.state is ConnectionState.CLOSED:
            raise NoResponse("closed the connection without a response")
        self._h11 = None
        self._status, self.received = self._loop.create_future(), 0
        self._set_state(ConnectionState.AWAITING_RESPONSE)
        self._transport.write(message)
        return await self._status

    def abort(self) -> None:
        """Close the connection at once."""
        self._set_state(ConnectionState.CLOSED)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self.certificate = transport.get_extra_info("ssl_object").getpeercert(True)
        self._on_change(self)

    def data_received(self, data: bytes) -> None:
        if self.state in (ConnectionState.IDLE, ConnectionState.CLOSED) or self._status is None:
            self.abort()  # unsolicited data is a protocol violation
            return
        self._read(data[: MAX_RESPONSE_BYTES - self.received])
        self.received += len(data)
        if self.received > MAX_RESPONSE_BYTES:
            self._fail(NoResponse(f"sent {MAX_RESPONSE_BYTES} bytes without an HTTP status"))

    def _read(self, data: bytes) -> None:
        if not data:  # h11 would interpret b"" as the end of the connection
            return
        if self._h11 is None:
            if status := plain_status(data):
                self._set_status(status)
                self._set_state(ConnectionState.IDLE)
                return
            self._h11 = h11.Connection(h11.CLIENT)
            self._h11.send(_REQUEST)
            self._h11.send(_END_OF_MESSAGE)
        try:
            self._h11.receive_data(data)
            self._set_state(self._read_events(self._h11))
        except h11.ProtocolError as error:
            self._fail(NoResponse(f"sent a response that is not HTTP: {error}"))

    def _read_events(self, machine: h11.Connection) -> ConnectionState:
        while (event := machine.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, (h11.InformationalResponse, h11.Response)):
                self._set_status(event.status_code)
            elif isinstance(event, h11.EndOfMessage):
                states = (machine.our_state, machine.their_state)
                reusable = states == (h11.DONE, h11.DONE) and machine.trailing_data == (b"", False)
                return ConnectionState.IDLE if reusable else ConnectionState.CLOSED
        status_known = self._status is not None and self._status.done()
        return ConnectionState.READING_REST if status_known else ConnectionState.AWAITING_RESPONSE

    def _set_status(self, status: int) -> None:
        """Report a final status or 102, which decides the delivery, and ignore other interim statuses (N-08)."""
        if (status >= 200 or status == _IN_PROGRESS) and self._status and not self._status.done():
            self._status.set_result(status)

    def connection_lost(self, error: Exception | None) -> None:
        began = "in the middle of its response" if self.received else "without a response"
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
