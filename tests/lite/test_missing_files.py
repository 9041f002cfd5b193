"""Tests what a page and its cells say if a file cannot be loaded, in chromium without a network.

The page says it within 20 seconds by its own clock, or before Python is ready, which takes longer on a busy machine.
"""

import json
import os
import shutil

import pytest

from tests.lite.conftest import host
from tests.lite.page import Browser, run_cell

pytestmark = pytest.mark.lite

FIRST = "import svc_notebooks as svc\nlab = svc.sandbox()\nprint('ready')"
FRAME = "print(len(svc.files()))"
AGAIN = "Run `import svc_notebooks` again to try again.\nready\n"
LIMIT = 20_000
CHECKS = 3_000  # the page reads what has arrived while Python was started
LOCK = "static/wheels/pyodide-lock.json"


@pytest.fixture
def unbundled(site, distribution, tmp_path):
    """Return a function that makes a copy of the site whose pages load numpy and pandas from an address."""

    def made(address):
        copy = tmp_path / "site"
        shutil.copytree(site, copy, copy_function=os.link)
        lock = json.loads((site / LOCK).read_text())
        for name in ("numpy", "pandas"):
            lock["packages"][name]["file_name"] = f"{address}/{lock['packages'][name]['file_name']}"
        (copy / LOCK).unlink()
        (copy / LOCK).write_text(json.dumps(lock))
        return copy

    return made


@pytest.fixture
def shots(request):
    folder = request.config.rootpath / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_packages_that_do_not_arrive_are_named_and_loaded_later(chromium, distribution, unbundled, shots):
    with host(distribution, hangs=".whl") as (mirror, handler), host(unbundled(mirror)) as (address, _):
        page = Browser(chromium, address).open("00-start.ipynb")
        first = run_cell(page, FIRST)
        alert, times = page.get_by_role("alert").inner_text(), page.evaluate("times")
        page.screenshot(path=shots / "lite-packages-missing.png")
        frame = run_cell(page, FRAME)
        handler.hangs = None
        handler.open_again.set()
        second = run_cell(page, f"{FIRST}\n{FRAME}")
        alert_is_visible = page.get_by_role("alert").is_visible()
        page.context.close()

    print(f"milliseconds since the page was opened: {times}")

    sentence = f"numpy, pandas cannot be loaded from {mirror}/: the host has sent nothing for 10 seconds."
    assert first == f"{sentence} {AGAIN}"
    assert frame.startswith("NotLoaded: ")
    assert f"cannot be loaded from {mirror}/: the host has sent nothing for 10 seconds." in frame
    assert len(frame.splitlines()) == 1
    assert second == "ready\n0\n"
    assert alert == f"{sentence} Run `import svc_notebooks` again to try again.\nClose"
    assert times["shown"] <= max(times["started"] + LIMIT, times["ready"] + CHECKS)
    assert not alert_is_visible


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda wheel: wheel.unlink(), "the host answers 404"),
        (lambda wheel: wheel.write_bytes(wheel.read_bytes() + b"\0"), "its digest is not that of the lock"),
    ],
    ids=["gone", "changed"],
)
def test_a_package_that_is_not_the_locked_one_is_not_used(chromium, distribution, unbundled, tmp_path, change, reason):
    mirrored = shutil.copytree(distribution, tmp_path / "mirror")
    for wheel in mirrored.glob("pandas-*.whl"):
        change(wheel)
    with host(mirrored) as (mirror, _), host(unbundled(mirror)) as (address, _):
        page = Browser(chromium, address).open("00-start.ipynb")
        output = run_cell(page, FIRST)
        page.context.close()

    assert output == f"pandas cannot be loaded from {mirror}/: {reason}. {AGAIN}"


@pytest.mark.parametrize(
    "file, folder",
    [
        ("pyodide.mjs", "static/pyodide/"),
        ("pyodide.asm.wasm", "static/pyodide/"),
        ("pyodide-lock.json", "static/wheels/"),
        ("ipython-", "static/wheels/"),
    ],
)
def test_python_that_does_not_arrive_is_named_in_each_cell(chromium, site, shots, file, folder):
    with host(site, hangs=f"/{file}") as (address, _):
        page = Browser(chromium, address).open("00-start.ipynb")
        outputs = [run_cell(page, code) for code in (FIRST, "1")]
        alert, times = page.get_by_role("alert").inner_text(), page.evaluate("times")
        page.screenshot(path=shots / "lite-python-missing.png")
        page.context.close()

    for output in outputs:
        assert output.startswith(f"NotLoaded: Python cannot start. {file}".rstrip("-"))
        reason = "the host has sent nothing for 10 seconds"
        assert output.endswith(f"cannot be loaded from {address}/{folder}: {reason}. Reload the page to try again.")
        assert alert == output.removeprefix("NotLoaded: ") + "\nClose"
    assert times["shown"] <= times["started"] + LIMIT


@pytest.mark.parametrize(
    "fault, reason",
    [
        ("hangs", "it has not been loaded in 12 seconds. Wait, or reload"),
        ("gone", "the host cannot be reached or answers with an error. Reload"),
    ],
)
@pytest.mark.parametrize(
    "file, folder, effect",
    [
        ("comlink.worker.", "extensions/@jupyterlite/pyodide-kernel-extension/static/", "Python cannot start. "),
        ("bundle.js", "build/lab/", ""),
    ],
)
def test_a_script_that_does_not_arrive_is_named_in_the_page(chromium, site, shots, file, folder, effect, fault, reason):
    with host(site, **{fault: f"/{file}"}) as (address, _):
        page = Browser(chromium, address).begin("00-start.ipynb")
        alert = page.get_by_role("alert").filter(has_text="cannot be loaded")
        alert.wait_for()
        now, times = page.evaluate("[performance.now(), times]")
        text = alert.inner_text()
        page.screenshot(path=shots / f"lite-{file.strip('.')}-missing.png")
        page.context.close()

    assert text.startswith(f"{effect}{file}")
    assert text.endswith(f"cannot be loaded from {address}/{folder}: {reason} the page to try again.\nClose")
    assert now <= times.get("started", 0) + LIMIT
