"""Measures the writes a second of workers on a PostgreSQL server that waits for its disk: `make scale ARGS=--writes`.

python -m tests.scale.writes                          16 clients and 1, 2 and 4 workers, in three rounds
python -m tests.scale.writes --tree ../before --tree .   compares two versions of the package, in turn
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.scale.conftest import empty_database
from tests.scale.postgres_server import DURABLE, running_server
from tests.scale.workers import sent

FILES = "/storage/v3/files"
CLIENTS = 16


class Client:
    """A connection of a user who creates a file and changes it, in turn."""

    def __init__(self, base_url: str, token: str) -> None:
        self._host = urlsplit(base_url).netloc
        self._token = token
        self._connection = socket.create_connection((urlsplit(base_url).hostname, urlsplit(base_url).port))
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.seconds: list[float] = []

    def run(self, end: float) -> None:
        """Send requests until a time of the monotonic clock."""
        while time.monotonic() < end:
            file = json.loads(self._send("POST", FILES, b'{"name":"x"}'))["id"]
            self._send("PATCH", f"{FILES}/{file}", b'{"description":"y"}')

    def _send(self, method: str, target: str, body: bytes) -> bytes:
        head = f"{method} {target}?fields=id HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {self._token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        begin = time.monotonic()
        self._connection.sendall(head.encode() + body)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive()
        answer, _, rest = received.partition(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200"), answer + rest
        size = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        while len(rest) < size:
            rest += self._receive()
        self.seconds.append(time.monotonic() - begin)
        return rest

    def _receive(self) -> bytes:
        block = self._connection.recv(65_536)
        assert block, "the worker has closed the connection"
        return block


@contextmanager
def workers_of(tree: str, address: str, content: Path, number: int) -> Iterator[list[str]]:
    """Run workers of a version of the package during a `with` block, and return their addresses."""
    command = [sys.executable, "-m", "svc_notebooks.cli", "serve", "--shared", "--control", "--token", "t"]
    command += ["--store", address, "--content", str(content)]
    environment = {**os.environ, "PYTHONPATH": str(Path(tree).resolve())}
    with ExitStack() as stack:
        urls = []
        for _ in range(number):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd="/")
            stack.callback(process.wait)
            stack.callback(process.terminate)
            assert process.stdout
            urls.append(json.loads(process.stdout.readline())["base_url"])
        yield urls


def measure(server: str, tree: str, number: int, seconds: float) -> tuple[float, float]:
    """Return the writes a second, and the time of a write in milliseconds that 99 of 100 do not exceed."""
    with (
        empty_database(server) as address,
        tempfile.TemporaryDirectory() as folder,
        workers_of(tree, address, Path(folder, "content"), number) as urls,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        users = [f"user{each}@svc.example" for each in range(CLIENTS)]
        tokens = [sent(urls[0], "POST", "/_control/tokens", {"user": user})["access_token"] for user in users]
        clients = [Client(urls[each % number], token) for each, token in enumerate(tokens)]
        for time_limit in (1.0, seconds):  # the first second is not counted
            for client in clients:
                client.seconds.clear()
            end = time.monotonic() + time_limit
            list(pool.map(lambda client, end=end: client.run(end), clients))
    times = sorted(each for client in clients for each in client.seconds)
    return len(times) / seconds, times[len(times) * 99 // 100] * 1000


def main(arguments: list[str]) -> int:
    """Print a line for each number of workers and each version, with the median of the rounds."""
    parser = argparse.ArgumentParser(prog="python -m tests.scale.writes")
    parser.add_argument("--tree", action="append", help="a folder with a version of the package (default: this one)")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args(arguments)
    trees = options.tree or ["."]
    with running_server(DURABLE) as server:
        for number in options.workers:
            rounds = [[measure(server, tree, number, options.seconds) for tree in trees] for _ in range(options.rounds)]
            for tree, measured in zip(trees, zip(*rounds, strict=True), strict=True):
                rate, slow = (statistics.median(values) for values in zip(*measured, strict=True))
                all_rates = ", ".join(f"{each:.0f}" for each, _ in measured)
                print(f"{number} workers, {tree}: {rate:.0f} writes/s ({all_rates}), 99 % in {slow:.0f} ms", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
