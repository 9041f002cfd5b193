"""`python -m bench.hooks SECONDS`: an HTTPS receiver that answers 200 after this time.

One line of JSON says where it is and which authority to trust. It reads no more of HTTP than it needs: what is
measured is who sends.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import sys

import trustme

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Hook(asyncio.Protocol):
    """One connection."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while (end := _end_of_request(self._unread)) is not None:
            self._unread = self._unread[end:]
            if self._seconds:
                asyncio.get_running_loop().call_later(self._seconds, self._transport.write, _ANSWER)
            else:
                self._transport.write(_ANSWER)


def _end_of_request(text: bytes) -> int | None:
    head, blank, body = text.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    size = int(length[1]) if length else 0
    return len(head) + len(blank) + size if blank and len(body) >= size else None


async def main(seconds: float) -> None:
    """Receive until the process is ended."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Hook(seconds), "127.0.0.1", 0, ssl=context, backlog=256)
    address = f"https://localhost:{server.sockets[0].getsockname()[1]}/hook"
    print(json.dumps({"address": address, "ca_pem": authority.cert_pem.bytes().decode()}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
