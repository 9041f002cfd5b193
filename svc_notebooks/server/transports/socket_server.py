"""Serves a service on a socket of this process, with threads."""

from __future__ import annotations

import ssl
from pathlib import Path
from threading import Event, Thread
from weakref import WeakSet

from ...core.process_fork import after_fork, close_copies
from ..service import Service
from .bind_error import cannot_listen
from .cheroot_server import CherootServer
from .connection_queue import LaneTable
from .control_api import Control
from .http1 import MOST_HEADER_BYTES
from .idle_connections import IDLE_SECONDS
from .thread_pool import PoolMonitor

MAX_THREADS = 512


class SocketServer:
    """A service on a loopback address, served by threads of this process; over TLS with a context for it.

    `ca` is for whoever asks: the file with the authority that clients must trust.

    >>> from svc_notebooks.server.service import open_service
    >>> with SocketServer(open_service(seed=0)) as server:
    ...     server.base_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        service: Service,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        control: bool = False,
        control_token: str | None = None,
        tls: ssl.SSLContext | None = None,
        ca: Path | None = None,
        threads: int = 32,
    ) -> None:
        self._server = CherootServer((host, port), threads=threads, most=max(threads, MAX_THREADS))
        self._server.request_queue_size = 1024
        self._pool_monitor = PoolMonitor(self._server.requests, lambda: self._server.responses)
        self._server.handle = Control(service, control_token).handle if control else service.handle
        self._server.bodies = set()
        self._server.open = WeakSet()
        self._server.tls = tls
        self._server.policy = service.policy
        self._server.users = LaneTable(service.user_of)
        self._server.timeout = IDLE_SECONDS
        self._server.shutdown_timeout = 5
        self._server.expiration_interval = 0.1  # also how long it takes to notice that it shall stop
        self._server.max_request_header_size = MOST_HEADER_BYTES
        self.ca = ca
        self.owner: object = None
        """What it carries belongs to this, and is kept alive while it runs: a sandbox."""
        self._thread: Thread | None = None
        self._ready = Event()
        self._failure: BaseException | None = None
        self._in_fork = False
        after_fork(self, SocketServer._close_in_fork)

    def _close_in_fork(self) -> None:
        """In a forked child: close the copies of the parent's sockets, or connections would outlive the parent's."""
        close_copies([self._server.socket, *(connection.socket for connection in self._server.open)])
        self._in_fork = True

    @property
    def base_url(self) -> str:
        """Where it is found: scheme, host and port."""
        return self._server.base_url

    def start(self) -> SocketServer:
        """Serve in a thread; when it returns, connections are taken. Raises OSError for an address in use."""
        self._thread = Thread(target=self._run, name="svc-socket", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure:
            raise self._failure
        return self

    def _run(self) -> None:
        # All of it in this thread: the threads that cheroot starts are daemons because this one is.
        try:
            self._prepare()
        except BaseException as error:
            self._failure = error
            return
        finally:
            self._ready.set()
        self._pool_monitor.start()
        self._server.serve()

    def _prepare(self) -> None:
        try:
            self._server.prepare()
        except OSError as error:
            host, port = self._server.bind_addr
            raise cannot_listen(host, port, error) from None
        host, port = self._server.socket.getsockname()[:2]
        scheme = "https" if self._server.tls else "http"
        self._server.base_url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    def serve_forever(self) -> None:
        """Serve until `stop` is called from elsewhere, or an interrupt comes."""
        if self._thread is None:
            self.start()
        assert self._thread
        while self._thread.is_alive():
            self._thread.join(0.5)

    def stop(self) -> None:
        """Take no more; end what is under way, keeping what has come of it. A forked child ends nothing."""
        if self._in_fork:
            return
        self._server.stopping = True
        for body in list(self._server.bodies):
            body.abort()
        self._pool_monitor.stop()
        self._server.stop()
        for connection in self._server.queue.drain():
            connection.close()
        if self._thread:
            self._thread.join()

    def __enter__(self) -> SocketServer:
        return self if self._thread else self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()
