"""The fixtures of the browser tests: one chromium and one JupyterLab for all of them, `lab` and `axe`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.axe import violations
from tests.browser.chromium import CHROMIUM, SKIP_REASON, launch
from tests.browser.lab import Lab
from tests.browser.page_calls import PATIENCE
from tests.browser.school import School, served_class
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
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        browser = launch(tools)
        yield browser
        browser.close()


@pytest.fixture
def requested() -> list[str]:
    return []


@pytest.fixture
def problems() -> list[str]:
    """The messages in the console of the page, and the requests to other hosts."""
    return []


@pytest.fixture
def page(chromium, requested: list[str], problems: list[str]):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.on("request", lambda request: None if "127.0.0.1" in request.url else problems.append(request.url))
    yield page
    context.close()


@pytest.fixture
def school(tmp_path: Path) -> Iterator[School]:
    with served_class(tmp_path) as school:
        yield school


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
