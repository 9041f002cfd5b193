"""A proxy before a database that drops all bytes while its connections stay open, as a network that is cut does."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from urllib.parse import urlsplit


class DroppingProxy:
    """Forwards connections to the host and port of a URL. `address` is the URL with the port of the proxy."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = parts.hostname, parts.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._drops = False
        port = self._listener.getsockname()[1]
        self.address = parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}").geturl()
        Thread(target=self._accept, daemon=True).start()

    @contextmanager
    def dropping(self) -> Iterator[None]:
        """Drop all bytes during a `with` block. At its end, the connections that have lost bytes end."""
        self._drops = True
        yield
        self.end_connections()
        self._drops = False

    def end_connections(self) -> None:
        while self._open:
            with suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End all connections, and accept no others."""
        self._listener.close()
        self.end_connections()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, server = self._listener.accept()[0], socket.create_connection(self._target)
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with source, suppress(OSError):
            with suppress(OSError):
                while data := source.recv(65_536):
                    if not self._drops:
                        target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)


@contextmanager
def dropping_proxy(target: str) -> Iterator[DroppingProxy]:
    proxy = DroppingProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
