import os

import pytest

from tests.browser.keyboard import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
form = svc.upload_form()
form
"""
# A line on which a mebibyte takes a third of a second.


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.bin"
    path.write_bytes(os.urandom(1 << 20) * 12)
    return path


def _form(lab, name, *more):
    page = lab.show(name, CELL, *more)
    page.get_by_role("button", name="Upload", exact=True).wait_for()
    return page


@pytest.mark.spec("W-01", "W-01a", "W-01f", "D-03", "D-03a")
def test_two_files_one_of_them_large(lab, tmp_path, large):
    small = tmp_path / "<img src=x onerror=alert(1)>.csv"
    small.write_text("a,b\n1,2\n")
    page = _form(lab, "form-two.ipynb")
    lab.screenshot(page, "form-1-empty")

    page.get_by_label("Choose files").set_input_files([large, small])
    page.get_by_text("2 of 2 ready to upload").wait_for()
    lab.screenshot(page, "form-2-chosen")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Done: 2 files uploaded").wait_for()

    lab.screenshot(page, "form-3-done")
    assert page.locator("table.dataframe tbody tr").count() == 2
    assert page.locator("table.dataframe").get_by_text("large.bin").count() == 1
    assert page.locator("img[src=x]").count() == 0, "a file name was read as HTML"


# The kernel takes its time for each slice that the browser sends.
SLOW_KERNEL = """
box = form.controls.files.picker
receive, held = box.handle_message, []
def hold(content, buffers):
    held.append((content, buffers)) if content["kind"] == "slice" else receive(content, buffers)
box.handle_message = hold
"""
RELEASE = """
box.handle_message = receive
for message in held:
    receive(*message)
"""


@pytest.fixture
def waiting(lab, large, tmp_path):
    """A form in which Upload was clicked while two files load."""
    page = _form(lab, "form-waiting.ipynb", SLOW_KERNEL)
    (tmp_path / "small.txt").write_text("hello")
    page.get_by_label("Choose files").set_input_files([large, tmp_path / "small.txt"])
    page.get_by_text("0 of 2 ready to upload").wait_for()
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Waiting for 2 files to load").wait_for()
    return page


@pytest.mark.spec("W-01", "W-01a", "W-05", "W-05c")
def test_upload_is_clicked_while_files_load(lab, axe, waiting):
    assert axe(waiting) == []
    lab.screenshot(waiting, "form-10-waiting")
    lab.run_code(waiting, RELEASE)

    waiting.get_by_text("Done: 2 files uploaded").wait_for()
    assert waiting.get_by_role("alert").count() == 0


@pytest.mark.spec("W-05", "W-05a", "W-05c")
def test_the_keyboard_alone(lab):
    (lab.folder / "beside.csv").write_text("a,b\n1,2\n")
    page = _form(lab, "form-keys.ipynb")

    tab_to(page, "textbox", "Notebook file")
    page.keyboard.type("beside.csv")
    tab_to(page, "button", "Upload")
    page.keyboard.press("Enter")

    page.get_by_text("Done: 1 file uploaded").wait_for()
    lab.screenshot(page, "form-6-keyboard")
