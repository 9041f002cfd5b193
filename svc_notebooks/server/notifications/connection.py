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

MOST_ANSWER = 64 * 1024
_IN_PROGRESS = 102
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

# h11 is told in short what goes out in full, and asked about what is not plain alone: it takes longer than all else.
_ASKED = h11.Request(method="POST", target="/", headers=[("Host", "receiver"), ("Content-Length", "0")])
_SAID = h11.EndOfMessage()


class NoResponse(Exception):
    """There will be no status; the text says why, of whoever was asked."""


class ConnectionState(Enum):
    """Where a line stands."""

    IDLE = "it takes a message"
    ASKED = "it is taken for a message whose status is not known"
    RESTING = "the status is known, the rest of the answer is still coming"
    GONE = "it is closed"


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


_PLAIN = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [ -~]*)?\r\n((?:[A-Za-z-]+: [ -~]*\r\n)*)\r\n")
_LENGTH = re.compile(rb"^content-length: ([0-9]{1,5})\r$", re.MULTILINE)
_NO_CONTENT, _NOT_MODIFIED = 204, 304  # whatever their headers say, no body follows


def plain_status(answer: bytes) -> int | None:
    """The status of an answer that is whole and after which the connection stays; None: ask h11 what it is.

    >>> plain_status(b"HTTP/1.1 202 Accepted\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    202
    """
    found = _PLAIN.match(answer)
    if not found:
        return None
    status, fields = int(found[1]), found[2].lower()
    if status == _NOT_MODIFIED or b"transfer-encoding" in fields or b"connection" in fields:
        return None
    lengths = _LENGTH.findall(fields)
    if status == _NO_CONTENT and b"content-length" not in fields:
        lengths = [b"0"]
    return status if [int(one) for one in lengths] == [len(answer) - found.end()] else None


class Connection(asyncio.Protocol):
    """A connection. `changed` is called with it whenever it stands differently; times are seconds."""

    def __init__(self, changed: Callable[[Connection], None], *, rest: float, idle: float) -> None:
        self.standing = ConnectionState.ASKED  # by whoever had it made
        self.heard = 0  # bytes of the present answer
        self.certificate: bytes | None = None
        self._changed = changed
        self._patience = {ConnectionState.RESTING: rest, ConnectionState.IDLE: idle}
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self.lost = self._loop.create_future()
        """Done when its socket is closed."""
        self._answer: asyncio.Future[int] | None = None
        self._machine: h11.Connection | None = None

    async def ask(self, message: bytes) -> int:
        """Send a message; the status that decides: the final one, or a 102. Raises NoStatus, OSError."""
        if self.standing is ConnectionState.GONE:
            raise NoResponse("closed the connection without an answer")
        self._machine = None
        self._answer, self.heard = self._loop.create_future(), 0
        self._set_state(ConnectionState.ASKED)
        self._transport.write(message)
        return await self._answer

    def abort(self) -> None:
        """Cut it, now."""
        self._set_state(ConnectionState.GONE)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self.certificate = transport.get_extra_info("ssl_object").getpeercert(True)
        self._changed(self)

    def data_received(self, data: bytes) -> None:
        if self.standing in (ConnectionState.IDLE, ConnectionState.GONE) or self._answer is None:
            self.abort()  # nobody asked: it closes, or it lies
            return
        self._hear(data[: MOST_ANSWER - self.heard])
        self.heard += len(data)
        if self.heard > MOST_ANSWER:
            self._fail(NoResponse(f"sent {MOST_ANSWER} bytes and no status"))

    def _hear(self, data: bytes) -> None:
        status = None if self._machine else plain_status(data)
        if status:
            self._told(status)
            self._set_state(ConnectionState.IDLE)
        elif data:
            self._hear_more(data)

    def _hear_more(self, data: bytes) -> None:
        if self._machine is None:
            self._machine = _machine()
        try:
            self._machine.receive_data(data)
            self._set_state(self._read(self._machine))
        except h11.ProtocolError as error:
            self._fail(NoResponse(f"did not answer in HTTP: {error}"))

    def _read(self, machine: h11.Connection) -> ConnectionState:
        """Read what has come; where that leaves us."""
        while (event := machine.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, (h11.InformationalResponse, h11.Response)):
                self._told(event.status_code)
            elif isinstance(event, h11.EndOfMessage):
                return ConnectionState.IDLE if _can_go_on(machine) else ConnectionState.GONE
        return ConnectionState.RESTING if self._answer and self._answer.done() else ConnectionState.ASKED

    def _told(self, status: int) -> None:
        """A 102 is a status, whatever follows it; other interim answers are none (N-08)."""
        if (status >= 200 or status == _IN_PROGRESS) and self._answer and not self._answer.done():
            self._answer.set_result(status)

    def connection_lost(self, error: Exception | None) -> None:
        began = "in the middle of its answer" if self.heard else "without an answer"
        if error is None or isinstance(error, ConnectionError):
            error = NoResponse(f"closed the connection {began}")
        self._fail(error)
        if not self.lost.done():
            self.lost.set_result(None)

    def _fail(self, error: Exception) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_exception(error)
        self._set_state(ConnectionState.GONE)

    def _set_state(self, standing: ConnectionState) -> None:
        """Move on; a line that is gone, or stands so already, does not."""
        if self.standing in (standing, ConnectionState.GONE):
            return
        self.standing = standing
        if self._timer:
            self._timer.cancel()
        seconds = self._patience.get(standing)
        self._timer = None if seconds is None else self._loop.call_later(seconds, self.abort)
        if standing is ConnectionState.GONE:
            self._transport.abort()
        self._changed(self)


def _machine() -> h11.Connection:
    """One that waits for an answer."""
    machine = h11.Connection(h11.CLIENT)
    machine.send(_ASKED)
    machine.send(_SAID)
    return machine


def _can_go_on(machine: h11.Connection) -> bool:
    states = (machine.our_state, machine.their_state)
    return states == (h11.DONE, h11.DONE) and machine.trailing_data == (b"", False)
