"""Starts gunicorn, granian and other WSGI servers with two workers of svc_notebooks.server.wsgi:app."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.patience import PATIENCE

PROGRAMS = Path("build/wsgi-env/bin")
APP = "svc_notebooks.server.wsgi:app"

SERVERS = {
    "gunicorn gthread": ["gunicorn", "--worker-class", "gthread", "--threads", "8", "--workers", "2", "--bind"],
    "gunicorn sync": ["gunicorn", "--worker-class", "sync", "--workers", "2", "--bind"],
    "gunicorn preload": ["gunicorn", "--preload", "--worker-class", "gthread", "--workers", "2", "--bind"],
    "granian": ["granian", "--interface", "wsgi", "--workers", "2", "--blocking-threads", "8", "--no-ws"],
}
"""The commands, without the address."""


@contextmanager
def running(server: str, variables: Mapping[str, str], log: Path) -> Iterator[str]:
    """Run a server during a `with` block, and return its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program, *options = SERVERS[server]
    address = ["--host", "127.0.0.1", "--port", str(port)] if program == "granian" else [f"127.0.0.1:{port}"]
    command = [str(PROGRAMS / program), *options, *address, APP]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("SVC_")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env={**environment, **variables}, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}"
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until the server answers a request."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", "/storage/v3/about?fields=kind")
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise AssertionError(log.read_text())
