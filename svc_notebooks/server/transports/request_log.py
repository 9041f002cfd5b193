"""Logs each request with the logging module, and formats log records as lines of JSON.

A record names no file, no address of a user, no token and no query. Only the operator can connect requests of one
user, by a hash with the secret of the store.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from ..context.request_journal import JournalEntry
from ..dispatch.monitor import Monitor

_log = logging.getLogger("svc_notebooks.requests")


class RequestLog:
    """Logs one record at level INFO for each request of a service that has ended."""

    def __init__(self, monitor: Monitor) -> None:
        self._user_hash = monitor.user_hash
        monitor.observers.append(self._write)

    def _write(self, entry: JournalEntry, seconds: float) -> None:
        fields = {
            "operation": entry.operation,
            "method": entry.method,
            "status": entry.status,
            "ms": round(seconds * 1000, 3),
            "user": self._user_hash(entry.user) if entry.user else None,
            "received": entry.received,
            "sent": entry.sent,
        }
        _log.info("%(method)s %(operation)s %(status)s %(ms)s ms", fields, extra={"fields": fields})


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
