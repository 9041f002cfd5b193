import pytest

from tests.browser.keyboard import press_keys, tab_to

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CELL = """
import svc_notebooks as svc
lab = svc.sandbox()
data = svc.create_file(name="Data", mime_type="application/vnd.svc-apps.folder")
svc.upload(b"pond,birds\\nMill pond,12\\n", name="counts.csv", metadata={"parents": [data["id"].item()]})
svc.upload(b"<h1>Birds</h1><p>Seen in <b>winter</b></p>", name="Birds", mime_type="text/html", convert_to="document")
svc.upload(b"Feed the ducks on Monday.", name="plan <b>for</b> May.txt", metadata={"starred": True})
svc.upload(bytes(3_000_000), name="film of ducks with a long name that has to break somewhere when it is narrow.mp4")
browser = svc.file_browser()
browser
"""


@pytest.fixture
def opened(lab):
    page = lab.show("files.ipynb", CELL)
    page.get_by_role("grid", name="Files").get_by_text("Data").wait_for()
    return page


def row(page, name):
    return page.get_by_role("grid", name="Files").get_by_role("row").filter(has_text=name)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def confirm(page, name):
    """Click a button of the dialog, whose name a button below the list may have, too."""
    page.locator(".svc-question:visible").get_by_role("button", name=name, exact=True).click()


def says(page, words):
    page.get_by_role("status").get_by_text(words).first.wait_for()


@pytest.mark.spec("W-05", "W-05c")
def test_by_mouse(lab, opened):
    page = opened
    row(page, "Data").dblclick()
    row(page, "counts.csv").wait_for()
    page.get_by_text("My files / Data").wait_for()
    row(page, "counts.csv").dblclick()
    page.locator("td", has_text="Mill pond").wait_for()
    lab.screenshot(page, "files-1-look")

    press(page, "Rename")
    page.get_by_label("Name", exact=True).fill("numbers.csv")
    confirm(page, "Rename")
    says(page, "Renamed to numbers.csv.")
    press(page, "Up")
    row(page, "plan <b>for</b> May.txt").click()
    press(page, "Share")
    page.get_by_label("Share with", exact=True).fill("bob@svc.example")
    page.get_by_label("Writer").check()
    page.locator("pre", has_text="role='writer'").wait_for()
    lab.screenshot(page, "files-2-share")
    confirm(page, "Share")
    says(page, "Shared 1 file with bob@svc.example (writer).")
    press(page, "Trash")
    says(page, "Moved 1 file to the trash.")
    row(page, "plan <b>").wait_for(state="detached")

    code = """
file = svc.files("name contains 'plan'", fields="id,name,trashed")
print(svc.files("name = 'numbers.csv'")["parents"].item() == [data["id"].item()], file["trashed"].item(),
      svc.permissions(file)["role"].tolist(), browser.last_error)
"""
    assert lab.run_code(page, code) == "True True ['owner', 'writer'] None"


@pytest.mark.spec("W-05", "W-05a", "W-05c")
def test_by_keyboard_alone(lab, opened):
    """Tab comes to the list once; arrows, Space, Enter and Backspace do the rest."""
    page = opened
    keys = page.keyboard

    def focused():
        return page.evaluate("document.activeElement.innerText")

    page.get_by_role("button", name="Modified (UTC)", exact=True).focus()
    keys.press("Tab")
    assert "Data" in focused()
    keys.press("Enter")
    row(page, "counts.csv").wait_for()
    assert "counts.csv" in focused(), "the keyboard is in the folder that it opened"
    keys.press("Backspace")
    row(page, "Birds").wait_for()
    keys.press("End")
    assert "plan" in focused()
    page.get_by_text("Details of plan").wait_for()
    lab.screenshot(page, "files-3-keys")

    tab_to(page, "button", "Rename")
    keys.press("Enter")
    page.get_by_label("Name", exact=True).and_(page.locator(":focus")).wait_for()
    keys.press("Control+a")
    keys.type("agenda.txt")
    keys.press("Tab")  # to the button of the dialog
    keys.press("Enter")
    says(page, "Renamed to agenda.txt.")
    page.get_by_role("button", name="Rename", exact=True).and_(page.locator(":focus")).wait_for()

    tab_to(page, "button", "More")
    keys.press("Enter")
    page.get_by_role("button", name="Delete", exact=True).wait_for()
    assert page.get_by_role("button", name="More", exact=True).get_attribute("aria-expanded") == "true"
    for _ in range(5):
        keys.press("ArrowDown")
    page.get_by_role("button", name="Delete", exact=True).and_(page.locator(":focus")).wait_for()
    keys.press("Enter")
    page.get_by_role("button", name="Cancel", exact=True).and_(page.locator(":focus")).wait_for()
    keys.press("Shift+Tab")
    keys.press("Enter")
    says(page, "Deleted 1 file permanently.")
    page.locator(".svc-grid :focus").wait_for()

    assert lab.run_code(page, "print(len(svc.files(\"name = 'agenda.txt'\")), browser.last_error)") == "0 None"


@pytest.mark.spec("W-05", "W-05a", "W-05c")
def test_space_and_shift_choose_more_than_one(lab, opened):
    page = opened
    row(page, "Data").click()
    page.keyboard.press("Shift+ArrowDown")
    page.get_by_text("2 files selected").wait_for()
    press_keys(page, "Control+ArrowDown", "Control+ArrowDown", "Space")
    page.get_by_text("3 files selected").wait_for()

    assert lab.run_code(page, "print(browser.selection['name'].tolist()[:2])") == "['Data', 'Birds']"


def test_the_link_of_a_file_is_copied_and_the_dialog_share_lists_who_has_access(lab):
    setup = "f = svc.upload(b'a', name='t.csv'); svc.share(f, 'bob@svc.example'); server = lab.serve()"
    name = lab.write("link.ipynb", f"import svc_notebooks as svc\nlab = svc.sandbox()\n{setup}", "svc.file_browser()")
    page = lab.run(name)

    page.locator(".svc-browser").get_by_text("t.csv", exact=True).click()
    press(page, "Copy link")
    link = page.evaluate("() => String(getSelection())")
    press(page, "Share")

    page.locator(".svc-question").get_by_text("ada@svc.example (owner), bob@svc.example (reader)").wait_for()
    lab.screenshot(page, "file-browser-link")
    assert link == lab.run_code(page, "print(lab.link(f))")
    assert link.startswith("http://127.0.0.1:")
