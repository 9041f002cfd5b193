"""Sends messages over HTTPS, on connections that are kept open for each host.

No other module uses h11.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from enum import Enum
from threading import Thread
from typing import Any

import h11

from ...core.notifications.deliveries import AttemptOutcome
from .channels import Endpoint, parse_endpoint
from .trust_store import TrustStore

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
        # A future that is done when the socket is closed.
        self.lost = self._loop.create_future()
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
        try:
            return await self._status
        except BaseException:
            self.abort()
            raise

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


# A row of getaddrinfo.
AddrInfo = tuple[Any, Any, int, str, Any]

_CONNECT_SECONDS = 2.0  # after this time, the next address of the host is tried
_TLS_SHUTDOWN_SECONDS = 1.0


def resolve(target: Endpoint) -> asyncio.Future[list[AddrInfo]]:
    """Look up a host's IP addresses in a new thread, because a silent name server would block the shared threads."""
    outcome: Future[list[AddrInfo]] = Future()
    outcome.set_running_or_notify_cancel()  # so that only the waiting task can be cancelled

    def look_up() -> None:
        try:
            outcome.set_result(socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM))
        except (OSError, ValueError) as error:
            outcome.set_exception(error)

    addresses = asyncio.wrap_future(outcome)
    addresses.add_done_callback(lambda done: done.cancelled() or done.exception())  # or asyncio warns of unread errors
    Thread(target=look_up, name="svc-lookup", daemon=True).start()
    return addresses


async def connect(
    target: Endpoint, addresses: Sequence[AddrInfo], trust: TrustStore, make_connection: Callable[[], Connection]
) -> Connection:
    """Connect to the first address that accepts and with which TLS starts, and return the connection.

    Raises OSError if there is no such address, ValueError for an invalid host name, and NoResponse for a revoked
    certificate.
    """
    failure: Exception = OSError("the host name has no address")
    for address in addresses:
        try:
            async with asyncio.timeout(None if address is addresses[-1] else _CONNECT_SECONDS):
                _, connection = await asyncio.get_running_loop().create_connection(
                    make_connection,
                    *address[4][:2],
                    ssl=trust.context_of(str(target)),
                    server_hostname=target.host,
                    ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS,
                )
        except OSError as error:
            failure = error
        else:
            if trust.is_revoked(connection.certificate):
                connection.abort()
                raise NoResponse("uses a revoked certificate")
            return connection
    raise failure


# The keys are OpenSSL's error numbers for invalid certificates (X509_V_ERR_*).
_CERTIFICATE_FAULTS = {
    9: "the certificate is not valid yet",
    10: "the certificate has expired",
    18: "the certificate is self-signed and not trusted",
    19: "the certificate authority is not trusted (self-signed certificate in certificate chain)",
    20: "the certificate authority is not trusted (unable to get local issuer certificate)",
    21: "the certificate authority is not trusted (unable to verify the first certificate)",
}


def describe_error(error: Exception, target: Endpoint) -> str:
    """Return one sentence about a failed delivery, with the address of the receiver."""
    text = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    match error:
        case NoResponse():
            return f"{target} {error}"
        case ssl.SSLCertVerificationError():
            fault = _CERTIFICATE_FAULTS.get(getattr(error, "verify_code", 0))
            fault = fault or getattr(error, "verify_message", None) or str(error)
            advice = "; in a sandbox lab.trust(pem) trusts an authority" if "not trusted" in fault else ""
            return f"the certificate of {target} is not valid: {fault}{advice}"
        case ssl.SSLError():
            return f"the TLS connection to {target} failed: {(error.reason or str(error)).replace('_', ' ').lower()}"
        case socket.gaierror():
            return f"the host {target.host} was not found: {text}"
        case ConnectionRefusedError():
            return f"nothing listens at {target}: connection refused"
        case ConnectionError():
            return f"{target} closed the connection without a response"
    return f"{target} cannot be reached: {text}"


_IDLE_SECONDS = 30.0
_CLOSING_SECONDS = 1.0


class HttpsSender:
    """Sends messages within one event loop. `timeout` is in seconds. `connections` is the limit for each receiver."""

    def __init__(self, trust: TrustStore, *, timeout: float, connections: int) -> None:
        self._trust = trust
        self._timeout = timeout
        self._connections = connections
        self._pools: dict[tuple[str, int], _HostPool] = {}

    async def send(self, address: str, headers: Sequence[tuple[str, str]], body: bytes) -> AttemptOutcome:
        """Send a message and return the outcome, which has the receiver's status or a sentence about the failure."""
        try:
            target = parse_endpoint(address)
            text = message(target.path, target.authority, headers, body)
        except ValueError as error:
            return AttemptOutcome(None, str(error))
        try:
            pool = self._pools.get((target.host, target.port))
            if pool is None:
                pool = _HostPool(target, self._trust, self._timeout, self._connections)
                self._pools[target.host, target.port] = pool
            return AttemptOutcome(await pool.send(text))
        except TimeoutError:
            return AttemptOutcome(None, f"{target} gave no response within {self._timeout:g} seconds")
        except (OSError, ValueError, NoResponse) as error:
            return AttemptOutcome(None, describe_error(error, target))

    async def close(self) -> None:
        """Close all connections, and wait until their sockets are closed."""
        lost = [future for pool in self._pools.values() for future in pool.close()]
        self._pools.clear()
        if lost:
            await asyncio.wait(lost, timeout=_CLOSING_SECONDS)


class _HostPool:
    def __init__(self, target: Endpoint, trust: TrustStore, timeout: float, limit: int) -> None:
        self._target = target
        self._trust = trust
        self._timeout = timeout
        self._limit = limit
        self._free = asyncio.Semaphore(limit)
        self._connections: dict[Connection, None] = {}
        self._connecting = 0
        self._resolving: asyncio.Future[list[AddrInfo]] | None = None

    async def send(self, text: bytes) -> int:
        """Send a message and return the HTTP status. The timeout begins when a connection is free."""
        async with self._free, asyncio.timeout(self._timeout):
            for connection in reversed(self._connections):
                if connection.state is ConnectionState.IDLE and not self._trust.is_revoked(connection.certificate):
                    try:
                        return await connection.send(text)
                    except (OSError, NoResponse):
                        if connection.received:
                            raise
                        break  # the receiver has closed the idle connection, so the message was not sent
            connection = await self._open()
            return await connection.send(text)

    async def _open(self) -> Connection:
        # Close connections that only read the rest of a response, because the number of connections is limited.
        reading_rest = [link for link in self._connections if link.state is ConnectionState.READING_REST]
        for connection in reading_rest[: max(0, len(self._connections) + self._connecting + 1 - self._limit)]:
            connection.abort()
        self._connecting += 1
        try:
            if self._resolving is None or self._resolving.done():
                self._resolving = resolve(self._target)
            addresses = await asyncio.shield(self._resolving)  # several tasks wait for the same look-up
            return await connect(
                self._target,
                addresses,
                self._trust,
                lambda: Connection(self._on_change, rest=self._timeout, idle=_IDLE_SECONDS),
            )
        finally:
            self._connecting -= 1

    def _on_change(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        if connection.state is not ConnectionState.CLOSED:
            self._connections[connection] = None

    def close(self) -> list[asyncio.Future[None]]:
        """Close every connection. Return futures that are done when the sockets are closed."""
        if self._resolving:
            self._resolving.cancel()
        connections = list(self._connections)
        for connection in connections:
            connection.abort()
        return [connection.lost for connection in connections]
