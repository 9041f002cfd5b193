import pytest
from playwright.sync_api import expect

from tests.browser.forms.test_file_browser import press, says
from tests.browser.keyboard import press_keys, tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
data = svc.create_file(name="Data", mime_type="application/vnd.svc-apps.folder")
sizes = {"apple.txt": 3, "apricot.txt": 1, "banana.txt": 2, "scan 10.txt": 5, "scan 9.txt": 4}
svc.upload([b"x" * size for size in sizes.values()], name=[*sizes])
browser = svc.file_browser()
browser
"""


DROP = """([names, selector]) => {
  const transfer = new DataTransfer();
  for (const name of names) transfer.items.add(new File([`from the desktop: ${name}`], name, { type: "text/plain" }));
  for (const kind of ["dragenter", "dragover", "drop"]) {
    const event = new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.querySelector(selector).dispatchEvent(event);
  }
}"""


def rows(page):
    return page.get_by_role("grid", name="Files").locator("tbody tr")


def row(page, name):
    return rows(page).filter(has_text=name)


def names(page):
    return rows(page).locator(".svc-name > span").all_inner_texts()


@pytest.fixture
def opened(lab):
    page = lab.show("list.ipynb", CELL)
    row(page, "Data").wait_for()
    return page


@pytest.mark.spec("W-05", "W-05a", "W-05c")
def test_a_heading_sorts_by_mouse_and_by_keyboard(lab, opened, axe):
    page = opened
    assert names(page) == ["Data", "apple.txt", "apricot.txt", "banana.txt", "scan 9.txt", "scan 10.txt"]
    page.locator("th[aria-sort=ascending]", has_text="Name").wait_for()
    press(page, "Size")
    page.locator("th[aria-sort=descending]", has_text="Size").wait_for()
    assert names(page)[0] == "scan 10.txt"
    assert axe(page) == []
    tab_to(page, "button", "Name")
    page.keyboard.press("Enter")
    page.locator("th[aria-sort=ascending]", has_text="Name").wait_for()
    page.keyboard.press("Space")
    page.locator("th[aria-sort=descending]", has_text="Name").wait_for()

    assert names(page)[:2] == ["Data", "scan 10.txt"]
    page.get_by_role("button", name="Name", exact=True).and_(page.locator(":focus")).wait_for()
    assert page.get_by_label("Sort by").input_value() == "Name, Z to A"


@pytest.mark.spec("W-05", "W-05a", "W-05c")
def test_typed_letters_go_to_the_next_name(opened, lab):
    page = opened
    row(page, "Data").click()
    for typed, expected in (("a", "apple.txt"), ("a", "apricot.txt"), ("a", "apple.txt")):
        page.keyboard.type(typed)
        page.locator("tr[aria-selected=true]", has_text=expected).wait_for()
    page.keyboard.press("Home")  # another name begins
    page.keyboard.type("Scan 1")
    page.locator("tr[aria-selected=true]", has_text="scan 10.txt").wait_for()
    page.get_by_text("Details of scan 10.txt").wait_for()

    assert lab.run_code(page, "print(browser.selection['name'].tolist(), browser.last_error)") == "['scan 10.txt'] None"


def test_a_double_click_opens_what_it_began_on(opened, lab):
    """The first click removes the message above the list, so the list moves up."""
    page = opened
    lab.run_code(page, "browser.ask['delete'].click()")
    page.get_by_role("alert").get_by_text("No file is selected").wait_for()
    row(page, "Data").dblclick()
    page.get_by_text("My files / Data").wait_for()

    assert page.get_by_role("alert").get_by_text("No file is selected").count() == 0


@pytest.mark.spec("W-05", "W-05a", "W-05c")
def test_the_focus_goes_to_the_list_when_a_button_becomes_disabled(opened, lab):
    page = opened
    row(page, "banana.txt").click()
    trash = page.get_by_role("button", name="Trash", exact=True)
    expect(trash).to_be_enabled()
    trash.focus()
    page.keyboard.press("Enter")
    says(page, "Moved 1 file to the trash.")
    page.locator(".svc-grid tbody tr:focus").wait_for()
    assert trash.is_disabled()
    press_keys(page, "Home", "Enter")
    page.get_by_text("My files / Data").wait_for()
    up = page.get_by_role("button", name="Up", exact=True)
    expect(up).to_be_enabled()
    up.focus()
    page.keyboard.press("Enter")
    row(page, "apple.txt").wait_for()

    page.locator(".svc-grid tbody tr:focus").wait_for()


def test_dropped_files_are_uploaded(opened, lab, axe):
    page = opened
    row(page, "Data").dblclick()
    page.get_by_text("This folder is empty.").wait_for()
    page.evaluate(DROP, [["plan.txt", "notes.txt"], ".svc-grid"])
    says(page, "Uploaded 2 files to Data.")
    row(page, "plan.txt").wait_for()
    page.get_by_text("2 files selected").wait_for()

    page.evaluate(DROP, [["plan.txt"], ".svc-code"])
    page.get_by_text("plan.txt exists in Data.").wait_for()
    page.get_by_role("button", name="Cancel", exact=True).and_(page.locator(":focus")).wait_for()
    assert axe(page) == []
    lab.screenshot(page, "list-1-taken-name")
    press(page, "Save as plan (1).txt")
    row(page, "plan (1).txt").wait_for()
    page.get_by_label("Upload", exact=True).set_input_files(
        {"name": "chosen.txt", "mimeType": "text/plain", "buffer": b"x"}
    )
    row(page, "chosen.txt").wait_for()
    lab.screenshot(page, "list-2-uploaded")

    code = """
rows = svc.files("'%s' in parents" % data["id"].item(), order_by="name")
print(rows["name"].tolist(), svc.read(rows["id"][1]), browser.last_error)
"""
    assert lab.run_code(page, code) == (
        "['chosen.txt', 'notes.txt', 'plan (1).txt', 'plan.txt'] b'from the desktop: notes.txt' None"
    )
