"""Starts gunicorn, granian and other WSGI servers with svc_notebooks.server.wsgi:app."""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.patience import PATIENCE
from tests.scale.conftest import Place

PROGRAMS = Path("build/wsgi-env/bin").resolve()
APP = "svc_notebooks.server.wsgi:app"
_DEPLOYED = Path("deploy/gunicorn.conf.py").resolve()

SERVERS = {
    "gunicorn gthread": ["gunicorn", "--worker-class", "gthread", "--threads", "8", "--workers", "2", "--bind"],
    "gunicorn sync": ["gunicorn", "--worker-class", "sync", "--workers", "2", "--bind"],
    "gunicorn preload": ["gunicorn", "--preload", "--worker-class", "gthread", "--workers", "2", "--bind"],
    "granian": ["granian", "--interface", "wsgi", "--workers", "2", "--blocking-threads", "8", "--no-ws"],
}
"""The commands with two processes, without the address."""

DEPLOYED = {
    "gunicorn": ["gunicorn", "--config", str(_DEPLOYED), "--bind"],
    "granian": ["granian", "--interface", "wsgi", "--workers", "1", "--blocking-threads", "64", "--no-ws"],
}
"""The commands of a worker behind nginx, as docs/scale.md recommends them, without the address."""


def variables_of(place: Place, **more: str) -> dict[str, str]:
    """Return the environment variables of a shared service, whose first user has the token `t`."""
    shared = {"SVC_STORE": place.address, "SVC_CONTENT": str(place.content), "SVC_SHARED": "1", "SVC_TOKEN": "t"}
    return shared | {"SVC_CONTROL": "1", **more}


class WsgiServer:
    """A running WSGI server, which can be closed and started again at the same address."""

    def __init__(self, command: list[str], variables: Mapping[str, str], log: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        program, *options = command
        address = ["--host", "127.0.0.1", "--port", str(port)] if program == "granian" else [f"127.0.0.1:{port}"]
        self._command = [str(PROGRAMS / program), *options, *address, APP]
        environment = {name: text for name, text in os.environ.items() if not name.startswith("SVC_")}
        self._environment = {**environment, **variables}
        self.log, self.base_url = log, f"http://127.0.0.1:{port}"
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers a request."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command, env=self._environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self._process.poll() is None, self.log.read_text()
            connection = http.client.HTTPConnection(urlsplit(self.base_url).netloc, timeout=PATIENCE)
            try:
                connection.request("GET", "/storage/v3/about?fields=kind")
                connection.getresponse().read()
                return
            except OSError:
                time.sleep(0.1)
            finally:
                connection.close()
        raise AssertionError(self.log.read_text())

    def close(self) -> int:
        """End the server and all its processes, and return its exit status."""
        try:
            self._process.send_signal(signal.SIGTERM)
            return self._process.wait(PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
