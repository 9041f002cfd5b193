"""Posts messages over HTTPS, on connections that are kept and used again (A8-04, N-08).

A receiver is a host and a port, and has so many lines at most; one receiver never waits for another. The status
decides. Redirects are not followed. Nothing that a receiver sends makes `send` raise or take longer than its
timeout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...core.delivery_schedule import AttemptOutcome
from .connect import AddrInfo, Endpoint, connect, describe_error, resolve, target_of
from .connection import Connection, ConnectionState, NoResponse, message
from .trust_store import TrustStore

_IDLE_SECONDS = 30.0
_CLOSING_SECONDS = 1.0


class HttpsSender:
    """Sends messages; to be used within one event loop. Times in seconds."""

    def __init__(self, trust: TrustStore, *, timeout: float, connections: int) -> None:
        self._trust = trust
        self._timeout = timeout
        self._most = connections
        self._receivers: dict[tuple[str, int], _HostPool] = {}

    async def send(self, address: str, headers: Sequence[tuple[str, str]], body: bytes) -> AttemptOutcome:
        """Post a message: the status that decides, or in one sentence why there is none."""
        try:
            target = target_of(address)
            text = message(target.path, target.authority, headers, body)
        except ValueError as error:
            return AttemptOutcome(None, str(error))
        try:
            return AttemptOutcome(await self._receiver(target).send(text))
        except TimeoutError:
            return AttemptOutcome(None, f"{target} gave no answer within {self._timeout:g} seconds")
        except (OSError, ValueError, NoResponse) as error:
            return AttemptOutcome(None, describe_error(error, target))

    async def close(self) -> None:
        """Let go of all connections; when it returns, their sockets are closed."""
        lost = [future for receiver in self._receivers.values() for future in receiver.close()]
        self._receivers.clear()
        if lost:
            await asyncio.wait(lost, timeout=_CLOSING_SECONDS)

    def _receiver(self, target: Endpoint) -> _HostPool:
        key = (target.host, target.port)
        if key not in self._receivers:
            self._receivers[key] = _HostPool(target, self._trust, self._timeout, self._most)
        return self._receivers[key]


class _HostPool:
    """The lines to one host and port, the one that was used last at the end."""

    def __init__(self, target: Endpoint, trust: TrustStore, timeout: float, most: int) -> None:
        self._target = target
        self._trust = trust
        self._timeout = timeout
        self._most = most
        self._turns = asyncio.Semaphore(most)
        self._lines: dict[Connection, None] = {}
        self._opening = 0
        self._places: asyncio.Future[list[AddrInfo]] | None = None

    async def send(self, text: bytes) -> int:
        """The status. Waiting for a turn is not the receiver's fault, and does not count against its time."""
        async with self._turns, asyncio.timeout(self._timeout):
            kept = self._kept()
            if kept:
                try:
                    return await _ask(kept, text)
                except (OSError, NoResponse):
                    if kept.heard:
                        raise
            # Nothing was heard: the receiver had closed a kept line meanwhile, which is no attempt.
            return await _ask(await self._open(), text)

    def _kept(self) -> Connection | None:
        for line in reversed(self._lines):
            if line.standing is ConnectionState.IDLE and not self._trust.is_revoked(line.certificate):
                return line
        return None

    async def _open(self) -> Connection:
        self._make_room()
        self._opening += 1
        try:
            return await connect(self._target, await self._found(), self._trust, self._new_line)
        finally:
            self._opening -= 1

    def _make_room(self) -> None:
        """Rather than to wait for the end of an answer whose status is known, cut it."""
        resting = [line for line in self._lines if line.standing is ConnectionState.RESTING]
        for line in resting[: max(0, len(self._lines) + self._opening + 1 - self._most)]:
            line.abort()

    async def _found(self) -> list[AddrInfo]:
        """Where the receiver is: asked once for all who wait for it."""
        if self._places is None or self._places.done():
            self._places = resolve(self._target)
        return await asyncio.shield(self._places)

    def _new_line(self) -> Connection:
        return Connection(self._changed, rest=self._timeout, idle=_IDLE_SECONDS)

    def _changed(self, line: Connection) -> None:
        self._lines.pop(line, None)
        if line.standing is not ConnectionState.GONE:
            self._lines[line] = None

    def close(self) -> list[asyncio.Future[None]]:
        """Cut every line; what is done when their sockets are closed."""
        if self._places:
            self._places.cancel()
        lines = list(self._lines)
        for line in lines:
            line.abort()
        return [line.lost for line in lines]


async def _ask(line: Connection, text: bytes) -> int:
    try:
        return await line.ask(text)
    except BaseException:
        line.abort()
        raise
