"""Measures the processor time of the service for a request, while 16 clients send different requests.

Each client is a user of its own with 260 files and 260 events, and sends one request after the other over its own
connection: an upload of 1 KB, the metadata of a file, a list of files, a sorted list, a new event and a list of
events, whose pages have 20 rows each.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median

import psutil

from bench.processes import Served, folder, ours
from bench.rounds import Ratio
from bench.table import Row, at_most, verdict
from svc_notebooks.client.session import Session
from svc_notebooks.server.service import Service, open_service

CLIENTS = 16
ROWS = 260
TURNS = 8
ROUNDS = 9
GOAL = 0.6

_FILES = "/storage/v3/files"
_EVENTS = "/calendar/v3/calendars/primary/events"
_EVENT = {"summary": "Lecture", "start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}


def mixed_load() -> Iterator[Row]:
    """The processor seconds of the process of the service, divided by the number of requests."""
    with _service() as (served, requests):
        process = psutil.Process(served.pid)
        asyncio.run(_load(served.netloc, requests))  # warms up
        costs = []
        for _ in range(ROUNDS):
            before = sum(process.cpu_times()[:2])
            asyncio.run(_load(served.netloc, requests))
            costs.append((sum(process.cpu_times()[:2]) - before) / (TURNS * sum(map(len, requests))) * 1000)
    work = f"processor time of a served request, mixed load of {CLIENTS} clients"
    spread = f"{median(costs):.2f} ms ({min(costs):.2f} to {max(costs):.2f})"
    held = verdict(at_most(GOAL), Ratio(median(costs), min(costs), max(costs)))
    yield Row(work, spread, "", "", f"≤ {GOAL} ms", held)


@contextmanager
def _service() -> Iterator[tuple[Served, list[list[bytes]]]]:
    """Yield a service in a process of its own, and the requests of each client."""
    with folder(on_disk=False) as path:
        with open_service(path / "store") as service:
            files = [_make_rows(service, number) for number in range(CLIENTS)]
        with ours(path / "store") as served:
            yield served, [_requests(served.netloc, number, files[number]) for number in range(CLIENTS)]


def _make_rows(service: Service, number: int) -> str:
    """Create the files and the events of a user, and return the id of a file."""
    token = service.sign_in(f"user{number}@svc.example", token=f"token-{number}")
    session = Session("http://svc.example", token, handler=service.handle)
    for row in range(ROWS):
        file = session.call("POST", _FILES, body={"name": f"report {row}"})
        session.call("POST", _EVENTS, body=_EVENT)
    return str(file["id"])


def _requests(netloc: str, number: int, file_id: str) -> list[bytes]:
    def request(method: str, target: str, content: bytes = b"", media_type: str = "text/plain") -> bytes:
        lines = [f"{method} {target} HTTP/1.1", f"Host: {netloc}", f"Authorization: Bearer token-{number}"]
        lines += [f"Content-Type: {media_type}", f"Content-Length: {len(content)}"] if content else []
        return "\r\n".join([*lines, "", ""]).encode() + content

    return [
        request("POST", f"/upload{_FILES}?uploadType=media", bytes(1024)),
        request("GET", f"{_FILES}/{file_id}"),
        request("GET", f"{_FILES}?pageSize=20"),
        request("GET", f"{_FILES}?pageSize=20&orderBy=modifiedTime%20desc"),
        request("POST", _EVENTS, json.dumps(_EVENT).encode(), "application/json"),
        request("GET", f"{_EVENTS}?maxResults=20"),
    ]


async def _load(netloc: str, requests: Sequence[Sequence[bytes]]) -> None:
    await asyncio.gather(*(_client(netloc, own) for own in requests))


async def _client(netloc: str, requests: Sequence[bytes]) -> None:
    host, port = netloc.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    for request in [*requests] * TURNS:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode("latin-1"))
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
    writer.close()
