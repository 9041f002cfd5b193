"""Fixtures: the site, built and served locally, in chromium without other network access."""

import os
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.lite.page import Browser
from tests.lite.stand_in import wheels

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Files(SimpleHTTPRequestHandler):
    """What a host of static files does."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, *_args):
        pass


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The offline site, with stand-ins for numpy and pandas. `SVC_LITE_SITE` names one that is built so already."""
    if built := os.environ.get("SVC_LITE_SITE"):
        return Path(built).resolve()
    if not (ROOT / "build" / "lite-env").is_dir():
        pytest.skip("make lite makes the environment that builds the site")
    from tools.lite.build import main

    also = wheels(tmp_path_factory.mktemp("wheels"))
    target = ROOT / "build" / "lite-test"
    assert main(["--offline", f"--to={target}", "--also", *map(str, also)]) == 0
    return target


@pytest.fixture(scope="session")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser(address):
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    with sync_playwright() as tools:
        chromium = tools.chromium.launch(executable_path=CHROMIUM, args=options)
        yield Browser(chromium, address)
        chromium.close()
