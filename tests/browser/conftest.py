"""The fixtures of the browser tests: one chromium and one JupyterLab for all of them, `lab` and `axe`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.axe import violations
from tests.browser.chromium import CHROMIUM, SKIP_REASON, launch
from tests.browser.lab import Lab
from tests.browser.server import ROOT, jupyterlab

FAILED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items):
    for item in items:
        if (item.get_closest_marker("browser") or item.get_closest_marker("docs")) and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason=SKIP_REASON))


def pytest_terminal_summary(terminalreporter):
    """Absence is seen, whatever options the run has."""
    if CHROMIUM is None and any(
        SKIP_REASON in str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])
    ):
        terminalreporter.section("browser: not run")
        terminalreporter.write_line(SKIP_REASON)


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
        browser = launch(tools)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """`axe(page, selector=None)`: what axe-core finds in the forms of the page; `assert axe(page) == []`."""
    return violations


@pytest.fixture(scope="session")
def _jupyterlab(tmp_path_factory, chromium) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("lab")
    screenshots = Path(os.environ.get("SVC_SHOTS") or ROOT / "build" / "screenshots")
    screenshots.mkdir(parents=True, exist_ok=True)
    with jupyterlab(home) as url:
        yield Lab(url, home / "work", screenshots, chromium)


@pytest.fixture
def lab(request, _jupyterlab) -> Iterator[Lab]:
    """JupyterLab with an empty folder. A test that fails leaves a picture, one that passes leaves no trace."""
    _jupyterlab.start_test(f"{request.path.stem} {request.node.name}")
    yield _jupyterlab
    if request.node.stash.get(FAILED, True):
        _save_failure_screenshot(_jupyterlab)
        return
    page_errors = list(_jupyterlab.page_errors)
    _jupyterlab.clear()
    assert page_errors == []


def _save_failure_screenshot(lab: Lab) -> None:
    if lab.page is not None and not lab.page.is_closed():
        lab.screenshot(lab.page, f"failed-{lab.folder.name}")
        lab.close()
