"""Runs deploy/nginx.conf in front of workers of this machine."""

import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.patience import PATIENCE

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx.conf"
PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextmanager
def nginx(running: Sequence[Any], folder: Path) -> Iterator[str]:
    """Run nginx during a `with` block, with the addresses of two workers in the configuration and files in `folder`."""
    assert PROGRAM
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    text = CONFIGURATION.read_text(encoding="utf-8").replace("listen 8080;", f"listen 127.0.0.1:{port};")
    for number, worker in enumerate(running, start=1):
        text = text.replace(f"worker-{number}:8080", urlsplit(worker.base_url).netloc)
    paths = "".join(f" {name}_temp_path {folder}/{name};" for name in _TEMPORARY)
    file, log = folder / "nginx.conf", folder / "error.log"
    file.write_text(text.replace("http {", f"http {{{paths}", 1), encoding="utf-8")
    settings = f"daemon off; pid {folder}/nginx.pid; error_log {log} warn;"
    process = subprocess.Popen([PROGRAM, "-p", folder, "-c", file, "-g", settings], stderr=subprocess.PIPE, text=True)
    try:
        _wait(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def _wait(process: subprocess.Popen[str], port: int) -> None:
    while process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=PATIENCE):
            return
    raise AssertionError(process.communicate()[1])
