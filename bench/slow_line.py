"""`python -m bench.slow_line HOST PORT SECONDS`: forwards connections, and delivers all bytes so much later."""

from __future__ import annotations

import asyncio
import sys
from asyncio import Queue, StreamReader, StreamWriter

_BLOCK = 256 * 1024


async def main(host: str, port: int, seconds: float) -> None:
    """Print the port, and forward connections until the process ends."""

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(host, port)
        await asyncio.gather(_forward(reader, to_writer, seconds), _forward(to_reader, writer, seconds))

    server = await asyncio.start_server(serve, "127.0.0.1")
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


async def _forward(reader: StreamReader, writer: StreamWriter, seconds: float) -> None:
    """Write what arrives after so many seconds. A block does not wait for the block before it."""
    blocks: Queue[tuple[float, bytes]] = Queue()
    writing = asyncio.create_task(_write(blocks, writer))
    now = asyncio.get_running_loop().time
    try:
        while block := await reader.read(_BLOCK):
            blocks.put_nowait((now() + seconds, block))
    except ConnectionError:
        pass
    blocks.put_nowait((now() + seconds, b""))
    await writing


async def _write(blocks: Queue[tuple[float, bytes]], writer: StreamWriter) -> None:
    now = asyncio.get_running_loop().time
    while True:
        due, block = await blocks.get()
        await asyncio.sleep(due - now())
        if not block:
            break
        writer.write(block)
    writer.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
