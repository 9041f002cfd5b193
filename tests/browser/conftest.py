"""A JupyterLab of its own on a free loopback port, and a chromium that looks at it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.browser.axe import violations

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ROOT = Path(__file__).resolve().parents[2]

READY = "window.jupyterapp?.shell?.currentWidget?.sessionContext"
RUN_ALL = """async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready; await panel.revealed;
  return await app.commands.execute('notebook:run-all-cells');
}"""

TELL = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const done = kernel.requestExecute({code});
  window.told = '';
  done.onIOPub = (m) => {
    if (m.header.msg_type === 'stream') window.told += m.content.text;
    if (m.header.msg_type === 'error') window.told += m.content.evalue;
  };
  await done.done;
}"""


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="no chromium on this machine")
    for item in items:
        if item.get_closest_marker("browser") and CHROMIUM is None:
            item.add_marker(skip)


class Lab:
    """A running JupyterLab: `open(name)` shows a notebook of its folder, `shot(name)` keeps a picture."""

    def __init__(self, url: str, folder: Path, shots: Path, browser) -> None:
        self.url, self.folder, self.shots, self.browser = url, folder, shots, browser

    def write(self, name: str, *cells: str) -> str:
        """A notebook with these code cells."""
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        made.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
        }
        nbformat.write(made, self.folder / name)
        return name

    def open(self, name: str):
        """The page of a notebook, its kernel ready."""
        page = self.browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{self.url}/lab/tree/{name}?reset")
        page.wait_for_function(READY, timeout=60_000)
        return page

    def run(self, name: str, *, expect_errors: bool = False):
        """The page of a notebook after all of its cells have run."""
        page = self.open(name)
        if not page.evaluate(RUN_ALL) and not expect_errors:
            self.shot(page, f"failed-{name}")
            raise AssertionError(f"{name}: {page.locator('.jp-OutputArea-output').all_inner_texts()}")
        return page

    def tell(self, page, words: str) -> str:
        """What the kernel prints, or complains, when it runs this outside of any cell."""
        page.evaluate(TELL, words)
        return page.evaluate("window.told").strip()

    def theme(self, page, word: str) -> None:
        """Light or Dark, once it is there to be seen."""
        name = f"JupyterLab {word}"
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        page.locator(f"body[data-jp-theme-name='{name}']").wait_for(state="attached")
        page.locator("#jupyterlab-splash").wait_for(state="detached")

    def shot(self, page, name: str) -> Path:
        """Keep a picture of the page."""
        path = self.shots / f"{name}.png"
        page.screenshot(path=str(path))
        return path


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """`axe(page, selector=None)`: what axe-core finds in the forms of the page; `assert axe(page) == []`."""
    return violations


@pytest.fixture(scope="session")
def lab(tmp_path_factory, chromium) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("lab")
    shots = Path(os.environ.get("SVC_SHOTS") or home / "shots")
    for folder in (home / "work", shots):
        folder.mkdir(parents=True, exist_ok=True)
    with _server(home) as url:
        yield Lab(url, home / "work", shots, chromium)


@contextlib.contextmanager
def _server(home: Path) -> Iterator[str]:
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with (home / "lab.log").open("wb") as log:
        process = subprocess.Popen(_command(port, home / "work"), env=_environment(home), stdout=log, stderr=log)
        try:
            _wait_for(f"{url}/api/status", process)
            yield url
        finally:
            process.terminate()
            process.wait(20)


def _command(port: int, work: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={work}"),
        # the two that only a test needs: commands by name, and no cookie for them
        *("--LabApp.expose_app_in_browser=True", "--ServerApp.disable_check_xsrf=True"),
    ]


def _environment(home: Path) -> dict[str, str]:
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "HOME": "home",
    }
    folders = {name: str(home / folder) for name, folder in own.items()}
    return {**os.environ, **folders, "PYTHONPATH": str(ROOT), "TZ": "UTC"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(url: str, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "JupyterLab ended while it started"
        with contextlib.suppress(OSError), urllib.request.urlopen(url) as answer:
            json.load(answer)
            return
        time.sleep(0.1)
    raise AssertionError("JupyterLab did not answer within a minute")
