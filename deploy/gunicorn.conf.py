"""The settings of gunicorn for a worker behind nginx (docs/scale.md): one process with a thread for each transfer.

Each container has one process, so that its /metrics, /readyz and /healthz are those of this process. More processes are
more containers.
"""

from __future__ import annotations

from typing import Any

bind = "0.0.0.0:8080"
worker_class = "gthread"
workers = 1
threads = 64
keepalive = 0  # nginx opens a connection for each request, so none is closed while a request arrives
timeout = 120  # restarts a process whose main thread hangs
graceful_timeout = 60  # the time of requests in progress after SIGTERM
worker_tmp_dir = "/dev/shm"  # its heartbeat waits for no disk


def post_worker_init(worker: Any) -> None:
    """Open the service before the first request, so that messages are sent and a worker with wrong variables ends."""
    worker.wsgi.start()
