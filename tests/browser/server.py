"""Starts a JupyterLab on a free port of this machine, with its own settings, kernels and files."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT = 180  # seconds; on an idle machine it takes 2
STOP_TIMEOUT = 60
FOLDER_VARIABLES = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "IPYTHONDIR": "ipython",
    "HOME": "home",
    "SVC_NOTEBOOKS_STATE": "state",
}


@contextlib.contextmanager
def jupyterlab(home: Path) -> Iterator[str]:
    """Its address; it shows the files of `home / "work"`, and has ended when the context has."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    (home / "work").mkdir(parents=True, exist_ok=True)
    with (home / "lab.log").open("wb") as log:
        process = subprocess.Popen(_command(port, home / "work"), env=_environment(home), stdout=log, stderr=log)
        try:
            _wait_for(f"{url}/api/status", process, home / "lab.log")
            yield url
        finally:
            process.terminate()
            process.wait(STOP_TIMEOUT)


def _command(port: int, work: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "tests.browser.forked_lab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={work}"),
        # the two that only a test needs: commands by name, and no cookie for them
        *("--LabApp.expose_app_in_browser=True", "--ServerApp.disable_check_xsrf=True"),
    ]


def _environment(home: Path) -> dict[str, str]:
    folders = {name: str(home / folder) for name, folder in FOLDER_VARIABLES.items()}
    return {**os.environ, **folders, "PYTHONPATH": str(ROOT), "TZ": "UTC"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        assert process.poll() is None, f"JupyterLab ended while it started:\n{log.read_text()[-2000:]}"
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as response:
            json.load(response)
            return
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not answer within {START_TIMEOUT} s:\n{log.read_text()[-2000:]}")
