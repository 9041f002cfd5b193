"""Measures a service that 16 clients use for eight minutes, in which files and events become more and more."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from statistics import median

from tests.bench.classroom import FEW, SORTED, served, tokens
from tests.bench.clients import respond
from tests.bench.table import Row, at_most, compare, milliseconds

CLIENTS = 16
MINUTES = 8
PAUSE = 0.1
"""The seconds between the starts of two requests of a client."""

LIMIT = 1.2
FILLED = 100
"""The files and events of each client before the start, so that the first lists are as long as the last ones."""

_EVENTS = "/calendar/v3/calendars/primary/events"


def _event(number: int) -> tuple[str, str, bytes]:
    day = f"2026-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"
    times = {"start": {"dateTime": f"{day}T09:00:00Z"}, "end": {"dateTime": f"{day}T10:00:00Z"}}
    return "POST", _EVENTS, json.dumps({"summary": f"event {number}", **times}).encode()


REQUESTS: Mapping[str, Callable[[int], tuple[str, str, bytes]]] = {
    "about": lambda number: ("GET", "/storage/v3/about?fields=user", b""),
    "files.list": lambda number: ("GET", "/storage/v3/files?pageSize=100", b""),
    "files.list, sorted": lambda number: ("GET", SORTED, b""),
    "upload": lambda number: ("POST", "/upload/storage/v3/files?uploadType=media", b"%01000d" % number),
    "events.list": lambda number: ("GET", f"{_EVENTS}?singleEvents=true&orderBy=startTime&maxResults=50", b""),
    "events.insert": _event,
}
"""What each client sends in turn: the method, the target and the body of a request with a number."""


def soak(minutes: float = MINUTES) -> Iterator[Row]:
    """The p50 of each request in the last minute beside that in the first."""
    with served(FEW) as service:
        seconds = asyncio.run(_clients(service.netloc, 60 * minutes))
    window = min(60.0, 30 * minutes)
    for name, measured in seconds.items():
        first = median(cost for moment, cost in measured if moment < window)
        last = median(cost for moment, cost in measured if moment >= 60 * minutes - window)
        work = f"{minutes:g} minutes with {CLIENTS} clients: {name}, p50 of the last minute"
        yield compare(work, (last,), (first,), "the first minute", at_most(LIMIT), milliseconds)


async def _clients(netloc: str, duration: float) -> dict[str, list[tuple[float, float]]]:
    """Send requests, and return the time since the start and the seconds of each, by the name of the request."""
    measured: dict[str, list[tuple[float, float]]] = defaultdict(list)
    filled = asyncio.Barrier(CLIENTS)

    async def client(position: int, token: str) -> None:
        host, port = netloc.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for number in range(FILLED):
            for name in ("upload", "events.insert"):
                await respond(reader, writer, _request(netloc, token, *REQUESTS[name](number)))
        await filled.wait()
        start = time.perf_counter()
        due, number = start + PAUSE * position / CLIENTS, position
        while due < start + duration:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            name = [*REQUESTS][number % len(REQUESTS)]
            begun = time.perf_counter()
            await respond(reader, writer, _request(netloc, token, *REQUESTS[name](number)))
            measured[name].append((begun - start, time.perf_counter() - begun))
            due, number = max(due + PAUSE, time.perf_counter()), number + 1
        writer.close()

    await asyncio.gather(*(client(position, token) for position, token in enumerate(tokens(CLIENTS))))
    return measured


def _request(netloc: str, token: str, method: str, target: str, body: bytes) -> bytes:
    media_type = "application/json" if target == _EVENTS else "text/plain"
    head = f"{method} {target} HTTP/1.1\r\nHost: {netloc}\r\nAuthorization: Bearer {token}\r\n"
    head += f"Content-Type: {media_type}\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{head}\r\n".encode() + body
