"""Counts requests, bytes, messages and waits in the form of Prometheus.

The numbers belong to one process: a monitoring server reads each process by itself and adds the numbers up. The
numbers of upload sessions and of queued messages come from the database, so processes that share a store report the
same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, exposition
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ..dispatch.journal import JournalEntry
from ..service import Monitor

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_UNKNOWN = "unknown"


class Metrics:
    """The metrics of a service. They begin when this object is created."""

    def __init__(self, monitor: Monitor) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "svc_requests", "Requests that have ended", ["operation", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "svc_request_seconds", "Time from the head of a request to the end of its response", ["operation"],
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._received = Counter("svc_received_bytes", "Bytes of request bodies", registry=self._registry)
        self._sent = Counter("svc_sent_bytes", "Bytes of response bodies", registry=self._registry)
        waits = Histogram(
            "svc_database_wait_seconds", "Time for which transactions that write waited for others",
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        monitor.store.database.observe_wait = waits.observe
        monitor.observers.append(self._count)
        self._registry.register(_State(monitor))

    def _count(self, entry: JournalEntry, seconds: float) -> None:
        operation = entry.operation or _UNKNOWN  # never a path, of which there is no end
        self._requests.labels(operation, str(entry.status or "none")).inc()
        self._seconds.labels(operation).observe(seconds)
        self._received.inc(entry.received)
        self._sent.inc(entry.sent)

    def content(self) -> tuple[bytes, str]:
        """Return the metrics as text, and the media type of the text."""
        return exposition.generate_latest(self._registry), exposition.CONTENT_TYPE_LATEST


class _State(Collector):
    """The numbers that are read when somebody asks. The database cannot be asked while it cannot be reached."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def collect(self) -> Iterator[Metric]:
        attempts = CounterMetricFamily(
            "svc_message_attempts", "Attempts to deliver a message, by outcome", labels=["outcome"]
        )
        for outcome, number in self._monitor.deliveries.items():
            attempts.add_metric([outcome], number)
        yield attempts
        ready = GaugeMetricFamily("svc_ready", "1 if the database and the contents can be reached, otherwise 0")
        ready.add_metric([], not self._monitor.problems())
        yield ready
        try:
            numbers = self._monitor.store.upload_sessions.count_open(), self._monitor.store.outbox.count()
        except OSError:
            return
        yield GaugeMetricFamily("svc_open_upload_sessions", "Upload sessions that lack bytes", value=numbers[0])
        yield GaugeMetricFamily("svc_queued_messages", "Messages that were not delivered yet", value=numbers[1])
