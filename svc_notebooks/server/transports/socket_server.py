"""Runs a service on a socket of this process, with threads.

One thread accepts connections, collects the heads of requests and closes overdue connections without blocking. A
connection with a complete head gets a thread of the pool, and users get threads in turn. While a thread of the pool
runs, it accepts and collects itself, after each request: two threads would compete for the interpreter.
"""

from __future__ import annotations

import errno
import logging
import os
import selectors
import socket
import ssl
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from secrets import token_urlsafe
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, NoReturn, cast
from weakref import WeakSet

from ...core.errors.public_calls import public_methods
from ...core.http.messages import Request, Response
from ...core.platform import after_fork, close_copies
from ...core.suggestions import missing_attribute
from ...core.thread_permit import set_permit
from ..service import Service
from .client_connection import ServerConnection
from .connection_queue import BRIEF_SECONDS, FlowTable, ReadyQueue
from .control_api import served_paths
from .health import with_health
from .http1 import LengthBody

if TYPE_CHECKING:
    from .metrics import Metrics


_log = logging.getLogger(__name__)

MAX_THREADS = 512
_MAX_WAITING_CONNECTIONS = 1000
_BACKLOG = 1024
_THREADS_ADDED = 32
_CHECK_SECONDS = 0.05 if sys.platform == "win32" else 0.1  # select() on Windows misses sockets added while it waits
_GROWTH_SECONDS = 0.25
_LOOK_SECONDS = 0.001
_QUIET_CHECKS = 2
_STOP_SECONDS = 5.0


@public_methods
class SocketServer:
    """Serves a service at an address of this machine with threads of this process. `tls` is the TLS context for HTTPS.

    `ca` is the file with the certificate authority that clients must trust.

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
        metrics: Metrics | None = None,
    ) -> None:
        self.policy = service.policy
        is_open = self.policy.browser_sign_in == "choose"  # then everybody may act as every user
        self._page_key = None if is_open or control_token or service.provider else token_urlsafe(16)
        self.handle: Callable[[Request], Response] = served_paths(
            service,
            control=control,
            control_token=control_token,
            page_key=control_token or self._page_key,
            has_page=self.policy.live_page,
        )
        content = metrics.content if metrics else None
        self.handle = with_health(service, self.handle, lambda: self.draining, content)
        self.tls, self.ca = tls, ca
        self.owner: object = None  # an object that the server keeps alive while it runs, such as a sandbox
        self.origin = self.base_url = ""
        self.flow_table = FlowTable(service.user_of)
        self.bodies: set[LengthBody] = set()
        self.responses = 0
        self.draining = self.stopping = False
        self._address = host, port
        self._min_threads, self._max_threads = threads, max(threads, MAX_THREADS)
        self._queue = ReadyQueue(max(1, self._max_threads // 4), look=self._collect_ready)
        self._threads: list[Thread] = []
        self._open: WeakSet[ServerConnection] = WeakSet()
        self._selector, self._lock = selectors.DefaultSelector(), Lock()
        self._listener: socket.socket | None = None
        self._acceptor: Thread | None = None
        self._accepting = True
        self._next_look = 0.0
        self._ended = Event()
        self._in_fork = False
        after_fork(self, SocketServer._close_in_fork)

    def __repr__(self) -> str:
        uses = "; lab.access_token is a token, lab.journal() lists the requests" if self.owner else ""
        return f"<SocketServer: {self.base_url or 'not started'}{uses}>"

    def _close_in_fork(self) -> None:
        """Close the copied sockets in a forked child, because they would keep the parent's connections open."""
        close_copies([self._listener, *(connection.socket for connection in self._open)])
        self._in_fork = True

    if not TYPE_CHECKING:  # otherwise every attribute would exist for mypy

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("a server", self, name)

    def start(self) -> SocketServer:
        """Start the threads and return the server when it accepts connections. Raises OSError for an address in use."""
        self._listener = self._listen()
        host, port = self._listener.getsockname()[:2]
        self.origin = f"{'https' if self.tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
        self.base_url = self.origin + self.policy.path_prefix
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._add_threads(self._min_threads)
        self._acceptor = Thread(target=self._accept_connections, name="svc-socket", daemon=True)
        self._acceptor.start()
        return self

    @property
    def page_url(self) -> str | None:
        """The address of the live page with its key, or None if the policy has no live page.

        The key is missing if the page needs no key, and if it needs the control token.
        """
        if not self.policy.live_page:
            return None
        return f"{self.base_url}/" + (f"#key={self._page_key}" if self._page_key else "")

    def _listen(self) -> socket.socket:
        host, port = self._address
        problem = OSError(errno.EADDRNOTAVAIL, "")
        try:
            addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except OSError as error:  # an unknown name
            raise OSError(f"cannot listen at {host}:{port}: {error.strerror}") from None
        both = host == "::" and socket.has_dualstack_ipv6()
        for family, _, _, _, address in addresses:
            try:
                listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG, dualstack_ipv6=both)
            except OSError as error:
                problem = error
            else:
                listener.setblocking(False)
                return listener
        why = os.strerror(problem.errno or 0)  # without the address that create_server adds to it
        advice = "; choose another port, or 0 for any free port" if problem.errno == errno.EADDRINUSE else ""
        raise OSError(f"cannot listen at {host}:{port}: {why}{advice}")

    def add_listener(self, listener: socket.socket) -> None:
        """Accept connections also at a listening socket, for example of another network, until `remove_listener`."""
        listener.setblocking(False)
        with self._lock:
            self._selector.register(listener, selectors.EVENT_READ)

    def remove_listener(self, listener: socket.socket) -> None:
        """Accept no further connections at a listening socket of `add_listener`. The caller closes the socket."""
        with self._lock, suppress(KeyError, ValueError, RuntimeError):
            self._selector.unregister(listener)

    @property
    def is_busy(self) -> bool:
        """True while requests wait for a thread or a permit."""
        return self._queue.is_busy

    def has_other_requests(self) -> bool:
        """Look for new requests, at most once in a millisecond while some wait. Return True if requests wait."""
        if len(self._selector.get_map()) > 1 and (not self._queue.is_waiting or time.monotonic() >= self._next_look):
            self._collect_ready()
        return self._queue.is_busy

    def serve_forever(self) -> None:
        """Start the server if necessary, and block until another thread calls `stop` or the process is interrupted."""
        if self._acceptor is None:
            self.start()
        # Not join(), because Python 3.11 regards a thread as ended if a signal interrupts a join.
        while not self._ended.wait(0.5):
            pass

    def finish(self, seconds: float, delay: float = 0.0) -> None:
        """Accept no further connections, and wait until the requests that have begun are answered.

        Waits at most `seconds`. `stop` ends what is left. `/readyz` reports at once that the server stops, and new
        connections are accepted for another `delay` seconds, in which a proxy learns this.
        """
        self.draining = True
        time.sleep(delay)
        self._accepting = False
        end, quiet = time.monotonic() + seconds, 0
        while quiet < _QUIET_CHECKS and time.monotonic() < end:  # a request may be on its way to a thread
            time.sleep(_CHECK_SECONDS)
            has_begun = any(connection.has_begun for connection in self._waiting())
            is_idle = not (self.bodies or self.is_busy or has_begun or self._listener)
            quiet = quiet + 1 if is_idle else 0

    def stop(self) -> None:
        """Stop the server and end the requests in progress with the bytes that have been received.

        In a forked child, do nothing. If a thread does not end within five seconds, its connection is closed.
        """
        if self._in_fork or self.stopping:
            return
        self.stopping = True
        for body in list(self.bodies):
            body.abort()
        if self._listener:
            with suppress(OSError):  # not on every system
                self._listener.shutdown(socket.SHUT_RDWR)  # ends the acceptor's select() at once
        if self._acceptor:
            self._acceptor.join()
        self._queue.close()
        end = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        if any(thread.is_alive() for thread in self._threads):
            for connection in list(self._open):
                with suppress(OSError):
                    connection.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for connection in list(self._open):  # a thread may have queued one after the queue was closed
            connection.close()
        self._selector.close()
        if self._listener:
            self._listener.close()

    def __enter__(self) -> SocketServer:
        return self if self._acceptor else self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    # -- the thread that accepts connections ----------------------------------------------------------------------

    def _accept_connections(self) -> None:
        next_check = next_growth = 0.0
        progress = -1
        while not self.stopping:
            try:
                self._queue.wait_until_paused(BRIEF_SECONDS)  # a thread that runs looks for requests itself
                self._collect_ready(BRIEF_SECONDS if self._queue.is_waiting else _CHECK_SECONDS)
                if not self._accepting:
                    self._close_listeners()
                now = time.monotonic()
                if now >= next_check:
                    next_check = now + _CHECK_SECONDS
                    self._close_overdue(_MAX_WAITING_CONNECTIONS)
                if self._queue.is_waiting:
                    self._queue.check()
                if now >= next_growth:  # silent clients may occupy all threads
                    next_growth = now + _GROWTH_SECONDS
                    if self.responses + self._queue.turns != progress:
                        self._queue.remove_extra_permits()
                    elif self._queue.add_missing_permit():
                        self._add_threads(_THREADS_ADDED)
                    progress = self.responses + self._queue.turns
            except Exception:
                _log.exception("error in the accept loop; the server continues")
        self._ended.set()

    def _collect_ready(self, seconds: float = 0.0) -> None:
        """Wait for new connections and requests, at most for some seconds, and collect them."""
        ready = self._selector.select(seconds)
        self._next_look = time.monotonic() + _LOOK_SECONDS
        for key, _ in ready:
            if key.data is None:
                self._accept(cast("socket.socket", key.fileobj))
            elif self._unregister(cast("socket.socket", key.fileobj)):
                self._collect(key.data)

    def _unregister(self, sock: socket.socket) -> bool:
        """Remove a connection from the selector. Return False if another thread has done it."""
        with self._lock:
            try:
                self._selector.unregister(sock)
            except (KeyError, ValueError):
                return False
        return True

    def _close_listeners(self) -> None:
        """Accept the connections that have arrived already, and no others."""
        with self._lock:
            listeners = [
                cast("socket.socket", key.fileobj) for key in self._selector.get_map().values() if not key.data
            ]
        for listener in listeners:
            while self._accept(listener):
                pass
            with self._lock:
                self._selector.unregister(listener)
        if self._listener:
            self._listener.close()
            self._listener = None

    def _accept(self, listener: socket.socket) -> bool:
        """Accept a connection. Return False if none has arrived."""
        try:
            sock, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):  # too many open files: close a connection for the next one
                self._close_overdue(len(self._waiting()) - 1)
            return False
        connection = ServerConnection(self, sock, address[0])
        self._open.add(connection)
        self._collect(connection)
        return True

    def _collect(self, connection: ServerConnection) -> None:
        try:
            if connection.collect():
                self._queue.put(connection)
            else:
                with self._lock:
                    self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        except (OSError, ValueError) as error:  # closed meanwhile
            _log.debug("connection lost: %s", error)
            connection.close()

    def _waiting(self) -> list[ServerConnection]:
        with self._lock:
            return [key.data for key in self._selector.get_map().values() if key.data]

    def _close_overdue(self, most: int) -> None:
        """Close the waiting connections whose deadline has passed.

        If more than `most` connections wait, also close the connections with the earliest deadlines.
        """
        now, waiting = time.monotonic(), sorted(self._waiting(), key=attrgetter("deadline"))
        surplus = len(waiting) - most
        for index, connection in enumerate(waiting):
            if (index < surplus or connection.deadline <= now) and self._unregister(connection.socket):
                connection.expire()

    # -- the threads that answer requests -------------------------------------------------------------------------

    def _add_threads(self, count: int) -> None:
        for _ in range(min(count, self._max_threads - len(self._threads))):
            thread = Thread(target=self._answer_requests, name="svc-request", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _answer_requests(self) -> None:
        flow = None
        while connection := self._queue.get(flow):
            flow, stays = connection.flow, False
            set_permit(self._queue.paused(flow))
            try:
                stays = connection.serve()
            except OSError as error:
                _log.debug("connection lost: %s", error)
            except Exception:
                _log.exception("a connection was closed because of an error")
            if stays and not self.stopping:
                self._collect(connection)
            else:
                connection.close()
