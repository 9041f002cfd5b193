"""Fixtures that send messages as the service does, to receivers of the standard library."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from svc_notebooks.core.notifications.deliveries import AttemptOutcome
from svc_notebooks.server.notifications.https_sender import HttpsSender
from svc_notebooks.server.notifications.trust_store import TrustStore
from tests.receivers import AUTHORITY, pem_of, receiver

HEADERS = [("Content-Type", "application/json; charset=UTF-8"), ("X-Svc-Message-Number", "1")]


class Sender:
    """Creates an HttpsSender for each `run`, with settings that can be changed before."""

    def __init__(self) -> None:
        self.trust = TrustStore()
        self.trust.add(pem_of(AUTHORITY))
        self.timeout = 5.0
        self.connections = 32
        self.seconds = 0.0

    def run(self, work: Callable[[HttpsSender], Awaitable[Any]]) -> Any:
        async def main() -> Any:
            https = HttpsSender(self.trust, timeout=self.timeout, connections=self.connections)
            try:
                return await work(https)
            finally:
                await https.close()
                assert len(asyncio.all_tasks()) == 1

        begun = time.monotonic()
        try:
            return asyncio.run(main())
        finally:
            self.seconds = time.monotonic() - begun

    def send(self, address: str, *, headers: list[tuple[str, str]] = HEADERS, body: bytes = b"") -> AttemptOutcome:
        return self.run(lambda https: https.send(address, headers, body))

    def in_a_row(self, address: str, count: int, pause: float = 0.0) -> list[AttemptOutcome]:
        async def work(https: HttpsSender) -> list[AttemptOutcome]:
            outcomes = []
            for _ in range(count):
                outcomes.append(await https.send(address, HEADERS, b""))
                await asyncio.sleep(pause)
            return outcomes

        return self.run(work)

    def at_once(self, *addresses: str) -> list[AttemptOutcome]:
        return self.run(lambda https: asyncio.gather(*(https.send(address, HEADERS, b"") for address in addresses)))


@pytest.fixture
def sender():
    return Sender()


@pytest.fixture
def https_receiver():
    with receiver() as https_receiver:
        yield https_receiver
