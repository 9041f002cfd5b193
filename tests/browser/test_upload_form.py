"""The upload form in a real JupyterLab: large files, cancel and resume, the keyboard alone."""

import os

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
form = svc.upload_form()
form
"""
SLOW = """
slow = lab.faults(operation="upload.session", times=1000, delay=0.05)
slow.__enter__()
"""


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.bin"
    path.write_bytes(os.urandom(1 << 20) * 120)
    return path


def _form(lab, name, *more):
    lab.write(name, CELL, *more)
    page = lab.run(name)
    page.get_by_role("button", name="Upload", exact=True).wait_for()
    return page


@pytest.mark.spec("W-01", "D-03")
def test_two_files_one_of_them_large(lab, tmp_path, large):
    small = tmp_path / "<img src=x onerror=alert(1)>.csv"
    small.write_text("a,b\n1,2\n")
    page = _form(lab, "form-two.ipynb")
    lab.shot(page, "form-1-empty")

    page.get_by_label("Choose files of this computer").set_input_files([large, small])
    page.get_by_text("2 of 2 ready to upload").wait_for(timeout=60_000)
    lab.shot(page, "form-2-chosen")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("Done: 2 files uploaded").wait_for(timeout=60_000)

    lab.shot(page, "form-3-done")
    assert page.locator("table.dataframe tbody tr").count() == 2
    assert page.locator("table.dataframe").get_by_text("large.bin").count() == 1
    assert page.locator("img[src=x]").count() == 0, "a file name was read as HTML"


@pytest.mark.spec("W-01", "D-03")
def test_cancel_and_resume(lab, large):
    page = _form(lab, "form-cancel.ipynb", SLOW)
    page.get_by_label("Choose files of this computer").set_input_files([large])
    page.get_by_text("1 of 1 ready to upload").wait_for(timeout=60_000)
    page.get_by_label("Chunk size").select_option("1 MiB")
    page.get_by_label("resumable").check()

    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_text("of 120 MiB").first.wait_for()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_text("Resume goes on from there").wait_for(timeout=20_000)
    lab.shot(page, "form-4-cancelled")
    page.get_by_role("button", name="Resume", exact=True).click()
    page.get_by_text("Done: 1 file uploaded").wait_for(timeout=60_000)

    lab.shot(page, "form-5-resumed")


@pytest.mark.spec("W-05")
def test_the_keyboard_alone(lab):
    (lab.folder / "beside.csv").write_text("a,b\n1,2\n")
    page = _form(lab, "form-keys.ipynb")

    def tab_to(role, name):
        for _ in range(40):
            page.keyboard.press("Tab")
            focused = page.get_by_role(role, name=name, exact=True)
            if focused.count() and focused.first.evaluate("e => e === document.activeElement"):
                return
        raise AssertionError(f"Tab never comes to the {role} {name}")

    page.get_by_label("Choose files of this computer").focus()
    tab_to("textbox", "File beside the kernel")
    page.keyboard.type("beside.csv")
    tab_to("button", "Upload")
    page.keyboard.press("Enter")

    page.get_by_text("Done: 1 file uploaded").wait_for(timeout=20_000)
    lab.shot(page, "form-6-keyboard")


@pytest.mark.spec("W-05")
def test_every_control_has_a_name_and_a_tooltip(lab):
    page = _form(lab, "form-names.ipynb")
    form = page.locator(".jp-OutputArea-output").first

    unnamed = form.locator("input, select, textarea, button").evaluate_all(
        """all => all.filter(e => {
          const named = e.getAttribute('aria-label') || e.labels?.length || e.innerText.trim();
          const own = e.closest('.widget-text, .widget-dropdown, .widget-radio');
          const tip = e.title || own?.querySelector('label[title], label [title]')?.title;
          return !named || !tip || tip === 'null';
        }).map(e => e.outerHTML)"""
    )

    assert unnamed == []


@pytest.mark.spec("W-01")
def test_what_goes_wrong_is_said_in_the_form(lab):
    page = _form(lab, "form-wrong.ipynb")

    page.get_by_role("button", name="Upload", exact=True).click()

    page.get_by_role("alert").get_by_text("No file is chosen").wait_for()
    lab.shot(page, "form-7-nothing-chosen")


@pytest.mark.spec("W-01", "W-05", "A5-01")
def test_files_become_documents_and_arrows_stay_in_the_form(lab, tmp_path):
    page = _form(lab, "form-convert.ipynb")
    names = ("counts.csv", "report.html")
    (tmp_path / names[0]).write_text("pond,birds\nMill pond,12\n")
    (tmp_path / names[1]).write_text("<h1>Ponds</h1>")
    page.get_by_label("Choose files of this computer").set_input_files([tmp_path / name for name in names])
    page.get_by_text("2 of 2 ready to upload").wait_for()

    page.get_by_label("Convert to").focus()
    page.keyboard.press("ArrowDown")  # JupyterLab would take it for its own
    page.locator("pre", has_text="convert_to='auto'").wait_for(state="attached")
    page.get_by_label("auto: by size and metadata").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.locator("pre", has_text="upload_type='multipart'").wait_for(state="attached")
    page.get_by_role("button", name="Upload", exact=True).click()

    page.get_by_text("Done: 2 files uploaded").wait_for(timeout=20_000)
    lab.shot(page, "form-8-converted")
    rows = page.locator("table.dataframe tbody tr").all_inner_texts()
    assert [("counts\t" in row, "apps.spreadsheet" in row) for row in rows] == [(True, True), (False, False)]
    assert [("report\t" in row, "apps.document" in row) for row in rows] == [(False, False), (True, True)]
