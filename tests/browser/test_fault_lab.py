"""The fault lab in a real JupyterLab, every cell of it."""

import shutil
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SCROLL = "cell => window.jupyterapp.shell.currentWidget.content.scrollToItem(cell, 'start')"

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


@pytest.mark.spec("X-05", "X-04", "D-01")
def test_the_fault_lab_runs_and_shows_what_broke(lab):
    shutil.copytree(NOTEBOOKS, lab.folder, dirs_exist_ok=True)
    page = lab.run("08-fault-lab.ipynb")

    said, frames = "", 0
    for cell in range(0, 26, 2):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)  # cells are drawn when they come into view
        lab.shot(page, f"faults-{cell:02d}")
        said += " ".join(page.locator(".jp-OutputArea-output").all_inner_texts())
        frames = max(frames, page.locator("table.dataframe").count())

    assert frames >= 2
    for words in ("faults-1/0: status 503", "this fault never happened", "Retry-After: 60", "upload expires"):
        assert words in said, words
