"""The upload form in a real JupyterLab: content of an existing file, a generated id, viewers who may not copy."""

import pytest

from tests.browser.keyboard import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
svc.upload(b"pond,birds\\n", name="Counts", mime_type="text/csv", convert_to="spreadsheet")
plan = svc.upload(b"Feed the ducks on Monday.", name="plan.txt")
form = svc.upload_form()
form
"""
NEW = {"name": "plan for May.txt", "mimeType": "text/plain", "buffer": b"Feed the ducks on Tuesday, too."}


@pytest.fixture
def opened(lab):
    lab.write("existing.ipynb", CELL)
    page = lab.run("existing.ipynb")
    page.get_by_role("button", name="Upload", exact=True).wait_for()
    page.set_viewport_size({"width": 1280, "height": 1500})
    return page


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def focused(page, role, name):
    page.get_by_role(role, name=name, exact=True).and_(page.locator(":focus")).wait_for()


@pytest.mark.spec("W-01", "W-01g", "A1-04")
def test_content_is_replaced_by_mouse(lab, opened, axe):
    page = opened
    lab.screenshot(page, "existing-1-begun")
    page.get_by_label("Choose files").set_input_files(NEW)
    page.get_by_text("1 of 1 ready to upload").wait_for()
    page.get_by_label("New content for an existing file").check()
    page.get_by_label("Existing file", exact=True).select_option(index=0)
    page.locator("pre", has_text="svc.update(").wait_for(state="attached")
    press(page, "More options")
    lab.screenshot(page, "existing-2-chosen")

    press(page, "Upload")
    page.get_by_text("Replace the content of plan.txt?").wait_for()
    focused(page, "button", "Cancel")
    assert page.get_by_role("button", name="Cancel", exact=True).count() == 1
    assert axe(page) == []
    lab.screenshot(page, "existing-3-question")
    page.keyboard.press("Escape")
    page.get_by_text("Cancelled: plan.txt is unchanged.").wait_for()
    focused(page, "button", "Upload")
    assert lab.run_code(page, "print(svc.read(plan))") == "b'Feed the ducks on Monday.'"

    press(page, "Upload")
    press(page, "Replace content")
    page.get_by_text("Done: the content of plan.txt was replaced").wait_for()
    lab.screenshot(page, "existing-4-replaced")
    output = lab.run_code(page, "print(svc.read(plan), svc.files('trashed = false').shape[0], form.last_error)")
    assert output == "b'Feed the ducks on Tuesday, too.' 2 None"


@pytest.mark.spec("W-01", "W-01h", "W-05", "W-05a", "W-05c")
def test_an_id_and_the_restriction_by_keyboard(lab, opened, axe):
    page = opened
    (lab.folder / "notes.txt").write_text("Count the coots.")
    tab_to(page, "textbox", "Notebook file")
    page.keyboard.type("notes.txt")
    tab_to(page, "combobox", "Convert to")
    page.keyboard.press("End")
    tab_to(page, "button", "More options")
    page.keyboard.press("Enter")
    tab_to(page, "checkbox", "Viewers may download, export and copy")
    page.keyboard.press("Space")
    tab_to(page, "button", "Generate ID")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("A converted file cannot have an id").wait_for()
    page.get_by_role("button", name="Upload", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_text("Nothing was uploaded.").wait_for()
    focused(page, "textbox", "File ID")
    assert axe(page) == []
    lab.screenshot(page, "existing-5-wrong")

    page.get_by_label("Convert to", exact=True).focus()
    page.keyboard.press("Home")
    page.get_by_text("A converted file cannot have an id").wait_for(state="detached")
    page.get_by_role("button", name="Upload", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_text("Done: 1 file uploaded").wait_for()
    lab.screenshot(page, "existing-6-id")
    code = """
file = svc.file(form.result, fields="id,name,viewers_can_copy_content")
print(file["name"].item(), file["viewers_can_copy_content"].item(), f"file_id='{file['id'].item()}'" in form.code())
"""
    assert lab.run_code(page, code) == "notes.txt True True"


@pytest.mark.spec("W-05", "W-05c", "A5-04")
@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_native_document_in_little_room(lab, opened, axe, theme):
    page = opened
    lab.theme(page, theme)
    page.get_by_label("Choose files").set_input_files(
        {"name": "counts.csv", "mimeType": "text/csv", "buffer": b"pond,birds\nMill pond,12\n"}
    )
    page.get_by_text("1 of 1 ready to upload").wait_for()
    page.get_by_label("New content for an existing file").check()
    page.get_by_label("Existing file", exact=True).select_option(index=1)
    page.get_by_text("The new content is converted").wait_for()
    press(page, "More options")
    press(page, "Upload")
    page.get_by_text("Replace the content of Counts?").wait_for()
    page.set_viewport_size({"width": 530, "height": 1900})
    assert axe(page) == []
    lab.screenshot(page, f"existing-7-narrow-{theme.lower()}", selector=".svc-form")

    press(page, "Replace content")
    page.get_by_text("Done: the content of Counts was replaced").wait_for()
    assert lab.run_code(page, "svc.export(svc.files(\"name = 'Counts'\"), 'csv', 'out.csv')") == ""
    assert "Mill pond,12" in (lab.folder / "out.csv").read_text(encoding="utf-8-sig")
