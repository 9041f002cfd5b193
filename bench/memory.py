"""Measures the memory growth of client and service over 1 GiB up and 1 GiB down.

Both are fresh in each round, and both have moved a small file before the watch begins, so that imports are not counted.
What is counted is the resident set at its highest, looked at every 5 ms. A round in which the system had taken memory
from a process before the watch began counts more, so the median of the rounds is shown.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from bench import processes
from bench.processes import MIB, MemoryWatch, Served, folder
from bench.rounds import ROUNDS, Ratio
from bench.table import Row, at_most, verdict

SIZE = 1024
CHUNK = 8
LIMIT = CHUNK + 4


def growth() -> Iterator[Row]:
    """Each side, there and back."""
    rounds = [_measured() for _ in range(ROUNDS)]
    for side, sizes in zip(("client", "service"), zip(*rounds, strict=True), strict=True):
        grown = Ratio(median(sizes), min(sizes), max(sizes))
        text = f"{grown.median_ratio:.1f} MiB ({grown.minimum:.1f} to {grown.maximum:.1f})"
        work = f"memory growth of the {side}, 1 GiB up and down"
        yield Row(work, text, "", "", f"≤ {LIMIT} MiB", verdict(at_most(LIMIT), grown))


def _measured() -> list[float]:
    """Return the growth of a client and of its service in MiB."""
    with ExitStack() as stack:
        directory = stack.enter_context(folder())
        served = stack.enter_context(processes.ours(directory / "store"))
        client = stack.enter_context(_client(served, directory))
        with MemoryWatch(client.pid, served.pid) as watch:
            for order in ("up", "down"):
                _send_order(client, order)
        return [grown / MIB for grown in watch.growth]


@contextmanager
def _client(served: Served, directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Our client in a process of its own, warm, waiting for its orders."""
    large = directory / "large.bin"
    with large.open("wb") as file:
        file.truncate(SIZE * MIB)
    command = [sys.executable, "-m", "bench.mover", served.base_url, str(directory), str(CHUNK * MIB)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as client:
        assert client.stdout
        assert client.stdout.readline() == "warm\n"
        yield client
        client.terminate()


def _send_order(client: subprocess.Popen[str], order: str) -> None:
    assert client.stdin
    assert client.stdout
    client.stdin.write(f"{order}\n")
    client.stdin.flush()
    assert client.stdout.readline() == f"{order}\n"
