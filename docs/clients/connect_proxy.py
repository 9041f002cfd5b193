"""Leads every HTTPS connection of a program to one service on this machine.

    python connect_proxy.py 127.0.0.1:8443

prints the address of the proxy, for the variable HTTPS_PROXY of the program. Whichever host the program asks for, the
connection goes to the service, which needs a certificate for that host. Nothing reaches the host itself.
"""

import asyncio
import sys


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy all bytes of one direction, and close the other side at their end."""
    try:
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main(host: str, port: str) -> None:
    """Listen on a free port of 127.0.0.1 until the process ends."""

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"CONNECT "):
            writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nAllow: CONNECT\r\nContent-Length: 0\r\n\r\n")
            writer.close()
            return
        service_reader, service_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(copy(reader, service_writer), copy(service_reader, writer))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1].split(":")))
