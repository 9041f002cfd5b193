"""Fixtures: the site, built and served locally, in chromium without other network access."""

import json
import os
import shutil
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.lite.page import Browser
from tests.lite.stand_in import wheels

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Files(SimpleHTTPRequestHandler):
    """A host of static files, which pages of other origins may read.

    It sends nothing for a path that contains `hangs`, and answers 404 for a path that contains `gone`.
    """

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}
    hangs: str | None = None
    gone: str | None = None
    open_again = threading.Event()

    def do_GET(self):
        if self.hangs and self.hangs in self.path:
            self.open_again.wait()
            self.close_connection = True
            return
        if self.gone and self.gone in self.path:
            return self.send_error(404)
        super().do_GET()

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_args):
        pass


@contextmanager
def host(folder, hangs=None, gone=None):
    """Serve a folder, and yield its address and the class of its handler."""
    handler = type("Host", (Files,), {"hangs": hangs, "gone": gone, "open_again": threading.Event()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        handler.open_again.set()
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def distribution(tmp_path_factory):
    """A folder like Pyodide's distribution with stand-ins for numpy and pandas, and a lock of them in `pins.json`."""
    from tools.lite.build import PYODIDE_PINS
    from tools.lite.bundle import read_pins
    from tools.lite.wheels import entry

    folder = tmp_path_factory.mktemp("distribution")
    packages = {made["name"]: made for made in map(entry, wheels(folder))}
    (folder / "pins.json").write_text(json.dumps(read_pins(PYODIDE_PINS) | {"packages": packages}))
    return folder


@pytest.fixture(scope="session")
def site(distribution):
    """The site with these packages. `SVC_LITE_SITE` names one that is built already."""
    if built := os.environ.get("SVC_LITE_SITE"):
        return Path(built).resolve()
    if not (ROOT / "build" / "lite-env").is_dir():
        pytest.skip("make lite makes the environment that builds the site")
    from tools.lite.build import main

    target = ROOT / "build" / "lite-test"
    with host(distribution) as (mirror, _):
        options = [f"--distribution={mirror}", f"--pins={distribution / 'pins.json'}", f"--to={target}"]
        assert main(["--bundle", *options]) == 0
    return target


@pytest.fixture(scope="session")
def address(site):
    with host(site) as (served, _):
        yield served


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def browser(chromium, address):
    return Browser(chromium, address)
