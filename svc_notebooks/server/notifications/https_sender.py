"""Posts messages over HTTPS, on connections that are kept and used again (A8-04, N-08).

A receiver is a host and a port, and has so many lines at most; one receiver never waits for another. The status
decides. Redirects are not followed. Nothing that a receiver sends makes `send` raise or take longer than its
timeout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...core.notifications.delivery_schedule import AttemptOutcome
from .connection import Connection, ConnectionState, NoResponse, message
from .open_connection import AddrInfo, Endpoint, connect, describe_error, parse_endpoint, resolve
from .trust_store import TrustStore

_IDLE_SECONDS = 30.0
_CLOSING_SECONDS = 1.0


class HttpsSender:
    """Sends messages; to be used within one event loop. Times in seconds."""

    def __init__(self, trust: TrustStore, *, timeout: float, connections: int) -> None:
        self._trust = trust
        self._timeout = timeout
        self._connections = connections
        self._pools: dict[tuple[str, int], _HostPool] = {}

    async def send(self, address: str, headers: Sequence[tuple[str, str]], body: bytes) -> AttemptOutcome:
        """Post a message: the status that decides, or in one sentence why there is none."""
        try:
            target = parse_endpoint(address)
            text = message(target.path, target.authority, headers, body)
        except ValueError as error:
            return AttemptOutcome(None, str(error))
        try:
            return AttemptOutcome(await self._pool(target).send(text))
        except TimeoutError:
            return AttemptOutcome(None, f"{target} gave no answer within {self._timeout:g} seconds")
        except (OSError, ValueError, NoResponse) as error:
            return AttemptOutcome(None, describe_error(error, target))

    async def close(self) -> None:
        """Let go of all connections; when it returns, their sockets are closed."""
        lost = [future for pool in self._pools.values() for future in pool.close()]
        self._pools.clear()
        if lost:
            await asyncio.wait(lost, timeout=_CLOSING_SECONDS)

    def _pool(self, target: Endpoint) -> _HostPool:
        key = (target.host, target.port)
        if key not in self._pools:
            self._pools[key] = _HostPool(target, self._trust, self._timeout, self._connections)
        return self._pools[key]


class _HostPool:
    """The lines to one host and port, the one that was used last at the end."""

    def __init__(self, target: Endpoint, trust: TrustStore, timeout: float, most: int) -> None:
        self._target = target
        self._trust = trust
        self._timeout = timeout
        self._limit = most
        self._free = asyncio.Semaphore(most)
        self._connections: dict[Connection, None] = {}
        self._connecting = 0
        self._resolving: asyncio.Future[list[AddrInfo]] | None = None

    async def send(self, text: bytes) -> int:
        """The status. Waiting for a turn is not the receiver's fault, and does not count against its time."""
        async with self._free, asyncio.timeout(self._timeout):
            idle = self._idle_connection()
            if idle:
                try:
                    return await _send(idle, text)
                except (OSError, NoResponse):
                    if idle.received:
                        raise
            # Nothing was heard: the receiver had closed a kept line meanwhile, which is no attempt.
            return await _send(await self._open(), text)

    def _idle_connection(self) -> Connection | None:
        for connection in reversed(self._connections):
            if connection.state is ConnectionState.IDLE and not self._trust.is_revoked(connection.certificate):
                return connection
        return None

    async def _open(self) -> Connection:
        self._make_room()
        self._connecting += 1
        try:
            return await connect(self._target, await self._addresses(), self._trust, self._new_connection)
        finally:
            self._connecting -= 1

    def _make_room(self) -> None:
        """Rather than to wait for the end of an answer whose status is known, cut it."""
        reading_rest = [
            connection for connection in self._connections if connection.state is ConnectionState.READING_REST
        ]
        for line in reading_rest[: max(0, len(self._connections) + self._connecting + 1 - self._limit)]:
            line.abort()

    async def _addresses(self) -> list[AddrInfo]:
        """Where the receiver is: asked once for all who wait for it."""
        if self._resolving is None or self._resolving.done():
            self._resolving = resolve(self._target)
        return await asyncio.shield(self._resolving)

    def _new_connection(self) -> Connection:
        return Connection(self._on_change, rest=self._timeout, idle=_IDLE_SECONDS)

    def _on_change(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        if connection.state is not ConnectionState.CLOSED:
            self._connections[connection] = None

    def close(self) -> list[asyncio.Future[None]]:
        """Cut every line; what is done when their sockets are closed."""
        if self._resolving:
            self._resolving.cancel()
        connections = list(self._connections)
        for line in connections:
            line.abort()
        return [line.lost for line in connections]


async def _send(connection: Connection, text: bytes) -> int:
    try:
        return await connection.send(text)
    except BaseException:
        connection.abort()
        raise
