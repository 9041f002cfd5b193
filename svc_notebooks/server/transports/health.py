"""Serves `/healthz`, `/readyz` and, if asked, `/metrics`, for the programs that operate a service.

They need no token, because a proxy or an orchestrator has none, and they contain nothing about users or files. Their
paths belong to no part of the interface, and `{prefix}/healthz` works like `/healthz`. These requests bypass the
dispatcher, so they are in no journal, trigger no faults and count towards no limits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ...core.http.messages import Headers, Query, Request, Response
from ..context.external_origin import without_prefix
from ..context.responses import json_response
from ..service import Service

_log = logging.getLogger(__name__)

_NOT_STORED = ("Cache-Control", "no-store")


class Health:
    """The operator's endpoints of a service, in front of the function `handle`.

    `is_draining` returns true after the server was told to stop. `metrics` returns the content of `/metrics` and its
    media type.
    """

    def __init__(
        self,
        service: Service,
        handle: Callable[[Request], Response],
        is_draining: Callable[[], bool],
        metrics: Callable[[], tuple[bytes, str]] | None = None,
    ) -> None:
        self._service = service
        self._next_handle = handle
        self._is_draining = is_draining
        self._metrics = metrics

    def handle(self, request: Request) -> Response:
        """Return the response of an operator's endpoint, or for every other request that of the function `handle`."""
        if request.method in ("GET", "HEAD"):
            path = without_prefix(request, self._service.policy.path_prefix).path
            if path == "/healthz":
                return _answer(request, json_response(Query(), {"status": "alive"}))
            if path == "/readyz":
                return _answer(request, self._readiness())
            if path == "/metrics" and self._metrics:
                content, media_type = self._metrics()
                headers = [("Content-Type", media_type), ("Content-Length", str(len(content))), _NOT_STORED]
                return _answer(request, Response(200, Headers(headers), content))
        return self._next_handle(request)

    def _readiness(self) -> Response:
        if self._is_draining():
            return json_response(Query(), {"status": "stopping"}, status=503)
        problems = self._service.monitor.problems()
        for name, problem in problems.items():
            _log.warning("the service is not ready: %s: %s", name, problem)  # the text may name a server
        if problems:
            return json_response(Query(), {"status": "not ready", "problems": sorted(problems)}, status=503)
        return json_response(Query(), {"status": "ready"})


def _answer(request: Request, response: Response) -> Response:
    return Response(response.status, response.headers, b"" if request.method == "HEAD" else response.content())
