"""Clients of one service that send GET requests over connections of their own, and measure the responses.

`python -m bench.clients URL TARGET SECONDS TOKEN...` sends requests until its standard input ends, with one
connection for each token and a pause of so many seconds between a response and the next request.
Its first line of output says that it has started.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread


async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> None:
    """Send a request, and read the response. Raises RuntimeError for another status than 200."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode("latin-1"))
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))


async def _client(
    netloc: str, target: str, token: str, pause: float, start: float, until: asyncio.Event
) -> list[float]:
    host, port = netloc.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    request = f"GET {target} HTTP/1.1\r\nHost: {netloc}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    seconds: list[float] = []
    await asyncio.sleep(start)
    while not until.is_set():
        begun = time.perf_counter()
        await respond(reader, writer, request)
        seconds.append(time.perf_counter() - begun)
        await asyncio.sleep(max(0.0, pause - seconds[-1]))
    writer.close()
    return seconds


async def _clients(netloc: str, target: str, tokens: Sequence[str], pause: float, until: asyncio.Event) -> list[float]:
    starts = [number * pause / len(tokens) for number in range(len(tokens))]
    runs = [_client(netloc, target, token, pause, start, until) for token, start in zip(tokens, starts, strict=True)]
    return [seconds for run in await asyncio.gather(*runs) for seconds in run]


def send_requests(netloc: str, target: str, tokens: Sequence[str], *, pause: float, duration: float) -> list[float]:
    """Send requests for `duration` seconds, each client one in `pause` seconds, and return the seconds of each."""

    async def run() -> list[float]:
        until = asyncio.Event()
        asyncio.get_running_loop().call_later(duration, until.set)
        return await _clients(netloc, target, tokens, pause, until)

    return asyncio.run(run())


@contextmanager
def greedy_clients(netloc: str, target: str, tokens: Sequence[str]) -> Iterator[None]:
    """Send requests without a pause from another process during a `with` block."""
    command = [sys.executable, "-m", __name__, netloc, target, "0", *tokens]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        try:
            if not process.stdout.readline():
                raise RuntimeError("the clients did not start")
            yield
        finally:
            process.stdin.close()
            process.wait(30)


def main(netloc: str, target: str, pause: str, *tokens: str) -> None:
    """Send requests until the standard input ends."""

    async def run() -> None:
        until, loop = asyncio.Event(), asyncio.get_running_loop()

        def wait_for_end() -> None:
            sys.stdin.read()
            loop.call_soon_threadsafe(until.set)

        Thread(target=wait_for_end, daemon=True).start()
        print("started", flush=True)
        await _clients(netloc, target, tokens, float(pause), until)

    asyncio.run(run())


if __name__ == "__main__":
    main(*sys.argv[1:])
