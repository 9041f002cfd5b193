"""Opens JupyterLab as Binder starts it, and runs the notebook of the badge in chromium.

tools/check_binder.py runs this module without a network (python -m tools.visit_binder REPOSITORY SCREENSHOTS).
"""

import fcntl
import os
import shutil
import socket
import struct
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tools.steps import jupyter, need

if TYPE_CHECKING:
    from playwright.sync_api import Page

BADGE = "lab/tree/notebooks/00-start.ipynb"
READY = "window.jupyterapp?.shell?.currentWidget?.sessionContext?.isReady"
RUN_ALL = """async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready; await panel.revealed;
  await app.commands.execute('notebook:clear-all-cell-outputs');
  window.hasRun = app.commands.execute('notebook:run-all-cells');
}"""
FIRST_CELL = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .find(c => c.type === 'code').executionCount"""
LIMIT = 10
"""Seconds until the first cell has run in a new kernel, on a machine that does nothing else."""
CELLS = """() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells
  .filter(c => c.cell_type === 'code').map(c => [c.execution_count, c.outputs.map(o => o.output_type)])"""


def main(repo: Path, shots: Path) -> int:
    shots.mkdir(parents=True, exist_ok=True)
    loopback_up()
    need(nothing_outside(), "there is a way out of here")
    command = [
        *(repo / "binder" / "start", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *("--ServerApp.base_url=/user/visitor/", "--ServerApp.allow_origin=*", "--ServerApp.trust_xheaders=True"),
        "--LabApp.expose_app_in_browser=True",  # so that this check can run all cells with a command
    ]
    begun = time.monotonic()
    with jupyter(command, cwd=repo, env=os.environ, log=repo.parent / "lab.log") as url:
        print(f"    no network: {os.environ['NO_NETWORK']}; JupyterLab answers after {time.monotonic() - begun:.1f} s")
        open_notebook(url, shots)
    log = (repo.parent / "lab.log").read_text()
    # jupyter_server and tornado expect different units for websocket_ping, so no value avoids this warning.
    warnings = [line for line in log.splitlines() if line.startswith(("[W ", "[E ")) and "websocket_ping" not in line]
    need(not warnings, f"JupyterLab warns:\n{log}")
    return 0


def loopback_up() -> None:
    """Enable the loopback interface, which is disabled in a new network namespace."""
    up, flags = 0x1, 0x8914  # IFF_UP, SIOCSIFFLAGS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        try:
            fcntl.ioctl(handle, flags, struct.pack("16sh", b"lo", up | 0x40))
        except PermissionError:
            return  # not in our own namespace, where the interface is enabled


def nothing_outside() -> bool:
    """Return whether this process has no network, or proxies that lead nowhere."""
    if "http_proxy" in os.environ:
        return True
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        try:
            handle.connect(("192.0.2.1", 9))
        except OSError:
            return True
    return False


def open_notebook(url: str, shots: Path) -> None:
    from playwright.sync_api import sync_playwright

    token = url.partition("?")[2]
    root = url.partition("/user/visitor/")[0] + "/user/visitor/"
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        begun = time.monotonic()
        page.goto(f"{root}{BADGE}?{token}")
        page.wait_for_function(READY, timeout=120_000)
        print(f"    the notebook is shown and its kernel is ready after {time.monotonic() - begun:.1f} s")
        as_it_opens(page, shots)
        begun = time.monotonic()
        page.evaluate(RUN_ALL)
        page.wait_for_function(FIRST_CELL)
        first = time.monotonic() - begun
        need(
            page.evaluate("() => window.hasRun"),
            f"a cell failed: {page.locator('.jp-OutputArea-output').all_inner_texts()}",
        )
        cells = page.evaluate(CELLS)
        page.screenshot(path=str(shots / "binder-run.png"))
        browser.close()
    need([count for count, _ in cells] == list(range(1, len(cells) + 1)), f"not all cells have run: {cells}")
    need(all(kinds and "error" not in kinds for _, kinds in cells), f"a cell shows an error or nothing: {cells}")
    seconds = time.monotonic() - begun
    print(
        f"    the first cell has run after {first:.1f} s more, all {len(cells)} without an error after {seconds:.1f} s"
    )
    limit = LIMIT * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))
    need(first <= limit, f"the first cell has run after {first:.1f} s, and {limit:.0f} s are the limit on this machine")


def as_it_opens(page: "Page", shots: Path) -> None:
    """Check the opened notebook with its saved outputs, the list of lessons, and that JupyterLab asks no question."""
    page.locator(".jp-OutputArea-output table.dataframe").first.wait_for(timeout=30_000)
    page.screenshot(path=str(shots / "binder-opens.png"))
    title = page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
    need(title == "notebooks/00-start.ipynb", f"{title} is open")
    need(page.locator(".jp-DirListing-item", has_text="01-uploads.ipynb").is_visible(), "the lessons are not beside it")
    need(page.locator(".jp-Dialog").count() == 0, "a dialog asks something")
    need(page.locator(".Toastify__toast").count() == 0, "a toast is shown")
    trusted = (
        "() => [...window.jupyterapp.shell.currentWidget.content.model.cells].every(c => c.type != 'code' || c.trusted)"
    )
    need(page.evaluate(trusted), "what is saved in the notebook is not trusted")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
