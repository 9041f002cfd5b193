"""Sends messages over HTTPS, on connections that are kept open for each host."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any

from ...core.notifications.messages import AttemptOutcome
from .channels import Endpoint, parse_endpoint
from .receiver_connection import Connection, ConnectionState, NoResponse, message
from .trust_store import TrustStore

AddrInfo = tuple[Any, Any, int, str, Any]
"""A row of getaddrinfo."""

_CONNECT_SECONDS = 2.0  # after this time, the next address of the host is tried
_TLS_SHUTDOWN_SECONDS = 1.0


def resolve(target: Endpoint) -> asyncio.Future[list[AddrInfo]]:
    """Look up a host's IP addresses in a new thread, because a silent name server would block the shared threads."""
    loop = asyncio.get_running_loop()
    addresses: asyncio.Future[list[AddrInfo]] = loop.create_future()

    def set_outcome(outcome: list[AddrInfo] | Exception) -> None:
        if addresses.done():
            return
        if isinstance(outcome, Exception):
            addresses.set_exception(outcome)
        else:
            addresses.set_result(outcome)

    def look_up() -> None:
        outcome: list[AddrInfo] | Exception
        try:
            outcome = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        except (OSError, ValueError) as error:
            outcome = error
        with suppress(RuntimeError):  # the loop is closed, so no task waits for the result
            loop.call_soon_threadsafe(set_outcome, outcome)

    addresses.add_done_callback(lambda done: done.cancelled() or done.exception())  # or asyncio warns of unread errors
    Thread(target=look_up, name="svc-lookup", daemon=True).start()
    return addresses


async def connect(
    target: Endpoint, addresses: Sequence[AddrInfo], trust: TrustStore, make_connection: Callable[[], Connection]
) -> Connection:
    """Connect to the first address that accepts, start TLS and return the connection.

    Raises OSError if no address accepts or TLS fails, ValueError for an invalid host name, and NoResponse for a revoked
    certificate.
    """
    loop = asyncio.get_running_loop()
    sock = await _connect_socket(addresses)
    try:
        _, connection = await loop.create_connection(
            make_connection,
            sock=sock,
            ssl=trust.context_of(str(target)),
            server_hostname=target.host,
            ssl_shutdown_timeout=_TLS_SHUTDOWN_SECONDS,
        )
    except BaseException:
        sock.close()
        raise
    if trust.is_revoked(connection.certificate):
        connection.abort()
        raise NoResponse("uses a revoked certificate")
    return connection


async def _connect_socket(addresses: Sequence[AddrInfo]) -> socket.socket:
    failure: Exception = OSError("the host name has no address")
    for address in addresses:
        family, kind, protocol, _, sock_address = address
        seconds = None if address is addresses[-1] else _CONNECT_SECONDS
        try:
            sock = socket.socket(family, kind, protocol)
            try:
                sock.setblocking(False)
                async with asyncio.timeout(seconds):
                    await asyncio.get_running_loop().sock_connect(sock, sock_address)
                return sock
            except BaseException:
                sock.close()
                raise
        except OSError as error:
            failure = error
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
            return f"the certificate of {target} is not valid: {fault}"
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
                        return await _send(connection, text)
                    except (OSError, NoResponse):
                        if connection.received:
                            raise
                        break  # the receiver has closed the idle connection, so the message was not sent
            return await _send(await self._open(), text)

    async def _open(self) -> Connection:
        # Close connections that only read the rest of a response, because the number of connections is limited.
        reading_rest = [each for each in self._connections if each.state is ConnectionState.READING_REST]
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


async def _send(connection: Connection, text: bytes) -> int:
    try:
        return await connection.send(text)
    except BaseException:
        connection.abort()
        raise
