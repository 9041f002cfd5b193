"""Measures how many requests two workers handle beside one: `python -m tests.scale.speedup`.

Each worker has a fixed share of a processor, which a control group of Linux limits. So PostgreSQL and the clients have
enough CPU time, even on a machine with two processors, and what is measured is whether the workers wait for each other.
One worker and two workers take turns. The command needs root and control groups of version 1.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple
from uuid import uuid4

import psutil
import psycopg

from tests.scale.conftest import Place
from tests.scale.cpu import server_cpu, server_process
from tests.scale.cpu_quota import NoQuota, with_cpu
from tests.scale.load import Client, http_request, requests_per_second
from tests.scale.postgres_server import running_server
from tests.scale.workers import Worker, sent, workers

_SHARE = 0.3
_CLIENTS = 4
"""The connections to each worker, each of a user of its own."""
_FILES = "/storage/v3/files"
_FILES_OF_A_USER = 4
_SECONDS = 2.0
_ROUNDS = 7
_READS, _UPLOADS, _EVENTS = "metadata and lists", "uploads of 1,000 bytes", "new events"
_LOADS = {_READS: (1, 0, 0), _UPLOADS: (0, 1, 0), _EVENTS: (0, 0, 1), "all of them": (7, 2, 1)}
"""How many requests of each kind a load has."""


class _Round(NamedTuple):
    alone: float
    together: float


def main() -> int:
    """Print the requests per second of one worker and of two, and return the exit status."""
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        address = stack.enter_context(running_server())
        with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE speedup")
            server = server_process(connection)
        running = stack.enter_context(workers(Place(f"{address}/speedup", Path(scratch, "content")), 2, "t"))
        processes = [psutil.Process(), server, *(psutil.Process(worker.process_id) for worker in running)]
        print(f"Each worker has {_SHARE:.0%} of a processor, and {_CLIENTS} connections.")
        print("| load | one worker | two workers | ratio | processors: clients | PostgreSQL | workers |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for load, mix in _LOADS.items():
            clients = [list(_clients(worker, mix)) for worker in running]
            with ExitStack() as limits:
                try:
                    limits.enter_context(with_cpu([os.getpid(), *_with_children(server)]))
                    for worker in running:
                        limits.enter_context(with_cpu([worker.process_id], share=_SHARE))
                except NoQuota as error:
                    print(f"tests.scale.speedup: {error}", file=sys.stderr)
                    return 77
                _measure(load, clients, processes)
    return 0


def _with_children(process: psutil.Process) -> list[int]:
    return [process.pid, *(each.pid for each in process.children(recursive=True))]


def _measure(load: str, clients: Sequence[Sequence[Client]], processes: Sequence[psutil.Process]) -> None:
    """Print the requests per second of one worker and of two, the ratio, and the processors that are used by two."""
    rounds, used = list[_Round](), [0.0] * len(processes)
    for _ in range(_ROUNDS):
        alone = [requests_per_second(each, _SECONDS / 2) for each in clients]
        before = _cpu(processes)
        together = requests_per_second([client for each in clients for client in each], _SECONDS)
        used = [(after - each) / _SECONDS for each, after in zip(before, _cpu(processes), strict=True)]
        rounds.append(_Round(sum(alone) / len(alone), together))
    single, double = (median(column) for column in zip(*rounds, strict=True))
    ratios = sorted(each.together / each.alone for each in rounds)
    print(
        f"| {load} | {single:.0f} | {double:.0f} | {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |"
        f" {used[0]:.2f} | {used[1]:.2f} | {used[2]:.2f} and {used[3]:.2f} |",
        flush=True,
    )


def _cpu(processes: Sequence[psutil.Process]) -> list[float]:
    """Return the CPU seconds of the clients, of PostgreSQL and of the workers."""
    own, server, *others = processes
    return [sum(own.cpu_times()[:2]), server_cpu(server), *(sum(each.cpu_times()[:2]) for each in others)]


def _clients(worker: Worker, mix: tuple[int, int, int]) -> Iterator[Client]:
    for number in range(_CLIENTS):
        user = {"user": f"user-{uuid4().hex}@svc.example"}
        token = sent(worker, "POST", "/_control/tokens", user)["access_token"]
        ids = [sent(worker, "POST", _FILES, {"name": f"file {each}"}, token)["id"] for each in range(_FILES_OF_A_USER)]
        yield Client(
            worker.base_url, _requests(partial(http_request, worker.base_url, token), ids, mix, Random(number))
        )


def _requests(
    request: Callable[..., bytes], ids: Sequence[str], mix: tuple[int, int, int], random: Random
) -> Iterator[bytes]:
    """Yield the requests of one user without an end."""
    event = {"summary": "x", "start": {"date": "2026-11-02"}, "end": {"date": "2026-11-03"}}
    upload = request("POST", "/upload/storage/v3/files?uploadType=media", bytes(1000), "application/x-data")
    create = request("POST", "/calendar/v3/calendars/primary/events", json.dumps(event).encode(), "application/json")
    reads = cycle([*(request("GET", f"{_FILES}/{each}") for each in ids), request("GET", f"{_FILES}?pageSize=20")])
    while True:
        yield random.choices([next(reads), upload, create], mix)[0]


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers and the control groups end, too
    sys.exit(main())
