"""Sends messages over HTTPS, on connections that are kept open and reused (A8-04, N-08).

The number of connections to each receiver (a host and a port) is limited, and no receiver waits for another receiver.
Redirects are not followed. No response of a receiver makes `send` raise or exceed its timeout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...core.notifications.delivery_schedule import AttemptOutcome
from .endpoints import Endpoint, parse_endpoint
from .open_connection import AddrInfo, connect, describe_error, resolve
from .receiver_connection import Connection, ConnectionState, NoResponse, message
from .trust_store import TrustStore

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
