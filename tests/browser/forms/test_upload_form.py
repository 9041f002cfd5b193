"""The upload form in a real JupyterLab: large files, cancel and resume, the keyboard alone."""

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
SLOW = """
import time
session = svc.current_session()
send = session.send
def slowly(request, *bound):
    time.sleep(0.3 if request.method == "PUT" else 0)
    return send(request, *bound)
session.send = slowly
"""
REFUSED = """
said = "The storage quota of this user is used up."
why = {"domain": "usageLimits", "reason": "storageQuotaExceeded", "message": said}
error = {"code": 403, "message": said, "errors": [why]}
fault = lab.faults(status=403, body={"error": error})
fault.__enter__()
"""


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.bin"
    path.write_bytes(os.urandom(1 << 20) * 12)
    return path


def _form(lab, name, *more):
    lab.write(name, CELL, *more)
    page = lab.run(name)
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


@pytest.mark.spec("W-01", "W-01e", "W-05", "W-05a", "W-05c")
def test_a_waiting_upload_is_cancelled_by_keyboard(lab, waiting):
    waiting.get_by_role("button", name="Upload", exact=True).focus()
    tab_to(waiting, "button", "Cancel")
    waiting.keyboard.press("Enter")
    waiting.get_by_text("Cancelled: nothing was uploaded").wait_for()
    lab.run_code(waiting, RELEASE)
    waiting.get_by_text("2 of 2 ready to upload").wait_for()

    assert lab.run_code(waiting, STORED) == "[] None"


@pytest.mark.spec("W-01", "W-01d", "W-01e", "D-03", "D-03c")
def test_cancel_and_resume(lab, large):
    page = _form(lab, "form-cancel.ipynb", SLOW)
    page.get_by_label("Choose files").set_input_files([large])
    page.get_by_text("1 of 1 ready to upload").wait_for()
    page.get_by_label("Chunk size").select_option("1 MiB")
    page.get_by_label("resumable").check()

    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("of 12 MiB").first.wait_for()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_text("Resume continues from there").wait_for()
    lab.screenshot(page, "form-4-cancelled")
    page.get_by_role("button", name="Resume", exact=True).click()
    page.get_by_text("Done: 1 file uploaded").wait_for()

    lab.screenshot(page, "form-5-resumed")


# What the desktop hands over when files are let go above a page.
DROPPED = """([name, size]) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([new Uint8Array(size).fill(65)], name, {type: 'text/plain'}));
  return dropped;
}"""
STORED = "print(svc.files()[['name', 'size']].values.tolist(), form.last_error)"


@pytest.mark.spec("W-01", "W-01a")
def test_a_large_file_is_dropped(lab):
    page = _form(lab, "form-drop.ipynb")
    dropped = page.evaluate_handle(DROPPED, ["letters.txt", 12 << 20])
    box = page.get_by_role("group", name="Files to upload")
    box.dispatch_event("dragover", {"dataTransfer": dropped})
    box.dispatch_event("drop", {"dataTransfer": dropped})
    page.get_by_text("1 of 1 ready to upload").wait_for()

    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Done: 1 file uploaded").wait_for()

    assert lab.run_code(page, STORED) == f"[['letters.txt', {12 << 20}]] None"


@pytest.mark.spec("W-05", "W-05c", "X-01")
def test_what_the_service_refuses_is_an_alert(lab):
    page = _form(lab, "form-fault.ipynb", REFUSED)
    page.get_by_label("Choose files").set_input_files({"name": "one.txt", "mimeType": "text/plain", "buffer": b"hello"})
    page.get_by_text("1 of 1 ready to upload").wait_for()

    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("alert").get_by_text("The storage quota of this user is used up").wait_for()
    lab.screenshot(page, "form-9-refused")
    assert lab.run_code(page, STORED).startswith("[] ")

    page.get_by_role("button", name="Resume", exact=True).click()
    page.get_by_text("Done: 1 file uploaded").wait_for()
    assert page.get_by_role("alert").count() == 0


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


@pytest.mark.spec("W-05", "W-05b", "W-05c")
def test_every_control_has_a_name_and_a_tooltip(lab):
    page = _form(lab, "form-names.ipynb")
    form = page.locator(".jp-OutputArea-output").first

    unnamed = form.locator("input, select, textarea, button").evaluate_all(
        """all => all.filter(e => {
          const named = e.getAttribute('aria-label') || e.labels?.length || e.innerText.trim();
          const own = e.closest('.widget-text, .widget-textarea, .widget-dropdown, .widget-radio');
          const tip = e.title || own?.querySelector('label[title], label [title]')?.title;
          return !named || !tip || tip === 'null';
        }).map(e => e.outerHTML)"""
    )

    assert unnamed == []


def test_what_goes_wrong_is_said_in_the_form(lab):
    page = _form(lab, "form-wrong.ipynb")

    page.get_by_role("button", name="Upload", exact=True).click()

    page.get_by_role("alert").get_by_text("No file is selected").wait_for()
    lab.screenshot(page, "form-7-nothing-chosen")


@pytest.mark.spec("W-01", "W-01b", "W-05", "W-05a", "W-05c", "A5-01")
def test_files_become_documents_and_arrows_stay_in_the_form(lab, tmp_path):
    page = _form(lab, "form-convert.ipynb")
    names = ("counts.csv", "report.html")
    (tmp_path / names[0]).write_text("pond,birds\nMill pond,12\n")
    (tmp_path / names[1]).write_text("<h1>Ponds</h1>")
    page.get_by_label("Choose files").set_input_files([tmp_path / name for name in names])
    page.get_by_text("2 of 2 ready to upload").wait_for()

    page.keyboard.press("Escape")
    tab_to(page, "combobox", "Convert to")
    page.keyboard.press("ArrowDown")  # JupyterLab would take it for its own
    page.locator("pre", has_text="convert_to='auto'").wait_for(state="attached")
    tab_to(page, "radio", "auto: by size and metadata")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.locator("pre", has_text="upload_type='multipart'").wait_for(state="attached")
    page.get_by_role("button", name="Upload", exact=True).click()

    page.get_by_text("Done: 2 files uploaded").wait_for()
    lab.screenshot(page, "form-8-converted")
    rows = page.locator("table.dataframe tbody tr").all_inner_texts()
    assert [("counts\t" in row, "apps.spreadsheet" in row) for row in rows] == [(True, True), (False, False)]
    assert [("report\t" in row, "apps.document" in row) for row in rows] == [(False, False), (True, True)]
