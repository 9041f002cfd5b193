"""The paths /healthz and /readyz, and a log line for each request."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime

from ...core.http.messages import Headers, Query, Request, Response
from ..dispatch.journal import JournalEntry
from ..dispatch.origin import without_prefix
from ..dispatch.requests_and_responses import json_response
from ..service import Monitor, Service

_log = logging.getLogger(__name__)
_requests = logging.getLogger("svc_notebooks.requests")

_NOT_STORED = ("Cache-Control", "no-store")


def with_health(
    service: Service,
    next_handle: Callable[[Request], Response],
    is_draining: Callable[[], bool],
    metrics: Callable[[], tuple[bytes, str]] | None = None,
) -> Callable[[Request], Response]:
    """Return a function with the operator's endpoints of a service, and `next_handle` for every other request.

    `is_draining` returns true after the server was told to stop. `metrics` returns the content of `/metrics` and its
    media type.
    """

    def handle(request: Request) -> Response:
        if request.method in ("GET", "HEAD"):
            path = without_prefix(request, service.policy.path_prefix).path
            if path == "/healthz":
                is_stuck = service.monitor.is_stuck()
                answer = {"status": "stuck" if is_stuck else "alive"}
                return _answer(request, json_response(Query(), answer, status=503 if is_stuck else 200))
            if path == "/readyz":
                return _answer(request, _readiness(service, is_draining=is_draining()))
            if path == "/metrics" and metrics:
                content, media_type = metrics()
                headers = [("Content-Type", media_type), ("Content-Length", str(len(content))), _NOT_STORED]
                return _answer(request, Response(200, Headers(headers), content))
        return next_handle(request)

    return handle


def _readiness(service: Service, *, is_draining: bool) -> Response:
    if is_draining:
        return json_response(Query(), {"status": "stopping"}, status=503)
    problems = service.monitor.problems()
    for name, problem in problems.items():
        _log.warning("the service is not ready: %s: %s", name, problem)  # the text may name a server
    if problems:
        return json_response(Query(), {"status": "not ready", "problems": sorted(problems)}, status=503)
    return json_response(Query(), {"status": "ready"})


def _answer(request: Request, response: Response) -> Response:
    return Response(response.status, response.headers, b"" if request.method == "HEAD" else response.content())


def keep_request_log(monitor: Monitor) -> None:
    """Log one record at level INFO for each request of a service that has ended."""

    def write(entry: JournalEntry, seconds: float) -> None:
        fields = {
            "operation": entry.operation,
            "method": entry.method,
            "status": entry.status,
            "ms": round(seconds * 1000, 3),
            "user": monitor.user_hash(entry.user) if entry.user else None,
            "received": entry.received,
            "sent": entry.sent,
        }
        _requests.info("%(method)s %(operation)s %(status)s %(ms)s ms", fields, extra={"fields": fields})

    monitor.observers.append(write)


class JsonFormatter(logging.Formatter):
    """Formats a log record as one line of JSON: time, level, logger and message, or the fields of a request.

    >>> record = logging.makeLogRecord({"name": "svc", "levelname": "INFO", "msg": "ready", "created": 0.0})
    >>> JsonFormatter().format(record)
    '{"time": "1970-01-01T00:00:00.000+00:00", "level": "INFO", "logger": "svc", "message": "ready"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without a line break at its end."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"time": time, "level": record.levelname, "logger": record.name}
        line |= getattr(record, "fields", None) or {"message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)
