"""The notebook about who may, as a person sees it: run in JupyterLab, every cell drawn."""

import shutil
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SCROLL = "(cell) => window.jupyterapp.shell.currentWidget.content.scrollToItem(cell, 'start')"


@pytest.mark.spec("T-04")
def test_people_scopes_and_refusals_are_tables(lab):
    shutil.copytree(NOTEBOOKS, lab.folder, dirs_exist_ok=True)
    page = lab.run("07-identity-and-scopes.ipynb")

    text = ""
    for cell in range(0, 24, 3):
        page.evaluate(SCROLL, cell)
        page.wait_for_timeout(700)  # cells are drawn when they come into view
        lab.shot(page, f"identity-{cell:02d}")
        text += page.locator(".jp-Notebook").inner_text()

    for shown in ("404 notFound", "403 cannotCopyFile", "403 insufficientPermissions", "assertion=[redacted]"):
        assert shown in text
