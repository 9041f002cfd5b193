"""The service for WSGI servers such as gunicorn, granian and uWSGI: `svc_notebooks.server.wsgi:app`.

Environment variables configure the service (docs/scale.md). Each process opens a service of its own, because neither
threads nor connections survive a fork. So the server may import this module before or after it starts its processes.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from threading import Lock
from wsgiref.types import StartResponse, WSGIEnvironment

from ..core.errors.catalogue import refuse
from ..core.http.messages import Request, Response
from .dispatch.responses import error_response
from .transports.wsgi import WsgiApp

_log = logging.getLogger(__name__)

_UNAVAILABLE = WsgiApp(lambda request: error_response(refuse("unavailable")))

OpenService = Callable[[ExitStack], Callable[[Request], Response]]
"""Opens a service, which the stack closes, and returns its handler."""


def _open(stack: ExitStack) -> Callable[[Request], Response]:
    from ..cli.environment import open_from_environment

    return open_from_environment(stack)


class ServiceApp:
    """A WSGI application that opens its service at the first request in each process, or with `start`."""

    def __init__(self, open_service: OpenService = _open) -> None:
        self._open_service = open_service
        self._opening = Lock()
        self._app: WsgiApp | None = None
        self._stack = ExitStack()
        os.register_at_fork(after_in_child=self._leave)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Handle one WSGI request. The response is 503 while the database or the contents cannot be reached.

        Raises ValueError or ImportError if the service cannot be opened with these variables.
        """
        try:
            app = self.start()
        except OSError as error:  # the next request tries again
            _log.error("the service cannot be opened: %s", error)
            app = _UNAVAILABLE
        return app(environ, start_response)

    def start(self) -> WsgiApp:
        """Open the service in this process, if it is not open. It is closed when the process exits.

        Call it in a hook of the server, so that a process with wrong variables does not start, and delivers messages
        before its first request. Raises ValueError, ImportError and OSError if the service cannot be opened.
        """
        if app := self._app:
            return app
        with self._opening:
            if self._app is None:
                with ExitStack() as stack:
                    handle = self._open_service(stack)
                    self._stack = stack.pop_all()
                atexit.register(self.close)
                self._app = WsgiApp(handle)
            return self._app

    def close(self) -> None:
        """Close the service of this process. Messages that wait are delivered by another process, or later."""
        atexit.unregister(self.close)
        with self._opening:
            self._app = None
            self._stack.close()

    def _leave(self) -> None:
        """Forget the service of the parent in a forked process, which opens its own."""
        atexit.unregister(self.close)
        self._opening = Lock()
        self._app, self._stack = None, ExitStack()


app = ServiceApp()
