"""One chromium and one JupyterLab for all tests; `lab` and `axe` are what a test asks for."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.axe import violations
from tests.browser.lab import PATIENCE, Lab
from tests.browser.server import ROOT, jupyterlab

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ABSENT = "no chromium on this machine (Debian: apt-get install chromium), so nothing was seen in a browser"
FAILED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("browser") and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason=ABSENT))


def pytest_terminal_summary(terminalreporter):
    """Absence is seen, whatever options the run has."""
    if CHROMIUM is None and any(ABSENT in str(one.longrepr) for one in terminalreporter.stats.get("skipped", [])):
        terminalreporter.section("browser: not run")
        terminalreporter.write_line(ABSENT)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = tools.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
            timeout=PATIENCE,
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """`axe(page, selector=None)`: what axe-core finds in the forms of the page; `assert axe(page) == []`."""
    return violations


@pytest.fixture(scope="session")
def _jupyterlab(tmp_path_factory, chromium) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("lab")
    shots = Path(os.environ.get("SVC_SHOTS") or ROOT / "build" / "screenshots")
    shots.mkdir(parents=True, exist_ok=True)
    with jupyterlab(home) as url:
        yield Lab(url, home / "work", shots, chromium)


@pytest.fixture
def lab(request, _jupyterlab) -> Iterator[Lab]:
    """JupyterLab with an empty folder. A test that fails leaves a picture, one that passes leaves no trace."""
    _jupyterlab.begin(f"{request.path.stem} {request.node.name}")
    yield _jupyterlab
    if request.node.stash.get(FAILED, True):
        _failed(_jupyterlab)
        return
    troubles = list(_jupyterlab.troubles)
    _jupyterlab.clear()
    assert troubles == []


def _failed(lab: Lab) -> None:
    if lab.page is not None and not lab.page.is_closed():
        lab.shot(lab.page, f"failed-{lab.folder.name}")
        lab.close()
