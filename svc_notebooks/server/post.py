"""Posts a message over HTTPS: the one file that knows h11 (A8-04, N-08).

Connections are kept and used again, at most so many to one receiver at a time, where a receiver is a host and a
port. The status decides; what follows it is read for a while, so that the connection can be used again, and is
not waited for. Nothing that a receiver sends makes `send` raise or take longer than its timeout.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import h11

from ..core.channels import host_of
from ..core.outbox import Outcome
from .trust import Trust

_BLOCK = 64 * 1024
_MOST_ANSWER = 64 * 1024
_IDLE_SECONDS = 30.0
_IN_PROGRESS = 102
_TURNS = 4  # of the loop, in which aborted transports close their sockets


class _Target(NamedTuple):
    """Where a message goes."""

    host: str
    port: int
    authority: str
    path: str


class _NoStatus(Exception):
    """There will be no status; the text says why."""


class Post:
    """Sends messages; to be used within one event loop. Times in seconds."""

    def __init__(self, trust: Trust, *, timeout: float, connections: int) -> None:
        self._trust = trust
        self._timeout = timeout
        self._most = connections
        self._receivers: dict[tuple[str, int], _Receiver] = {}

    async def send(self, address: str, headers: Sequence[tuple[str, str]], body: bytes) -> Outcome:
        """Post a message: the status that decides, or in one sentence why there is none."""
        try:
            target = _target(address)
        except ValueError as error:
            return Outcome(None, str(error))
        receiver = self._receiver(target)
        async with receiver.places:
            try:
                async with asyncio.timeout(self._timeout):
                    return Outcome(await receiver.send(target, headers, body))
            except TimeoutError:
                return Outcome(None, f"no answer within {self._timeout:g} seconds")
            except (OSError, _NoStatus, h11.RemoteProtocolError) as error:
                return Outcome(None, _why(error, target))

    async def close(self) -> None:
        """Let go of all connections."""
        for receiver in self._receivers.values():
            receiver.close()
        self._receivers.clear()
        for _ in range(_TURNS):
            await asyncio.sleep(0)

    def _receiver(self, target: _Target) -> _Receiver:
        key = (target.host, target.port)
        if key not in self._receivers:
            self._receivers[key] = _Receiver(target, self._trust, self._timeout, self._most)
        return self._receivers[key]


class _Receiver:
    """The connections to one host and port: those that are idle, and those whose answer is still being read."""

    def __init__(self, target: _Target, trust: Trust, timeout: float, most: int) -> None:
        self.places = asyncio.Semaphore(most)
        self._host, self._port = target.host, target.port
        self._trust = trust
        self._timeout = timeout
        self._most = most
        self._idle: deque[tuple[_Connection, asyncio.TimerHandle]] = deque()
        self._reading: dict[asyncio.Task[None], _Connection] = {}

    async def send(self, target: _Target, headers: Sequence[tuple[str, str]], body: bytes) -> int:
        """The status. A kept connection that the receiver has closed meanwhile is replaced, once."""
        connection = self._kept()
        if connection:
            with suppress(_NoStatus, ConnectionError, ssl.SSLError):
                return await self._exchange(connection, target, headers, body)
        return await self._exchange(await self._connect(), target, headers, body)

    async def _exchange(
        self, connection: _Connection, target: _Target, headers: Sequence[tuple[str, str]], body: bytes
    ) -> int:
        try:
            status = await connection.exchange(target, headers, body)
        except BaseException:
            connection.abort()
            raise
        self._take_back(connection)
        return status

    def _take_back(self, connection: _Connection) -> None:
        """A status has come: whatever the rest of the answer is, it changes nothing."""
        try:
            whole = connection.finish_now()
        except h11.RemoteProtocolError:
            connection.abort()
        else:
            (self._keep if whole else self._read_on)(connection)

    def _kept(self) -> _Connection | None:
        """An idle connection that is still open, the last one used first."""
        while self._idle:
            connection, timer = self._idle.pop()
            timer.cancel()
            if connection.is_open():
                return connection
            connection.abort()
        return None

    async def _connect(self) -> _Connection:
        reader, writer = await asyncio.open_connection(
            self._host,
            self._port,
            ssl=self._trust.context,
            server_hostname=self._host,
            ssl_handshake_timeout=self._timeout,
            ssl_shutdown_timeout=1.0,
        )
        if self._trust.is_revoked(writer.get_extra_info("ssl_object").getpeercert(True)):
            writer.transport.abort()
            raise _NoStatus("shows a certificate that was revoked")
        return _Connection(reader, writer)

    def _keep(self, connection: _Connection) -> None:
        if not connection.can_go_on():
            connection.close()
            return
        timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._let_go, connection)
        self._idle.append((connection, timer))

    def _let_go(self, connection: _Connection) -> None:
        self._idle = deque(kept for kept in self._idle if kept[0] is not connection)
        connection.close()

    def _read_on(self, connection: _Connection) -> None:
        """The rest of an answer is not waited for; of too many such only the latest are cut."""
        if len(self._reading) >= self._most:
            connection.abort()
            return
        task = asyncio.get_running_loop().create_task(self._finish(connection))
        self._reading[task] = connection
        task.add_done_callback(lambda done: self._reading.pop(done, None))

    async def _finish(self, connection: _Connection) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await connection.finish()
        except (OSError, _NoStatus, h11.RemoteProtocolError):
            connection.abort()
        except asyncio.CancelledError:
            connection.abort()
            raise
        else:
            self._keep(connection)

    def close(self) -> None:
        for task in list(self._reading):
            task.cancel()
        for connection, timer in self._idle:
            timer.cancel()
            connection.abort()
        self._idle.clear()


class _Connection:
    """One connection, and h11's machine of it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._machine = h11.Connection(h11.CLIENT)
        self._left = _MOST_ANSWER

    async def exchange(self, target: _Target, headers: Sequence[tuple[str, str]], body: bytes) -> int:
        """Send a message; the status that decides. 102 is one, whatever follows it; other 1xx are not."""
        self._left = _MOST_ANSWER
        self._writer.write(self._request(target, headers, body))
        while True:
            event = await self._next_event()
            if isinstance(event, h11.Response) or (
                isinstance(event, h11.InformationalResponse) and event.status_code == _IN_PROGRESS
            ):
                return event.status_code

    def _request(self, target: _Target, headers: Sequence[tuple[str, str]], body: bytes) -> bytes:
        every = [("Host", target.authority), *headers, ("Content-Length", str(len(body)))]
        pairs = [(name.encode("ascii"), value.encode()) for name, value in every]
        events = (
            h11.Request(method="POST", target=target.path, headers=pairs),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        return b"".join(self._machine.send(event) or b"" for event in events)

    async def _next_event(self) -> object:
        while (event := self._machine.next_event()) is h11.NEED_DATA:
            self._take(await self._reader.read(_BLOCK))
        return event

    def _take(self, block: bytes) -> None:
        if not block and self._machine.their_state is h11.SEND_RESPONSE:
            raise _NoStatus("closed the connection without an answer")
        self._left -= len(block)
        if self._left < 0:
            raise _NoStatus(f"sent more than {_MOST_ANSWER} bytes")
        self._machine.receive_data(block)

    def finish_now(self) -> bool:
        """Whether the whole answer is here already."""
        while not isinstance(event := self._machine.next_event(), h11.EndOfMessage):
            if event in (h11.NEED_DATA, h11.PAUSED):
                return False
        return True

    async def finish(self) -> None:
        """Read the rest of the answer."""
        while not isinstance(await self._next_event(), h11.EndOfMessage):
            pass

    def can_go_on(self) -> bool:
        """Make ready for the next message; False: this connection takes no other."""
        if self._machine.our_state is not h11.DONE or self._machine.their_state is not h11.DONE:
            return False
        self._machine.start_next_cycle()
        return self.is_open()

    def is_open(self) -> bool:
        """Whether the receiver has not closed it, as far as is known."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        self._writer.close()

    def abort(self) -> None:
        self._writer.transport.abort()


def _target(address: str) -> _Target:
    """Where an address leads. Raises ValueError."""
    parts = urlsplit(address)
    if parts.scheme != "https":
        raise ValueError("messages are sent over https alone")
    host, port = host_of(address), parts.port or 443
    shown = f"[{host}]" if ":" in host else host
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~") + (
        f"?{quote(parts.query, safe=_QUERY)}" if parts.query else ""
    )
    return _Target(host, port, shown if port == 443 else f"{shown}:{port}", path)


_QUERY = "/%:@!$&'()*+,;=~?"

# By OpenSSL's number of what is wrong with a certificate.
_VERIFY = {
    9: "it is not valid yet",
    10: "it has expired",
    18: "it is self-signed, and not trusted",
    19: "its authority is not trusted (self-signed certificate in certificate chain)",
    20: "its authority is not trusted (unable to get local issuer certificate)",
    21: "its authority is not trusted (unable to verify the first certificate)",
}


def _why(error: Exception, target: _Target) -> str:
    """What happened, in one sentence."""
    where = f"{target.host}:{target.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of {where} is not valid: {_certificate_fault(error)}"
    if isinstance(error, ssl.SSLError):
        return f"no TLS with {where}: {(error.reason or str(error)).replace('_', ' ').lower()}"
    if isinstance(error, socket.gaierror):
        return f"there is no host {target.host}"
    if isinstance(error, h11.RemoteProtocolError):
        return f"the answer of {where} is not HTTP: {error}"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens at {where}: connection refused"
    if isinstance(error, _NoStatus):
        return f"{where} {error}"
    if isinstance(error, ConnectionError):
        return f"{where} closed the connection without an answer"
    return f"{where} cannot be reached: {error.strerror if isinstance(error, OSError) and error.strerror else error}"


def _certificate_fault(error: ssl.SSLCertVerificationError) -> str:
    code = getattr(error, "verify_code", 0)
    return _VERIFY.get(code) or getattr(error, "verify_message", None) or str(error)
