"""Local files in a real JupyterLab: other content at a path stays, and forms ask what to do about it."""

import pytest

from tests.browser.forms.test_file_browser import press, row

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

FILES = """
import svc_notebooks as svc
lab = svc.sandbox()
svc.upload(b"Feed the ducks on Monday.", name="plan.txt")
svc.upload(b"Count the coots.", name="notes.txt")
browser = svc.file_browser()
browser
"""


MINE = b"my own words"


def focused(page, name):
    page.get_by_role("button", name=name, exact=True).and_(page.locator(":focus")).wait_for()


def contents(lab):
    return {path.name: path.read_bytes() for path in lab.folder.iterdir() if path.suffix in (".txt", ".csv")}


@pytest.fixture
def files(lab):
    (lab.folder / "plan.txt").write_bytes(MINE)
    page = lab.show("files.ipynb", FILES)
    row(page, "plan.txt").wait_for()
    return page


def download(page):
    press(page, "Download")
    press(page, "Save")
    page.get_by_text("plan.txt exists with other content.").wait_for()
    focused(page, "Cancel")


@pytest.mark.spec("W-05", "W-05c")
def test_a_download_asks_before_it_replaces(lab, files, axe):
    page = files
    row(page, "plan.txt").click()
    download(page)
    page.get_by_role("region", name="Compare plan.txt").get_by_text("25 bytes").wait_for()
    assert axe(page) == []
    lab.screenshot(page, "replace-1-file-browser")

    page.keyboard.press("Escape")
    page.get_by_text("Cancelled. The existing files are unchanged.").wait_for()
    focused(page, "Download")
    assert contents(lab) == {"plan.txt": MINE}

    download(page)
    press(page, "Save as plan (1).txt")
    page.get_by_text("Saved 1 file.").wait_for()
    page.locator("pre", has_text="'plan (1).txt'").wait_for()
    lab.screenshot(page, "replace-2-both-kept")
    assert contents(lab) == {"plan.txt": MINE, "plan (1).txt": b"Feed the ducks on Monday."}

    download(page)
    press(page, "Replace")
    page.get_by_text("Replaced 1 file.").wait_for()
    page.locator("pre", has_text="overwrite=True").wait_for()
    lab.screenshot(page, "replace-3-replaced")
    assert contents(lab)["plan.txt"] == b"Feed the ducks on Monday."

    press(page, "Download")
    press(page, "Save")
    page.get_by_text("Unchanged: 1 file.").wait_for()
    lab.screenshot(page, "replace-4-unchanged")
    assert lab.run_code(page, "print(browser.last_error)") == "None"
